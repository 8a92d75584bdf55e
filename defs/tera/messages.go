package tera

import (
	"fmt"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// The codes of all diagnostics of this dialect. They never change.
const (
	// Lines that cannot be read.
	codeControlCharacter = "control-character"
	codeLineTooLong      = "line-too-long"
	codeTooManyLines     = "too-many-lines"
	codeTooManyMistakes  = "too-many-mistakes"
	codeTooDeep          = "too-deep"
	codeMalformedLine    = "malformed-line"
	codeMalformedType    = "malformed-type"

	// Words.
	codeBadName       = "bad-name"
	codeBadVersions   = "bad-versions"
	codeNoVersions    = "no-versions"
	codeUnusedDefault = "unused-default"

	// Types.
	codeUnknownType    = "unknown-type"
	codeBadElement     = "bad-element"
	codeBadLength      = "bad-length"
	codeFixedVariable  = "fixed-variable"
	codeIgnoredSubtype = "ignored-subtype"
	codeIgnoredFlags   = "ignored-flags"
	codeUnknownFlag    = "unknown-flag"

	// Nesting and names.
	codeNestedFirst   = "nested-first"
	codeNestedInValue = "nested-in-value"
	codeDepthJump     = "depth-jump"
	codeDuplicateName = "duplicate-name"
	codeRepeatedField = "repeated-field"
	codeTooLarge      = "too-large"

	// Interleaved arrays.
	codeInterleavedApart  = "interleaved-apart"
	codeInterleavedString = "interleaved-string"
	codeInterleavedAlone  = "interleaved-alone"

	// Pointers.
	codeMissingRef      = "missing-ref"
	codeRefWithoutField = "ref-without-field"
	codeRefAfterField   = "ref-after-field"
	codeRefInObject     = "ref-in-object"
	codeRepeatedRef     = "repeated-ref"
	codeUnusedCount     = "unused-count"

	// Files.
	codeFileName        = "file-name"
	codeSameDefinition  = "same-definition"
	codeMissingInclude  = "missing-include"
	codeIncludeCycle    = "include-cycle"
	codeTooManyIncludes = "too-many-includes"
	codeNestedInclude   = "nested-include"

	// Maps and deprecated.json.
	codeMapLine       = "map-line"
	codeMapCode       = "map-code"
	codeMapNameTwice  = "map-name-twice"
	codeMapCodeTwice  = "map-code-twice"
	codeBadDeprecated = "bad-deprecated"
)

// mistake is a diagnostic of what makes a definition unusable or ambiguous.
func mistake(code string, at source.Span, message, help string) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Error, Code: code, Message: message, Help: help, Span: at}
}

// doubt is a diagnostic of what works but is likely not meant.
func doubt(code string, at source.Span, message, help string) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Warning, Code: code, Message: message, Help: help, Span: at}
}

// fixed offers an edit.
func fixed(d diag.Diagnostic, at source.Span, text string) diag.Diagnostic {
	d.Fix = &diag.Fix{Span: at, Text: text}
	return d
}

// near points to another place.
func near(d diag.Diagnostic, at source.Span, message string) diag.Diagnostic {
	d.Related = append(d.Related, diag.Related{Span: at, Message: message})
	return d
}

// quote puts what a person wrote in quotes, cut where it is too long for a message.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return `"` + printable(s) + `"`
}

// Lines that cannot be read.

func controlCharacter(at source.Span) diag.Diagnostic {
	return fixed(mistake(codeControlCharacter, at,
		fmt.Sprintf("control character U+%04X", at.Text()[0]), "remove it"), at, "")
}

func lineTooLong(at source.Span, size int) diag.Diagnostic {
	return mistake(codeLineTooLong, at, fmt.Sprintf("the line has %d bytes", size),
		fmt.Sprintf("a line holds at most %d bytes", maxLine))
}

func tooManyLines(at source.Span, most int) diag.Diagnostic {
	return mistake(codeTooManyLines, at, fmt.Sprintf("more than %d lines", most), "the rest is not read")
}

func tooManyMistakes(at source.Span) diag.Diagnostic {
	return mistake(codeTooManyMistakes, at, "too many mistakes", "the rest is not shown; is this a definition?")
}

func tooDeep(at source.Span, depth int) diag.Diagnostic {
	return mistake(codeTooDeep, at, fmt.Sprintf("%d dashes", depth), fmt.Sprintf("a line starts with at most %d", maxDepth))
}

