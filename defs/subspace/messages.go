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
	// Malformed lines.
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

	// Positions of rows.
	codeBadOffset     = "bad-offset"
	codeOverlap       = "overlap"
	codeHole          = "hole"
	codeAfterEnd      = "after-end"
	codeOffsetUnknown = "offset-unknown"
	codeNotWholeByte  = "not-whole-byte"
	codeTooLarge      = "too-large"
	codeTooManyRows   = "too-many-rows"
	codeEmptyRow      = "empty-row"

	// Contents of rows.
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

// quote returns text of a definition in quotes for a message, truncated if it is too long.
func quote(s string) string { return `"` + plain(text.Cut(s)) + `"` }

// Malformed lines.

func rowWithoutTitle(at source.Span) diag.Diagnostic {
	return text.Mistake(codeRowWithoutTitle, at, "a row without a packet",
		`write a title above the rows: "0x07 chat", or any line directly above "offset size comment"`)
}

func headerWithoutTitle(at source.Span) diag.Diagnostic {
	return text.Mistake(codeHeaderWithoutTitle, at, "a table without a title", `write a title above it: "0x07 chat", or any name`)
}

func sentenceWithoutTable(at source.Span) diag.Diagnostic {
	return text.Mistake(codeSentenceWithoutTable, at, "a sentence without a table",
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
	return text.Mistake(codeMissingValue, at, "no value after "+quote(at.Text()), `write "`+strings.ToLower(at.Text())+" "+example+`"`)
}

func unknownDirection(at source.Span) diag.Diagnostic {
	return text.Mistake(codeUnknownDirection, at, quote(at.Text())+" is not a direction", `the directions are "c2s", "s2c" and "both"`)
}

func badGroup(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadGroup, at, quote(at.Text())+" is not a valid name of a group", `a name has letters, digits and "_" and does not start with a digit`)
}

// Titles and types of packets.

func largeCode(at source.Span) diag.Diagnostic {
	return text.Mistake(codeCodeTooLarge, at, quote(at.Text())+" is not a valid type of a packet", "a type is one byte: 0x01 to 0xFF")
}

func otherCode(at source.Span, code uint32) diag.Diagnostic {
	return text.Mistake(codeOtherCode, at, fmt.Sprintf("the type is %s in the title and 0x%02X in the rows", at.Text(), code), "correct one of them; until then the rows apply")
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
	return text.Near(text.Doubt(codeSameDefinition, m.Span, "duplicate packet "+quote(m.Name)+", with the same type and direction", "this one is not used"),
		first.Span, "the other one is used")
}

// Positions of rows.

func badOffset(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadOffset, at, quote(at.Text())+" is not a valid offset", `a byte has the bits 0 to 7: "20.5" is bit 5 of byte 20`)
}

func overlap(ln *line, s *scope) diag.Diagnostic {
	d := text.Mistake(codeOverlap, ln.offset, "this row overlaps the row above", "the next free offset is "+place(s.cursor)+"; the row is ignored")
	for i := len(s.entries) - 1; i >= 0; i-- {
		if above := s.entries[i].line; above != nil {
			return text.Near(d, above.span, "the row above")
		}
	}
	return d
}

// place returns an offset as written in a definition.
func place(bits int) string {
	if bits%8 != 0 {
		return fmt.Sprintf("%d.%d", bits/8, bits%8)
	}
	return fmt.Sprint(bits / 8)
}

func holeBefore(at source.Span, s *scope, bits int) diag.Diagnostic {
	size, row := fmt.Sprintf("%d bytes before this offset have", bits/8), fmt.Sprint(bits/8)
	switch {
	case bits == 8:
		size = "1 byte before this offset has"
	case bits == 1:
		size, row = "1 bit before this offset has", "1b"
	case bits%8 != 0:
		size, row = fmt.Sprintf("%d bits before this offset have", bits), fmt.Sprintf("%db", bits)
	}
	from := "?"
	if !s.loose {
		from = place(s.cursor)
	}
	return text.Doubt(codeHole, at, size+" no row", fmt.Sprintf(`add "%s %s pad", or a row that describes them`, from, row))
}

