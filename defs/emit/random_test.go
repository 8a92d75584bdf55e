package emit_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand/v2"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
)

// drawer generates random schemas: with features that a dialect could use, and names that none would.
type drawer struct {
	rng    *rand.Rand
	fields int
}

// oddNames are names that may conflict with a target.
var oddNames = []string{"type", "len", "data", "parts", "size", "int", "self", "a-b", "größe", "9th", "", "__proto__", "read", "Value", "value", "s", "r", "w", "m", "b1", "NULL", "Incomplete"}

func (d *drawer) name() string {
	d.fields++
	if d.rng.IntN(4) == 0 {
		if name := oddNames[d.rng.IntN(len(oddNames))]; name != "" {
			return name
		}
	}
	return fmt.Sprintf("f%d", d.fields)
}

func (d *drawer) extent() schema.Extent {
	lo := uint64(d.rng.IntN(3))
	return counted(lo, lo+[]uint64{0, 1, 3, 40, 100000}[d.rng.IntN(5)])
}

func (d *drawer) number(bits int) schema.Type {
	kind := schema.NumKind(d.rng.IntN(2))
	n := number(bits, kind)
	switch k := d.rng.IntN(8); {
	case k == 0 && bits >= 8 && bits <= 32:
		n = ranged(bits, kind, float64(d.rng.IntN(3)), float64(3+d.rng.IntN(100)))
	case k == 1:
		n.Kind = schema.Bool
	case k == 2 && bits >= 32 && bits%32 == 0:
		n.Kind = schema.Float
	case k == 3 && bits == 16:
		n.Scale = []float64{0.5, 0.1, 3}[d.rng.IntN(3)]
	case k == 4:
		n.Enum = &schema.Enum{Values: []schema.EnumValue{{Name: "none"}, {Name: "one two", Value: 1}, {Name: "*/ \"", Value: 1}}}
	}
	if bits%8 == 0 && bits > 8 && d.rng.IntN(4) == 0 {
		n.Order = schema.Big
	}
	return n
}

// one returns a type of fixed size, in whole bytes.
func (d *drawer) one(depth int) schema.Type {
	switch k := d.rng.IntN(10); {
	case k == 0:
		return text(schema.Charset(d.rng.IntN(3)), fixed(1+d.rng.IntN(5)))
	case k == 1:
		return &schema.Blob{Extent: fixed(1 + d.rng.IntN(9))}
	case k == 2 && depth < 3:
		return bare(d.one(depth+1), fixed(1+d.rng.IntN(3)))
	case k == 3 && depth < 3:
		return &schema.Group{Struct: d.block(depth + 1)}
	}
	return d.number([]int{8, 16, 24, 32, 48, 64}[d.rng.IntN(6)])
}

// block returns a struct of fixed size.
func (d *drawer) block(depth int) *schema.Struct {
	var out []*schema.Field
	for range 1 + d.rng.IntN(4) {
		if d.rng.IntN(5) == 0 { // bits of a whole byte
			n := 1 + d.rng.IntN(7)
			out = append(out, field(d.name(), d.number(n)), field(d.name(), d.number(8-n)))
			continue
		}
		out = append(out, field(d.name(), d.one(depth)))
	}
	return inOrder(distinct(out)...)
}

// many returns a struct with its lengths first.
func (d *drawer) many(head []schema.Item, depth int) *schema.Struct {
	sized := map[string]int{}
	out := d.block(depth).Fields
	for range d.rng.IntN(4) {
		f := field(d.name(), d.content(depth))
		out = append(out, f)
	}
	out = distinct(out)
	for _, f := range out {
		if e, ok := extentOf(f.Type); ok && e.Size == schema.Counted {
			sized[f.Name] = 16
			if e.Max.Uint < 256 && d.rng.IntN(2) == 0 {
				sized[f.Name] = 8
			} else if e.Max.Uint > 65535 {
				sized[f.Name] = 32
			}
		}
	}
	d.rng.Shuffle(len(out), func(i, k int) {
		if aligned(out[i]) && aligned(out[k]) {
			out[i], out[k] = out[k], out[i]
		}
	})
	return lengthsFirst(head, sized, out...)
}

func aligned(f *schema.Field) bool {
	n, ok := f.Type.(*schema.Number)
	return !ok || n.Bits%8 == 0
}