func onlyDashes(at source.Span) diag.Diagnostic {
	return mistake(codeMalformedLine, at, "dashes without a field", `write a type and a name after them: "- int32 id"`)
}

func missingName(at source.Span, typ string) diag.Diagnostic {
	if lookupType(typ) == unknown && !strings.ContainsAny(typ, "<[") {
		return mistake(codeMalformedLine, at, "a line needs a type and a name", `write both: "int32 `+cleanName(typ)+`"`)
	}
	return mistake(codeMalformedLine, at, quote(typ)+" has no name", `write a name after it: "`+typ+` name"`)
}

func missingSpace(at source.Span) diag.Diagnostic {
	return fixed(mistake(codeMalformedLine, at, "no space before "+quote(at.Text()),
		"put a space between the type and the name"), at.Sub(0, 0), " ")
}

func spaceInType(at source.Span, next string) diag.Diagnostic {
	return fixed(mistake(codeMalformedLine, at, "white space before "+quote(next),
		`it has to touch the name of the type: "array<int32>", "array[interleaved]"`), at, "")
}

func tooManyWords(at source.Span, holds string) diag.Diagnostic {
	d := mistake(codeMalformedLine, at, quote(at.Text())+" is too much: a line holds "+holds, `start a remark with "#"`)
	if at.Text()[0] == '=' {
		d.Help = `write a default without spaces: "name=5"`
		return d
	}
	return fixed(d, at.Sub(0, 0), "# ")
}

func unknownDirective(at source.Span) diag.Diagnostic {
	d := mistake(codeMalformedLine, at, quote(at.Text())+" is no directive", `the only one is "@include NAME.1.def"`)
	if len(at.Text()) <= 40 && diag.Nearest(at.Text(), []string{includeWord}) != "" {
		return fixed(d, at, includeWord)
	}
	return d
}

func includeNothing(at source.Span) diag.Diagnostic {
	return mistake(codeMalformedLine, at, "@include without a file", `write "@include NAME.1.def"`)
}

func malformedType(at source.Span, why string) diag.Diagnostic {
	return mistake(codeMalformedType, at, why, `types look like "int32", "array<int32>", "array[interleaved]" or "byte[16]"`)
}

// Words.

func badName(at source.Span, dotted bool) diag.Diagnostic {
	text := at.Text()
	d := mistake(codeBadName, at, quote(text)+" is no name", `a name has letters, digits and "_" and starts with no digit`)
	if i := strings.IndexByte(text, '^'); i > 0 && isName(text[:i], dotted) {
		d.Help = "put a space before " + quote(text[i:])
		return fixed(d, at.Sub(i, i), " ")
	}
	if name, ok := strings.CutSuffix(text, "="); ok && isName(name, dotted) {
		d.Help = `write the default after "=", or leave "=" out`
		return fixed(d, at, name)
	}
	if name := cleanName(text); strings.Trim(name, "_") != "" && len(name) <= 60 {
		d.Help += `; what about "` + name + `"?`
		return fixed(d, at, name)
	}
	return d
}

func badVersions(at source.Span) diag.Diagnostic {
	return mistake(codeBadVersions, at, quote(at.Text())+" is no range of versions",
		`write "^86" for 86.00 and later, "^0-86" for all before, "^86-92.03" for what is between`)
}

func noVersions(at source.Span) diag.Diagnostic {
	return doubt(codeNoVersions, at, "no version is in "+quote(at.Text()), `the second number is the first version without the field`)
}

func unusedDefault(at source.Span) diag.Diagnostic {
	return doubt(codeUnusedDefault, at, "the default "+quote(at.Text())+" is not used", "missing values are zero or empty")
}

// Types.

func unknownType(at source.Span) diag.Diagnostic {
	text := at.Text()
	d := mistake(codeUnknownType, at, "unknown type "+quote(text), "the types are "+strings.Join(typeNames, ", "))
	meant := otherNames[strings.ToLower(text)]
	if meant == "" && len(text) > 3 && len(text) <= 40 { // of three letters nothing is certain
		meant = diag.Nearest(text, typeNames)
	}
	switch {
	case meant != "":
		d.Help = `did you mean "` + meant + `"?`
		return fixed(d, at, meant)
	case strings.HasPrefix(text, "^"):
		d.Help = `a range of versions stands after the name: "int32 id ^86"`
	}
	return d
}