func afterEnd(at, end source.Span) diag.Diagnostic {
	return text.Near(text.Mistake(codeAfterEnd, at, "a row after a part that extends to the end", "give the part above a size or a length, or remove this row"),
		end, "this extends to the end")
}

func offsetUnknown(at source.Span) diag.Diagnostic {
	return text.Fixed(text.Mistake(codeOffsetUnknown, at, "offsets are unknown below a part of variable size",
		`write "?": the row directly follows the one above`), at, "?")
}

func notWholeByte(at source.Span) diag.Diagnostic {
	return text.Mistake(codeNotWholeByte, at, "the offset is not a byte boundary", "only little-endian numbers and booleans may start inside a byte; round the offset")
}

func tooLarge(at source.Span) diag.Diagnostic {
	return text.Mistake(codeTooLarge, at, fmt.Sprintf("more than %d bytes", maxSize), "this is the limit of the fixed part of a packet")
}

func tooManyRows(at source.Span) diag.Diagnostic {
	return text.Mistake(codeTooManyRows, at, fmt.Sprintf("more than %d rows", maxRows), "the rest of the packet is not read")
}

func nothingThere(at source.Span) diag.Diagnostic {
	return text.Mistake(codeEmptyRow, at, "a row of size 0", `write its size in bytes ("4"), in bits ("5b"), or "?" for a variable size`)
}

// Contents of rows.

func badType(at source.Span, why string) diag.Diagnostic {
	return text.Mistake(codeBadType, at, quote(at.Text())+" is not a type: "+why, "the types are "+typeList())
}

// typeList returns the names of all types.
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
	return text.Fixed(text.Doubt(codeOtherType, word, quote(word.Text())+" is read as "+quote(meant), `write "`+meant+`"`), word, meant)
}

func otherSize(at source.Span, t rowType, bits int) diag.Diagnostic {
	size := fmt.Sprintf("%db", bits)
	if bits%8 == 0 {
		size = fmt.Sprint(bits / 8)
	}
	d := text.Mistake(codeOtherSize, at, quote(typeName(t, bits))+" does not have the size of this row", `write the size "`+size+`", or another type`)
	if t.is == boolType {
		return text.Mistake(codeOtherSize, at, "a boolean has from 1 to 64 bits", `write "1", or "1b" for one bit`)
	}
	return text.Fixed(d, at, size)
}

func otherArraySize(at source.Span, n, bits int) diag.Diagnostic {
	if bits < 0 {
		return text.Fixed(text.Mistake(codeOtherSize, at, "zero-terminated text has no fixed size", `write "?"`), at, "?")
	}
	size := fmt.Sprint(n * bits / 8)
	return text.Fixed(text.Mistake(codeOtherSize, at, fmt.Sprintf("%d values of %d bytes do not have the size of this row", n, bits/8), `write the size "`+size+`"`), at, size)
}

func sizedArray(at, typ source.Span) diag.Diagnostic {
	return text.Mistake(codeOtherSize, at, "the size is not a whole number of elements of "+quote(typ.Text()), `write the number of values, "u16[4]", or the size "?"`)
}

func bitsOfBytes(at source.Span) diag.Diagnostic {
	return text.Mistake(codeOtherSize, at, "text and bytes are whole bytes", `write a size without "b"`)
}

func bitsOfArray(at source.Span) diag.Diagnostic {
	return text.Mistake(codeOtherSize, at, "consecutive values are whole bytes", "write a row for each of them, or a sentence with \"repeat\"")
}

func needsSize(at source.Span, message string) diag.Diagnostic {
	return text.Mistake(codeNeedsSize, at, message, "write a number of bytes")
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
	return text.Mistake(codeBadRange, at, quote(words)+" is not a valid range of "+quote(n.String()), `write "(1..5)", "(1..)" or "(..5)"`)
}

func badName(at source.Span, name string, n *schema.Number) diag.Diagnostic {
	return text.Mistake(codeBadValueName, at, "the value of "+quote(name)+" does not fit in "+quote(n.String()), "correct the value or the type")
}

func duplicateName(ln *line, name, other string) diag.Diagnostic {
	return text.Doubt(codeDuplicateName, ln.span, "duplicate row "+quote(name), `this one is renamed to "`+other+`"; give it another name`)
}

