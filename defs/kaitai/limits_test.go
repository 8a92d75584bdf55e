package kaitai_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirebench/defs/kaitai"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestLimits checks that formats that would be large are refused, in bounded time.
func TestLimits(t *testing.T) {
	chain := func(n int, seq string) string {
		var b strings.Builder
		b.WriteString("meta: {id: a, endian: le}\nseq:\n- {id: x, type: t0}\ntypes:\n")
		for i := range n {
			next := fmt.Sprintf("t%d", i+1)
			if i == n-1 {
				next = "u1"
			}
			fmt.Fprintf(&b, "  t%d:\n    %s\n", i, strings.ReplaceAll(seq, "NEXT", next))
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"twice":      chain(30, "seq: [{id: a, type: NEXT}, {id: b, type: NEXT}]"),
		"choices":    chain(30, "seq: [{id: k, type: u1}, {id: b, type: {switch-on: k, cases: {1: NEXT, 2: NEXT}}}]"),
		"instances":  chain(30, "instances: {a: {pos: 0, type: NEXT}, b: {pos: 1, type: NEXT}}"),
		"orders":     chain(30, "meta: {endian: {switch-on: 1, cases: {1: le, _: be}}}\n    seq: [{id: b, type: NEXT}]"),
		"arguments":  "meta: {id: a}\nseq:\n- {id: x, type: t(1)}\ntypes:\n  t: {params: [{id: n, type: u4}], seq: [{id: k, type: u1}, {id: b, type: t(n + k + n), if: k > 0}]}\n",
		"sums":       chain(30, "instances: {a: {value: '"+strings.Repeat("(1 + _io.pos) * ", 300)+"1'}}"),
		"aliases":    "a: &a [x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e]\ng: [*f, *f, *f, *f, *f, *f, *f]\n",
		"deep":       strings.Repeat("[", 5000),
		"deep lists": strings.Repeat("- ", 1500) + "a\n",
		"long line":  "meta: {id: " + strings.Repeat("x", 5000) + "}\n",
		"lines":      strings.Repeat("a\n", 70000),
	} {
		start := time.Now()
		_, diags := kaitai.Parse([]*source.File{source.New("a.ksy", text)}, schema.Options{})
		if len(diags) == 0 {
			t.Errorf("%s: no diagnostics", name)
		}
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%s: takes %v", name, d)
		}
		t.Logf("%s: %v, %d diagnostics", name, time.Since(start).Round(time.Millisecond), len(diags))
	}
}
