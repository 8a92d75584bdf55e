package codec_test

import (
	"math/rand/v2"
	"testing"

	"wirebench/codec/value"
	"wirebench/defs/schema"
)

// TestColumnsOfStraightPrograms compares columns of messages in which blocks follow contents, and numbers of units are values.
func TestColumnsOfStraightPrograms(t *testing.T) {
	computed := func(f *schema.Field) schema.Extent {
		return schema.Extent{Size: schema.Computed, Expr: schema.RefTo(f)}
	}
	n, m, k := field("n", unsigned(8)), field("m", unsigned(4)), field("k", big(16))
	limit := unsigned(8)
	limit.Max = &schema.Limit{Uint: 0x7f}
	all := []*schema.Field{
		field("id", unsigned(32)), n,
		field("name", &schema.Text{Charset: schema.UTF8, Extent: computed(n)}),
		field("legal", limit), m, field("high", unsigned(4)),
		field("raw", &schema.Blob{Extent: computed(m)}),
		field("list", bareList(big(16), computed(m))),
		field("fixed", fixedText(3)), k,
		field("title", &schema.Text{Charset: schema.Latin1, Extent: schema.Extent{Size: schema.Terminated, End: 0xa}}),
		field("ended", &schema.Text{Charset: schema.Latin1, Extent: schema.Extent{Size: schema.Terminated}}),
		field("pairs", &schema.List{Elem: record(field("a", unsigned(8)), field("b", float(32))), Extent: computed(n)}),
		field("again", &schema.Blob{Extent: computed(n)}), field("last", unsigned(24)),
	}
	list := func(name string) *schema.Field {
		for _, f := range all {
			if f.Name == name {
				return f
			}
		}
		t.Fatal(name)
		return nil
	}
	list("pairs").Type.(*schema.List).Max = &schema.Limit{Uint: 9}
	for _, names := range [][]string{
		{"id", "n", "name", "legal", "m", "high", "raw", "list", "fixed", "k", "title", "ended", "pairs", "again", "last"},
		{"n", "name"},
		{"n", "again", "k"},
		{"k", "title"},
		{"m", "high", "list", "legal", "n", "pairs"},
		{"id", "ended", "id"},
	} {
		var fields []*schema.Field
		for _, name := range names {
			f := *list(name)
			if len(fields) > 0 && name == "id" {
				f.Name = "other"
				fields = append(fields, &f)
				continue
			}
			fields = append(fields, list(name))
		}
		p := program(t, message("straight", record(fields...)))
		if p.Straight == nil {
			t.Fatalf("%v is not straight", names)
		}
		r := rand.New(rand.NewPCG(uint64(len(names)), 9))
		var frames [][]byte
		for _, e := range value.Examples(p, 40, uint64(len(names)), 0) {
			frames = append(frames, damaged(r, e.Data)...)
		}
		for range 200 {
			random := make([]byte, r.IntN(40))
			for i := range random {
				random[i] = byte(r.Uint32() >> (r.Uint32() % 32))
			}
			frames = append(frames, random)
		}
		checkColumns(t, p, frames)
	}
	// Numbers that are not plain, and contents that are elsewhere, are read one message after another.
	for _, odd := range []*schema.Field{
		field("text", &schema.Text{Charset: schema.UTF8, Extent: schema.Extent{Size: schema.ToEnd}}),
		field("text", &schema.Blob{Extent: schema.Extent{Size: schema.Computed, Expr: &schema.Expr{Op: schema.Add, Args: []*schema.Expr{schema.RefTo(n), {Int: 1}}}}}),
		field("text", &schema.Text{Charset: schema.UTF16LE, Extent: schema.Extent{Size: schema.Terminated}}),
	} {
		if p := program(t, message("odd", record(n, odd, field("id", unsigned(32))))); p.Straight != nil {
			t.Errorf("%v is straight", odd.Type)
		}
	}
}
