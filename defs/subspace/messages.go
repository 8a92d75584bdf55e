package subspace

import (
	"fmt"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// The codes of all diagnostics of this dialect. They never change.
const (
	// Lines that cannot be read.
	codeRowWithoutTitle      = "row-without-title"
	codeHeaderWithoutTitle   = "header-without-title"
	codeSentenceWithoutTable = "sentence-without-table"
	codeMalformedRow         = "malformed-row"
	codeMissingValue         = "missing-value"
	codeUnknownDirection     = "unknown-direction"
	codeBadGroup             = "bad-group"

	// Titles and types of packets.
	codeCodeTooLarge   = "code-too-large"
	codeOtherCode      = "other-code"
	codeMissingType    = "missing-type"
	codeSameDefinition = "same-definition"

	// Where rows stand.
	codeBadOffset     = "bad-offset"
	codeOverlap       = "overlap"
	codeHole          = "hole"
	codeAfterEnd      = "after-end"
	codeOffsetUnknown = "offset-unknown"
	codeNotWholeByte  = "not-whole-byte"
	codeTooLarge      = "too-large"
	codeTooManyRows   = "too-many-rows"
	codeEmptyRow      = "empty-row"

	// What rows hold.
	codeBadType       = "bad-type"
	codeOtherType     = "other-type"
	codeOtherSize     = "other-size"
	codeNeedsSize     = "needs-size"
	codeFixedText     = "fixed-text"
	codeBadConstant   = "bad-constant"
	codeBadRange      = "bad-range"
	codeBadValueName  = "bad-value-name"
	codeDuplicateName = "duplicate-name"
	codeGroupApart    = "group-apart"

	// Lengths.
	codeNoCount     = "no-count"
	codeBadCount    = "bad-count"
	codeCountTwice  = "count-twice"
	codeUnusedCount = "unused-count"

	// Sentences.
	codeUnclearSentence = "unclear-sentence"
	codeNoSuchRow       = "no-such-row"
	codeTypeRepeats     = "type-repeats"
	codeTypeOptional    = "type-optional"
	codeCountOutside    = "count-outside"
	codeEndlessElement  = "endless-element"
	codeBadTimes        = "bad-times"
	codeEndsTwice       = "ends-twice"
	codeEndsAndParts    = "ends-and-parts"
	codeBadSizes        = "bad-sizes"
	codeNotANumber      = "not-a-number"
	codeBadValue        = "bad-value"
	codeTooManyParts    = "too-many-parts"
)

// quote puts what a person wrote in quotes, cut where it is too long for a message.
func quote(s string) string { return `"` + plain(text.Cut(s)) + `"` }

// Lines that cannot be read.

func rowWithoutTitle(at source.Span) diag.Diagnostic {
	return text.Mistake(codeRowWithoutTitle, at, "a row without a packet",
		`a title stands above the rows: "0x07 chat", or any line right above "offset size comment"`)
}

func headerWithoutTitle(at source.Span) diag.Diagnostic {
	return text.Mistake(codeHeaderWithoutTitle, at, "a table without a title", `a title stands above it: "0x07 chat", or any name`)
}

func sentenceWithoutTable(at source.Span) diag.Diagnostic {
	return text.Mistake(codeSentenceWithoutTable, at, "this sentence says something about rows, but no table stands above it",
		"put it below the rows that it is about")
}

func malformedRow(at, second source.Span) diag.Diagnostic {
	d := text.Mistake(codeMalformedRow, at, "a row needs an offset and a size",
		`write "2 4 packet id" or "2 4 i32 id"; a sentence that starts with a number may be a comment: "# 2 is ..."`)
	if t, wrong, ok := readType(second.Text()); ok && wrong == "" && t.bits > 0 && t.bits%8 == 0 && !t.isArray {
		d.Help = fmt.Sprintf(`the size is missing: "%s %d %s"`, strings.Fields(at.Text())[0], t.bits/8, second.Text())
		return text.Fixed(d, second.Sub(0, 0), fmt.Sprint(t.bits/8)+" ")
	}
	return d
}

func missingValue(at source.Span, example string) diag.Diagnostic {
	return text.Mistake(codeMissingValue, at, quote(at.Text())+" of what?", `write "`+strings.ToLower(at.Text())+" "+example+`"`)
}

func unknownDirection(at source.Span) diag.Diagnostic {
	return text.Mistake(codeUnknownDirection, at, quote(at.Text())+" is no direction", `the directions are "c2s", "s2c" and "both"`)
}

func badGroup(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadGroup, at, quote(at.Text())+" is no name for a group", `a name has letters, digits and "_" and starts with no digit`)
}

