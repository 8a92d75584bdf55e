package store

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// MergeJSON returns v as JSON, with the members of old that the type of v does not have, also in nested objects: members written by another
// version of the program survive a change by this one. Elements of an array of objects are matched by their member "at". An old text that
// is not JSON is ignored.
func MergeJSON(v any, old []byte) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil || !json.Valid(old) {
		return text, err
	}
	return merge(text, old, reflect.TypeOf(v))
}

// jsonMember is a member of an object.
type jsonMember struct {
	name  string
	value json.RawMessage
}

// merge is MergeJSON for the text of a value of type t.
func merge(text, old json.RawMessage, t reflect.Type) (json.RawMessage, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case writesItself(t):
		return text, nil
	case t.Kind() == reflect.Struct && isObject(text) && isObject(old):
		return mergeObject(text, old, t)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && !writesItself(t.Elem()):
		return mergeArray(text, old, t.Elem())
	}
	return text, nil
}

func mergeObject(text, old json.RawMessage, t reflect.Type) (json.RawMessage, error) {
	is, err := jsonMembers(text)
	if err != nil {
		return nil, err
	}
	was, err := jsonMembers(old)
	if err != nil {
		return nil, err
	}
	fields := map[string]reflect.Type{} // by lower-case name, as package json matches them
	knownMembers(t, fields)
	for _, m := range was {
		field, known := fields[strings.ToLower(m.name)]
		i := slices.IndexFunc(is, func(x jsonMember) bool { return x.name == m.name })
		switch {
		case !known && i < 0:
			is = append(is, m)
		case known && i >= 0:
			if is[i].value, err = merge(is[i].value, m.value, field); err != nil {
				return nil, err
			}
		}
	}
	var out bytes.Buffer
	for i, m := range is {
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		out.WriteByte("{,"[min(i, 1)])
		out.Write(name)
		out.WriteByte(':')
		out.Write(m.value)
	}
	if len(is) == 0 {
		out.WriteByte('{')
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func mergeArray(text, old json.RawMessage, t reflect.Type) (json.RawMessage, error) {
	var is, was []json.RawMessage
	if json.Unmarshal(text, &is) != nil || json.Unmarshal(old, &was) != nil {
		return text, nil
	}
	byAt := map[string]json.RawMessage{}
	for _, x := range was {
		if at := memberAt(x); at != "" {
			byAt[at] = x
		}
	}
	for i, x := range is {
		if from := byAt[memberAt(x)]; from != nil {
			var err error
			if is[i], err = merge(x, from, t); err != nil {
				return nil, err
			}
		}
	}
	return json.Marshal(is)
}

// memberAt returns the text of the member "at" of an object, "" if it has none.
func memberAt(object json.RawMessage) string {
	var x struct {
		At json.RawMessage `json:"at"`
	}
	_ = json.Unmarshal(object, &x)
	return string(x.At)
}

// jsonMembers returns the members of an object in the order of the text.
func jsonMembers(object json.RawMessage) (out []jsonMember, err error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := jsonMember{name: name.(string)} // member names are strings
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// knownMembers adds the members that package json writes for a struct, including those of embedded structs.
func knownMembers(t reflect.Type, to map[string]reflect.Type) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" && f.Tag.Get("json") == "-":
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			knownMembers(f.Type, to)
		case !f.IsExported():
		case name == "":
			to[strings.ToLower(f.Name)] = f.Type
		default:
			to[strings.ToLower(name)] = f.Type
		}
	}
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// writesItself reports whether a type has its own JSON encoding.
func writesItself(t reflect.Type) bool {
	return t.Implements(jsonMarshaler) || t.Implements(textMarshaler)
}

func isObject(text json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }
