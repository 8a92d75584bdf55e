package stream

import (
	"errors"
	"fmt"

	"wirebench/codec"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// fields reads fields of messages.
type fields struct {
	lib  *catalog
	rec  codec.Record
	cur  codec.Cursor
	path []byte
}

// value is the value of a field.
type value struct {
	number   int64
	isNumber bool
	bytes    []byte // of text as in the message, of a blob
	text     string // of text as UTF-8, of a number the name of its value
}

// read returns a field of a message.
func (f *fields) read(m *schema.Message, data []byte, path string) (v value, err error) {
	if m == nil {
		return v, errors.New("the message has no definition")
	}
	p, err := f.lib.program(m)
	if err != nil {
		return v, err
	}
	p.Decode(&f.rec, data)
	defer f.cur.Forget()
	for i := range p.Fields {
		if f.path = p.AppendFieldPath(f.path[:0], uint16(i)); string(f.path) != path {
			continue
		}
		site, ok := p.Site(uint16(i))
		if !ok || !site.Single() {
			return v, errors.New("it is not a single value")
		}
		f.cur.Start(&f.rec, site)
		if !f.cur.Next() {
			return v, errors.New("it is not in the message")
		}
		switch t := p.Fields[i].Schema.Type.(type) {
		case *schema.Number:
			v.isNumber, v.number = true, int64(f.cur.Raw)
			if t.Kind == schema.Signed && t.Bits < 64 {
				v.number = int64(f.cur.Raw<<(64-t.Bits)) >> (64 - t.Bits)
			}
			if t.Enum != nil {
				for _, e := range t.Enum.Values {
					if e.Value == f.cur.Raw {
						v.text = e.Name
					}
				}
			}
		case *schema.Text:
			v.bytes = append([]byte(nil), f.cur.Bytes()...)
			v.text = string(f.cur.AppendText(nil))
		case *schema.Blob:
			v.bytes = append([]byte(nil), f.cur.Bytes()...)
			v.text = string(v.bytes)
		default:
			return v, errors.New("it is neither a number, nor a text, nor bytes")
		}
		return v, nil
	}
	return v, errors.New("the definition has no such field")
}

// fieldError is the error about a field of a message.
func fieldError(path string, err error) error {
	return fmt.Errorf("the field %q cannot be read: %w", path, err)
}

// meets reports whether a value is the one of a condition.
func (v *value) meets(want *envelope.Value) bool {
	if want.IsNumber {
		return v.isNumber && v.number == want.Number
	}
	return v.text == want.Text
}