// Titles and types of packets.

func largeCode(at source.Span) diag.Diagnostic {
	return text.Mistake(codeCodeTooLarge, at, quote(at.Text())+" is no type of a packet", "a type is one byte: 0x01 to 0xFF")
}

func otherCode(at source.Span, code uint32) diag.Diagnostic {
	return text.Mistake(codeOtherCode, at, fmt.Sprintf("the title says %s, the rows say 0x%02X", at.Text(), code), "correct one of them; until then the rows count")
}

func missingType(title *line, core bool) diag.Diagnostic {
	if core {
		return text.Mistake(codeMissingType, title.span, "a packet that starts with 00 has its type in the second byte",
			`write it as the second row: "1 1 type 0x03"`)
	}
	return text.Mistake(codeMissingType, title.span, "the rows do not start with the type of the packet",
		fmt.Sprintf(`write it as the first row, "0 1 type %s", or let the rows start at offset 1`, title.code.Text()))
}

func sameDefinition(m, first *schema.Message) diag.Diagnostic {
	return text.Near(text.Doubt(codeSameDefinition, m.Span, quote(m.Name)+" is there twice, with the same type and direction", "this one is not used"),
		first.Span, "the other one is used")
}

// Where rows stand.

func badOffset(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadOffset, at, quote(at.Text())+" is no offset", `a byte has the bits 0 to 7: "20.5" is bit 5 of byte 20`)
}

func overlap(ln *line, s *scope) diag.Diagnostic {
	d := text.Mistake(codeOverlap, ln.offset, "this row begins before the one above ends", "the next free place is offset "+place(s.cursor)+"; the row is left out")
	for i := len(s.entries) - 1; i >= 0; i-- {
		if above := s.entries[i].line; above != nil {
			return text.Near(d, above.span, "the row above")
		}
	}
	return d
}

// place is an offset as people write it.
func place(bits int) string {
	if bits%8 != 0 {
		return fmt.Sprintf("%d.%d", bits/8, bits%8)
	}
	return fmt.Sprint(bits / 8)
}

func holeBefore(at source.Span, s *scope, bits int) diag.Diagnostic {
	size, row := fmt.Sprintf("%d bytes before this place have", bits/8), fmt.Sprint(bits/8)
	switch {
	case bits == 8:
		size = "1 byte before this place has"
	case bits == 1:
		size, row = "1 bit before this place has", "1b"
	case bits%8 != 0:
		size, row = fmt.Sprintf("%d bits before this place have", bits), fmt.Sprintf("%db", bits)
	}
	from := "?"
	if !s.loose {
		from = place(s.cursor)
	}
	return text.Doubt(codeHole, at, size+" no row", fmt.Sprintf(`write one: "%s %s pad", or what they are`, from, row))
}

func afterEnd(at, end source.Span) diag.Diagnostic {
	return text.Near(text.Mistake(codeAfterEnd, at, "nothing can follow what goes on to the end", "give the part above a size or a length, or remove this"),
		end, "this goes on to the end")
}

func offsetUnknown(at source.Span) diag.Diagnostic {
	return text.Fixed(text.Mistake(codeOffsetUnknown, at, "no offset is known below a part of variable size",
		`write "?": the row follows the one above`), at, "?")
}

func notWholeByte(at source.Span) diag.Diagnostic {
	return text.Mistake(codeNotWholeByte, at, "this cannot begin inside a byte", "only numbers and truth values that are little-endian can; round the offset")
}

func tooLarge(at source.Span) diag.Diagnostic {
	return text.Mistake(codeTooLarge, at, fmt.Sprintf("more than %d bytes", maxSize), "no packet has such a fixed part")
}

