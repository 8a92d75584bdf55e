package transport

// Layers describes the packets of a protocol that carry its messages, such as reliable packets and clusters. They have codes and fields of
// their own and are not frames; Frame.Via lists the packets around a message.
type Layers struct {
	Group  string // group of the packets' keys
	Fields []LayerField
	Is     func(data []byte) bool // reports whether data starts with such a packet; nil if that cannot be determined
}

// Field returns the field with the given name, or nil.
func (l *Layers) Field(name string) *LayerField {
	if l != nil {
		for i := range l.Fields {
			if l.Fields[i].Name == name {
				return &l.Fields[i]
			}
		}
	}
	return nil
}

// LayerField is a field of the packets around a frame. It has one value for each enclosing packet that has the field.
type LayerField struct {
	Name, Doc string
	Codes     bool // the values are codes of the group

	// Value returns the i-th value. there is false if the frame has no such value; while more is true, others may follow.
	Value func(x *Frame, i int) (v int64, there, more bool)
}
