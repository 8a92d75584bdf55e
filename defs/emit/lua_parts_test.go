package emit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs"
	"wirebench/defs/corpora"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tooltest"
)

// partSamples returns the definitions of testdata/lua/parts, each message as a sample of its own.
func partSamples(t *testing.T, language string) (out []*luaSample, definitions int) {
	t.Helper()
	c, err := txtar.ParseFile(filepath.Join("testdata/lua/parts", language+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Files {
		s, diags := defs.Load([]*source.File{source.New(f.Name, string(f.Data))}, language, schema.Options{})
		if diags.HasErrors() || len(s.Messages) == 0 {
			t.Fatalf("%s: %s: %d messages\n%s", language, f.Name, len(s.Messages), diags.Render())
		}
		definitions++
		for i, m := range s.Messages[:min(len(s.Messages), 4)] {
			one := *m
			if framed(m) && !m.HasKey {
				one.HasKey, one.Key.Code = true, 1000
			}
			name := fmt.Sprintf("%s_%s_%d", language, strings.ToLower(f.Name[:strings.IndexByte(f.Name, '.')]), i)
			out = append(out, &luaSample{name: name, schema: linked(&one), packets: map[int]sent{}})
		}
	}
	return out, definitions
}

// sendParts adds generated messages to a capture, some of them cut or changed at random, and random bytes.
func (s *luaSample) sendParts(t *testing.T, capture *pcap, rng *rand.Rand) {
	t.Helper()
	m := s.schema.Messages[0]
	p, err := codec.Compile(m)
	if err != nil {
		t.Fatal(err)
	}
	put := func(data []byte) {
		if len(data) > 0 && len(data) < 9000 && !(framed(m) && len(data) < 4) { // shorter than the header: a part of an unknown message
			s.packets[capture.udp(50000, s.ports[0], data)] = sent{m, data}
		}
	}
	for _, e := range value.Examples(p, 12, 3, rng.Uint32()) {
		put(e.Data)
		if len(e.Data) == 0 {
			continue
		}
		put(e.Data[:rng.IntN(len(e.Data))])
		bad := bytes.Clone(e.Data)
		for range 1 + rng.IntN(2) {
			bad[rng.IntN(len(bad))] = byte(rng.Uint32())
		}
		put(bad)
	}
	for range 6 {
		b := make([]byte, 1+rng.IntN(60))
		for i := range b {
			if b[i] = byte(rng.Uint32()); rng.IntN(3) == 0 {
				b[i] %= 5
			}
		}
		put(b)
	}
}

// TestToolLuaParts has tshark dissect messages of definitions of each language, which have all kinds of parts, and compares the fields with those
// that the codec reads: name, value, position and size. Bytes of any kind cause no error.
func TestToolLuaParts(t *testing.T) {
	tooltest.Path(t, "tshark")
	for _, d := range defs.Dialects {
		t.Run(d.Name, func(t *testing.T) {
			all, definitions := partSamples(t, d.Name)
			count := dissectParts(t, all, false)
			t.Log(definitions, "definitions,", len(all), "messages,", count)
			if definitions < 10 || count["ok"] < 10*definitions || count["incomplete"]+count["illegal"] < definitions {
				t.Errorf("too few packets: %v", count)
			}
		})
	}
}

// dissectParts dissects messages of samples with one message each.
func dissectParts(t *testing.T, all []*luaSample, mayOmit bool) map[string]int {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(11, 12))
	var scripts, args []string
	capture := newPcap()
	for i, s := range all {
		scripts = append(scripts, s.script(t, dir))
		s.ports[0] = uint16(20000 + i)
		m := s.schema.Messages[0]
		if len(s.paths) != 1 {
			if !mayOmit {
				t.Errorf("%s: %s is omitted", s.name, m.Name)
			}
			t.Log(s.losses)
			continue
		}
		args = append(args, "-o", fmt.Sprintf("%s.udp_ports:%d", s.name, s.ports[0]), "-o", fmt.Sprintf("%s.message:%s", s.name, messageName(m)))
		s.sendParts(t, capture, rng)
	}
	count := map[string]int{}
	packets := dissected(t, dir, capture, scripts, args...)
	for _, s := range all {
		s.compareParts(t, packets, count)
	}
	return count
}

// dissected returns tshark's output, which has no error of Lua.
func dissected(t *testing.T, dir string, capture *pcap, scripts []string, args ...string) []pdml {
	t.Helper()
	text := tshark(t, dir, capture, scripts, append(args, "-T", "pdml")...)
	if i := bytes.Index(text, []byte("Lua Error")); i >= 0 {
		t.Errorf("%s", text[max(i-200, 0):min(i+600, len(text))])
	}
	packets := readPdml(t, text)
	if len(packets) != capture.n {
		t.Fatalf("%d packets of %d", len(packets), capture.n)
	}
	return packets
}

func (s *luaSample) compareParts(t *testing.T, packets []pdml, count map[string]int) {
	t.Helper()
	wrong := 0
	for n := range packets {
		x, ok := s.packets[n+1]
		if !ok {
			continue
		}
		found := s.messages(&packets[n])
		text := "nothing is shown"
		if len(found) > 0 {
			text = s.differs(t, found[0], x, count)
		}
		if text == "" {
			continue
		}
		if wrong++; wrong <= 2 {
			t.Errorf("%s: %s: %x: %s", s.name, x.m.Name, x.data, text)
		}
	}
}

// differs describes the first difference between tshark's output for a message and what the codec reads.
func (s *luaSample) differs(t *testing.T, got *pdml, x sent, count map[string]int) string {
	t.Helper()
	p, err := codec.Compile(x.m)
	if err != nil {
		t.Fatal(err)
	}
	var rec codec.Record
	p.Decode(&rec, x.data)
	count[rec.Status().String()]++
	path := s.name + "." + s.paths[messageName(x.m)]
	nodes, outer := map[string][]*pdml{}, map[*pdml]*pdml{} // tshark adds the position of the outer node to that of a node before it
	status := ""
	problems := map[string]bool{}
	got.each(func(n *pdml) bool {
		for i := range n.Kids {
			outer[&n.Kids[i]] = n
		}
		switch {
		case n == got:
		case n.Name == s.name+".status":
			status = n.Show
		case strings.HasPrefix(n.Name, s.name+".wb_problem."):
			problems[strings.TrimPrefix(n.Name, s.name+".wb_problem.")] = true
		case s.isMessage(n):
			return false
		case n.Name != s.name+".name" && n.Name != s.name+".ver":
			nodes[n.Name] = append(nodes[n.Name], n)
		}
		return true
	})
	if status != rec.Status().String() {
		return fmt.Sprintf("got %s %v, want %s %v\n%s", status, problems, rec.Status(), view.Problems(&rec), render(got, ""))
	}
	if w := s.wrongProblems(&rec, problems); w != "" {
		return w
	}
	for _, f := range view.Fields(&rec) {
		if f.Field != codec.NoField {
			f.Path = strings.ReplaceAll(string(p.AppendFieldPath(nil, f.Field)), "[]", "")
		}
		if string(f.Value) == "null" {
			continue // shown as text
		}
		name := luaName(s.name, path, f)
		off := int(f.BitOffset / 8)
		size := int((f.BitOffset+f.BitLength+7)/8) - off
		made := f.Field != codec.NoField && schema.Made(p.Fields[f.Field].Schema.Type) != nil // its bytes are not sent
		if f.Inner != nil {
			off, size = int(*f.Inner/8)-got.Pos, -1
		}
		there, found := []*pdml{}, -1
		for i := 1; i <= 9 && found < 0; i++ {
			at := name
			if i > 1 { // others have a field of this name that cannot share its filter
				at = fmt.Sprintf("%s_%d", name, i)
			}
			there = append(there, nodes[at]...)
			found = slices.IndexFunc(nodes[at], func(n *pdml) bool {
				return (made || n.Pos-got.Pos == off || n.Pos-got.Pos-outer[n].Pos == off) && (n.Size == size || size < 0) && partEqual(p, f, n)
			})
			if found >= 0 {
				nodes[at] = slices.Delete(nodes[at], found, found+1)
			}
		}
		if found < 0 {
			list := ""
			for _, n := range there {
				list += fmt.Sprintf("%d+%d %q, ", n.Pos-got.Pos, n.Size, n.Show)
			}
			return fmt.Sprintf("no %s %s at %d, %d bytes: %s\n%s", name, f.Value, off, size, list, render(got, ""))
		}
	}
	for name, all := range nodes {
		for _, n := range all {
			if n.Size > 0 && n.Show != "" && !strings.HasPrefix(name, "_ws.") && name != "" && name != s.name+".wb_tag" && !strings.Contains(n.Label, " from bit ") {
				return fmt.Sprintf("%s at %d: got %q, want nothing\n%s", name, n.Pos-got.Pos, n.Show, render(got, ""))
			}
		}
	}
	return ""
}

// partEqual is luaEqual for values that the page shows otherwise than Wireshark: by names, or of more than 64 bits.
func partEqual(p *codec.Program, f view.FieldValue, n *pdml) bool {
	if luaEqual(f, n) || f.Role == "present" && string(f.Value) == "true" && n.Show != "0" {
		return true
	}
	var parts map[string]json.RawMessage
	if f.Field != codec.NoField && json.Unmarshal(f.Value, &parts) == nil {
		if t, ok := p.Fields[f.Field].Schema.Type.(*schema.Bitfield); ok && t.All != "" { // the node itself
			delete(parts, t.All)
			f.Value, _ = json.Marshal(parts)
			return luaEqual(f, n)
		}
	}
	var text string
	if json.Unmarshal(f.Value, &text) != nil || f.Field == codec.NoField {
		return false
	}
	switch t := p.Fields[f.Field].Schema.Type.(type) {
	case *schema.Number:
		if t.Enum != nil {
			for _, v := range t.Enum.Values {
				if v.Name == text && t.Decimal(v.Value) == n.Show {
					return true
				}
			}
		}
		if v, ok := new(big.Int).SetString(text, 10); ok && t.Var == schema.Long {
			return strconv.FormatUint(new(big.Int).And(v, new(big.Int).SetUint64(1<<64-1)).Uint64(), 10) == n.Show
		}
	case *schema.Blob:
		want, got := strings.ReplaceAll(text, "-", ""), strings.ReplaceAll(n.Show, ":", "") // with what ends it, and with padding
		return want == got || t.Value != nil && got == "" || (t.Trim || t.Size == schema.Terminated) && strings.HasPrefix(got, want)
	}
	return false
}

// TestCorporaLua checks that dissectors of published definitions have all messages.
func TestCorporaLua(t *testing.T) {
	for name, text := range protodefFiles(t, "*.json") {
		s, _ := defs.Load([]*source.File{source.New(name, text)}, "protodef", schema.Options{})
		target, _ := emit.Find("lua")
		files, losses := target.Emit(s, emit.Options{Name: "game"})
		n := strings.Count(files[0].Text, "\nmessage({")
		t.Logf("%s: %d of %d messages, %d kB; %s", name, n, len(s.Messages), len(files[0].Text)>>10, losses)
		if n < len(s.Messages) || n == 0 {
			t.Errorf("%s: messages are omitted", name)
		}
	}
}

// TestToolLuaPublished has tshark dissect generated messages of published definitions.
func TestToolLuaPublished(t *testing.T) {
	tooltest.Path(t, "tshark")
	for _, c := range corpora.All(t) {
		for name, text := range c.Files(t, "protodef/*.json") {
			s, _ := defs.Load([]*source.File{source.New(name, text)}, "protodef", schema.Options{})
			x := &luaSample{name: "game", schema: s, packets: map[int]sent{}}
			x.published(t, name)
		}
		if c.Own {
			continue
		}
		var several []*luaSample
		files := c.Files(t, "kaitai/formats/*.ksy")
		for _, name := range slices.Sorted(maps.Keys(files)) {
			text := files[name]
			s, diags := defs.Load([]*source.File{source.New(name, text)}, "kaitai", schema.Options{})
			if diags.HasErrors() || len(s.Messages) != 1 || s.Messages[0].Broken {
				continue
			}
			several = append(several, &luaSample{name: fmt.Sprintf("kaitai%d", len(several)), schema: linked(s.Messages[0]), packets: map[int]sent{}})
		}
		for batch := range slices.Chunk(several, 40) {
			t.Log("kaitai", len(batch), "definitions,", dissectParts(t, batch, true))
		}
	}
}

// published dissects messages of one definition, found by their codes, states and directions.
func (s *luaSample) published(t *testing.T, name string) {
	t.Helper()
	dir := t.TempDir()
	scripts := []string{s.script(t, dir)}
	capture, rng := newPcap(), rand.New(rand.NewPCG(21, 22))
	ports, rules := map[string]uint16{}, ""
	for _, m := range s.schema.Messages {
		p, err := codec.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		port := ports[m.Key.Group]
		if port == 0 {
			port = uint16(20000 + len(ports))
			ports[m.Key.Group] = port
			rules += fmt.Sprintf("%d/%s,", port, m.Key.Group)
		}
		from, to := uint16(50000), port
		if m.Key.Dir == schema.ToClient {
			from, to = to, from
		}
		for i, e := range value.Examples(p, 3, 2, rng.Uint32()) {
			data := e.Data
			if len(data) > 2 && i == 2 {
				data = data[:2+rng.IntN(len(data)-2)]
			}
			if len(data) > 1 && len(data) < 4000 && // with the whole code
				s.schema.Lookup(m.Key) == m {
				s.packets[capture.udp(from, to, data)] = sent{m, data}
			}
		}
	}
	packets := dissected(t, dir, capture, scripts, "-o", "game.udp_ports:20000-20099", "-o", "game.groups:"+rules)
	count := map[string]int{}
	s.compareParts(t, packets, count)
	t.Log(name, len(s.packets), "packets,", count)
}
