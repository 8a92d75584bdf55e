package codec_test

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestOverKeepsBytes encodes the values of messages over the messages themselves, in every language: whole ones, ones with other bits anywhere, cut
// ones, ones with bytes behind and noise. The bytes are the same, whatever the values leave out. Then one value is changed: the result has
// the changed values, and no other byte of the same size differs.
func TestOverKeepsBytes(t *testing.T) {
	for _, d := range defs.Dialects {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			rng, kept, changed := rand.New(rand.NewPCG(1, 2)), 0, 0
			for _, s := range []*schema.Schema{loadFiles(t, d.Name, filepath.Join("../defs/library", d.Name, "*")), load(t, d.Name, nil, d.Example)} {
				for _, m := range s.Messages {
					if m.Broken {
						continue
					}
					p, err := codec.Compile(m)
					if err != nil {
						t.Fatal(err)
					}
					for _, data := range bases(rng, p) {
						k, c := overBase(t, rng, p, data)
						kept, changed = kept+k, changed+c
					}
				}
			}
			if kept == 0 || changed == 0 {
				t.Errorf("%d messages kept, %d changed", kept, changed)
			}
			t.Logf("%d messages kept, %d changed", kept, changed)
		})
	}
}

// bases returns messages of a definition, and what looks like them.
func bases(rng *rand.Rand, p *codec.Program) (out [][]byte) {
	for _, e := range value.Examples(p, 3, 1, 4660) {
		out = append(out, e.Data, scrambled(rng, p, e.Data), append(bytes.Clone(e.Data), byte(rng.Uint32()), 7))
		if len(e.Data) > 0 {
			wrong := bytes.Clone(e.Data)
			for range 1 + rng.IntN(3) {
				wrong[rng.IntN(len(wrong))] ^= 1 << rng.IntN(8)
			}
			at := rng.IntN(len(e.Data))
			out = append(out, wrong, e.Data[:at], append(append(bytes.Clone(e.Data[:at]), 0x80), e.Data[at:]...))
		}
	}
	noise := make([]byte, rng.IntN(60))
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	return append(out, noise)
}

func overBase(t *testing.T, rng *rand.Rand, p *codec.Program, data []byte) (kept, changed int) {
	t.Helper()
	var base, in, out codec.Record
	var over value.Over
	p.Decode(&base, data)
	text := value.AppendJSON(nil, &base)
	if value.ParseJSON(&in, p, text) != nil {
		return 0, 0 // values that are not legal
	}
	in.Code, in.Session = base.Code, base.Session
	if err := over.Encode(&out, &in, &base); err != nil || !bytes.Equal(out.Message(), data) {
		t.Fatalf("%s: %s over itself: %v\n got %x\nwant %x", p.Message.Name, text, err, out.Message(), data)
	}
	if base.Status() != codec.OK {
		return 1, 0
	}
	l, ok := aNumber(rng, &base)
	if !ok {
		return 1, 0
	}
	other := bytes.Clone(base.Message())
	it := base.Item(l)
	raw := it.Num.Int(l.Raw) ^ 1
	if bits, ok := it.Num.RawUnits(raw); !ok || it.Num != nil && !it.Num.Legal(bits) {
		return 1, 0
	}
	if other, ok = base.Written(other, l, raw); !ok || len(other) != len(base.Message()) {
		return 1, 0
	}
	var want, again codec.Record
	p.Decode(&want, other)
	if text = value.AppendJSON(nil, &want); want.Status() != codec.OK || value.ParseJSON(&in, p, text) != nil {
		return 1, 0
	}
	in.Code = base.Code
	if err := over.Encode(&out, &in, &base); err != nil {
		t.Fatalf("%s: %s over %x: %v", p.Message.Name, text, data, err)
	}
	p.Decode(&again, out.Message())
	if got := value.AppendJSON(nil, &again); !bytes.Equal(got, text) {
		t.Fatalf("%s: over %x\n got %s\nwant %s", p.Message.Name, data, got, text)
	}
	if !p.HasSession() && p.Message.Seal == nil && !bytes.Equal(out.Message(), other) {
		t.Fatalf("%s: %s over %x\n got %x\nwant %x", p.Message.Name, text, data, out.Message(), other)
	}
	return 1, 1
}

