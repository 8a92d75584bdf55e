package muta

import (
	"errors"
	"fmt"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
)

// The codes of all diagnostics of this dialect. They never change.
const (
	// Lines that cannot be read.
	codeLineTooLong     = "line-too-long"
	codeTooManyLines    = "too-many-lines"
	codeTooManyMistakes = "too-many-mistakes"
	codeMalformedLine   = "malformed-line"
	codeNoRecord        = "no-record"
	codeIndent          = "indent"

	// Records, keys and directives.
	codeUnknownKind        = "unknown-kind"
	codeBadName            = "bad-name"
	codeReservedName       = "reserved-name"
	codeDuplicateName      = "duplicate-name"
	codeMisplacedField     = "misplaced-field"
	codeUnknownDirective   = "unknown-directive"
	codeMisplacedDirective = "misplaced-directive"
	codeBadDirective       = "bad-directive"
	codeMissingGroup       = "missing-group"
	codeUndefinedGroup     = "undefined-group"
	codeTooManyPackets     = "too-many-packets"
	codeEmptyEnum          = "empty-enum"
	codeBadEnumValue       = "bad-enum-value"

	// Types.
	codeNoType          = "no-type"
	codeMalformedType   = "malformed-type"
	codeCommentAfter    = "comment-after-value"
	codeSuffixOrder     = "suffix-order"
	codeUnknownType     = "unknown-type"
	codeRangeWithout    = "range-without-number"
	codeBadRange        = "bad-range"
	codeBadLimit        = "bad-limit"
	codeMinAboveMax     = "min-above-max"
	codeBadLength       = "bad-length-type"
	codeMissingLength   = "missing-length-type"
	codeLengthNoArray   = "length-without-array"
	codeMaxTooLarge     = "max-too-large"
	codeRecursiveStruct = "recursive-struct"
	codeTooLarge        = "too-large"

	// Constants.
	codeUnresolved    = "unresolved-constant"
	codeBadConstant   = "bad-constant"
	codeConstantLine  = "constant-line"
	codeConstantTwice = "constant-twice"
	codeSkippedDefine = "skipped-define"
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
	if !at.IsZero() {
		d.Related = append(d.Related, diag.Related{Span: at, Message: message})
	}
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

func lineTooLong(at source.Span, size int) diag.Diagnostic {
	return mistake(codeLineTooLong, at, fmt.Sprintf("the line has %d bytes", size), fmt.Sprintf("a line holds at most %d bytes", maxLine))
}

func tooManyLines(at source.Span) diag.Diagnostic {
	return mistake(codeTooManyLines, at, fmt.Sprintf("more than %d lines", maxLines), "the rest is not read")
}

func tooManyMistakes(at source.Span) diag.Diagnostic {
	return mistake(codeTooManyMistakes, at, "too many mistakes", "the rest is not shown; is this a definition?")
}

func malformedLine(at source.Span) diag.Diagnostic {
	d := mistake(codeMalformedLine, at, `a line needs a ":" or a "="`, `write "packet: name", or a field below it: "name = uint8"`)
	words := strings.Fields(at.Text())
	switch {
	case len(words) == 2 && kindOf(words[0]) != otherRecord && isName(words[1]):
		d.Help = `did you mean "` + words[0] + ": " + words[1] + `"?`
		return fixed(d, at, words[0]+": "+words[1])
	case len(words) == 2 && isName(words[0]) && findPrimitive(words[1]) != nil:
		d.Help = `did you mean "` + words[0] + " = " + words[1] + `"?`
		return fixed(d, at, words[0]+" = "+words[1])
	case len(words) == 2 && isName(words[1]) && findPrimitive(words[0]) != nil:
		d.Help = `the name stands first: "` + words[1] + " = " + words[0] + `"`
		return fixed(d, at, words[1]+" = "+words[0])
	case strings.HasPrefix(at.Text(), "//"):
		d.Help = `a comment starts with "#"`
		return fixed(d, at.Sub(0, 2), "#")
	}
	return d
}

func bareEnumName(at source.Span) diag.Diagnostic {
	return fixed(mistake(codeMalformedLine, at, `a line needs a "="`, `write "`+at.Text()+` ="; without a number it is one more than the name above it`), at, at.Text()+" =")
}

func colonForEquals(at source.Span, colon int) diag.Diagnostic {
	return fixed(mistake(codeMalformedLine, at, `":" in an indented line`, `write "=" between a name and its value; only headers have a ":", and are not indented`),
		at.Sub(colon, colon+1), " =")
}

func noKey(at source.Span) diag.Diagnostic {
	return mistake(codeMalformedLine, at, `nothing stands before "="`, `write a name: "name = uint8"`)
}

func noRecord(at source.Span) diag.Diagnostic {
	return mistake(codeNoRecord, at, quote(at.Text())+" is in no record", `write a header above it: "packet: name"`)
}

func noIndent(at source.Span) diag.Diagnostic {
	return fixed(doubt(codeIndent, at, "this line is not indented", "put some spaces before it: only headers start the line"), at.Sub(0, 0), indent)
}

func indentedHeader(whole, at source.Span) diag.Diagnostic {
	return fixed(doubt(codeIndent, at, "this header is indented", "a header starts the line"), whole.Sub(0, at.Start-whole.Start), "")
}

// Records, keys and directives.

func unknownKind(at source.Span) diag.Diagnostic {
	var names []string
	for _, k := range recordKinds {
		names = append(names, k.name)
	}
	d := doubt(codeUnknownKind, at, "unknown kind of record "+quote(at.Text()), "it is kept and not read; the kinds are "+strings.Join(names, ", "))
	if meant := diag.Nearest(at.Text(), names); meant != "" {
		d.Help = `did you mean "` + meant + `"?`
		return fixed(d, at, meant)
	}
	return d
}

func noRecordName(at source.Span) diag.Diagnostic {
	return mistake(codeBadName, at, quote(at.Text())+" without a name", `write one after the colon: "`+at.Text()+`: name"`)
}

func badName(at source.Span) diag.Diagnostic {
	d := mistake(codeBadName, at, quote(at.Text())+" is no name", `a name has letters, digits and "_" and starts with no digit`)
	if name := cleanName(at.Text()); strings.Trim(name, "_") != "" && len(name) <= 60 {
		d.Help += `; what about "` + name + `"?`
		return fixed(d, at, name)
	}
	return d
}

func reservedName(at source.Span) diag.Diagnostic {
	return mistake(codeReservedName, at, quote(at.Text())+" is a type already", "choose another name")
}

func duplicateName(at, first source.Span, what string) diag.Diagnostic {
	help := "give one of the two another name"
	if isDirective(at.Text()) {
		help = "remove one of the two"
	}
	return near(mistake(codeDuplicateName, at, "duplicate "+what+" "+quote(at.Text()), help), first, "the first one stands here")
}

func misplacedField(at source.Span, kind recordKind) diag.Diagnostic {
	return mistake(codeMisplacedField, at, fmt.Sprintf("a %s has no fields", kind), "fields belong into a packet or a struct")
}

func unknownDirective(at source.Span) diag.Diagnostic {
	var names []string
	for _, d := range directives {
		names = append(names, strings.TrimPrefix(d.name, "__"))
	}
	d := doubt(codeUnknownDirective, at, "unknown directive "+quote(at.Text()), `it is kept and means nothing; no field can start with "__"`)
	if meant := diag.Nearest(strings.TrimPrefix(at.Text(), "__"), names); meant != "" {
		d.Help = `did you mean "__` + meant + `"?`
		return fixed(d, at, "__"+meant)
	}
	return d
}

func misplacedDirective(at source.Span, d *directive, kind recordKind) diag.Diagnostic {
	var on []string
	for _, k := range d.on {
		on = append(on, k.String())
	}
	return mistake(codeMisplacedDirective, at, fmt.Sprintf("%q means nothing in a %s", d.name, kind), "it stands in a "+strings.Join(on, ", "))
}

func badDirective(ln *line, allowed []string) diag.Diagnostic {
	return mistake(codeBadDirective, ln.value, quote(ln.value.Text())+" cannot be the value of "+quote(ln.key.Text()), "write "+strings.Join(allowed, ", "))
}

func badFirst(at source.Span, most uint64) diag.Diagnostic {
	return mistake(codeBadDirective, at, quote(at.Text())+" cannot be an id", fmt.Sprintf("write a number from 0 to %d", most))
}

func missingGroup(at source.Span, why source.Span) diag.Diagnostic {
	return near(mistake(codeMissingGroup, at, "packet "+quote(at.Text())+" has no group", `write "`+groupDirective+` = name" below it`), why, "nothing stands here")
}

func undefinedGroup(at source.Span, groups []string) diag.Diagnostic {
	d := mistake(codeUndefinedGroup, at, "undefined group "+quote(at.Text()), `write "group: `+cleanName(at.Text())+`" in the same file`)
	if meant := diag.Nearest(at.Text(), groups); meant != "" {
		d.Help = `did you mean "` + meant + `"?`
		return fixed(d, at, meant)
	}
	return d
}

func tooManyPackets(at source.Span, id uint64, g *group) diag.Diagnostic {
	help := "use two groups"
	if g.idBits == 8 {
		help = `write "` + idDirective + ` = uint16" below the group`
	}
	return mistake(codeTooManyPackets, at, fmt.Sprintf("the id of %s would be %d, more than %d bits hold", quote(at.Text()), id, g.idBits), help)
}

func emptyEnum(at source.Span) diag.Diagnostic {
	return mistake(codeEmptyEnum, at, "enum "+quote(at.Text())+" has no values", `write some below it: "NAME = 1"`)
}

func badEnumValue(at source.Span, value, typ string) diag.Diagnostic {
	return mistake(codeBadEnumValue, at, value+" does not fit "+quote(typ), `write another number, or a larger type: "`+typeDirective+` = uint16"`)
}

// Types.

func noType(at source.Span) diag.Diagnostic {
	return mistake(codeNoType, at, "a field without a type", `write one after "=": "name = uint8"`)
}

func commentAfterValue(ln *line) diag.Diagnostic {
	what, before := "value", indent
	if ln.kind == headerLine {
		what, before = "header", ""
	}
	d := mistake(codeCommentAfter, ln.comment, "a comment behind a "+what, "a comment has a line of its own")
	return fixed(d, ln.span, ln.comment.Text()+"\n"+before+trimmed(ln.span.Sub(0, ln.comment.Start-ln.span.Start)).Text())
}

func expected(at source.Span, what string) diag.Diagnostic {
	message := what + " is missing"
	if at.Text() != "" {
		message = quote(at.Text()) + " where " + what + " is expected"
	}
	return mistake(codeMalformedType, at, message, forms)
}

// forms shows what the value of a field looks like.
const forms = `a field looks like "uint8", "uint8 [0, 9]", "char {16}" or "char <uint8> {2, 16}"`

func notClosed(at source.Span, closing byte) diag.Diagnostic {
	return mistake(codeMalformedType, at, quote(at.Text())+" is not closed", `write "`+string(closing)+`" behind it`)
}

func twice(at source.Span, what string) diag.Diagnostic {
	return mistake(codeMalformedType, at, "a second "+what, forms)
}

func tooMuch(at, typ source.Span) diag.Diagnostic {
	d := mistake(codeMalformedType, at, quote(at.Text())+" is too much after "+quote(typ.Text()), forms)
	if strings.HasPrefix(at.Text(), "//") || strings.HasPrefix(at.Text(), "/*") {
		d.Help = `a comment has a line of its own and starts with "#"`
	}
	if strings.HasPrefix(at.Text(), ";") {
		d.Help = "no semicolon ends a line"
		return fixed(d, at, "")
	}
	return d
}

func oneBound(e *fieldExpr) diag.Diagnostic {
	d := mistake(codeMalformedType, e.ranges, "a range has two bounds", `write "[0, 9]"; the number of elements of an array stands in braces: "`+e.typ.Text()+" {"+e.hi.Text()+`}"`)
	return fixed(d, e.ranges, "{"+e.hi.Text()+"}")
}

func suffixOrder(at, value source.Span, e *fieldExpr) diag.Diagnostic {
	return fixed(mistake(codeSuffixOrder, at, quote(at.Text())+" stands too late", "the order is type [range] <length type> {min, max}: "+quote(e.text())), value, e.text())
}

func unknownType(at source.Span, defined []string) diag.Diagnostic {
	text := at.Text()
	names := make([]string, 0, len(primitives)+len(defined))
	for _, p := range primitives {
		names = append(names, p.name)
	}
	d := mistake(codeUnknownType, at, "unknown type "+quote(text), "the types are "+strings.Join(names, ", ")+", and the structs and enums of the same file")
	meant := otherNames[strings.ToLower(text)]
	if meant == "" && len(text) > 3 && len(text) <= 40 { // of three letters nothing is certain
		meant = diag.Nearest(text, append(names, defined...))
	}
	if meant != "" {
		d.Help = `did you mean "` + meant + `"?`
		return fixed(d, at, meant)
	}
	return d
}

func rangeWithout(at source.Span, typ string) diag.Diagnostic {
	return mistake(codeRangeWithout, at, quote(typ)+" cannot have a range", "only numbers have one")
}

func badBound(at source.Span, why, help string) diag.Diagnostic {
	return mistake(codeBadRange, at, quote(at.Text())+" "+why, help)
}

func emptyRange(at source.Span) diag.Diagnostic {
	return mistake(codeBadRange, at, "no number is in "+quote(at.Text()), "the lower bound stands first")
}

func badLimit(at source.Span, why string) diag.Diagnostic {
	return mistake(codeBadLimit, at, quote(at.Text())+" "+why, "write a number from 0 to 4294967295, or a constant")
}

func minAboveMax(at source.Span) diag.Diagnostic {
	return mistake(codeMinAboveMax, at, "min is larger than max in "+quote(at.Text()), "the smaller number stands first")
}

func badLength(at source.Span) diag.Diagnostic {
	return mistake(codeBadLength, at, quote(at.Text())+" cannot be the type of a length", "write uint8, uint16 or uint32")
}

func missingLength(at source.Span, e *fieldExpr, length string) diag.Diagnostic {
	d := mistake(codeMissingLength, at, quote(at.Text())+" needs a type for the length", "a constant can change, and the bytes must not change with it")
	if length == "" {
		return d
	}
	d.Help += `: "` + e.typ.Text() + " <" + length + "> " + e.limits.Text() + `"`
	return fixed(d, e.limits.Sub(0, 0), "<"+length+"> ")
}

func lengthWithoutArray(e *fieldExpr) diag.Diagnostic {
	return mistake(codeLengthNoArray, e.length, "the type of a length on something that is no array", `write the largest number of elements behind it: "`+e.typ.Text()+" <"+e.length.Text()+`> {16}"`)
}

func maxTooLarge(at source.Span, value, length string) diag.Diagnostic {
	d := mistake(codeMaxTooLarge, at, fmt.Sprintf("max %s does not fit %q", value, length), "write a smaller number or a larger type")
	return d
}

func recursiveStruct(at source.Span, name string) diag.Diagnostic {
	return mistake(codeRecursiveStruct, at, "struct "+quote(name)+" is inside itself, directly or through other structs", "it would never end: remove one of the fields")
}

func tooManyFields(at source.Span, most int) diag.Diagnostic {
	return mistake(codeTooLarge, at, fmt.Sprintf("more than %d fields", most), "those of structs count each time that they are used")
}

func tooDeep(at source.Span, most int) diag.Diagnostic {
	return mistake(codeTooLarge, at, fmt.Sprintf("structs inside each other more than %d deep", most), "use fewer")
}

func tooManyBytes(at source.Span, most uint64) diag.Diagnostic {
	return mistake(codeTooLarge, at, quote(at.Text())+" takes too many bytes", fmt.Sprintf("a message has at most %d", most))
}

// Constants.

func unresolved(at source.Span, name string) diag.Diagnostic {
	d := mistake(codeUnresolved, at, "unresolved constant "+quote(name), `give it a value: in the settings, with a #define, or in a record "constants:" of this file`)
	if name != at.Text() {
		d.Message = quote(at.Text()) + " needs the unresolved constant " + quote(name)
	}
	return d
}

func badConstant(at source.Span, name, value string, err error) diag.Diagnostic {
	code, message := codeBadConstant, "the constant "+quote(name)+" is "+quote(value)+", which is no number"
	help := `write a number: "` + name + ` = 16"`
	if m := (missing{}); errors.As(err, &m) {
		code, message = codeUnresolved, "the constant "+quote(name)+" "+printable(err.Error())+", which has no value"
		help = "give that one a value, too"
	} else if !errors.Is(err, errNoNumber) {
		message = "the constant " + quote(name) + " is " + quote(value) + ", which " + err.Error()
	}
	return mistake(code, at, message, help)
}

func noValue(at source.Span, name string) diag.Diagnostic {
	return mistake(codeBadConstant, at, "the constant "+quote(name)+" has no value", `write a number: "`+name+` = 16"`)
}

func badConstantLine(at source.Span) diag.Diagnostic {
	return mistake(codeConstantLine, at, quote(at.Text())+" is no constant", `write "NAME=16" or "#define NAME 16"`)
}

func constantTwice(at, first source.Span) diag.Diagnostic {
	return near(doubt(codeConstantTwice, at, quote(at.Text())+" has another value here", "this one counts; remove the other one"), first, "the first one stands here")
}

func skippedDefine(at source.Span, value string, err error) diag.Diagnostic {
	why := "is no number"
	if !errors.Is(err, errNoNumber) {
		why = printable(err.Error())
	}
	return doubt(codeSkippedDefine, at, quote(at.Text())+" is not used: "+quote(value)+" "+why, "")
}

func macro(at source.Span) diag.Diagnostic {
	return doubt(codeSkippedDefine, at, quote(at.Text())+" is not used: it has arguments", "")
}