func badElement(t *typeExpr) diag.Diagnostic {
	name := t.name.Text()
	help := "an element is a fixed type, a string or another array<T>"
	switch lookupType(name) {
	case bytesType:
		help = `write "array list" and "- bytes data" on the next line`
	case arrayType:
		help = `write "array list" and "- array inner" on the next line, or "array<array<int32>>"`
	}
	return mistake(codeBadElement, t.name, quote(name)+" cannot be an element", help)
}

func objectElement(t *typeExpr) diag.Diagnostic {
	return fixed(mistake(codeBadElement, t.elem.name, `"object" cannot be an element`,
		`write "array"; the fields of an element follow, one dash deeper`), t.subtype, "")
}

func badLength(at source.Span, most int) diag.Diagnostic {
	return mistake(codeBadLength, at, quote(at.Text())+" is no possible length",
		fmt.Sprintf("write a number from 1 to %d: a message has at most %d bytes", most, maxFrame))
}

func fixedVariable(t *typeExpr) diag.Diagnostic {
	return mistake(codeFixedVariable, t.brackets, quote(t.name.Text())+" cannot have a fixed length",
		`only types of a fixed size can: "byte[16]"`)
}

func ignoredSubtype(t *typeExpr) diag.Diagnostic {
	return fixed(doubt(codeIgnoredSubtype, t.subtype, quote(t.subtype.Text())+" means nothing on "+quote(t.name.Text()),
		"only an array has a type in it"), t.subtype, "")
}

func ignoredFlags(t *typeExpr) diag.Diagnostic {
	help := "only an array has flags"
	if t.name.Text() == "array" {
		help = "only the outermost array of a line has flags"
	}
	d := doubt(codeIgnoredFlags, t.brackets, quote(t.brackets.Text())+" means nothing on "+quote(t.name.Text()), help)
	if len(t.sizes) == 0 {
		return fixed(d, t.brackets, "")
	}
	return d
}

func unknownFlag(at source.Span) diag.Diagnostic {
	d := doubt(codeUnknownFlag, at, "unknown flag "+quote(at.Text()), `the only flag is "`+interleaved+`"`)
	if len(at.Text()) <= 40 && diag.Nearest(at.Text(), []string{interleaved}) != "" {
		d.Help = `did you mean "` + interleaved + `"?`
		return fixed(d, at, interleaved)
	}
	return d
}

// Nesting and names.

func nestedFirst(at source.Span) diag.Diagnostic {
	return mistake(codeNestedFirst, at, "dashes without an array or object before", "the first field of a definition has none")
}

func nestedInValue(at, outer source.Span, typ string) diag.Diagnostic {
	return near(mistake(codeNestedInValue, at, quote(outer.Text())+" cannot have fields",
		`only "array" and "object" have fields on the lines below`), outer, "its type is "+quote(typ))
}

func depthJump(at source.Span, level int) diag.Diagnostic {
	help := "write one dash"
	if level > 1 {
		help = fmt.Sprintf("write %d dashes", level)
	}
	return fixed(doubt(codeDepthJump, at, "more dashes than one level deeper", help+": the field counts as one level deeper"),
		at, strings.TrimSuffix(strings.Repeat("- ", level), " "))
}

func duplicateName(at source.Span, first *schema.Field) diag.Diagnostic {
	return near(mistake(codeDuplicateName, at, "there is a field "+quote(at.Text())+" already",
		"give it another name: only numbers and objects may come twice"), first.Span, "the first one stands here")
}

func repeatedField(at source.Span, first *schema.Field) diag.Diagnostic {
	return near(doubt(codeRepeatedField, at, quote(at.Text())+" comes twice",
		"both are one value, the last one read; give it another name if that is not meant"), first.Span, "the first one stands here")
}

func tooLarge(at source.Span) diag.Diagnostic {
	return mistake(codeTooLarge, at, fmt.Sprintf("more than %d bytes", maxFrame), "no message can be so long; the length has 16 bits")
}

// Interleaved arrays.

func interleavedApart(at source.Span) diag.Diagnostic {
	return mistake(codeInterleavedApart, at, "interleaved arrays are not next to each other",
		"put all arrays that are interleaved on consecutive lines")
}

