package protobuf

import (
	"fmt"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// Diagnostics of this dialect. Their codes never change.

func badProto(at source.Span, why string) diag.Diagnostic {
	return text.Mistake("bad-proto", at, text.Printable(text.Cut(why)), "the rest of the file is read as far as possible")
}

func doubtful(at source.Span, why string) diag.Diagnostic {
	return text.Doubt("doubtful-proto", at, text.Printable(text.Cut(why)), "")
}

func tooDeep(at source.Span) diag.Diagnostic {
	return text.Mistake("too-deep", at, fmt.Sprintf("brackets are nested deeper than %d", maxDepth), "the file is not read")
}

func tooLong(at source.Span) diag.Diagnostic {
	return text.Mistake("too-long", at, fmt.Sprintf("the file is longer than %d bytes", maxText), "the file is not read")
}

func notRead(at source.Span) diag.Diagnostic {
	return text.Mistake("not-read", at, "the file cannot be read", "remove the statement that was written last, until it can be")
}

func missingImport(at source.Span, name string) diag.Diagnostic {
	return text.Doubt("missing-import", at, "the project has no file "+text.Quote(name), "add it: types that it defines are unknown")
}

func unknownType(at source.Span, name, field string) diag.Diagnostic {
	return text.Mistake("unknown-type", at, "no message or enum is named "+text.Quote(name), "define or import it; "+text.Quote(field)+" is shown as bytes")
}

func extension(at source.Span, name string) diag.Diagnostic {
	return text.Doubt("extension", at, "extensions of "+text.Quote(name)+" are not read", "they are shown as unknown fields; to see their names, write them into the message")
}

func tooManyFields(at source.Span) diag.Diagnostic {
	return text.Mistake("too-many-fields", at, fmt.Sprintf("the message has more than %d fields", maxFields), "the others are shown as unknown fields")
}
