package tera

import (
	"fmt"
	"strconv"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// The codes of all diagnostics of this dialect. They never change.
const (
	// Malformed lines.
	codeTooDeep       = "too-deep"
	codeMalformedLine = "malformed-line"
	codeMalformedType = "malformed-type"

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
	codeDeprecated    = "deprecated"
)

// Malformed lines.

func tooDeep(at source.Span, depth int) diag.Diagnostic {
	return text.Mistake(codeTooDeep, at, fmt.Sprintf("%d dashes", depth), fmt.Sprintf("the limit is %d", maxDepth))
}

func onlyDashes(at source.Span) diag.Diagnostic {
	return text.Mistake(codeMalformedLine, at, "dashes without a field", `write a type and a name after them: "- int32 id"`)
}

func missingName(at source.Span, typ string) diag.Diagnostic {
	if lookupType(typ) == unknown && !strings.ContainsAny(typ, "<[") {
		return text.Mistake(codeMalformedLine, at, "a line needs a type and a name", `write both: "int32 `+text.CleanName(typ)+`"`)
	}
	return text.Mistake(codeMalformedLine, at, text.Quote(typ)+" has no name", `write a name after it: "`+typ+` name"`)
}

func missingSpace(at source.Span) diag.Diagnostic {
	return text.Fixed(text.Mistake(codeMalformedLine, at, "no space before "+text.Quote(at.Text()),
		"put a space between the type and the name"), at.Sub(0, 0), " ")
}

func spaceInType(at source.Span, next string) diag.Diagnostic {
	return text.Fixed(text.Mistake(codeMalformedLine, at, "white space before "+text.Quote(next),
		`it must directly follow the name of the type: "array<int32>", "array[interleaved]"`), at, "")
}

func tooManyWords(at source.Span, form string) diag.Diagnostic {
	d := text.Mistake(codeMalformedLine, at, "unexpected "+text.Quote(at.Text())+": "+form, `start a comment with "#"`)
	if at.Text()[0] == '=' {
		d.Help = `write a default without spaces: "name=5"`
		return d
	}
	return text.Fixed(d, at.Sub(0, 0), "# ")
}

func unknownDirective(at source.Span) diag.Diagnostic {
	d := text.Mistake(codeMalformedLine, at, "unknown directive "+text.Quote(at.Text()), `the only directive is "@include NAME.1.def"`)
	if len(at.Text()) <= 40 && diag.Nearest(at.Text(), []string{includeWord}) != "" {
		return text.Fixed(d, at, includeWord)
	}
	return d
}

func includeNothing(at source.Span) diag.Diagnostic {
	return text.Mistake(codeMalformedLine, at, "@include without a file name", `write "@include NAME.1.def"`)
}

func malformedType(at source.Span, why string) diag.Diagnostic {
	return text.Mistake(codeMalformedType, at, why, `types look like "int32", "array<int32>", "array[interleaved]" or "byte[16]"`)
}

// Words.

func badName(at source.Span, dotted bool) diag.Diagnostic {
	words := at.Text()
	d := text.Mistake(codeBadName, at, text.Quote(words)+" is not a valid name", `a name has letters, digits and "_" and does not start with a digit`)
	if i := strings.IndexByte(words, '^'); i > 0 && isName(words[:i], dotted) {
		d.Help = "put a space before " + text.Quote(words[i:])
		return text.Fixed(d, at.Sub(i, i), " ")
	}
	if name, ok := strings.CutSuffix(words, "="); ok && isName(name, dotted) {
		d.Help = `write the default after "=", or remove "="`
		return text.Fixed(d, at, name)
	}
	if name := text.CleanName(words); strings.Trim(name, "_") != "" && len(name) <= 60 {
		d.Help += `; did you mean "` + name + `"?`
		return text.Fixed(d, at, name)
	}
	return d
}

func badVersions(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadVersions, at, text.Quote(at.Text())+" is not a range of versions",
		`write "^86" for 86.00 and later, "^0-86" for versions before 86.00, "^86-92.03" for a range`)
}

func noVersions(at source.Span) diag.Diagnostic {
	return text.Doubt(codeNoVersions, at, "the range "+text.Quote(at.Text())+" is empty", `the second number is the first version without the field`)
}

func unusedDefault(at source.Span) diag.Diagnostic {
	return text.Doubt(codeUnusedDefault, at, "the default "+text.Quote(at.Text())+" is not used", "missing values are zero or empty")
}

// Types.

func unknownType(at source.Span) diag.Diagnostic {
	words := at.Text()
	d := text.Mistake(codeUnknownType, at, "unknown type "+text.Quote(words), "the types are "+strings.Join(typeNames, ", "))
	meant := otherNames[strings.ToLower(words)]
	if meant == "" && len(words) > 3 && len(words) <= 40 { // three letters are too few for a guess
		meant = diag.Nearest(words, typeNames)
	}
	switch {
	case meant != "":
		d.Help = `did you mean "` + meant + `"?`
		return text.Fixed(d, at, meant)
	case strings.HasPrefix(words, "^"):
		d.Help = `a range of versions follows the name: "int32 id ^86"`
	}
	return d
}

