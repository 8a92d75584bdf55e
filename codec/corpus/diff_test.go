package corpus_test

import (
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"wirebench/codec"
	"wirebench/codec/corpus"
	"wirebench/codec/view"
)

func TestDiff(t *testing.T) {
	p := compile(t, "tera", "C_T.1.def", "int32 gold\narray<int16> marks\nstring name\n")
	var a, b codec.Record
	p.Decode(&a, encode(t, p, `{"gold":1,"marks":[1,2,3],"name":"Lann"}`))
	p.Decode(&b, encode(t, p, `{"gold":1,"marks":[1,5],"name":"Lannes"}`))
	rows, ok := corpus.Diff(&a, &b)
	if !ok {
		t.Fatal("not compared")
	}
	var got []string
	for _, r := range rows {
		if r.Role != "value" {
			continue
		}
		got = append(got, fmt.Sprintf("%s %s|%s %v %v %v", r.Path, r.A, r.B, r.HasA, r.HasB, r.Same))
	}
	want := []string{
		`gold 1|1 true true true`,
		`marks[0] 1|1 true true true`,
		`marks[1] 2|5 true true false`,
		`marks[2] 3| true false false`,
		`name "Lann"|"Lannes" true true false`,
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	checkDiff(t, &a, &b)
	checkDiff(t, &b, &a)
	other := compile(t, "tera", "C_T.1.def", "int32 gold\n")
	var c codec.Record
	other.Decode(&c, nil)
	if _, ok := corpus.Diff(&a, &c); ok {
		t.Error("of two programs")
	}
	p.Decode(&c, make([]byte, corpus.MaxDiffMessage+1))
	if _, ok := corpus.Diff(&a, &c); ok {
		t.Error("of a large message")
	}
}

// checkDiff checks that every field of both is in one row.
func checkDiff(t *testing.T, a, b *codec.Record) {
	t.Helper()
	rows, ok := corpus.Diff(a, b)
	if !ok {
		t.Fatal("not compared")
	}
	count := func(want []view.FieldValue, has func(r *corpus.DiffRow) (bool, string, codec.Range)) {
		n := map[string]int{}
		for _, f := range want {
			n[fmt.Sprintf("%s %s %s %d", f.Path, f.Role, f.Text, f.BitOffset)]++
		}
		for i := range rows {
			if ok, text, at := has(&rows[i]); ok {
				n[fmt.Sprintf("%s %s %s %d", rows[i].Path, rows[i].Role, text, at.Off)]--
			}
		}
		for k, v := range n {
			if v != 0 {
				t.Fatalf("%d times too few: %s", v, k)
			}
		}
	}
	count(view.Fields(a), func(r *corpus.DiffRow) (bool, string, codec.Range) { return r.HasA, r.A, r.InA })
	count(view.Fields(b), func(r *corpus.DiffRow) (bool, string, codec.Range) { return r.HasB, r.B, r.InB })
	for _, r := range rows {
		if r.Same && r.A != r.B || r.Same && !(r.HasA && r.HasB) {
			t.Fatalf("%+v", r)
		}
	}
}
