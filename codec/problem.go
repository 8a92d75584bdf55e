package codec

import (
	"fmt"
	"strconv"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
)

// Problem is an error or an irregularity in the bytes of a message.
type Problem struct {
	Code  ProblemCode
	Range Range
	Spot  // the affected part of the record
	Got   uint64
	Want  uint64

	Other           Spot // SharedBytes: the field that is read first
	Role, OtherRole Role // SharedBytes: which bits of the fields
}

// Spot is a node, a field and an element of a record. The zero Spot has none of them.
type Spot struct {
	node, elem int32 // indexes + 1
	field      uint16
}

// spot returns the Spot with the given indexes; -1 and noIndex mean none.
func spot(node int, field uint16, elem int32) Spot {
	return Spot{node: int32(node) + 1, elem: elem + 1, field: field + 1}
}

// Node returns the index of the node, or -1.
func (s Spot) Node() int32 { return s.node - 1 }

// Field returns the index of the field, or NoField.
func (s Spot) Field() uint16 { return s.field - 1 }

// Elem returns the index of the element within a plain list's node, or -1.
func (s Spot) Elem() int32 { return s.elem - 1 }

// ProblemCode names a kind of Problem.
type ProblemCode uint8

// The problems. Those up to LastIllegal make the message illegal, Truncated makes it incomplete, the rest are warnings.
const (
	NoProblem        ProblemCode = iota
	LengthTooSmall               // the frame's length is below what the header needs
	PastFrame                    // a fixed part extends beyond the frame
	OffsetOutside                // an offset points outside the frame
	OffsetInHeader               // an offset points into the frame's header
	ContentsOutside              // contents extend beyond the frame
	NotTerminated                // text has no terminator inside the frame
	ChainTooShort                // a list's chain ends before its count
	ChainCycle                   // a list's chain has a cycle
	CountBelow                   // fewer units than allowed
	CountAbove                   // more units than allowed
	ValueOutOfRange              // a number is outside its legal range
	WrongConstant                // bytes differ from a constant
	UnresolvedLimit              // a limit is a constant without a value
	TooComplex                   // too much work for a message of this size
	TooLarge                     // the message exceeds MaxMessage
	NumberTooLong                // a number of variable size has more bytes than its width needs
	CountNegative                // a count or a size is negative
	NotUnpacked                  // contents cannot be decompressed
	TooLargeUnpacked             // decompressed contents exceed the limit
	BadTag                       // a tag without a number or of an unknown wire type, or one that ends what did not begin
	lastIllegal                  //
	Truncated                    // the data ends before the message
	lastFatal                    //
	BoolAboveOne                 // a boolean other than 0 and 1
	WrongHere                    // an element's own offset differs from its position
	ChainContinues               // the last element links to another one
	NullOffset                   // an offset of 0 where the definition has text
	WrongCode                    // the message's code differs from its definition's
	WrongCheck                   // the checksum is wrong
	LeftOver                     // bytes after the message
	Unexplained                  // bytes inside the message that the definition does not cover
	NaNPayload                   // a NaN other than the canonical one
	BytesAfterEnd                // bytes after the end of a fixed text
	SkippedByChoice              // no alternative fits
	DefinitionErrors             // the definition has errors
	SharedBytes                  // two fields share bytes
	EmptyOutside                 // contents are empty, and their offset points outside the frame
	NotShortest                  // a number of variable size has more bytes than it needs
	ZerosLeftOut                 // bytes at the end are not in the message, and count as 0
	SentAgain                    // a field that occurs at most once is sent several times
)

var problemNames = [...]string{
	"", "length-too-small", "past-frame", "offset-out-of-range", "offset-into-header", "contents-out-of-range", "not-terminated",
	"chain-too-short", "chain-cycle", "count-too-small", "count-too-large", "value-out-of-range", "wrong-constant",
	"unresolved-constant", "too-complex", "too-large", "number-too-long", "count-negative", "not-decompressed", "too-large-decompressed", "bad-tag", "", "truncated", "", "bool-above-one", "wrong-here", "chain-continues",
	"null-offset", "wrong-code", "wrong-checksum", "bytes-left-over", "unexplained-bytes", "nan-payload", "bytes-after-end",
	"no-alternative", "definition-has-errors", "shared-bytes", "unused-offset-out-of-range", "number-not-shortest", "zeros-left-out", "sent-again",
}

