package mavlink

import (
	"fmt"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// Diagnostics of this dialect. Their codes never change.

func badXML(at source.Span, why string) diag.Diagnostic {
	return text.Mistake("bad-xml", at, "this is not XML: "+text.Printable(text.Cut(why)), "the rest of the file is not read")
}

func notClosed(at source.Span, name string) diag.Diagnostic {
	return text.Mistake("bad-xml", at, "the file ends inside "+text.Quote(name), "write </"+text.Printable(text.Cut(name))+">")
}

func wrongEnd(at source.Span, name string, open []string) diag.Diagnostic {
	help := "there is no element to end"
	if n := len(open); n > 0 {
		help = "write </" + text.Printable(text.Cut(open[n-1])) + ">"
	}
	return text.Mistake("bad-xml", at, text.Quote(name)+" ends here, and did not begin", help+"; the rest of the file is not read")
}

func notMAVLink(at source.Span, name string) diag.Diagnostic {
	return text.Mistake("not-mavlink", at, "the file begins with "+text.Quote(name), "write <mavlink> around enums and messages")
}

func missingInclude(at source.Span) diag.Diagnostic {
	return text.Doubt("missing-include", at, "the project has no file "+text.Quote(at.Text()), "add it: names of its enums are missing")
}

func badName(at source.Span, what, name string) diag.Diagnostic {
	if name == "" {
		return text.Mistake("bad-name", at, "the "+what+" has no name", `write name="..."`)
	}
	return text.Mistake("bad-name", at, text.Quote(name)+" is no name of "+article(what), "use letters, digits and _")
}

func article(what string) string {
	if strings.ContainsRune("aeiou", rune(what[0])) {
		return "an " + what
	}
	return "a " + what
}

func badID(at source.Span, id string) diag.Diagnostic {
	if id == "" {
		return text.Mistake("bad-id", at, "the message has no id", `write id="...", a number up to 16777215`)
	}
	return text.Mistake("bad-id", at, text.Quote(id)+" is no id", "write a number up to 16777215; those up to 255 are in frames of both versions")
}

func sameField(at, first source.Span, name string) diag.Diagnostic {
	return text.Near(text.Mistake("same-field", at, "a second field "+text.Quote(name), "give it another name"), first, "the first one is here")
}

func badValue(at source.Span, value string) diag.Diagnostic {
	return text.Mistake("bad-value", at, text.Quote(value)+" is no value of an entry", "write a number, such as 5, 0x20 or 2**5")
}

func unknownType(at source.Span, name string, near string) diag.Diagnostic {
	if name == "" {
		return text.Mistake("unknown-type", at, "the field has no type", `write type="uint8_t"`)
	}
	d := text.Mistake("unknown-type", at, "no type is named "+text.Quote(name), "the types are char, int8_t to int64_t, uint8_t to uint64_t, float and double, and arrays such as float[4]")
	if near != "" {
		d.Help = fmt.Sprintf("did you mean %q?", near)
		return text.Fixed(d, at, near)
	}
	return d
}

func badLength(at source.Span, length string) diag.Diagnostic {
	return text.Mistake("bad-length", at, text.Quote(length)+" is no length of an array", "write a number from 1 to 255")
}

func unknownEnum(at source.Span, name string) diag.Diagnostic {
	return text.Doubt("unknown-enum", at, "the project has no enum "+text.Quote(name), "its values have no names")
}

func tooLong(at source.Span, name string, size int) diag.Diagnostic {
	return text.Mistake("too-long", at, fmt.Sprintf("%s has %d bytes", text.Quote(name), size), "a frame has a payload of up to 255 bytes")
}