func badElement(t *typeExpr) diag.Diagnostic {
	name := t.name.Text()
	help := "an element is a fixed type, a string, bytes or another array<T>"
	if lookupType(name) == arrayType {
		help = `write "array list" and "- array inner" on the next line, or "array<array<int32>>"`
	}
	return text.Mistake(codeBadElement, t.name, text.Quote(name)+" cannot be an element", help)
}

func objectElement(t *typeExpr) diag.Diagnostic {
	return text.Fixed(text.Mistake(codeBadElement, t.elem.name, `"object" cannot be an element`,
		`write "array"; the fields of an element follow, one dash deeper`), t.subtype, "")
}

func badLength(at source.Span, most int) diag.Diagnostic {
	return text.Mistake(codeBadLength, at, text.Quote(at.Text())+" is not a valid length",
		fmt.Sprintf("write a number from 1 to %d; a message has at most %d bytes", most, maxFrame))
}

func fixedVariable(t *typeExpr) diag.Diagnostic {
	return text.Mistake(codeFixedVariable, t.brackets, text.Quote(t.name.Text())+" cannot have a fixed length",
		`only types of a fixed size, string and bytes can: "byte[16]"`)
}

func ignoredSubtype(t *typeExpr) diag.Diagnostic {
	return text.Fixed(text.Doubt(codeIgnoredSubtype, t.subtype, text.Quote(t.subtype.Text())+" has no effect on "+text.Quote(t.name.Text()),
		"only an array has an element type"), t.subtype, "")
}

func ignoredFlags(t *typeExpr) diag.Diagnostic {
	help := "only an array has flags"
	if t.name.Text() == "array" {
		help = "only the outermost array of a line has flags"
	}
	d := text.Doubt(codeIgnoredFlags, t.brackets, text.Quote(t.brackets.Text())+" has no effect on "+text.Quote(t.name.Text()), help)
	if len(t.sizes) == 0 {
		return text.Fixed(d, t.brackets, "")
	}
	return d
}

func unknownFlag(at source.Span) diag.Diagnostic {
	d := text.Doubt(codeUnknownFlag, at, "unknown flag "+text.Quote(at.Text()), `the only flag is "`+interleaved+`"`)
	if len(at.Text()) <= 40 && diag.Nearest(at.Text(), []string{interleaved}) != "" {
		d.Help = `did you mean "` + interleaved + `"?`
		return text.Fixed(d, at, interleaved)
	}
	return d
}

// Nesting and names.

func nestedFirst(at source.Span) diag.Diagnostic {
	return text.Mistake(codeNestedFirst, at, "dashes without a preceding array or object", "the first field of a definition has no dashes")
}

func nestedInValue(at, outer source.Span, typ string) diag.Diagnostic {
	return text.Near(text.Mistake(codeNestedInValue, at, text.Quote(outer.Text())+" cannot have fields",
		`only "array" and "object" have fields on the lines below`), outer, "its type is "+text.Quote(typ))
}

func depthJump(at source.Span, level int) diag.Diagnostic {
	help := "write one dash"
	if level > 1 {
		help = fmt.Sprintf("write %d dashes", level)
	}
	return text.Fixed(text.Doubt(codeDepthJump, at, "more than one level deeper", help+"; the field is read as one level deeper"),
		at, strings.TrimSuffix(strings.Repeat("- ", level), " "))
}

func duplicateName(at source.Span, first *schema.Field) diag.Diagnostic {
	return text.Near(text.Mistake(codeDuplicateName, at, "duplicate field "+text.Quote(at.Text()),
		"give it another name; fields of fixed size may share a name, also with one string, bytes or array"), first.Span, "the first one is here")
}

func repeatedField(at source.Span, first *schema.Field) diag.Diagnostic {
	help := "the value is the last one read; an earlier one that differs is " + text.Quote(at.Text()+"#1")
	return text.Near(text.Doubt(codeRepeatedField, at, text.Quote(at.Text())+" is repeated", help), first.Span, "the first one is here")
}

func tooLarge(at source.Span) diag.Diagnostic {
	return text.Mistake(codeTooLarge, at, fmt.Sprintf("more than %d bytes", maxFrame), "the length of a message has 16 bits")
}

// Interleaved arrays.

func interleavedApart(at source.Span) diag.Diagnostic {
	return text.Mistake(codeInterleavedApart, at, "interleaved arrays are not next to each other",
		"put all interleaved arrays on consecutive lines")
}

func interleavedString(at source.Span) diag.Diagnostic {
	return text.Mistake(codeInterleavedString, at, "an array of strings cannot be interleaved",
		"tera-toolbox cannot encode it; remove [interleaved]")
}

func interleavedAlone(at source.Span) diag.Diagnostic {
	return text.Doubt(codeInterleavedAlone, at, "no adjacent array is interleaved with this one", "add [interleaved] to the other array too, or remove it here")
}

// Pointers.