func groupApart(ln *line, group string) diag.Diagnostic {
	return text.Mistake(codeGroupApart, ln.span, "the name "+quote(group)+" is in use", "the rows of a group are consecutive, and no other row has its name")
}

// Lengths.

func noCount(at source.Span) diag.Diagnostic {
	return text.Mistake(codeNoCount, at, "no row "+quote(at.Text())+" above, in the same part of the packet", "the length is a number in a row above")
}

func badCount(at source.Span, e *entry) diag.Diagnostic {
	d := text.Mistake(codeBadCount, at, "the row above has no length", "a length is an unsigned number of at most 32 bits")
	if e.line != nil {
		return text.Near(d, e.line.span, "this is the row")
	}
	return d
}

func countTwice(at source.Span, ln *line) diag.Diagnostic {
	return text.Near(text.Mistake(codeCountTwice, at, "the row is already the length of another one", "each part of variable size has a separate length"), ln.span, "this is the row")
}

func unusedCount(at source.Span) diag.Diagnostic {
	return text.Doubt(codeUnusedCount, at, "the row has a size, so the one above is not its length", `write the size "?"`)
}

// Sentences.

func unclearSentence(at source.Span) diag.Diagnostic {
	return text.Doubt(codeUnclearSentence, at, "this sentence is only documentation",
		`supported sentences are "packet repeats from offset 2 until end", "ships repeat from offset 4, 8 times", "packet may end at offset 21"`)
}

func noSuchRow(at source.Span, example string) diag.Diagnostic {
	return text.Mistake(codeNoSuchRow, at, "no row "+quote(at.Text())+" above, in the same part of the packet", `use the offset or the name of a row: "`+example+`"`)
}

func typeRepeats(at source.Span) diag.Diagnostic {
	return text.Mistake(codeTypeRepeats, at, "the type of the packet cannot repeat", "it occurs once, before everything else")
}

func typeOptional(at source.Span) diag.Diagnostic {
	return text.Mistake(codeTypeOptional, at, "the type of the packet cannot be optional", "use an offset after it")
}

func countOutside(at source.Span, ln *line) diag.Diagnostic {
	return text.Near(text.Mistake(codeCountOutside, at, "the length of a row in the list is before the list", "start the list earlier, or use another length"),
		ln.span, "this is the length")
}

func endlessElement(at source.Span, end *line) diag.Diagnostic {
	return text.Near(text.Mistake(codeEndlessElement, at, "an element that extends to the end cannot repeat", `give its last row a length: "payload with length as above"`),
		end.span, "this extends to the end")
}

func badTimes(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadTimes, at, quote(at.Text())+" is not a valid number of elements", fmt.Sprintf("the fixed parts of a packet have at most %d bytes", maxSize))
}

func endsTwice(at, first source.Span) diag.Diagnostic {
	return text.Near(text.Mistake(codeEndsTwice, at, "a second \"may end\"", "use only the first offset: any row from there may be the last one"), first, "the other sentence")
}

func endsAndParts(at source.Span) diag.Diagnostic {
	return text.Mistake(codeEndsAndParts, at, "a packet with parts that depend on its size or a value cannot also have a \"may end\"", `write "in packets of 21 bytes:" for each of its sizes`)
}

func badSizes(at source.Span) diag.Diagnostic {
	return text.Mistake(codeBadSizes, at, "the range of sizes is empty", `write "in packets of 16 to 20 bytes:"`)
}

func notANumber(at source.Span) diag.Diagnostic {
	return text.Mistake(codeNotANumber, at, "the row "+quote(at.Text())+" has no value to compare", "use an integer or a boolean that is not a length")
}

func badValue(at source.Span, n *schema.Number) diag.Diagnostic {
	return text.Mistake(codeBadValue, at, quote(at.Text())+" is not a value of "+quote(n.String()), "write a number, or a name from the parentheses of the row")
}

func tooManyParts(at source.Span) diag.Diagnostic {
	return text.Mistake(codeTooManyParts, at, fmt.Sprintf("more than %d parts", maxVariants), "the rest of the packet is not read")
}
