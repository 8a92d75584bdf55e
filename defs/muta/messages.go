package muta

import (
	"errors"
	"fmt"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// The codes of all diagnostics of this dialect. They never change.
const (
	// Malformed lines.
	codeMalformedLine = "malformed-line"
	codeNoRecord      = "no-record"
	codeIndent        = "indent"

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
	codeBadEncoding     = "bad-encoding"
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

// Malformed lines.

func malformedLine(at source.Span) diag.Diagnostic {
	d := text.Mistake(codeMalformedLine, at, `a line needs a ":" or a "="`, `write "packet: name", or a field below it: "name = uint8"`)
	words := strings.Fields(at.Text())
	switch {
	case len(words) == 2 && kindOf(words[0]) != otherRecord && text.IsName(words[1]):
		d.Help = `did you mean "` + words[0] + ": " + words[1] + `"?`
		return text.Fixed(d, at, words[0]+": "+words[1])
	case len(words) == 2 && text.IsName(words[0]) && findPrimitive(words[1]) != nil:
		d.Help = `did you mean "` + words[0] + " = " + words[1] + `"?`
		return text.Fixed(d, at, words[0]+" = "+words[1])
	case len(words) == 2 && text.IsName(words[1]) && findPrimitive(words[0]) != nil:
		d.Help = `the name comes first: "` + words[1] + " = " + words[0] + `"`
		return text.Fixed(d, at, words[1]+" = "+words[0])
	case strings.HasPrefix(at.Text(), "//"):
		d.Help = `a comment starts with "#"`
		return text.Fixed(d, at.Sub(0, 2), "#")
	}
	return d
}

func bareEnumName(at source.Span) diag.Diagnostic {
	return text.Fixed(text.Mistake(codeMalformedLine, at, `a line needs a "="`, `write "`+at.Text()+` ="; without a number it is one more than the previous value`), at, at.Text()+" =")
}

func colonForEquals(at source.Span, colon int) diag.Diagnostic {
	return text.Fixed(text.Mistake(codeMalformedLine, at, `":" in an indented line`, `write "=" between a name and its value; only headers have a ":", and are not indented`),
		at.Sub(colon, colon+1), " =")
}

func noKey(at source.Span) diag.Diagnostic {
	return text.Mistake(codeMalformedLine, at, `no name before "="`, `write a name: "name = uint8"`)
}

func noRecord(at source.Span) diag.Diagnostic {
	return text.Mistake(codeNoRecord, at, text.Quote(at.Text())+" is outside of a record", `write a header above it: "packet: name"`)
}

func noIndent(at source.Span) diag.Diagnostic {
	return text.Fixed(text.Doubt(codeIndent, at, "this line is not indented", "indent it; only headers start the line"), at.Sub(0, 0), indent)
}

func indentedHeader(whole, at source.Span) diag.Diagnostic {
	return text.Fixed(text.Doubt(codeIndent, at, "this header is indented", "a header starts the line"), whole.Sub(0, at.Start-whole.Start), "")
}

// Records, keys and directives.

func unknownKind(at source.Span) diag.Diagnostic {
	var names []string
	for _, k := range recordKinds {
		names = append(names, k.name)
	}
	d := text.Doubt(codeUnknownKind, at, "unknown kind of record "+text.Quote(at.Text()), "it is preserved and not read; the kinds are "+strings.Join(names, ", "))
	if meant := diag.Nearest(at.Text(), names); meant != "" {
		d.Help = `did you mean "` + meant + `"?`
		return text.Fixed(d, at, meant)
	}
	return d
}

func noRecordName(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadName, at, text.Quote(at.Text())+" without a name", `write one after the colon: "`+at.Text()+`: name"`)
}

func badName(at source.Span) diag.Diagnostic {
	d := text.Mistake(codeBadName, at, text.Quote(at.Text())+" is not a valid name", `a name has letters, digits and "_" and does not start with a digit`)
	if name := text.CleanName(at.Text()); strings.Trim(name, "_") != "" && len(name) <= 60 {
		d.Help += `; did you mean "` + name + `"?`
		return text.Fixed(d, at, name)
	}
	return d
}

func reservedName(at source.Span) diag.Diagnostic {
	return text.Mistake(codeReservedName, at, text.Quote(at.Text())+" is the name of a type", "choose another name")
}

func duplicateName(at, first source.Span, what string) diag.Diagnostic {
	help := "give one of the two another name"
	if isDirective(at.Text()) {
		help = "remove one of the two"
	}
	return text.Near(text.Mistake(codeDuplicateName, at, "duplicate "+what+" "+text.Quote(at.Text()), help), first, "the first one is here")
}

func misplacedField(at source.Span, kind recordKind) diag.Diagnostic {
	return text.Mistake(codeMisplacedField, at, fmt.Sprintf("a %s has no fields", kind), "fields belong in a packet or a struct")
}

func unknownDirective(at source.Span) diag.Diagnostic {
	var names []string
	for _, d := range directives {
		names = append(names, strings.TrimPrefix(d.name, "__"))
	}
	d := text.Doubt(codeUnknownDirective, at, "unknown directive "+text.Quote(at.Text()), `it is preserved and has no effect; names of fields cannot start with "__"`)
	if meant := diag.Nearest(strings.TrimPrefix(at.Text(), "__"), names); meant != "" {
		d.Help = `did you mean "__` + meant + `"?`
		return text.Fixed(d, at, "__"+meant)
	}
	return d
}

func misplacedDirective(at source.Span, d *directive, kind recordKind) diag.Diagnostic {
	var on []string
	for _, k := range d.on {
		on = append(on, k.String())
	}
	return text.Mistake(codeMisplacedDirective, at, fmt.Sprintf("%q has no effect in a %s", d.name, kind), "it belongs in a "+strings.Join(on, ", "))
}

func badDirective(ln *line, allowed []string) diag.Diagnostic {
	return text.Mistake(codeBadDirective, ln.value, text.Quote(ln.value.Text())+" is not a valid value of "+text.Quote(ln.key.Text()), "write "+strings.Join(allowed, ", "))
}

func badFirst(at source.Span, most uint64) diag.Diagnostic {
	return text.Mistake(codeBadDirective, at, text.Quote(at.Text())+" is not a valid id", fmt.Sprintf("write a number from 0 to %d", most))
}

func missingGroup(at source.Span, why source.Span) diag.Diagnostic {
	return text.Near(text.Mistake(codeMissingGroup, at, "packet "+text.Quote(at.Text())+" has no group", `write "`+groupDirective+` = name" below it`), why, "the value is empty")
}

func undefinedGroup(at source.Span, groups []string) diag.Diagnostic {
	d := text.Mistake(codeUndefinedGroup, at, "undefined group "+text.Quote(at.Text()), `write "group: `+text.CleanName(at.Text())+`" in the same file`)
	if meant := diag.Nearest(at.Text(), groups); meant != "" {
		d.Help = `did you mean "` + meant + `"?`
		return text.Fixed(d, at, meant)
	}
	return d
}

func tooManyPackets(at source.Span, id uint64, g *group) diag.Diagnostic {
	help := "use two groups"
	if g.idBits == 8 {
		help = `write "` + idDirective + ` = uint16" below the group`
	}
	return text.Mistake(codeTooManyPackets, at, fmt.Sprintf("the id of %s would be %d, which does not fit %d bits", text.Quote(at.Text()), id, g.idBits), help)
}

func emptyEnum(at source.Span) diag.Diagnostic {
	return text.Mistake(codeEmptyEnum, at, "enum "+text.Quote(at.Text())+" has no values", `write some below it: "NAME = 1"`)
}

func badEnumValue(at source.Span, value, typ string) diag.Diagnostic {
	return text.Mistake(codeBadEnumValue, at, value+" does not fit "+text.Quote(typ), `write another number, or a larger type: "`+typeDirective+` = uint16"`)
}

// Types.

func noType(at source.Span) diag.Diagnostic {
	return text.Mistake(codeNoType, at, "a field without a type", `write one after "=": "name = uint8"`)
}

func commentAfterValue(ln *line) diag.Diagnostic {
	what, before := "value", indent
	if ln.kind == headerLine {
		what, before = "header", ""
	}
	d := text.Mistake(codeCommentAfter, ln.comment, "a comment after a "+what, "write the comment on a separate line")
	return text.Fixed(d, ln.span, ln.comment.Text()+"\n"+before+space.Trimmed(ln.span.Sub(0, ln.comment.Start-ln.span.Start)).Text())
}

func expected(at source.Span, what string) diag.Diagnostic {
	message := what + " is missing"
	if at.Text() != "" {
		message = text.Quote(at.Text()) + " where " + what + " is expected"
	}
	return text.Mistake(codeMalformedType, at, message, forms)
}

// forms shows the syntax of the value of a field.
const forms = `a field looks like "uint8", "uint8 [0, 9]", "char {16}" or "char <uint8> {2, 16}"`

func notClosed(at source.Span, closing byte) diag.Diagnostic {
	return text.Mistake(codeMalformedType, at, text.Quote(at.Text())+" is not closed", `add "`+string(closing)+`"`)
}

func twice(at source.Span, what string) diag.Diagnostic {
	return text.Mistake(codeMalformedType, at, "a second "+what, forms)
}

func tooMuch(at, typ source.Span) diag.Diagnostic {
	d := text.Mistake(codeMalformedType, at, "unexpected "+text.Quote(at.Text())+" after "+text.Quote(typ.Text()), forms)
	if strings.HasPrefix(at.Text(), "//") || strings.HasPrefix(at.Text(), "/*") {
		d.Help = `a comment is on a separate line and starts with "#"`
	}
	if strings.HasPrefix(at.Text(), ";") {
		d.Help = "lines do not end with a semicolon"
		return text.Fixed(d, at, "")
	}
	return d
}

func oneBound(e *fieldExpr) diag.Diagnostic {
	d := text.Mistake(codeMalformedType, e.ranges, "a range has two bounds", `write "[0, 9]"; the number of elements of an array is in braces: "`+e.typ.Text()+" {"+e.hi.Text()+`}"`)
	return text.Fixed(d, e.ranges, "{"+e.hi.Text()+"}")
}

func suffixOrder(at, value source.Span, e *fieldExpr) diag.Diagnostic {
	return text.Fixed(text.Mistake(codeSuffixOrder, at, text.Quote(at.Text())+" is in the wrong place", "the order is type [range] <length type> {min, max}: "+text.Quote(e.text())), value, e.text())
}

func unknownType(at source.Span, defined []string) diag.Diagnostic {
	words := at.Text()
	names := typeNames()
	d := text.Mistake(codeUnknownType, at, "unknown type "+text.Quote(words), "the types are "+strings.Join(names, ", ")+", and the structs and enums of the same file")
	meant := otherNames[strings.ToLower(words)]
	if meant == "" && len(words) > 3 && len(words) <= 40 { // three letters are too few for a guess
		meant = diag.Nearest(words, append(names, defined...))
	}
	if meant != "" {
		d.Help = `did you mean "` + meant + `"?`
		return text.Fixed(d, at, meant)
	}
	return d
}

func rangeWithout(at source.Span, typ string) diag.Diagnostic {
	return text.Mistake(codeRangeWithout, at, text.Quote(typ)+" cannot have a range", "only numbers have a range")
}

func badEncoding(at source.Span, why string) diag.Diagnostic {
	return text.Mistake(codeBadEncoding, at, text.Quote(at.Text())+": "+why, `"char [utf-8] {16}" names the encoding of a text; numbers of characters are in braces`)
}

func badBound(at source.Span, why, help string) diag.Diagnostic {
	return text.Mistake(codeBadRange, at, text.Quote(at.Text())+" "+why, help)
}

func emptyRange(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadRange, at, "the range "+text.Quote(at.Text())+" is empty", "the lower bound comes first")
}

