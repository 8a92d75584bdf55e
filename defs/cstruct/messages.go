package cstruct

import (
	"fmt"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// The codes of diagnostics. They never change.
const (
	codeMalformed       = "malformed-declaration"
	codeNotClosed       = "not-closed"
	codeUnexpected      = "unexpected-word"
	codeTooLarge        = "too-large"
	codeUndefinedMacro  = "undefined-macro"
	codeMissingFile     = "missing-file"
	codePragma          = "unknown-pragma"
	codeMacro           = "unknown-macro"
	codeErrorDirective  = "error-directive"
	codeUnknownType     = "unknown-type"
	codeUnknownName     = "unknown-name"
	codeNotConstant     = "not-constant"
	codeNoSize          = "no-size"
	codeBadSize         = "bad-size"
	codeBadBits         = "bad-bits"
	codeBadAlignment    = "bad-alignment"
	codeFieldType       = "no-field-type"
	codeFunction        = "function-skipped"
	codeVirtual         = "virtual-functions"
	codeTemplate        = "bad-template"
	codePointer         = "pointer"
	codeUnion           = "union-member"
	codeInsideItself    = "recursive-struct"
	codeDuplicate       = "duplicate-name"
	codeAssertion       = "failed-assertion"
	codeBadCode         = "bad-opcode"
	codeAnnotation      = "bad-annotation"
	codeBrokenInside    = "broken-inside"
	codeAttribute       = "unknown-attribute"
	codeMissingSemi     = "missing-semicolon"
	codeSpecializations = "specialization"
)

// Words.

func notClosed(at source.Span, what string) diag.Diagnostic {
	return text.Mistake(codeNotClosed, at, "this "+what+" is not closed", "")
}

func unexpected(t token, help string) diag.Diagnostic {
	return text.Mistake(codeUnexpected, t.at, "unexpected "+text.Quote(t.text), help)
}

func malformed(at source.Span, help string) diag.Diagnostic {
	return text.Mistake(codeMalformed, at, text.Quote(at.Text())+" is not understood", help)
}

func noSemicolon(at source.Span) diag.Diagnostic {
	return text.Fixed(text.Mistake(codeMissingSemi, at, `";" is missing`, "a field ends with a semicolon"), at, ";")
}

func tooManyTokens(at source.Span) diag.Diagnostic {
	return text.Mistake(codeTooLarge, at, fmt.Sprintf("more than %d words, with macros and included files", maxTokens), "the rest is not read")
}

func tooDeep(at source.Span) diag.Diagnostic {
	return text.Mistake(codeTooLarge, at, "nested too deeply", fmt.Sprintf("at most %d levels", maxDepth))
}

func tooManyFields(at source.Span, most int) diag.Diagnostic {
	return text.Mistake(codeTooLarge, at, fmt.Sprintf("more than %d fields", most), "the fields of a struct count for each use")
}

// The preprocessor.

func undefinedName(at source.Span, name string) diag.Diagnostic {
	return text.Doubt(codeUndefinedMacro, at, text.Quote(name)+" has no value here, and counts as 0", "set it in the settings, or with #define, if the condition should hold")
}

func pastingMacro(at, macro source.Span) diag.Diagnostic {
	return text.Near(text.Mistake(codeMacro, at, "the macro "+text.Quote(at.Text())+" has \"#\" or \"##\", which is not read", "write out what it stands for"), macro, "it is defined here")
}

func missingFile(at source.Span, name string) diag.Diagnostic {
	return text.Doubt(codeMissingFile, at, text.Quote(name)+" is not in the project", "what it defines is unknown; add the file if types of it are used")
}

func unknownPragma(at source.Span) diag.Diagnostic {
	return text.Mistake(codePragma, at, text.Quote(at.Text())+" is not read", "#pragma pack is; the order of bytes is set by the option \"endian\", or by @endian in a comment")
}

func errorDirective(at source.Span) diag.Diagnostic {
	return text.Doubt(codeErrorDirective, at, "the file has an #error here: "+text.Quote(at.Text()), "a condition around it may need a name that is set in the settings")
}

// Types and names.

func unknownType(at source.Span, name string) diag.Diagnostic {
	d := text.Mistake(codeUnknownType, at, "unknown type "+text.Quote(name), "add the file that defines it to the project")
	if strings.HasPrefix(name, "std::") {
		d.Message = text.Quote(name) + " has no layout"
		d.Help = "its contents are not in the struct, but elsewhere in memory; a message has arrays of numbers and of characters"
	}
	return d
}

func unknownName(at source.Span, name, why string) diag.Diagnostic {
	return text.Mistake(codeUnknownName, at, text.Quote(name)+" "+why, "define it with #define, constexpr or enum, or add the file that does")
}

func notConstant(at source.Span, why string) diag.Diagnostic {
	return text.Mistake(codeNotConstant, at, text.Quote(at.Text())+" "+why, "write a number, or an expression of numbers and constants")
}

func noSize(at source.Span) diag.Diagnostic {
	return text.Mistake(codeNoSize, at, "the array "+text.Quote(at.Text())+" has no number of elements", "only the last field of a struct can be an array without one")
}

func badSize(at source.Span, n int64) diag.Diagnostic {
	return text.Mistake(codeBadSize, at, fmt.Sprintf("the size %d is not possible", n), fmt.Sprintf("a message has at most %d bytes", maxMessage))
}

func badBits(at source.Span, n int64, typ string) diag.Diagnostic {
	return text.Mistake(codeBadBits, at, fmt.Sprintf("a bit field of %d bits in %s", n, text.Quote(typ)), "a field with a name has 1 bit to as many as its type, which is an integer")
}

func badAlignment(at source.Span, n int64) diag.Diagnostic {
	return text.Mistake(codeBadAlignment, at, fmt.Sprintf("the alignment %d is not possible", n), "alignments are powers of 2")
}

func badElement(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadAlignment, at, "the elements of "+text.Quote(at.Text())+" have a larger alignment than size", "compilers refuse it; align the array, not its type")
}

