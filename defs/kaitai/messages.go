package kaitai

import (
	"fmt"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// Diagnostics of this dialect. Their codes never change.

func notYAML(at source.Span, why string) diag.Diagnostic {
	return text.Mistake("not-yaml", at, why, "a file is a map of meta, seq, types, instances and enums")
}

func tooLarge(at source.Span, what string) diag.Diagnostic {
	return text.Mistake("too-large", at, what, "split the format")
}

func sameName(at source.Span, name string) diag.Diagnostic {
	return text.Mistake("same-name", at, text.Quote(name)+" occurs twice", "only the first one counts")
}

func malformed(at source.Span, what, help string) diag.Diagnostic {
	return text.Mistake("malformed", at, what, help)
}

func unknownKey(at source.Span, name, where, near string) diag.Diagnostic {
	d := text.Doubt("unknown-key", at, fmt.Sprintf("%s is not a key of %s", text.Quote(name), where), "it is ignored")
	if near == "" {
		return d
	}
	d.Help = fmt.Sprintf("did you mean %q?", near)
	return text.Fixed(d, at, near)
}

func unknownType(at source.Span, name, near string) diag.Diagnostic {
	d := text.Mistake("unknown-type", at, "no type is named "+text.Quote(name), "define it in types, or import the file that has it")
	if near == "" {
		return d
	}
	d.Help = fmt.Sprintf("did you mean %q?", near)
	return d
}

func unknownImport(at source.Span, name string) diag.Diagnostic {
	return text.Mistake("unknown-import", at, "the project has no file "+text.Quote(name+".ksy"), "add it, or write the path relative to this file")
}

func ambiguousImport(at source.Span, name string) diag.Diagnostic {
	return text.Mistake("ambiguous-import", at, "several files are named "+text.Quote(name+".ksy"), "write the path relative to this file")
}

func badExpression(at source.Span, why string) diag.Diagnostic {
	return text.Mistake("bad-expression", at, why, "see the manual for the expressions that are read")
}

// loss returns the diagnostic of what is a format of Kaitai Struct, but cannot be said here.
func loss(at source.Span, what, effect string) diag.Diagnostic {
	return text.Doubt("not-supported", at, what, effect)
}
