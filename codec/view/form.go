package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/schema"
)

// FormField is a field of a message for a form: the kind of its value, and its members or elements.
type FormField struct {
	Name   string          `json:"name"` // as in values; "" for the value of a plain list element
	Type   string          `json:"type"` // as written in the definition
	Kind   FormKind        `json:"kind"`
	Doc    string          `json:"doc,omitempty"`
	Min    string          `json:"min,omitempty"` // least legal value of a number
	Max    string          `json:"max,omitempty"`
	Values []FormValue     `json:"values,omitempty"` // named values of a number
	Fields []FormField     `json:"fields,omitempty"` // of a group, or of an element of a list
	Plain  bool            `json:"plain,omitempty"`  // elements of a list are values: Fields has one without a name
	Fixed  bool            `json:"fixed,omitempty"`  // the number of elements is fixed
	Named  bool            `json:"named,omitempty"`  // the number is given by its name, if it has one
	Shown  bool            `json:"shown,omitempty"`  // the number is computed from other values, and cannot be changed
	Start  json.RawMessage `json:"start,omitempty"`  // what a new element of a list is, where zeros and empty texts are not legal
}

// FormKind is the kind of a value in a form.
type FormKind string

// The kinds of values.
const (
	FormInt   FormKind = "int"
	FormFloat FormKind = "float"
	FormBool  FormKind = "bool"
	FormText  FormKind = "text"
	FormBytes FormKind = "bytes"
	FormList  FormKind = "list"
	FormGroup FormKind = "group"
	FormJSON  FormKind = "json" // as JSON: its kind depends on other values, or null means that there is none
)

// FormValue is a named value of a number.
type FormValue struct {
	Name  string `json:"name"`
	Value string `json:"value"` // decimal
}

// FormCase is an alternative for the contents after the common part of a message.
type FormCase struct {
	Title  string      `json:"title"`
	Fields []FormField `json:"fields"`
	Name   string      `json:"name,omitempty"`  // of the number that selects it, "" if the size of the message does
	Value  string      `json:"value,omitempty"` // of that number, decimal
}

// Form describes the values of a message.
type Form struct {
	Fields []FormField `json:"fields"`
	Cases  []FormCase  `json:"cases,omitempty"`
	More   bool        `json:"more,omitempty"` // fields were omitted, because there are too many
}

const maxForm = 3000 // fields

// FormOf describes the values of a program's message.
func FormOf(p *codec.Program) Form {
	b := formBuilder{of: p, left: maxForm, open: map[*schema.Struct]bool{}}
	body := p.Message.Body
	out := Form{Fields: []FormField{}}
	if body == nil {
		return out
	}
	out.Fields = b.fields(body)
	for i := range body.Variants {
		v := &body.Variants[i]
		c := FormCase{Fields: b.fields(v.Body)}
		switch {
		case v.Field != nil:
			n, _ := v.Field.Type.(*schema.Number)
			c.Name, c.Value = v.Field.Name, formNumber(n, v.Value)
			c.Title = c.Name + " is " + c.Value
			if n != nil && n.Enum != nil {
				for _, x := range n.Enum.Values {
					if x.Value == v.Value {
						c.Title = fmt.Sprintf("%s is %s (%s)", c.Name, c.Value, x.Name)
						break
					}
				}
			}
		case v.MaxLen == 0:
			c.Title = fmt.Sprintf("messages of %d bytes or more", v.MinLen)
		case v.MinLen == v.MaxLen:
			c.Title = fmt.Sprintf("messages of %d bytes", v.MinLen)
		default:
			c.Title = fmt.Sprintf("messages of %d to %d bytes", v.MinLen, v.MaxLen)
		}
		out.Cases = append(out.Cases, c)
	}
	out.More = b.left < 0
	return out
}

// ChoicesOf returns what a value is chosen from: the named values of a number, or true and false; nil for others. The path has no indexes.
func ChoicesOf(p *codec.Program, path string) []FormValue {
	for i := range p.Fields {
		if string(p.AppendFieldPath(nil, uint16(i))) != path {
			continue
		}
		if n, ok := p.Fields[i].Schema.Type.(*schema.Number); ok && n.Kind == schema.Bool {
			return []FormValue{{"false", "false"}, {"true", "true"}}
		}
		b := formBuilder{of: p, left: maxForm, open: map[*schema.Struct]bool{}}
		return b.field(p.Fields[i].Schema).Values
	}
	return nil
}

