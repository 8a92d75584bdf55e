package envelope

import (
	"fmt"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// The codes of all diagnostics of envelopes. They never change.
const (
	codeBadQuotes        = "bad-quotes"
	codeBadCharacter     = "bad-character"
	codeUnknownStatement = "unknown-statement"
	codeExpected         = "expected"
	codeTooMuch          = "too-much"
	codeBadNumber        = "bad-number"
	codeDuplicate        = "duplicate"
	codeUnknownState     = "unknown-state"
	codeUnreachable      = "unreachable-state"
	codeMisplaced        = "misplaced"
	codeMissing          = "missing"
	codeBadKey           = "bad-key"
	codeUnknownMessage   = "unknown-message"
	codeUnknownField     = "unknown-field"
	codeOtherCode        = "other-code"
	codeUnused           = "unused-envelope"
)

// maxMistakes is the number of diagnostics of a text.
const maxMistakes = 100

func badQuotes(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadQuotes, at, "the quotes are not closed, or an escape is invalid", `write \" for a quote and \\ for a backslash`)
}

func badCharacter(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadCharacter, at, "unexpected "+text.Quote(at.Text()), "a name with other characters is written in quotes")
}

func unknownStatement(at source.Span) diag.Diagnostic {
	d := text.Mistake(codeUnknownStatement, at, "unknown statement "+text.Quote(at.Text()),
		`a rule has "->" or ":"; the statements are `+strings.Join(names(statements), ", "))
	return meant(d, at, names(statements))
}

// meant adds the nearest of the words to a diagnostic.
func meant(d diag.Diagnostic, at source.Span, words []string) diag.Diagnostic {
	if near := diag.Nearest(at.Text(), words); near != "" && len(at.Text()) > 1 && len(at.Text()) < 40 {
		d.Help = `did you mean "` + near + `"?`
		return text.Fixed(d, at, near)
	}
	return d
}

// expected reports a word that is not one of those that can be there; it is missing if the span is empty.
func expected(at source.Span, what string, words ...string) diag.Diagnostic {
	help := ""
	if len(words) > 0 {
		help = "write " + orList(words)
	}
	if at.Start == at.End {
		return text.Mistake(codeExpected, at, what+" is missing", help)
	}
	return meant(text.Mistake(codeExpected, at, text.Quote(at.Text())+" where "+what+" is expected", help), at, words)
}

func orList(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func tooMuch(at source.Span) diag.Diagnostic {
	return text.Mistake(codeTooMuch, at, "unexpected "+text.Quote(at.Text()), "the statement is complete before it")
}

func noOrder(at source.Span) diag.Diagnostic {
	return text.Mistake(codeExpected, at, "the byte order of "+text.Quote(at.Text())+" is missing", `write "`+at.Text()+` le" or "`+at.Text()+` be"`)
}

func badNumber(at source.Span, least, most int64) diag.Diagnostic {
	return text.Mistake(codeBadNumber, at, text.Quote(at.Text())+" is not valid here", fmt.Sprintf("write a number from %d to %d", least, most))
}

func badHex(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadNumber, at, text.Quote(at.Text())+" is not valid as bytes", "write two hexadecimal digits for each byte")
}

func duplicate(at, first source.Span, what string) diag.Diagnostic {
	return text.Near(text.Mistake(codeDuplicate, at, "a second "+what, "remove one of the two"), first, "the first one is here")
}

func unknownState(at source.Span, states []string) diag.Diagnostic {
	return meant(text.Mistake(codeUnknownState, at, "unknown state "+text.Quote(at.Text()), `write "state `+at.Text()+`" in a line of its own`), at, states)
}

func unreachable(at source.Span, name string) diag.Diagnostic {
	return text.Doubt(codeUnreachable, at, "no rule leads to state "+text.Quote(name), `write a rule with "-> `+name+`" in another state`)
}

func hides(at source.Span, name string) diag.Diagnostic {
	return text.Doubt(codeUnreachable, at, "the forms after "+text.Quote(name)+" never apply: it has no constant, and all messages begin like it", `write "field NAME hex DIGITS at N" or "field NAME u8 at N = VALUE", or write it last`)
}

func misplaced(at source.Span, why, help string) diag.Diagnostic {
	return text.Mistake(codeMisplaced, at, why, help)
}

func missingFrame(at source.Span, where string) diag.Diagnostic {
	return text.Mistake(codeMissing, at, "there is no framing"+where, `write a line such as "frame length u16 le"`)
}

func missingCode(at source.Span, where string) diag.Diagnostic {
	return text.Mistake(codeMissing, at, "the place of the code is missing"+where, `write a line such as "code u8", or "code none NAME" if messages have none`)
}

func badKey(at source.Span, size int, want string) diag.Diagnostic {
	return text.Mistake(codeBadKey, at, fmt.Sprintf("a secret of %d bytes", size), "the cipher needs "+want)
}

func untold(at source.Span) diag.Diagnostic {
	return text.Mistake(codeMisplaced, at, "without a size or a flag, a receiver cannot tell which messages are compressed", `write "size NUMBER" or "flag NUMBER" after the method, or compress all messages: "on"`)
}

// Unused reports an envelope that is not used.
func Unused(f *source.File, why string) diag.Diagnostic {
	return text.Doubt(codeUnused, f.Line(1), "this envelope is not used: "+why, "remove it, or give the other one another ending")
}

// unknownField reports a field that messages do not have.
func unknownField(at source.Span, message, path, effect string) diag.Diagnostic {
	return text.Doubt(codeUnknownField, at, "the message "+text.Quote(message)+" has no field "+text.Quote(path), effect)
}

// otherCode reports a definition that has its code elsewhere, behind values.
func otherCode(at source.Span, message string) diag.Diagnostic {
	return text.Doubt(codeOtherCode, at, "the definition of "+text.Quote(message)+" has its code at another place or in another form", "its messages are read as the definition says")
}

func unknownMessage(at source.Span, name string, s *State, dir schema.Dir, names []string, effect string) diag.Diagnostic {
	where := ""
	if g := s.Group[Way(dir)]; g != "" {
		where = " in group " + text.Quote(g)
	}
	if dir != schema.Both {
		where += " " + dirWord(dir)
	}
	return meant(text.Doubt(codeUnknownMessage, at, "there is no message "+text.Quote(name)+where, effect), at, names)
}