func reference(at source.Span) diag.Diagnostic {
	return text.Mistake(codeFieldType, at, text.Quote(at.Text())+" is a reference", "what it refers to is not in the message; write the type without \"&\"")
}

func voidField(at source.Span) diag.Diagnostic {
	return text.Mistake(codeFieldType, at, text.Quote(at.Text())+" has the type void", "write uint8_t for a byte")
}

func pointerField(at source.Span) diag.Diagnostic {
	return text.Doubt(codePointer, at, text.Quote(at.Text())+" is a pointer, and shown as a number", "what it points to is not in the message")
}

func notABase(at source.Span, name string) diag.Diagnostic {
	return text.Mistake(codeFieldType, at, text.Quote(name)+" is no struct", "a base is a struct")
}

func insideItself(at source.Span, name string) diag.Diagnostic {
	return text.Mistake(codeInsideItself, at, text.Quote(name)+" is inside itself", "its size would be infinite; remove one of the fields")
}

func unknownMacro(at source.Span, name string) diag.Diagnostic {
	return text.Mistake(codeMacro, at, text.Quote(name)+" is no macro that is known", "it may have fields; add the file that defines it to the project")
}

func unknownAttribute(at source.Span) diag.Diagnostic {
	return text.Mistake(codeAttribute, at, "the attribute "+text.Quote(at.Text())+" is not read", "packed and aligned are; the order of bytes is set by @endian in a comment")
}

func templateArguments(at source.Span, n int) diag.Diagnostic {
	return text.Mistake(codeTemplate, at, fmt.Sprintf("%s has %d parameters", text.Quote(at.Text()), n), "write all of them; default values are not read")
}

func specialization(at source.Span) diag.Diagnostic {
	return text.Mistake(codeSpecializations, at, "the specialization of "+text.Quote(at.Text())+" is not read", "only the template itself is")
}

func virtualFunctions(at source.Span, name string) diag.Diagnostic {
	return text.Mistake(codeVirtual, at, text.Quote(name)+" has virtual functions or bases", "it begins with a pointer of the program, and is no message")
}

func functionSkipped(at source.Span) diag.Diagnostic {
	return text.Doubt(codeFunction, at, "functions are not read", "they are no part of the layout; this is said once for each struct")
}

func duplicateStruct(at, first source.Span, name string) diag.Diagnostic {
	return text.Near(text.Mistake(codeDuplicate, at, "a second struct "+text.Quote(name), "give it another name"), first, "the first one is here")
}

func duplicateField(at, first source.Span, name string) diag.Diagnostic {
	return text.Near(text.Mistake(codeDuplicate, at, "a second field "+text.Quote(name), "give it another name"), first, "the first one is here")
}

func emptyElement(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadSize, at, "the elements of "+text.Quote(at.Text())+" have no bytes", "there could be any number of them")
}

func assertionFails(at source.Span, sizes string) diag.Diagnostic {
	d := text.Mistake(codeAssertion, at, "this does not hold", "the option \"data-model\" has the sizes of long and of pointers")
	if sizes != "" {
		d.Message += ": " + sizes
	}
	return d
}

// Messages.

func badCode(at source.Span, n int64) diag.Diagnostic {
	return text.Mistake(codeBadCode, at, fmt.Sprintf("the code %d is not possible", n), "codes are numbers of 32 bits")
}

func badAnnotation(at source.Span, help string) diag.Diagnostic {
	return text.Mistake(codeAnnotation, at, text.Quote(at.Text())+" is not understood", help)
}

func unionMember(at source.Span, shown string, others []string) diag.Diagnostic {
	return text.Doubt(codeUnion, at, "of this union "+text.Quote(shown)+" is shown, not "+text.Cut(strings.Join(others, ", ")), "write @show in a comment at a member, or @when with a condition at several")
}

func brokenInside(at source.Span, name string, first *diag.Diagnostic) diag.Diagnostic {
	return text.Near(text.Mistake(codeBrokenInside, at, text.Quote(name)+" has a part of another file with errors", "see there"), first.Span, first.Message)
}
