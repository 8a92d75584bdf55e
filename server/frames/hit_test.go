package frames

import (
	"encoding/hex"
	"strings"
	"testing"
	"unicode/utf8"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/view"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// mixed returns a message with fields of many types.
func mixed(t testing.TB) (m *RowMaker, filled *transport.Frame, where map[string][2]int) {
	t.Helper()
	snap := definitions(t, "tera", map[string]string{
		"C_MIX.1.def":    "array names\n- string name\nuint32 gold\nint16 debt\nfloat speed\nbyte flag\nstring text\n",
		"protocol.1.map": "C_MIX 4097\n",
	})
	msg, err := snap.Find("C_MIX.1")
	if err != nil {
		t.Fatal(err)
	}
	e, err := snap.Encoder(msg, nil, codec.Session{})
	if err != nil {
		t.Fatal(err)
	}
	data, problems := e.Encode([]byte(`{"names":[{"name":"Ann"},{"name":"Lann"}],"gold":48211,"debt":-300,"speed":1.27,"flag":7,"text":"you have 48 gold"}`))
	if data == nil {
		t.Fatal(problems)
	}
	m = &RowMaker{Snap: snap}
	filled = &transport.Frame{Kind: transport.Message, Dir: schema.ToServer, Key: msg.Key, HasKey: true, Bytes: data}
	if m.Decode(filled) == nil || m.Rec.Status() != codec.OK {
		t.Fatal("it is not read")
	}
	where = map[string][2]int{}
	for _, v := range view.Fields(m.Rec) {
		if v.Role == "value" {
			where[v.Path] = [2]int{int(v.BitOffset / 8), int((v.BitOffset + v.BitLength + 7) / 8)}
		}
	}
	return m, filled, where
}

// A match is located in its field, or in the bytes where no field is known.
func TestFindPointsAtHit(t *testing.T) {
	m, frame, where := mixed(t)
	for _, test := range []struct{ name, as, text, field string }{ // "" means nowhere
		{"a text", "regex", "^you", "text"},
		{"a text in a list", "regex", "^Lann$", "names[1].name"},
		{"the first of two", "regex", "ann|Ann", "names[0].name"},
		{"a regex that only the name fits", "regex", "C_MIX", ""},
		{"a number", "value", "48211", "gold"},
		{"in hex", "value", "0xBC53", "gold"},
		{"below zero", "value", "-300", "debt"},
		{"a float", "value", "1.27", "speed"},
		{"a float that is written shorter", "value", "1.2", ""},
		{"a float as near as it is written", "value", "1.3", "speed"},
		{"a small number", "value", "7", "flag"},
		{"a part of a text", "value", "have", "text"},
		{"a text in quotes", "value", `"Lann"`, "names[1].name"},
		{"a filter by a field", "filter", ".gold > 40000", "gold"},
		{"a filter by one of several values", "filter", `.names.name == "Lann"`, ""},
		{"a filter by two fields", "filter", ".gold > 1 || .flag > 1", ""},
		{"a filter by no field", "filter", "len > 4", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := FindQuery{Text: test.text, As: test.as}
			f, mistakes := m.Snap.Filter(a.AsFilter())
			if len(mistakes) > 0 {
				t.Fatal(mistakes)
			}
			start, end := a.hit(t.Context(), m, f, frame)
			want, ok := where[test.field]
			if !ok {
				want = [2]int{-1, 0}
			}
			if test.field != "" && !ok || start != want[0] || ok && end != want[1] {
				t.Errorf("at %d to %d, %q is at %v of %v", start, end, test.field, want, where)
			}
		})
	}
}

// Without a definition, a value is located in the bytes, in each form in which the filter finds it.
func TestFindPointsAtBytes(t *testing.T) {
	m, _, _ := mixed(t)
	for _, test := range []struct {
		text, data string
		start, end int
	}{
		{"7", "0007", 1, 2},
		{"48211", "00 53bc 0000", 1, 3},
		{"48211", "00 00bc53", 2, 4},
		{"100000", "ff a0860100", 1, 5},
		{"010", "00 08 0a", 2, 3}, // decimal, as in filters
		{"0x0a", "00 08 0a", 2, 3},
		{"-2", "00 fe", 1, 2},
		{"-300", "00 d4fe", 1, 3},
		{"-129", "00 7fff", 1, 3},
		{"-128", "00 80", 1, 2},
		{"5000000000", "00 00f2052a01000000", 1, 9},
		{"48211", "00 d3f802", 1, 4}, // 7 bits a byte
		{"48211", "00 82f853", 1, 4},
		{"48211", "00 a6f105", 1, 4},
		{"-300", "00 d4fdffffffffffffff01", 1, 11},
		{"-300", "00 d4fdffff0f", 1, 6},
		{"-300", "00 d704", 1, 3},
		{"1.5", "00 0000c03f", 1, 5},
		{"1.5", "00 3ff8000000000000", 1, 9},
		{"0.1", "00 cdcccc3d", 1, 5},
		{"2", "00 0000000000000040", 1, 9}, // a float only
		{"Hi", "00 4869", 1, 3},
		{"Hi", "00 48006900", 1, 5},
		{`"48"`, "00 3438", 1, 3},
		{`x"e8 ?? 00"`, "01 e80300", 1, 4},
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(test.data, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		a := FindQuery{Text: test.text, As: "value"}
		f, mistakes := m.Snap.Filter(a.AsFilter())
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		frame := &transport.Frame{Kind: transport.Message, Dir: schema.ToClient, Bytes: data}
		if start, end := a.hit(t.Context(), m, f, frame); start != test.start || end != test.end {
			t.Errorf("%s in %s: at %d to %d, want %d to %d", test.text, test.data, start, end, test.start, test.end)
		}
	}
}

// For any search in any bytes, the reported range is in the frame, and a value that a filter finds has a range.
func FuzzFindHit(f *testing.F) {
	for _, text := range []string{"7", "-1", "1.5", "1e300", `"a"`, "x'00 ??'", "0x", "_", "-", "a b"} {
		f.Add(text, []byte("\x01\x00a b\x00\x00\xc0\x3f"))
	}
	m, frame, _ := mixed(f)
	f.Add("48211", frame.Bytes)
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		if len(text) > 100 || len(data) > 1000 || !utf8.ValidString(text) { // queries are JSON
			return
		}
		for _, as := range []string{"value", "regex", "filter"} {
			a := FindQuery{Text: text, As: as}
			by, mistakes := m.Snap.Filter(a.AsFilter())
			if a.AsFilter() == "" || len(mistakes) > 0 {
				continue
			}
			for _, key := range []bool{false, true} {
				x := &transport.Frame{Kind: transport.Message, Dir: schema.ToServer, Key: frame.Key, HasKey: key, Bytes: data}
				start, end := a.hit(t.Context(), m, by, x)
				if fits := by.Fits(workspace.Where{}, x); as == "value" && fits && start < 0 && !strings.HasPrefix(strings.TrimSpace(text), "x") { // bytes may be partly unknown
					t.Errorf("%q is found in % x without a range", text, data)
				}
				if start >= 0 && (end <= start || end > len(data)) {
					t.Errorf("%s %q: from %d to %d of %d bytes", as, text, start, end, len(data))
				}
			}
		}
	})
}
