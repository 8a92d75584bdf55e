// Package wire computes the wire layout of messages.
//
// A schema.Message has its fields as shown to users, and its items in wire order. Compile turns it into parts: a block is a run of items
// of fixed size, with their offsets; text, bytes and lists of variable size are separate parts; a list has the parts of its element; a
// choice has the parts of each alternative. Readers and writers need nothing else, and this package is the only one that computes it:
// codec.Compile makes a program from it, the targets of package emit print it as code, and Layout describes it to users.
//
// A walk of a Body looks like this:
//
//	for i := range body.Parts {
//		p := &body.Parts[i]
//		switch p.Kind {
//		case wire.Block:  // p.Items; p.Max bits, whole bytes
//		case wire.Text, wire.Blob: // p.Extent, p.Unit, p.Count, p.Offset
//		case wire.List:   // as Text, and p.Elem; p.Linked(): p.Here and p.Next
//		case wire.Weave:  // p.Lists, in reading order
//		case wire.Choice: // p.Cases: the first that applies, or none
//		}
//	}
//
// Groups have no part: their items are in the enclosing block or parts, and Fields has the nesting. An index into Fields identifies one
// use of a field, even if its struct is used several times. Body.Fields are the fields of a struct in the order of the definition, Inside
// returns those of a list or group. Fields with one name share the value of the one read last: it has the plain name, and Last of the
// others is its index.
//
// Numbers that later parts depend on have a register: counts, offsets, and values that choose an alternative. The item with the number
// has the register's index in Item.Reg; the dependent part has it in Part.Count, Part.Offset or Case.Reg. Message.Regs has the place of
// the number in its block, for writers that fill it in after the part is laid out. Registers are local to an element: each element of a
// list sets its registers anew.
//
// # Rules of reading
//
// Contents with an Offset register begin at that offset, in bytes from the start of the frame. An offset below Message.Header or beyond
// the end is an error; the offset of contents without units is ignored; and offset 0 means empty for zero-terminated text. Contents
// without an offset begin at the end of the preceding part. The elements of a chained list are read by following Next, up to the count; 0
// ends the chain.
//
// Parts with Optional above 0 may be missing: the message may end at their start. Parts with the same Optional are present or missing
// together.
//
// A group with counts begins a new block, because sizes are checked block by block, after the preceding values.
//
// # Sizes
//
// Each Part and Body has a Size: the minimum and maximum number of bits, laid out without gaps. Min has terms if a limit is a constant
// without a value; a target that leaves constants to its user prints them, others use Min.Bits. The minimum of a choice is 0 if its cases
// are not exhaustive.
//
// # Layout
//
// Layout returns rows for display. The offset of a row is an At, which shares the chain of preceding fields with other rows, so that the
// memory of a layout is proportional to its rows. AtText and Path format offsets and paths, and abbreviate long ones; FullAtText and
// FullPath do not abbreviate.
package wire
