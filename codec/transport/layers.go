package transport

// Layers are packets of a protocol that carry its messages: they have codes and fields of their own, and make no frames. Frame.Via tells
// which of them a message was in.
type Layers struct {
	Group  string // of their keys
	Fields []LayerField
}

// Field is the field of a name, nil if there is none.
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

// LayerField is something that a frame and all the packets around it may have, so that it may have several values.
type LayerField struct {
	Name, Doc string
	Codes     bool // the values are codes of the group

	// Value is the value with this index. there is false if there is none with it; others may follow while more is true.
	Value func(x *Frame, i int) (v int64, there, more bool)
}