func (c ProblemCode) String() string { return problemNames[c] }

// Severity returns Warning for problems that leave the message complete and legal.
func (c ProblemCode) Severity() diag.Severity {
	if c > lastFatal && c != DefinitionErrors {
		return diag.Warning
	}
	return diag.Error
}

// Message describes the problem. It names a field by its path.
func (p Problem) Message(r *Record) string {
	at := func(v uint64) string { return fmt.Sprintf("0x%02x", v) }
	name := ""
	if r.Program != nil {
		name = string(r.AppendSpotPath(nil, p.Spot))
	}
	switch p.Code {
	case LengthTooSmall:
		return fmt.Sprintf("the frame's length is %d %s, but its header alone takes %d", p.Got, plural(p.Got, "byte"), p.Want)
	case PastFrame:
		of := ""
		if name != "" {
			of = " of " + strconv.Quote(name)
		}
		from, whole := r.origin(p.Range)
		return fmt.Sprintf("%d %s%s expected from %s on, but the %s at %s", p.Want/8, plural(p.Want/8, "byte"), of, at(uint64(p.Range.Off/8)-from), whole, at(p.Got-from))
	case OffsetOutside:
		if int64(p.Got) < 0 {
			return fmt.Sprintf("%q is at position %d, before the start of the message", name, int64(p.Got))
		}
		return fmt.Sprintf("offset %s of %q is outside the frame of %d bytes", at(p.Got), name, p.Want)
	case OffsetInHeader:
		return fmt.Sprintf("offset %s of %q points into the header, which takes %d bytes", at(p.Got), name, p.Want)
	case ContentsOutside:
		from, whole := r.origin(p.Range)
		return fmt.Sprintf("%q takes %d bytes from %s on, but the %s at %s", name, p.Want, at(uint64(p.Range.Off/8)-from), whole, at(p.Got-from))
	case NotTerminated:
		return fmt.Sprintf("text %q has no terminating zero before the end of the frame", name)
	case ChainTooShort:
		return fmt.Sprintf("list %q has %d elements by its count, but its chain ends after %d", name, p.Want, p.Got)
	case ChainCycle:
		return fmt.Sprintf("list %q loops back to its element at %s; its count is %d", name, at(p.Got), p.Want)
	case CountBelow:
		return fmt.Sprintf("%q has %d units, at least %d are allowed", name, p.Got, p.Want)
	case CountAbove:
		return fmt.Sprintf("%q has %d units, at most %d are allowed", name, p.Got, p.Want)
	case ValueOutOfRange:
		return fmt.Sprintf("%q is outside its legal range", name)
	case BadTag:
		if p.Want != 0 {
			return fmt.Sprintf("the tag %d does not end the group, which %d does", p.Got, p.Want)
		}
		return fmt.Sprintf("%d is no tag: its field is %d, its wire type %d", p.Got, p.Got>>3, p.Got&7)
	case SentAgain:
		return fmt.Sprintf("%q is sent %d times; programs take the last one, or join messages", name, p.Got)
	case WrongConstant:
		return "these bytes are not the constant that the definition states"
	case UnresolvedLimit:
		return fmt.Sprintf("unresolved constant %s", r.Program.Unresolved[p.Got])
	case TooComplex:
		return fmt.Sprintf("the message is too complex for its %d bytes; decoding stopped", p.Got)
	case TooLarge:
		return fmt.Sprintf("%d bytes are more than a message may have (%d)", p.Got, p.Want)
	case NumberTooLong:
		if end := p.Range.End() / 8; int(end) <= len(r.Data) && r.Data[end-1] < 0x80 {
			return fmt.Sprintf("%s has more than %d bits", named(name, "a number"), p.Want)
		}
		return fmt.Sprintf("%s continues after %d bytes, all that a number of %d bits can have", named(name, "a number"), p.Got, p.Want)
	case CountNegative:
		return fmt.Sprintf("%q has -%d units", name, p.Got)
	case NotUnpacked:
		return fmt.Sprintf("%q is not valid %s data", name, schema.Packing(p.Got))
	case TooLargeUnpacked:
		return fmt.Sprintf("%q cannot be decompressed: all such contents of a message may have %d bytes", name, p.Got)
	case NotShortest:
		return fmt.Sprintf("%s takes %d bytes, where %d would be enough", named(name, "a number"), p.Got, p.Want)
	case Truncated:
		return fmt.Sprintf("the message is truncated after %d %s; at least %d are needed", p.Got, plural(p.Got, "byte"), p.Want)
	case BoolAboveOne:
		return fmt.Sprintf("a boolean of %d; 0 and 1 are usual", p.Got)
	case WrongHere:
		return fmt.Sprintf("%q at %s has %s as its own offset", name, at(p.Want), at(p.Got))
	case ChainContinues:
		return fmt.Sprintf("the last element of %q links to another one at %s", name, at(p.Got))
	case NullOffset:
		return fmt.Sprintf("%q has the offset 0, read as empty", name)
	case WrongCode:
		return fmt.Sprintf("the message has the code %d, its definition has %d", p.Got, p.Want)
	case WrongCheck:
		return fmt.Sprintf("checksum %08x, but the computed checksum is %08x", p.Got, p.Want)
	case LeftOver:
		return fmt.Sprintf("%d %s left over after the message", p.Got, plural(p.Got, "byte"))
	case ZerosLeftOut:
		return fmt.Sprintf("%d %s left out at the end of the message, read as 0", p.Got, plural(p.Got, "byte"))
	case Unexplained:
		return fmt.Sprintf("%d %s that the definition does not explain", p.Got, plural(p.Got, "byte"))
	case NaNPayload:
		return fmt.Sprintf("not the usual NaN: its bits are %s", at(p.Got))
	case BytesAfterEnd:
		return fmt.Sprintf("bytes after the end of the text %q", name)
	case SkippedByChoice:
		if name != "" && p.Field() != noIndex {
			return fmt.Sprintf("no alternative of %q fits the values before", name)
		}
		return "no alternative of the definition fits"
	case SharedBytes:
		return fmt.Sprintf("%s shares %d %s with %s, from %s on",
			r.describe(p.Spot, p.Role), p.Got, plural(p.Got, "byte"), r.describe(p.Other, p.OtherRole), at(r.position(p.Range)))
	case EmptyOutside:
		return fmt.Sprintf("%q is empty, but its offset %s is outside the frame of %d bytes", name, at(p.Got), p.Want)
	case DefinitionErrors:
		return "the definition has errors; fields may be missing or in the wrong place"
	}
	return p.Code.String()
}

// describe names some bits of a field.
func (r *Record) describe(at Spot, role Role) string {
	path := r.AppendSpotPath(nil, at)
	switch {
	case len(path) == 0:
		return "the " + role.String()
	case role != RoleValue:
		return fmt.Sprintf("the %s of %q", role, path)
	}
	return strconv.Quote(string(path))
}

// named returns a name in quotes, or other words if there is none.
func named(name, other string) string {
	if name == "" {
		return other
	}
	return strconv.Quote(name)
}

func plural(n uint64, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// origin returns the byte of Data from which positions count, and words for what has them: the frame, or decompressed contents.
func (r *Record) origin(at Range) (from uint64, ends string) {
	if len(r.Packs) == 0 || at.Off < r.Packs[0].From*8 {
		return 0, "frame ends"
	}
	return uint64(r.Packs[r.packOf(at.Off)].From), "decompressed contents end"
}

// position returns the first byte of a range, in the frame or in decompressed contents.
func (r *Record) position(at Range) uint64 {
	from, _ := r.origin(at)
	return uint64(at.Off/8) - from
}