func missingRef(at source.Span, path string) diag.Diagnostic {
	return text.Mistake(codeMissingRef, at, text.Quote(path)+" has no ref",
		`other fields have one, so every pointer needs one: write "ref `+path+`" before the fields, at the position of the pointer`)
}

func refWithoutField(at source.Span, meant string) diag.Diagnostic {
	d := text.Mistake(codeRefWithoutField, at, "there is no string, bytes or array "+text.Quote(at.Text()),
		"a ref precedes its field, at the same level")
	if meant != "" {
		d.Help = "did you mean " + text.Quote(meant) + "?"
		return text.Fixed(d, at, meant)
	}
	return d
}

func refAfterField(at source.Span) diag.Diagnostic {
	return text.Mistake(codeRefAfterField, at, "the ref of "+text.Quote(at.Text())+" is after its field", "put it before the field")
}

func refInObject(at source.Span, path string) diag.Diagnostic {
	return text.Mistake(codeRefInObject, at, "a ref inside an object",
		`an object has no bytes of its own: write "ref `+path+`" before the object`)
}

func repeatedRef(at, first source.Span) diag.Diagnostic {
	return text.Near(text.Mistake(codeRepeatedRef, at, text.Quote(at.Text())+" already has a ref", "remove one of them"), first, "the first one is here")
}

func undescribed(at source.Span) diag.Diagnostic {
	return text.Doubt(codeUnusedCount, at, "there is no string, bytes or array "+text.Quote(at.Text())+", so its two bytes are read and not shown",
		`"count" and "offset" are obsolete keywords for the parts of a pointer; describe the field, or write uint16`)
}

// Files.

func badFileName(f *source.File) diag.Diagnostic {
	return text.Mistake(codeFileName, source.Span{File: f}, text.Quote(baseName(f.Name))+" is not named like a definition",
		`name it NAME.VERSION.def, as in "S_CHAT.1.def"`)
}

func sameDefinition(f, first *source.File) diag.Diagnostic {
	return text.Near(text.Doubt(codeSameDefinition, source.Span{File: f}, "there are several files "+text.Quote(baseName(f.Name)), "this one is not used"),
		source.Span{File: first}, "the other one is used")
}

func missingInclude(at source.Span, meant string) diag.Diagnostic {
	d := text.Mistake(codeMissingInclude, at, "there is no file "+text.Quote(at.Text()), "its fields are missing here")
	if meant != "" {
		d.Help = "did you mean " + text.Quote(meant) + "?"
		return text.Fixed(d, at, meant)
	}
	return d
}

func includeCycle(at source.Span) diag.Diagnostic {
	return text.Mistake(codeIncludeCycle, at, text.Quote(at.Text())+" includes itself, directly or through other files",
		"remove one of the @include lines")
}

func tooManyIncludes(at source.Span) diag.Diagnostic {
	return text.Mistake(codeTooManyIncludes, at, "too many @include lines", fmt.Sprintf("a definition includes at most %d files", maxIncludes))
}

func nestedInclude(at source.Span) diag.Diagnostic {
	return text.Mistake(codeNestedInclude, at, "@include after dashes", "included fields are at the top level: remove the dashes")
}

// Maps and deprecated.json.

func badMapLine(at source.Span) diag.Diagnostic {
	return text.Mistake(codeMapLine, at, text.Quote(at.Text())+" is not a name and a code", `write "NAME 12345" or "NAME = 12345"`)
}

func badMapCode(at source.Span) diag.Diagnostic {
	help := "write a decimal number from 0 to 65535"
	if digits, ok := strings.CutPrefix(strings.ToLower(at.Text()), "0x"); ok {
		if n, err := strconv.ParseUint(digits, 16, 16); err == nil {
			help = "other programs read decimal numbers only: write " + strconv.FormatUint(n, 10)
		}
	}
	return text.Mistake(codeMapCode, at, text.Quote(at.Text())+" is not a valid code", help)
}

func mapNameTwice(at, first source.Span) diag.Diagnostic {
	return text.Near(text.Doubt(codeMapNameTwice, at, "duplicate name "+text.Quote(at.Text()), "this line applies; remove the other one"),
		first, "the first one is here")
}

func mapCodeTwice(at, first source.Span) diag.Diagnostic {
	return text.Near(text.Doubt(codeMapCodeTwice, at, "duplicate code "+text.Quote(at.Text()), "one of the two is wrong"),
		first, "it belongs to "+text.Quote(first.Text()))
}

func deprecated(at source.Span, why string) diag.Diagnostic {
	return text.Doubt(codeDeprecated, at, why, "write a version of the definition for this patch")
}

func deprecatedSomewhere(at source.Span, valid string) diag.Diagnostic {
	return text.Doubt(codeDeprecated, at, "the definition is "+valid+" ("+deprecatedName+"), and the patch is not known", "set the game version")
}

func badDeprecated(at source.Span, why string) diag.Diagnostic {
	return text.Mistake(codeBadDeprecated, at, why, `write {"NAME": {"1": {"max": 113, "readable": true}}}`)
}