func tooManyRows(at source.Span) diag.Diagnostic {
	return text.Mistake(codeTooManyRows, at, fmt.Sprintf("more than %d rows", maxRows), "the rest of the packet is not read")
}

func nothingThere(at source.Span) diag.Diagnostic {
	return text.Mistake(codeEmptyRow, at, "a row of no size", `write its bytes ("4"), its bits ("5b") or "?" for what has no fixed size`)
}

// What rows hold.

func badType(at source.Span, why string) diag.Diagnostic {
	return text.Mistake(codeBadType, at, quote(at.Text())+" is no type: "+why, "the types are "+typeList())
}

// typeList is all words of types.
func typeList() string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.name
	}
	return strings.Join(names, ", ")
}

func otherType(at source.Span, meant string) diag.Diagnostic {
	word := at
	if i := strings.IndexByte(at.Text(), '['); i >= 0 {
		word = at.Sub(0, i)
	}
	return text.Fixed(text.Doubt(codeOtherType, word, quote(word.Text())+" is taken for "+quote(meant), `write "`+meant+`"`), word, meant)
}

func otherSize(at source.Span, t rowType, bits int) diag.Diagnostic {
	size := fmt.Sprintf("%db", bits)
	if bits%8 == 0 {
		size = fmt.Sprint(bits / 8)
	}
	d := text.Mistake(codeOtherSize, at, quote(typeName(t, bits))+" has another size than this row", `write the size "`+size+`", or another type`)
	if t.is == boolType {
		return text.Mistake(codeOtherSize, at, "a truth value has from 1 to 64 bits", `write "1", or "1b" for one bit`)
	}
	return text.Fixed(d, at, size)
}

func otherArraySize(at source.Span, n, bits int) diag.Diagnostic {
	if bits < 0 {
		return text.Fixed(text.Mistake(codeOtherSize, at, "texts that end with a zero have no fixed size", `write "?"`), at, "?")
	}
	size := fmt.Sprint(n * bits / 8)
	return text.Fixed(text.Mistake(codeOtherSize, at, fmt.Sprintf("%d values of %d bytes have another size than this row", n, bits/8), `write the size "`+size+`"`), at, size)
}

func sizedArray(at, typ source.Span) diag.Diagnostic {
	return text.Mistake(codeOtherSize, at, quote(typ.Text())+" does not fill this size", `write the number of values, "u16[4]", or the size "?"`)
}

func bitsOfBytes(at source.Span) diag.Diagnostic {
	return text.Mistake(codeOtherSize, at, "text and bytes have whole bytes", `write a size without "b"`)
}

func bitsOfArray(at source.Span) diag.Diagnostic {
	return text.Mistake(codeOtherSize, at, "values side by side have whole bytes", "write a row for each of them, or a sentence with \"repeat\"")
}

func needsSize(at source.Span, what string) diag.Diagnostic {
	return text.Mistake(codeNeedsSize, at, what+" needs a size of its own", "write a number of bytes")
}

func fixedCstr(at, typ source.Span) diag.Diagnostic {
	return text.Fixed(text.Mistake(codeFixedText, typ, "text of a fixed size is \"text\"", `write "text", or the size "?"`), typ, "text")
}

func badConstant(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadConstant, at, "a constant is a hexadecimal number", `write "const 0x1234"`)
}

func constantTooLarge(at source.Span, size int) diag.Diagnostic {
	return text.Mistake(codeBadConstant, at, fmt.Sprintf("the constant does not fit in %d bytes", size), "correct the size or the number")
}

func badRange(at source.Span, words string, n *schema.Number) diag.Diagnostic {
	return text.Mistake(codeBadRange, at, quote(words)+" is no range of "+quote(n.String()), `write "(1..5)", "(1..)" or "(..5)"`)
}

func badName(at source.Span, name string, n *schema.Number) diag.Diagnostic {
	return text.Mistake(codeBadValueName, at, "the value of "+quote(name)+" does not fit in "+quote(n.String()), "correct the value or the type")
}

func duplicateName(ln *line, name, other string) diag.Diagnostic {
	return text.Doubt(codeDuplicateName, ln.span, "there is a row "+quote(name)+" already", `this one is called "`+other+`"; give it a name of its own`)
}