type formBuilder struct {
	of   *codec.Program
	left int
	open map[*schema.Struct]bool // around the field
}

// fields describes the fields of a struct. Of fields with one name the last has the value. Fields of the alternatives of a choice without
// a name are among them, as JSON: null if the alternative does not apply.
func (b *formBuilder) fields(s *schema.Struct) []FormField {
	out := []FormField{}
	if s == nil {
		return out
	}
	at := map[string]int{}
	own := map[*schema.Field]bool{}
	for _, f := range s.Fields {
		own[f] = true
	}
	common := schema.Struct{Fields: s.Fields} // variants are separate
	for f := range common.Members() {
		if b.left--; b.left < 0 {
			break
		}
		var x FormField
		if own[f] {
			x = b.field(f)
		} else if x = (FormField{Name: f.Name, Type: f.TypeText, Doc: f.Doc, Kind: FormJSON}); f.Name == "" {
			continue
		} else if _, ok := at[f.Name]; ok {
			continue // of another alternative
		}
		if i, ok := at[f.Name]; ok && f.Same != nil {
			x.Doc = cmp.Or(x.Doc, out[i].Doc)
			out[i] = x
			continue
		}
		at[f.Name] = len(out)
		out = append(out, x)
	}
	return out
}

func (b *formBuilder) field(f *schema.Field) FormField {
	x := FormField{Name: f.Name, Type: f.TypeText, Doc: f.Doc}
	switch t := f.Type.(type) {
	case *schema.Number:
		x.Kind, x.Shown = FormInt, t.Expr != nil
		switch {
		case t.Kind == schema.Bool:
			x.Kind = FormBool
		case t.Kind == schema.Float || t.Scale != 0:
			x.Kind = FormFloat
		}
		if x.Kind == FormInt {
			x.Min, x.Max = formLimit(t, t.Min), formLimit(t, t.Max)
		}
		if t.Absent {
			x.Kind = FormJSON
		}
		if x.Named = t.Enum != nil && t.Enum.Shown && x.Kind == FormInt; x.Named {
			for _, v := range t.Enum.Values {
				x.Values = append(x.Values, FormValue{v.Name, v.Name})
			}
		} else if t.Enum != nil && x.Kind == FormInt {
			for _, v := range t.Enum.Values {
				x.Values = append(x.Values, FormValue{v.Name, formNumber(t, v.Value)})
			}
		}
	case *schema.Bitfield:
		x.Kind = FormGroup
		for _, name := range t.Names {
			part := FormField{Name: name, Kind: FormInt, Type: "part"}
			for _, p := range t.Forms[len(t.Forms)-1].Parts {
				if p.Name == name && p.Kind == schema.Bool {
					part.Kind = FormBool
				}
			}
			x.Fields = append(x.Fields, part)
		}
	case *schema.Text:
		x.Kind = FormText
	case *schema.Blob:
		if x.Kind = FormBytes; t.UUID {
			x.Kind = FormText
		}
	case *schema.Choice:
		x.Kind = FormJSON
	case *schema.List:
		x.Kind, x.Plain, x.Fixed = FormList, t.Bare, t.Size == schema.Fixed
		x.Fields, x.Start = b.fields(t.Elem), value.LeastElement(b.of, t)
	case *schema.Group:
		if t.At != nil && t.Bare && len(t.Struct.Fields) == 1 {
			own := x
			x = b.field(t.Struct.Fields[0])
			x.Name, x.Type, x.Doc = own.Name, own.Type, own.Doc
			return x
		}
		if x.Kind = FormGroup; t.Bare || t.Null || b.open[t.Struct] {
			x.Kind = FormJSON
			return x
		}
		b.open[t.Struct] = true
		defer delete(b.open, t.Struct)
		if t.Array {
			x.Kind, x.Plain, x.Fixed = FormList, true, true
		}
		if x.Fields = b.fields(t.Struct); t.Array && len(x.Fields) > 0 {
			x.Fields = x.Fields[:1]
			x.Fields[0].Name = ""
		}
	}
	return x
}

// formNumber formats the bits of a number.
func formNumber(n *schema.Number, bits uint64) string {
	if n != nil {
		return n.Decimal(bits)
	}
	return strconv.FormatUint(bits, 10)
}

func formLimit(n *schema.Number, l *schema.Limit) string {
	switch {
	case l == nil || l.Const != "":
		return ""
	case n.Kind == schema.Signed:
		return strconv.FormatInt(l.Int, 10)
	}
	return strconv.FormatUint(l.Uint, 10)
}
