package codec_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/benchtest"
	"wirebench/defs/schema"
)

// briefly is AppendBrief written from its description: all leaves with their paths, their values as JSON, then as people read them.
func briefly(r *codec.Record, most int) string {
	out, lists := "", [][2]int{} // nodes of the outermost lists
	for i := 0; i < len(r.Nodes); i++ {
		if r.Nodes[i].Kind == codec.NodeList {
			lists = append(lists, [2]int{i, max(int(r.Nodes[i].After), i+1)})
			i = lists[len(lists)-1][1] - 1
		}
	}
	add := func(text string) {
		if out != "" {
			out += ", "
		}
		out += text
	}
	list := func() {
		n := &r.Nodes[lists[0][0]]
		lists = lists[1:]
		if f := r.Program.Ops[n.Op].Field; f != codec.NoField {
			add(string(r.Program.AppendFieldPath(nil, f)) + " ×" + strconv.FormatUint(n.Raw, 10))
		}
	}
	w := r.Paths()
	for _, l := range r.AppendLeaves(nil) {
		for len(lists) > 0 && lists[0][0] <= int(l.Node) {
			list()
		}
		if len(out) >= most {
			break
		}
		path := string(w.Append(nil, l))
		text := string(value.AppendLeaf(nil, r, l))
		if l.Role != codec.RoleValue || l.Field == codec.NoField || strings.Contains(path, "[") || text == "null" {
			continue
		}
		if n, ok := r.Program.Fields[l.Field].Schema.Type.(*schema.Number); ok {
			text = strings.Trim(text, `"`)
			if name := n.NameOf(text); name != "" {
				text += " (" + name + ")"
			} else if f, err := strconv.ParseFloat(text, 64); err == nil && n.Kind == schema.Float && n.Bits == 32 && n.Scale == 0 {
				text = strconv.FormatFloat(f, 'g', -1, 32)
			}
		}
		if chars := []rune(text); len(chars) > 100 {
			text = string(chars[:100]) + "..."
		}
		add(path + " " + text)
	}
	for len(lists) > 0 {
		if len(out) < most {
			list()
		} else {
			lists = lists[1:]
		}
	}
	return out
}

// TestBrief compares summaries with their description, of whole, truncated and changed messages, in all lengths.
func TestBrief(t *testing.T) {
	random := rand.New(rand.NewPCG(29, 24))
	var rec codec.Record
	check := func(s sample, data []byte, most int) {
		t.Helper()
		s.p.Decode(&rec, data)
		if got, want := string(value.AppendBrief([]byte("x"), &rec, most)), "x"+briefly(&rec, most); got != want {
			t.Fatalf("%s %x, %d bytes:\n got %s\nwant %s", s.name, data, most, got, want)
		}
	}
	for _, s := range samples(t) {
		s.p.Decode(&rec, s.data)
		whole := len(briefly(&rec, 1<<20))
		for most := range min(whole, 500) + 2 {
			check(s, s.data, most)
		}
		for n := range min(len(s.data), 600) {
			check(s, s.data[:n], 160)
		}
		for range 300 {
			data := bytes.Clone(s.data)
			for range 1 + random.IntN(4) {
				data[random.IntN(len(data))] = byte(random.Uint32() >> random.IntN(8))
			}
			check(s, data, random.IntN(300))
		}
	}
	long := strings.Repeat(`ab é\n`, 40)
	for _, text := range []string{"", long, strings.Repeat("x", 96) + long, strings.Repeat("x", 97) + long, strings.Repeat("語", 99)} {
		p := compile(t, "C_TEXT.1.def", "string a\nbytes b\nbool c\nint64 d\ndouble e\n", schema.Options{})
		var in, out codec.Record
		if err := value.ParseJSON(&in, p, []byte(`{"a":"`+text+`","b":"`+strings.Repeat("0a", len(text))+`","c":true,"d":"-5","e":"NaN"}`)); err != nil {
			t.Fatal(err)
		}
		if err := p.Encode(&out, &in); err != nil {
			t.Fatal(err)
		}
		check(sample{"TEXT", p, nil}, out.Message(), 1000)
	}
	calls := 0
	for _, p := range protodefPrograms() {
		for _, e := range value.Examples(p, 60, 7, 0) {
			check(sample{p.Message.Name, p, nil}, e.Data, 160)
			check(sample{p.Message.Name, p, nil}, e.Data, 20)
			if slices.ContainsFunc(rec.Nodes, func(n codec.Node) bool { return p.Ops[n.Op].Code == codec.OpCall }) {
				calls++
				var text []byte
				if n := testing.AllocsPerRun(2, func() { text = value.AppendBrief(text[:0], &rec, 160) }); n > 0 && !benchtest.Raced {
					t.Errorf("%s %x: AppendBrief allocates %v times", p.Message.Name, e.Data, n)
				}
			}
		}
	}
	if calls == 0 {
		t.Error("no message with calls")
	}
}