func badLimit(at source.Span, why string) diag.Diagnostic {
	return text.Mistake(codeBadLimit, at, text.Quote(at.Text())+" "+why, "write a number from 0 to 4294967295, or a constant")
}

func minAboveMax(at source.Span) diag.Diagnostic {
	return text.Mistake(codeMinAboveMax, at, "min is larger than max in "+text.Quote(at.Text()), "the smaller number comes first")
}

func badLength(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadLength, at, text.Quote(at.Text())+" is not valid as the type of a length", "write uint8, uint16 or uint32")
}

func missingLength(at source.Span, e *fieldExpr, length string) diag.Diagnostic {
	d := text.Mistake(codeMissingLength, at, text.Quote(at.Text())+" requires a type of the length", "otherwise the encoding would depend on the value of the constant")
	if length == "" {
		return d
	}
	d.Help = `write "` + e.typ.Text() + " <" + length + "> " + e.limits.Text() + `"; ` + d.Help
	return text.Fixed(d, e.limits.Sub(0, 0), "<"+length+"> ")
}

func lengthWithoutArray(e *fieldExpr) diag.Diagnostic {
	return text.Mistake(codeLengthNoArray, e.length, "the type of a length without an array", `write the maximum number of elements after it: "`+e.typ.Text()+" <"+e.length.Text()+`> {16}"`)
}