func interleavedString(at source.Span) diag.Diagnostic {
	return mistake(codeInterleavedString, at, "an array of strings cannot be interleaved",
		"tera-toolbox cannot write it: leave [interleaved] out")
}

func interleavedAlone(at source.Span) diag.Diagnostic {
	return doubt(codeInterleavedAlone, at, "this array is interleaved with nothing", "flag the other array too, or leave [interleaved] out")
}

// Pointers.

func missingRef(at source.Span, path string) diag.Diagnostic {
	return mistake(codeMissingRef, at, quote(path)+" has no ref",
		`other fields have one, so every pointer needs it: write "ref `+path+`" before the fields, where the pointer stands`)
}

func refWithoutField(at source.Span, meant string) diag.Diagnostic {
	d := mistake(codeRefWithoutField, at, "no string, bytes or array "+quote(at.Text())+" is here",
		"a ref stands before its field, at the same level")
	if meant != "" {
		d.Help = "did you mean " + quote(meant) + "?"
		return fixed(d, at, meant)
	}
	return d
}

func refAfterField(at source.Span) diag.Diagnostic {
	return mistake(codeRefAfterField, at, "the ref of "+quote(at.Text())+" stands after its field", "put it before")
}

func refInObject(at source.Span, path string) diag.Diagnostic {
	return mistake(codeRefInObject, at, "a ref cannot stand in an object",
		`an object has no bytes of its own: write "ref `+path+`" outside, before it`)
}

func repeatedRef(at, first source.Span) diag.Diagnostic {
	return near(mistake(codeRepeatedRef, at, quote(at.Text())+" has a ref already", "remove one of them"), first, "the first one stands here")
}

func unusedCount(at source.Span) diag.Diagnostic {
	return doubt(codeUnusedCount, at, "no array or bytes "+quote(at.Text())+" is here",
		`"count" is an old word for a part of a pointer; it is no type`)
}

// Files.

func badFileName(f *source.File) diag.Diagnostic {
	return mistake(codeFileName, source.Span{File: f}, quote(baseName(f.Name))+" is not named like a definition",
		`name it NAME.VERSION.def, as in "S_CHAT.1.def"`)
}

func sameDefinition(f, first *source.File) diag.Diagnostic {
	return near(doubt(codeSameDefinition, source.Span{File: f}, quote(baseName(f.Name))+" is there twice", "this one is not used"),
		source.Span{File: first}, "the other one is used")
}

func missingInclude(at source.Span, meant string) diag.Diagnostic {
	d := mistake(codeMissingInclude, at, "there is no file "+quote(at.Text()), "its fields are missing here")
	if meant != "" {
		d.Help = "did you mean " + quote(meant) + "?"
		return fixed(d, at, meant)
	}
	return d
}

func includeCycle(at source.Span) diag.Diagnostic {
	return mistake(codeIncludeCycle, at, quote(at.Text())+" includes itself, directly or through other files",
		"remove one of the @include lines")
}

func tooManyIncludes(at source.Span) diag.Diagnostic {
	return mistake(codeTooManyIncludes, at, "too many @include lines", fmt.Sprintf("at most %d files make up a definition", maxIncludes))
}

func nestedInclude(at source.Span) diag.Diagnostic {
	return mistake(codeNestedInclude, at, "@include after dashes", "the lines of a file stand at the top level: write it without dashes")
}

// Maps and deprecated.json.

func badMapLine(at source.Span) diag.Diagnostic {
	return mistake(codeMapLine, at, quote(at.Text())+" is no name and code", `write "NAME 12345" or "NAME = 12345"`)
}

func badMapCode(at source.Span) diag.Diagnostic {
	return mistake(codeMapCode, at, quote(at.Text())+" is no code", "write a decimal number from 0 to 65535")
}

func mapNameTwice(at, first source.Span) diag.Diagnostic {
	return near(doubt(codeMapNameTwice, at, quote(at.Text())+" is there twice", "this line counts; remove the other one"),
		first, "the first one stands here")
}

func mapCodeTwice(at, first source.Span) diag.Diagnostic {
	return near(doubt(codeMapCodeTwice, at, "the code "+quote(at.Text())+" is taken", "one of the two is wrong"),
		first, "it belongs to "+quote(first.Text()))
}

func badDeprecated(at source.Span, why string) diag.Diagnostic {
	return mistake(codeBadDeprecated, at, why, `write {"NAME": {"1": {"max": 113, "readable": true}}}`)
}