// aNumber returns an integer of the message on which no size and no alternative depends.
func aNumber(rng *rand.Rand, r *codec.Record) (codec.Leaf, bool) {
	decides := map[int]bool{}
	for _, reg := range r.Program.Wire().Regs {
		decides[reg.Field] = decides[reg.Field] || reg.Kind == schema.Value
	}
	var all []codec.Leaf
	for _, l := range r.AppendLeaves(nil) {
		it := r.Item(l)
		if l.Role == codec.RoleValue && it != nil && it.Num != nil && it.Num.Kind < schema.Float && it.Num.Scale == 0 && !it.Computed() && !decides[int(l.Field)] && int(l.Range().End()) <= r.Used*8 {
			all = append(all, l)
		}
	}
	if len(all) == 0 {
		return codec.Leaf{}, false
	}
	return all[rng.IntN(len(all))], true
}

// TestOverChangedSizes: where sizes change, what is laid out anew keeps what values do not show.
func TestOverChangedSizes(t *testing.T) {
	for _, c := range []struct{ name, definition, base, value, want string }{
		{
			"a number with more bytes than it needs, before a text that grows",
			`["container", [{"name": "n", "type": "varint"}, {"name": "t", "type": ["pstring", {"countType": "u8"}]}]]`,
			"8500 01 61", `{"n":5,"t":"abc"}`, "8500 03 616263",
		},
		{
			"such a number that changes",
			`["container", [{"name": "n", "type": "varint"}, {"name": "t", "type": ["pstring", {"countType": "u8"}]}]]`,
			"8500 01 61", `{"n":6,"t":"a"}`, "8600 01 61",
		},
		{
			"bytes after the message",
			`["container", [{"name": "t", "type": ["pstring", {"countType": "u8"}]}]]`,
			"01 61 ffff", `{"t":"abc"}`, "03 616263 ffff",
		},
		{
			"a truth value other than 1, and an element before it",
			`["container", [{"name": "l", "type": ["array", {"countType": "u8", "type": ["container", [{"name": "on", "type": "bool"}]]}]}]]`,
			"02 07 00", `{"l":[{"on":true},{"on":true},{"on":false}]}`, "03 07 01 00",
		},
		{
			"an element between others that are the same",
			`["container", [{"name": "l", "type": ["array", {"countType": "u8", "type": ["container", [{"name": "n", "type": "varint"}, {"name": "on", "type": "bool"}]]}]}]]`,
			"02 810000 8200 09", `{"l":[{"n":1,"on":false},{"n":3,"on":true},{"n":2,"on":true}]}`, "03 810000 0301 8200 09",
		},
		{
			"contents at positions, in another order and with gaps",
			`["container", [{"name": "p", "type": "u8"}, {"name": "q", "type": "u8"}, {"name": "a", "type": ["at", {"position": "p", "type": "u8"}]}, {"name": "b", "type": ["at", {"position": "q", "type": "u8"}]}]]`,
			"07 04 ee bb ee ee aa", `{"p":7,"q":4,"a":170,"b":204}`, "07 04 ee cc ee ee aa",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := load(t, "protodef", nil, source.New("m.json", `{"types": {"x": `+c.definition+`}, "play": {"toClient": {"types": {"packet_x": "x", "packet": ["container", [{"name": "name", "type": ["mapper", {"type": "u8", "mappings": {"0": "x"}}]}, {"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"x": "packet_x"}}]}]]}}}}`)).Messages[0]
			p, err := codec.Compile(m)
			if err != nil {
				t.Fatal(err)
			}
			bytesOf := func(text string) []byte {
				data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
				if err != nil {
					t.Fatal(err)
				}
				return data
			}
			var base, in, out codec.Record
			p.Decode(&base, bytesOf("00"+c.base))
			if base.Status() != codec.OK {
				t.Fatal(view.Transcript(&base))
			}
			if err := value.ParseJSON(&in, p, []byte(c.value)); err != nil {
				t.Fatal(err)
			}
			in.Code = base.Code
			var over value.Over
			if err := over.Encode(&out, &in, &base); err != nil || !bytes.Equal(out.Message(), bytesOf("00"+c.want)) {
				t.Errorf("%v\n got %x\nwant 00%s", err, out.Message(), c.want)
			}
		})
	}
}
