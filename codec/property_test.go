package codec_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tera"
)

// definition generates the lines of a definition, and a generator of values for it. Every field has a unique name, unless repeat is set.
type definition struct {
	text   strings.Builder
	fields int
	repeat bool // fixed fields have few names
	arrays bool // with arrayTypes
}

// drawn generates a value as JSON in the form that decoding produces.
type drawn func(t *rapid.T) string

var plainTypes = map[string]drawn{
	"bool":   func(t *rapid.T) string { return strconv.FormatBool(rapid.Bool().Draw(t, "bool")) },
	"byte":   func(t *rapid.T) string { return strconv.FormatUint(uint64(rapid.Uint8().Draw(t, "byte")), 10) },
	"int16":  func(t *rapid.T) string { return strconv.FormatInt(int64(rapid.Int16().Draw(t, "int16")), 10) },
	"uint16": func(t *rapid.T) string { return strconv.FormatUint(uint64(rapid.Uint16().Draw(t, "uint16")), 10) },
	"int32":  func(t *rapid.T) string { return strconv.FormatInt(int64(rapid.Int32().Draw(t, "int32")), 10) },
	"uint32": func(t *rapid.T) string { return strconv.FormatUint(uint64(rapid.Uint32().Draw(t, "uint32")), 10) },
	"int64":  func(t *rapid.T) string { return `"` + strconv.FormatInt(rapid.Int64().Draw(t, "int64"), 10) + `"` },
	"uint64": func(t *rapid.T) string { return `"` + strconv.FormatUint(rapid.Uint64().Draw(t, "uint64"), 10) + `"` },
	"float":  func(t *rapid.T) string { return floatJSON(float64(rapid.Float32().Draw(t, "float"))) },
	"double": func(t *rapid.T) string { return floatJSON(rapid.Float64().Draw(t, "double")) },
	"vec3": func(t *rapid.T) string {
		one := func() string { return floatJSON(float64(rapid.Float32Range(-1e6, 1e6).Draw(t, "part"))) }
		return `{"x":` + one() + `,"y":` + one() + `,"z":` + one() + `}`
	},
	"string": func(t *rapid.T) string {
		b, err := json.Marshal(rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return r != 0 })).Draw(t, "string"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	},
	"bytes": func(t *rapid.T) string {
		return `"` + hex.EncodeToString(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes")) + `"`
	},
}

func floatJSON(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "0"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// elementTypes are valid in array<>.
var elementTypes = []string{"bool", "byte", "int16", "int32", "uint64", "float", "double", "vec3", "string", "bytes"}

// fieldsAt generates fields at a depth, and a generator of objects with them.
func (d *definition) fieldsAt(t *rapid.T, depth int) drawn {
	names := make([]string, 0, 5)
	values := make([]drawn, 0, 5)
	kinds := rapid.SliceOfN(rapid.IntRange(0, 19), 1, 5).Draw(t, "kinds")
	variable := map[string]bool{} // names of fields with a pointer
	for _, k := range kinds {
		d.fields++
		name := "f" + strconv.Itoa(d.fields)
		if short := rapid.SampledFrom([]string{"a", "b", name}).Draw(t, "short"); d.repeat && !variable[short] && (k < 3 || k >= 5) {
			name, variable[short] = short, true
		}
		line := func(typ string) { fmt.Fprintf(&d.text, "%s%s %s\n", strings.Repeat("- ", depth), typ, name) }
		var v drawn
		switch {
		case k < 3 && depth < 3:
			line("array")
			v = listOf(d.fieldsAt(t, depth+1))
		case k < 5 && depth < 3:
			line("object")
			v = d.fieldsAt(t, depth+1)
		case k < 8:
			typ := rapid.SampledFrom(elementTypes).Draw(t, "element")
			line("array<" + typ + ">")
			v = listOf(plainTypes[typ])
		case k == 8 && d.arrays:
			typ := rapid.SampledFrom(slices.Sorted(maps.Keys(arrayTypes))).Draw(t, "array")
			line(typ)
			v = arrayTypes[typ]
		default:
			typ := rapid.SampledFrom(typeNames).Draw(t, "type")
			if d.repeat && typ != "string" && typ != "bytes" {
				name = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
			}
			line(typ)
			v = plainTypes[typ]
		}
		names, values = append(names, name), append(values, v)
	}
	return func(t *rapid.T) string {
		parts := make([]string, len(names))
		for i := range names {
			parts[i] = `"` + names[i] + `":` + values[i](t)
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
}

var typeNames = []string{"bool", "byte", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float", "double", "vec3", "string", "bytes"}

// arrayTypes are arrays of contents.
var arrayTypes = map[string]drawn{
	"string[2]":   func(t *rapid.T) string { return "[" + plainTypes["string"](t) + "," + plainTypes["string"](t) + "]" },
	"bytes[2][1]": func(t *rapid.T) string { return "[[" + plainTypes["bytes"](t) + "," + plainTypes["bytes"](t) + "]]" },
}

func listOf(elem drawn) drawn {
	return func(t *rapid.T) string {
		n := rapid.IntRange(0, 4).Draw(t, "length")
		parts := make([]string, n)
		for i := range parts {
			parts[i] = elem(t)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
}

// TestAnyDefinition generates definitions and values, and converts values to bytes and back.
func TestAnyDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := definition{arrays: true}
		draw := d.fieldsAt(t, 0)
		s, ds := tera.Parse([]*source.File{source.New("C_ANY.1.def", d.text.String())}, schema.Options{})
		if ds.HasErrors() {
			t.Fatalf("%s\n%s", d.text.String(), ds.Render())
		}
		p, err := codec.Compile(s.Messages[0])
		if err != nil {
			t.Fatal(err)
		}
		text := draw(t)
		var in, out, rec, again codec.Record
		if err := value.ParseJSON(&in, p, []byte(text)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		in.Code = 4660
		if err := p.Encode(&out, &in); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		data := bytes.Clone(out.Message())
		p.Decode(&rec, data)
		if rec.Status() != codec.OK || rec.Code != 4660 || !reflect.DeepEqual(rec.Nodes, out.Nodes) {
			t.Fatalf("%s: %x: %v: %s\n%v\n%v", text, data, rec.Status(), problems(&rec), out.Nodes, rec.Nodes)
		}
		if w := rec.AppendWarnings(nil); len(w) > 0 {
			t.Fatalf("%s: %x: %s", text, data, problems(&rec))
		}
		var got, want any
		if err := json.Unmarshal(value.AppendJSON(nil, &rec), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("\n got %s\nwant %s", value.AppendJSON(nil, &rec), text)
		}
		if err := p.Encode(&again, &rec); err != nil || !bytes.Equal(again.Message(), data) {
			t.Fatalf("%v\n got %x\nwant %x", err, again.Message(), data)
		}
		cut := rapid.IntRange(0, len(data)-1).Draw(t, "cut")
		if p.Decode(&rec, data[:cut]); rec.Status() != codec.Incomplete {
			t.Fatalf("%d of %d bytes: %v", cut, len(data), rec.Status())
		}
		for range 5 { // change one byte
			data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		p.Decode(&rec, data)
		if text := value.AppendJSON(nil, &rec); !json.Valid(text) || len(rec.Nodes) > 3<<12+4*len(data) {
			t.Fatalf("%d nodes, %s", len(rec.Nodes), text)
		}
	})
}
