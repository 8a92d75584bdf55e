// Package wire works out what stands where in a message.
//
// A schema.Message says which fields people read and in which order items travel. Compile turns it into parts, each of which is read
// in one go: a block is a run of items of fixed size, with their offsets; texts, bytes and lists of variable size are parts of their
// own; a list has the parts of its element; a choice has the parts of each alternative. That is all that a reader or a writer has to
// know, and nobody works it out again: codec.Compile makes a program of it, the targets of package emit print it as code, and Layout
// shows it to people.
//
// A walk of a Body looks like this:
//
//	for i := range body.Parts {
//		p := &body.Parts[i]
//		switch p.Kind {
//		case wire.Block:  // p.Items; p.Max bits, whole bytes
//		case wire.Text, wire.Blob: // p.Extent, p.Unit, p.Count, p.Offset
//		case wire.List:   // the same, and p.Elem; p.Linked(): p.Here and p.Next
//		case wire.Weave:  // p.Lists, in the order in which they are read
//		case wire.Choice: // p.Cases: the first that fits, or nothing
//		}
//	}
//
// Groups have left no part: their items stand in the block or between the parts, and Fields says what is inside what. An index into
// Fields names one field at one place, also where a struct is used several times. Body.Fields are the fields of a struct as
// authored, Inside those of a list or group; a field whose Schema.Same is set has the same value as the sibling before it that Same
// points to.
//
// Numbers that decide about later parts have a register: a count, an offset, a value that chooses an alternative. The item that
// reads one has its index in Item.Reg; the part that asks it in Part.Count, Part.Offset or Case.Reg; Message.Regs says where it
// stands in its block, for whoever writes it once the part is laid out. Regs belong to one element: a list's element sets its own anew.
//
// # Rules of reading
//
// Contents with an Offset register begin there, in bytes from the start of the frame; an offset below Message.Header or behind the end
// is a mistake, one of contents without units is not looked at, and one of 0 means empty for a text that a zero ends. Contents
// without an offset begin where the part before them ended. The elements of a chained list are read as Next leads, as many as the
// count says; 0 ends the chain.
//
// Parts of which Optional is above 0 may be missing: a message that ends where such a part would begin ends there. Parts with one
// number are there or missing together.
//
// A group that has counts begins a block of its own, because sizes are judged block by block after the values before them.
//
// # Sizes
//
// Size is on each Part and Body: the least and the largest number of bits, laid out without gaps. Min has terms where a limit is a
// constant without a value; a target that leaves constants to its user prints them, all others take Min.Bits. A choice whose
// cases do not cover everything may add nothing.
//
// # Layout
//
// Layout makes rows for people. The place of a row is structure: an At, which shares the chain of what stands before it with other
// rows, so that a layout takes memory in proportion to its rows. AtText and Path write places and paths for people, and leave out the
// middle where they would become long; FullAtText and FullPath write all of one.
package wire
