package kaitai_test

import (
	"testing"

	"wirebench/codec"
	"wirebench/defs/kaitai"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/wire"
)

// FuzzFormats checks that any text is read without panics, and that messages compile and can be decoded.
func FuzzFormats(f *testing.F) {
	for _, text := range []string{
		"meta:\n  id: a\n  endian: le\nseq:\n  - id: n\n    type: u2\n  - id: s\n    type: str\n    size: n * 2\n    encoding: UTF-8\n",
		"meta: {id: a}\nseq:\n- {id: k, type: b3}\n- {id: t, type: {switch-on: k, cases: {1: a, 2: u1, _: x}}}\ntypes:\n  x: {seq: [{id: y, type: x, if: '_root.k == 1'}]}\n",
		"meta: {id: a, endian: be}\nseq:\n- {id: l, type: u4, repeat: until, repeat-until: '_ == 0 or _io.eof', valid: {max: 9}}\ninstances:\n  p: {pos: l.size, size: 3, process: zlib}\n  v: {value: 'f\"a{l.size}\" + \"b\".reverse', enum: e}\nenums: {e: {1: x, -1: {id: y}}}\n",
		"meta: {id: a}\nseq:\n- {id: t, terminator: 3, type: w, process: xor(1), repeat: eos}\n- {id: p, size: 9, pad-right: 4, terminator: 5, include: true, type: w}\ninstances:\n  m: {value: 't.size + l.max'}\n  l: {pos: 0, type: u1, repeat: expr, repeat-expr: 2}\n  b: {value: '[t.size, 2].as<bytes>'}\ntypes: {w: {seq: [{id: all, size-eos: true}]}}\n",
		"a: &a [*a]\nb: *a\nseq: [*a, {id: [}]\n",
		"\ufeffmeta:\r\n  id: 'x'\r\nseq:\r\n  - id: |\r\n     a\r\n     b\r\n",
	} {
		f.Add(text, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	}
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		if len(text) > 1<<14 {
			return
		}
		s, diags := kaitai.Parse([]*source.File{source.New("a.ksy", text)}, schema.Options{})
		for _, d := range diags {
			if d.Span.File == nil || d.Span.Start < 0 || d.Span.End > len(text) || d.Span.Start > d.Span.End {
				t.Errorf("%s: span %d to %d", d.Message, d.Span.Start, d.Span.End)
			}
		}
		for _, m := range s.Messages {
			if _, err := wire.Compile(m); err != nil {
				t.Fatal(err)
			}
			p, err := codec.Compile(m)
			if err != nil {
				continue
			}
			var rec codec.Record
			p.Decode(&rec, data)
		}
	})
}