func (d *drawer) content(depth int) schema.Type {
	switch k := d.rng.IntN(6); {
	case k == 0:
		return text(schema.Charset(d.rng.IntN(3)), d.extent())
	case k == 1:
		return &schema.Blob{Extent: d.extent()}
	case k < 4 && depth < 2:
		return &schema.List{Elem: d.many(nil, depth+1), Extent: d.extent()}
	}
	return bare(d.one(2), d.extent())
}

func extentOf(t schema.Type) (schema.Extent, bool) {
	switch t := t.(type) {
	case *schema.Text:
		return t.Extent, true
	case *schema.Blob:
		return t.Extent, true
	case *schema.List:
		return t.Extent, true
	}
	return schema.Extent{}, false
}

// distinct removes fields with duplicate names.
func distinct(list []*schema.Field) []*schema.Field {
	var out []*schema.Field
	seen := map[string]bool{}
	for _, f := range list {
		for seen[f.Name] {
			f.Name += "_"
		}
		seen[f.Name] = true
		out = append(out, f)
	}
	return out
}

// message generates a message that the codec accepts.
func (d *drawer) message(i int) *schema.Message {
	for {
		name := fmt.Sprintf("m%d", i)
		var m *schema.Message
		switch d.rng.IntN(4) {
		case 0, 1:
			m = measured("game", name, uint32(i), d.many(codeBits(16), 0))
		case 2: // with a length, and contents to its end
			body := d.many([]schema.Item{{Kind: schema.Length, Bits: 16}, {Kind: schema.Code, Bits: 16}}, 0)
			rest := field("rest", bare(d.one(3), toEnd))
			body.Fields, body.Wire = append(body.Fields, rest), append(body.Wire, values(rest)...)
			m = &schema.Message{Name: name, Version: 1, HasKey: true, Key: schema.Key{Group: "framed", Code: uint32(i)}, Body: body}
		default: // with optional parts
			body := d.block(0)
			for d.rng.IntN(3) > 0 {
				f := field(fmt.Sprintf("more%d", len(body.Fields)), d.one(0))
				body.Fields, body.Wire = append(body.Fields, f), append(body.Wire, values(f)...)
				body.Optional++
			}
			m = datagram(name, body)
		}
		if _, err := codec.Compile(m); err == nil {
			return m
		}
	}
}

// randomSample returns n random messages for a seed.
func randomSample(n int, seed uint64) *schema.Schema {
	d := &drawer{rng: rand.New(rand.NewPCG(seed, 0))}
	var out []*schema.Message
	for i := range n {
		out = append(out, d.message(i))
	}
	return linked(out...)
}

// TestRandomGo emits random schemas, and checks that the Go code is valid and the other targets do not panic.
func TestRandomGo(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	std := importer.ForCompiler(fset, "gc", nil)
	for seed := range uint64(25) {
		s := randomSample(4, seed)
		var list []emit.Vector
		for _, m := range s.Messages {
			p, err := codec.Compile(m)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range value.Examples(p, 3, seed, 0) {
				list = append(list, emit.Vector{Message: m.Name, Value: e.Value, Bytes: e.Data, Used: e.Used, Outcome: emit.Outcome(e.Status.String())})
			}
		}
		for _, target := range []string{"c", "ts"} {
			generate(t, target, s, "random", list...)
		}
		var parsed []*ast.File
		for _, f := range generate(t, "go", s, "random", list...) {
			a, err := parser.ParseFile(fset, f.Name, f.Text, 0)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, s)
			}
			parsed = append(parsed, a)
		}
		wrong := 0
		check := types.Config{Importer: std, Error: func(err error) {
			if wrong++; wrong < 10 {
				t.Errorf("seed %d: %v", seed, err)
			}
		}}
		if _, err := check.Check("random", fset, parsed, nil); err != nil {
			t.Fatalf("of\n%s", s)
		}
	}
}

// TestEqualSchemasGiveEqualFiles checks that the output is deterministic.
func TestEqualSchemasGiveEqualFiles(t *testing.T) {
	for _, target := range []string{"c", "go", "ts"} {
		var texts []string
		for range 3 {
			var b strings.Builder
			for _, f := range generate(t, target, randomSample(12, 7), "random") {
				b.WriteString(f.Text)
			}
			texts = append(texts, b.String())
		}
		if texts[0] != texts[1] || texts[0] != texts[2] {
			t.Errorf("%s: equal schemas give other files", target)
		}
	}
}
