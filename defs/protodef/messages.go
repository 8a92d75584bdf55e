package protodef

import (
	"fmt"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// Diagnostics of this dialect. Their codes never change.

func unknownType(at source.Span, name, near string) diag.Diagnostic {
	d := text.Mistake("unknown-type", at, "no type is named "+text.Quote(name), "define it in this file")
	if plain := text.PlainNumber(name); numberNamed(plain) != nil {
		near = plain
	}
	if near == "" {
		return d
	}
	d.Help = fmt.Sprintf("did you mean %q?", near)
	if i := strings.Index(at.Text(), name); i >= 0 { // in quotes, or not
		return text.Fixed(d, at.Sub(i, i+len(name)), near)
	}
	return d
}

func nativeType(at source.Span, name string) diag.Diagnostic {
	return text.Mistake("native-type", at, text.Quote(name)+" is native: its encoding is in the code of another program", "define it by other types")
}

func malformedType(at source.Span, what, help string) diag.Diagnostic {
	return text.Mistake("malformed-type", at, what, help)
}

func noType(n *node) diag.Diagnostic {
	return malformedType(n.span, "a type is a name, or an array of a name and arguments, not "+n.kind.String(), `for example "varint" or ["option", "varint"]`)
}

func notRead(at source.Span, name, why string) diag.Diagnostic {
	return text.Doubt("not-read", at, text.Quote(name)+" is ignored: it is "+why, `a type is a name or an array, a namespace an object; put other data into another file or a comment`)
}

func sameName(at source.Span, name, where string) diag.Diagnostic {
	return text.Doubt("same-name", at, text.Quote(name)+" occurs twice in this "+where, "only the last one counts")
}

func badCompare(at source.Span, path, why string) diag.Diagnostic {
	return text.Mistake("bad-compare", at, text.Quote(path)+" "+why, "compare with an integer, a mapper, a boolean, a flag, a text of variable size, or an array for its count")
}

func badFormula(at source.Span, formula, why string) diag.Diagnostic {
	return text.Mistake("bad-expression", at, text.Quote(formula)+" "+why, "use integers, earlier numbers, flags and counts, and the operators of compareTo")
}

func beyondBits(at source.Span, name string, bits int) diag.Diagnostic {
	d := text.Mistake("flag-beyond", at, "the flag "+text.Quote(name)+" is beyond the "+itoa(bits)+" bits of its number: it is never set", "give the flags a larger type")
	d.Severity = diag.Warning
	return d
}

func unknownCase(at source.Span, value, of string) diag.Diagnostic {
	return text.Doubt("unknown-case", at, text.Quote(value)+" is not a value of "+text.Quote(of), "this case never applies")
}

func tooLarge(at source.Span, what string) diag.Diagnostic {
	return text.Mistake("too-large", at, what, "split the definition")
}

func recursiveType(at source.Span, name string) diag.Diagnostic {
	return text.Mistake("recursive-type", at, text.Quote(name)+" contains itself, and depends on the container around it", "move the field that it depends on into the type")
}