func groupApart(ln *line, group string) diag.Diagnostic {
	return text.Mistake(codeGroupApart, ln.span, "the name "+quote(group)+" is taken", "the rows of a group stand together, and nothing else has its name")
}

// Lengths.

func noCount(at source.Span) diag.Diagnostic {
	return text.Mistake(codeNoCount, at, "no row "+quote(at.Text())+" stands above, in the same part of the packet", "a number that stands before has the length")
}

func badCount(at source.Span, e *entry) diag.Diagnostic {
	d := text.Mistake(codeBadCount, at, "the row above has no length", "a length is an unsigned number of at most 32 bits")
	if e.line != nil {
		return text.Near(d, e.line.span, "this row is meant")
	}
	return d
}

func countTwice(at source.Span, ln *line) diag.Diagnostic {
	return text.Near(text.Mistake(codeCountTwice, at, "the row is the length of another one already", "each part of variable size has a length of its own"), ln.span, "this row is meant")
}

func unusedCount(at source.Span) diag.Diagnostic {
	return text.Doubt(codeUnusedCount, at, "the row has a size, so the one above is not its length", `write the size "?"`)
}

// Sentences.

func unclearSentence(at source.Span) diag.Diagnostic {
	return text.Doubt(codeUnclearSentence, at, "this sentence is kept as documentation only",
		`what is understood: "packet repeats from offset 2 until end", "ships repeat from offset 4, 8 times", "packet may end at offset 21"`)
}

func noSuchRow(at source.Span, example string) diag.Diagnostic {
	return text.Mistake(codeNoSuchRow, at, "no row "+quote(at.Text())+" stands above, in the same part of the packet", `name the offset or the name of a row: "`+example+`"`)
}

func typeRepeats(at source.Span) diag.Diagnostic {
	return text.Mistake(codeTypeRepeats, at, "the type of the packet cannot repeat", "it stands once, before everything else")
}

func typeOptional(at source.Span) diag.Diagnostic {
	return text.Mistake(codeTypeOptional, at, "the type of the packet cannot be missing", "name an offset behind it")
}

func countOutside(at source.Span, ln *line) diag.Diagnostic {
	return text.Near(text.Mistake(codeCountOutside, at, "a length stands before the list, and what has it in the list", "let the list start earlier, or give the row another length"),
		ln.span, "this is the length")
}

func endlessElement(at source.Span, end *line) diag.Diagnostic {
	return text.Near(text.Mistake(codeEndlessElement, at, "an element that goes on to the end cannot repeat", `give its last row a length: "payload with length as above"`),
		end.span, "this goes on to the end")
}

func badTimes(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadTimes, at, quote(at.Text())+" is no possible number of elements", fmt.Sprintf("the fixed parts of a packet have at most %d bytes", maxSize))
}

func endsTwice(at, first source.Span) diag.Diagnostic {
	return text.Near(text.Mistake(codeEndsTwice, at, "the packet may end twice", "name the first offset only: every row from there on may be the last one"), first, "the other sentence")
}

func endsAndParts(at source.Span) diag.Diagnostic {
	return text.Mistake(codeEndsAndParts, at, "a packet with parts for some sizes or values has no other optional end", `write "in packets of 21 bytes:" for each of its sizes`)
}

func badSizes(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadSizes, at, "no packet has these sizes", `write "in packets of 16 to 20 bytes:"`)
}

func notANumber(at source.Span) diag.Diagnostic {
	return text.Mistake(codeNotANumber, at, "the row "+quote(at.Text())+" has no value to compare", "name an integer or a truth value, which is no length")
}

func badValue(at source.Span, n *schema.Number) diag.Diagnostic {
	return text.Mistake(codeBadValue, at, quote(at.Text())+" is no value of "+quote(n.String()), "write a number, or a name that the row gives in parentheses")
}

func tooManyParts(at source.Span) diag.Diagnostic {
	return text.Mistake(codeTooManyParts, at, fmt.Sprintf("more than %d parts", maxVariants), "the rest of the packet is not read")
}
