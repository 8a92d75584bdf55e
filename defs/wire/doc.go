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
//		case wire.Tagged: // likewise; their elements are in any order
//		case wire.Choice: // p.Cases: the first that applies, or none
//		case wire.Var:    // p.Items[0], a number of p.Min to p.Max bits: p.Items[0].Var
//		case wire.Group:  // p.Body; p.Bytes is the register of its size
//		case wire.Call:   // the body of the group Fields[p.Field].Again
//		case wire.Let:    // sets the register p.Reg to p.Expr; no bits
//		case wire.Computed: // likewise, and is shown; p.Items is empty for a text or bytes
//		}
//	}
//
// A schema.Group has no part, unless it has a size or may contain itself: its items are in the enclosing block or parts, and Fields has the
// nesting. An index into Fields identifies one
// use of a field, even if its struct is used several times. Body.Fields are the fields of a struct in the order of the definition, Inside
// returns those of a list or group. Fields with one name share the value of the one read last: it has the plain name, and Last of the
// others is its index.
//
// Numbers that later parts depend on have a register: counts, offsets, and values that choose an alternative. The item with the number
// has the register's index in Item.Reg; the dependent part has it in Part.Count, Part.Offset or Case.Reg. Message.Regs has the place of
// the number in its block, for writers that fill it in after the part is laid out. Registers are local to an element: each element of a
// list sets its registers anew, and each use of a group that contains itself.
//
// The register of a Let is a number computed from other registers: the number of units of contents with the size schema.Computed, and the
// selector of a Choice that depends on more than one number. Its part is before the one that depends on it. A Text has a register if
// alternatives depend on its characters, see Case.Text.
//
// A Choice that is a field (Part.Field) is anywhere in a body. Its alternatives depend on a register, not on the length of the frame, and
// fields of different alternatives may have the same name. A Choice without a field is the last part of a body.
//
// Numbers of less than a byte fill bytes from the least significant bit; those of schema.Big from the most significant one.
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
// A group with a size is read to its end: contents of the size schema.ToEnd end there, and so does the message for optional parts. The
// elements of a list of schema.Until are read up to the byte Extent.End in the place of an element, which belongs to the list; those of
// schema.While as long as More, in the first block of the element, is 1; those of schema.Ending up to an element that sets the register
// Ended, by the Let at its end, to a number other than 0. A count of -1 with Extent.Null, and a size of 0 with schema.Group.Null, mean that
// there is no value.
//
// The contents of a group with the register At begin at that byte from the start of the frame, also inside a group with a size, whose end
// is not theirs; the part after the group begins where the group is. With the register In they are in the bytes of that group, with Inner in
// those of the innermost one around. Encode puts them there, also into bytes of others if these are the same.
//
// A group whose size has an expression, see Reg.Expr, is as long as that says: Encode fills it up. Begin and Stop are set to where the bytes of a
// group are, Node and Index to the node of a list and the number of the element that is read, Message.Whole to the size of the message, for
// expressions that look at them.
//
// A group with counts begins a new block, because sizes are checked block by block, after the preceding values.
//
// # Sizes
//
// Each Part and Body has a Size: the minimum and maximum number of bits, laid out without gaps. Min has terms if a limit is a constant
// without a value; a target that leaves constants to its user prints them, others use Min.Bits. The minimum of a choice is 0 if its cases
// are not exhaustive. A Call has no maximum.
//
// # Features
//
// Message.Features lists the constructs of a message that not every program supports, with their first uses. Code that reads the parts of a
// message must refuse those with features that it does not know: a part that it skips would be a wrong reader, not an incomplete one.
//
// # Layout
//
// Layout returns rows for display. The offset of a row is an At, which shares the chain of preceding fields with other rows, so that the
// memory of a layout is proportional to its rows. AtText and Path format offsets and paths, and abbreviate long ones; FullAtText and
// FullPath do not abbreviate. When is the condition of a row, and Rules describes encodings that the size does not tell: formulas, ends of
// lists, values that stand for none. A Call is one row. Outline is a layout that refers to structs in place of repeating their contents.
package wire