func maxTooLarge(at source.Span, value, length string) diag.Diagnostic {
	d := text.Mistake(codeMaxTooLarge, at, fmt.Sprintf("max %s does not fit %q", value, length), "write a smaller number or a larger type")
	return d
}

func recursiveStruct(at source.Span, name string) diag.Diagnostic {
	return text.Mistake(codeRecursiveStruct, at, "struct "+text.Quote(name)+" is inside itself, directly or through other structs", "its size would be infinite; remove one of the fields")
}

func tooManyFields(at source.Span, most int) diag.Diagnostic {
	return text.Mistake(codeTooLarge, at, fmt.Sprintf("more than %d fields", most), "the fields of a struct count for each use")
}

func tooDeep(at source.Span, most int) diag.Diagnostic {
	return text.Mistake(codeTooLarge, at, fmt.Sprintf("structs are nested more than %d deep", most), "reduce the nesting")
}

func tooManyBytes(at source.Span, most uint64) diag.Diagnostic {
	return text.Mistake(codeTooLarge, at, text.Quote(at.Text())+" has too many bytes", fmt.Sprintf("a message has at most %d", most))
}

// Constants.

func unresolved(at source.Span, name string) diag.Diagnostic {
	d := text.Mistake(codeUnresolved, at, "unresolved constant "+text.Quote(name), `set its value in the settings, with a #define, or in a record "constants:" of this file`)
	if name != at.Text() {
		d.Message = text.Quote(at.Text()) + " depends on the unresolved constant " + text.Quote(name)
	}
	return d
}

func badConstant(at source.Span, name, value string, err error) diag.Diagnostic {
	code, message := codeBadConstant, "the constant "+text.Quote(name)+" is "+text.Quote(value)+", which is not a number"
	help := `write a number: "` + name + ` = 16"`
	if m := (missing{}); errors.As(err, &m) {
		code, message = codeUnresolved, "the constant "+text.Quote(name)+" "+text.Printable(err.Error())+", which has no value"
		help = "set the value of that constant too"
	} else if !errors.Is(err, errNoNumber) {
		message = "the constant " + text.Quote(name) + " is " + text.Quote(value) + ", which " + err.Error()
	}
	return text.Mistake(code, at, message, help)
}

func noValue(at source.Span, name string) diag.Diagnostic {
	return text.Mistake(codeBadConstant, at, "the constant "+text.Quote(name)+" has no value", `write a number: "`+name+` = 16"`)
}

func badConstantLine(at source.Span) diag.Diagnostic {
	return text.Mistake(codeConstantLine, at, text.Quote(at.Text())+" is not a constant", `write "NAME=16" or "#define NAME 16"`)
}

func constantTwice(at, first source.Span) diag.Diagnostic {
	return text.Near(text.Doubt(codeConstantTwice, at, text.Quote(at.Text())+" has another value here", "this one applies; remove the other one"), first, "the first one is here")
}

func skippedDefine(at source.Span, value string, err error) diag.Diagnostic {
	why := "is not a number"
	if !errors.Is(err, errNoNumber) {
		why = text.Printable(err.Error())
	}
	return text.Doubt(codeSkippedDefine, at, text.Quote(at.Text())+" is not used: "+text.Quote(value)+" "+why, "")
}

func macro(at source.Span) diag.Diagnostic {
	return text.Doubt(codeSkippedDefine, at, text.Quote(at.Text())+" is not used: it has arguments", "")
}
