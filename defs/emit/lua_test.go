package emit_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/defs"
	"wirebench/defs/diag"
	"wirebench/defs/emit"
	"wirebench/defs/muta"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/subspace"
	"wirebench/defs/tera"
	"wirebench/defs/tooltest"
)

// sent is a message in the capture, and its result of the codec.
type sent struct {
	m    *schema.Message
	data []byte
}

// luaSample is a schema and its messages in the capture.
type luaSample struct {
	name     string
	schema   *schema.Schema
	ports    [2]uint16 // UDP, TCP
	sessions *emit.Sessions
	paths    map[string]string
	losses   []string
	all      []sent
	packets  map[int]sent    // UDP: by packet
	toServer map[bool][]sent // TCP: in order
}

var luaPath = regexp.MustCompile(`path = "([^"]*)", name = "([^"]*)"`)

// luaSamples returns the samples of all targets, split so that every message is distinguishable from the others.
func luaSamples(t *testing.T) []*luaSample {
	var out []*luaSample
	lib := sample{name: "library", schema: library(t, "tera")}
	codecRows(t, &lib, rand.New(rand.NewPCG(3, 4)))
	more := append(samples(t), lib)
	for _, s := range textSamples(t)[1:] { // unusual widths, bitfields, a header with a checksum
		s.name = "text_" + s.name
		codecRows(t, &s, rand.New(rand.NewPCG(7, 8)))
		more = append(more, s)
	}
	for _, s := range more {
		if s.name == "random" { // the code before the length: such messages are a loss, see TestLuaText
			continue
		}
		if s.name == "datagrams" { // without codes: each is separate
			for _, m := range s.schema.Messages {
				one := *m
				out = append(out, newLuaSample(t, "datagram_"+m.Name, linked(&one), s.rows))
			}
			continue
		}
		var keyed []*schema.Message
		for i, m := range s.schema.Messages {
			one := *m
			if !one.HasKey {
				one.HasKey, one.Key.Code = true, 1000+uint32(i)
			}
			keyed = append(keyed, &one)
		}
		out = append(out, newLuaSample(t, s.name, linked(keyed...), s.rows))
	}
	return out
}

func newLuaSample(t *testing.T, name string, s *schema.Schema, rows []row) *luaSample {
	out := &luaSample{name: name, schema: s, packets: map[int]sent{}, toServer: map[bool][]sent{}}
	byName := map[string]*schema.Message{}
	for _, m := range s.Messages {
		byName[messageName(m)] = m
	}
	seen := map[string]int{}
	rows = slices.Clone(rows)
	rand.New(rand.NewPCG(9, 10)).Shuffle(len(rows), func(i, k int) { rows[i], rows[k] = rows[k], rows[i] })
	for _, r := range rows {
		m := byName[r.Message]
		for _, one := range s.Messages { // found by its code
			if r.Set == "" || one.Key.Group != r.Set {
				continue
			}
			code := binary.LittleEndian.AppendUint32(nil, one.Key.Code)[:one.Body.Wire[0].Bits/8]
			if strings.HasPrefix(r.Hex, hex.EncodeToString(code)) {
				m, r.Message = one, one.Name
			}
		}
		if m == nil || m.HasKey && s.Lookup(m.Key) != m || r.Write != nil || len(r.Hex) == 0 {
			continue
		}
		most := 4
		if m.Measured { // these have more checks, and there are fewer of them
			most = 40
		}
		key := r.Message + r.status
		if seen[key]++; seen[key] > most {
			continue
		}
		data, err := hex.DecodeString(r.Hex)
		if err != nil {
			t.Fatal(err)
		}
		if framed(m) {
			if len(data) < 4 || binary.LittleEndian.Uint16(data) < 4 {
				continue
			}
			binary.LittleEndian.PutUint16(data[2:], uint16(m.Key.Code))
		}
		out.all = append(out.all, sent{m, data})
	}
	return out
}

func framed(m *schema.Message) bool {
	return len(m.Body.Wire) > 0 && m.Body.Wire[0].Kind == schema.Length
}

// script writes the dissector of a sample and returns its path.
func (s *luaSample) script(t *testing.T, dir string) string {
	t.Helper()
	target, _ := emit.Find("lua")
	files, losses := target.Emit(s.schema, emit.Options{Name: s.name, Sessions: s.sessions})
	for _, l := range losses {
		s.losses = append(s.losses, l.String())
	}
	write(t, dir, files[0].Name, files[0].Text)
	s.paths = map[string]string{}
	for _, m := range luaPath.FindAllStringSubmatch(files[0].Text, -1) {
		s.paths[m[2]] = m[1]
	}
	return filepath.Join(dir, files[0].Name)
}

// TestToolLua has tshark dissect messages over UDP and TCP, and compares its output with the results of the codec.
func TestToolLua(t *testing.T) {
	tooltest.Path(t, "tshark")
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(5, 6))
	capture := newPcap()
	var scripts, args []string
	all := luaSamples(t)
	for i, s := range all {
		scripts = append(scripts, s.script(t, dir))
		s.ports = [2]uint16{uint16(20000 + i), uint16(30000 + i)}
		args = append(args, "-o", fmt.Sprintf("%s.udp_ports:%d", s.name, s.ports[0]), "-o", fmt.Sprintf("%s.tcp_ports:%d", s.name, s.ports[1]))
		s.send(t, capture, rng)
	}
	out := readPdml(t, tshark(t, dir, capture, scripts, append(args, "-T", "pdml")...))
	if len(out) != capture.n {
		t.Fatalf("%d packets of %d", len(out), capture.n)
	}
	count := map[string]int{}
	for _, s := range all {
		s.compare(t, out, count)
	}
	t.Log(count)
	if min(count["ok"], count["illegal"], count["incomplete"], count["tcp"]) < 100 {
		t.Errorf("too few messages: %v", count)
	}
}

// send adds the messages to the capture: each in a separate datagram, and the valid ones in two streams.
func (s *luaSample) send(t *testing.T, capture *pcap, rng *rand.Rand) {
	const client = 50000
	streams := map[bool][]byte{}
	for _, x := range s.all {
		up := x.m.Key.Dir == schema.ToServer || x.m.Key.Dir == schema.Both && rng.IntN(2) == 0
		from, to := s.ports[0], uint16(client)
		if up {
			from, to = to, from
		}
		p, err := codec.Compile(x.m)
		if err != nil {
			t.Fatal(err)
		}
		var rec codec.Record
		p.Decode(&rec, x.data)
		if !known(x, &rec) {
			continue
		}
		s.packets[capture.udp(from, to, x.data)] = x
		if x.m.Measured && rec.Status() == codec.OK || framed(x.m) && int(binary.LittleEndian.Uint16(x.data)) == len(x.data) {
			x.data = x.data[:rec.Used]
			s.toServer[up] = append(s.toServer[up], x)
			streams[up] = append(streams[up], x.data...)
		}
	}
	for len(streams[true])+len(streams[false]) > 0 {
		up := rng.IntN(2) == 0
		n := min(len(streams[up]), 1+rng.IntN([]int{3, 50, 1400}[rng.IntN(3)]))
		if n == 0 {
			continue
		}
		from, to := s.ports[1], uint16(client)
		if up {
			from, to = to, from
		}
		capture.tcp(from, to, streams[up][:n])
		streams[up] = streams[up][n:]
	}
}

// TestLuaText compares the dissectors of definitions of each dialect with golden files, without the constant part.
func TestLuaText(t *testing.T) {
	for _, dialect := range []string{"tera", "muta", "subspace"} {
		path := "testdata/lua/" + dialect + ".txtar"
		c, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c.Files = slices.DeleteFunc(c.Files, func(f txtar.File) bool { return f.Name == "messages.lua" || f.Name == "losses" })
		s := parsed(t, dialect, c.Files)
		target, _ := emit.Find("lua")
		files, losses := target.Emit(s, emit.Options{Name: dialect})
		if again, _ := target.Emit(s, emit.Options{Name: dialect}); again[0] != files[0] {
			t.Error("generating the file again gives another text")
		}
		_, text, ok := strings.Cut(files[0].Text, "\n-- MESSAGES")
		if !ok {
			t.Fatal("the file has no messages")
		}
		text = strings.TrimLeft(text[strings.IndexByte(text, '\n'):], "\n")
		var lost strings.Builder
		for _, l := range losses {
			fmt.Fprintln(&lost, l)
			if !strings.Contains(files[0].Text, "--   "+l.String()+"\n") {
				t.Errorf("the file lacks %q", l)
			}
		}
		c.Files = append(c.Files, txtar.File{Name: "messages.lua", Data: []byte(text)}, txtar.File{Name: "losses", Data: []byte(lost.String())})
		golden(t, path, txtar.Format(c))
	}
}

// parsed returns the schema of definitions.
func parsed(t *testing.T, dialect string, in []txtar.File) *schema.Schema {
	t.Helper()
	var files []*source.File
	o := schema.Options{}
	for _, f := range in {
		x := source.New(f.Name, string(f.Data))
		switch filepath.Ext(f.Name) {
		case ".def":
			files = append(files, x)
		case ".map":
			o.Codes, _ = tera.ParseMap(x)
		}
	}
	parse := map[string]func([]*source.File, schema.Options) (*schema.Schema, diag.List){"tera": tera.Parse, "muta": muta.Parse, "subspace": subspace.Parse}[dialect]
	s, ds := parse(files, o)
	for _, d := range append(ds, schema.Link(s)...) {
		if d.Severity == diag.Error && d.Code != "unresolved-constant" {
			t.Fatal(ds.Render())
		}
	}
	return s
}

// library returns the definitions of a dialect that ship with the program.
func library(t *testing.T, dialect string) *schema.Schema {
	t.Helper()
	paths, err := filepath.Glob("../library/" + dialect + "/*")
	if err != nil {
		t.Fatal(err)
	}
	var in []txtar.File
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, txtar.File{Name: filepath.Base(p), Data: b})
	}
	return parsed(t, dialect, in)
}

// TestToolLuaFilters checks display filters with the names of fields, Decode As, names of values, and preferences.
func TestToolLuaFilters(t *testing.T) {
	dir := t.TempDir()
	kind := field("kind", number(8, 0))
	kind.Type.(*schema.Number).Enum = &schema.Enum{Name: "kind", Values: []schema.EnumValue{{Name: "arena", Value: 0}, {Name: "macro", Value: 1}}}
	low := field("low", number(16, schema.Signed))
	low.Type.(*schema.Number).Enum = &schema.Enum{Values: []schema.EnumValue{{Name: "minus two", Value: 0xfffe}}}
	wide := field("wide", number(64, 0))
	wide.Type.(*schema.Number).Max = &schema.Limit{Const: "MOST"}
	say := inOrder(kind, low, wide)
	say.Wire = append([]schema.Item{{Kind: schema.Length, Bits: 16}, {Kind: schema.Code, Bits: 16}}, say.Wire...)
	s := linked(&schema.Message{Name: "SAY", Version: 1, Body: say}) // its code is unknown
	x := &luaSample{name: "http", schema: s}                         // Wireshark has a protocol of this name
	script := x.script(t, dir)
	if want := []string{"SAY: the constant MOST has no value; its limit is not checked", "handshakes"}; len(x.losses) < 2 || x.losses[0] != want[0] || !strings.HasPrefix(x.losses[1], want[1]) {
		t.Errorf("losses %q", x.losses)
	}
	other := &luaSample{name: "other", schema: linked(&schema.Message{Name: "A", Version: 1, Body: inOrder(field("a", number(8, 0)))}, &schema.Message{Name: "B", Version: 1, Body: inOrder(field("b", number(8, 0)))})}
	write(t, dir, "codes.txt", "# codes\nSAY = 0x4e20\nNONE 7\n")
	capture := newPcap()
	message := []byte{15, 0, 0x20, 0x4e, 1, 0xfe, 0xff, 1, 0, 0, 0, 0, 0, 0, 0x80}
	capture.tcp(50000, 6000, message[:3])
	capture.tcp(50000, 6000, append(bytes.Clone(message[3:]), message...))
	capture.udp(7, 50000, []byte{9})
	out := tshark(t, dir, capture, []string{script, other.script(t, dir)}, "-o", "http_messages.codes:"+filepath.Join(dir, "codes.txt"),
		"-d", "tcp.port==6000,http_messages", "-o", "other.message:B", "-o", "other.udp_ports:1-9",
		"-Y", `http_messages.SAY.wide > 9223372036854775808 && http_messages.SAY.kind == "macro" && http_messages.SAY.low < 0 || other.B.b == 9`,
		"-T", "fields", "-e", "frame.number", "-e", "http_messages.SAY.low", "-e", "http_messages.SAY.wide", "-e", "http_messages.name", "-e", "other.B.b", "-e", "_ws.col.Info")
	want := "2\t-2,-2\t9223372036854775809,9223372036854775809\tSAY,SAY\t\tSAY, SAY\n3\t\t\t\t9\tB\n"
	if string(out) != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

// TestToolLuaHostile checks a few bytes with a count of very many elements, and a truncated part, which is not checked.
func TestToolLuaHostile(t *testing.T) {
	dir := t.TempDir()
	list := field("list", &schema.List{Elem: inOrder(), Extent: schema.Extent{Size: schema.Counted}})
	s := linked(measured("g", "many", 1, lengthsFirst(codeBits(8), map[string]int{"list": 32}, list)))
	x := &luaSample{name: "hostile", schema: s}
	capture := newPcap()
	capture.udp(7, 50000, []byte{1, 0xff, 0xff, 0xff, 0xff})
	capture.udp(7, 50000, []byte{1, 2, 0, 0, 0})
	y := &luaSample{name: "part", schema: linked(datagram("part", inOrder(field("a", ranged(8, 0, 1, 2)), field("b", number(32, 0)))))}
	capture.udp(8, 50000, []byte{9, 0})
	capture.udp(8, 50000, []byte{9, 0, 0, 0, 0})
	out := tshark(t, dir, capture, []string{x.script(t, dir), y.script(t, dir)}, "-o", "hostile.udp_ports:7", "-o", "part.udp_ports:8", "-e", "part.status", "-T", "fields", "-e", "hostile.status", "-e", "hostile.wb_problem.too_complex")
	if want := "\tillegal\t1\n\tok\t\nincomplete\t\t\nillegal\t\t\n"; string(out) != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

var luaField = regexp.MustCompile(`field\("([^"]+)", "[^"]*", "([^"]+)"`)

// TestLuaFilterNames checks that the filter names of the shipped definitions are paths in the program's filters.
func TestLuaFilterNames(t *testing.T) {
	target, _ := emit.Find("lua")
	for _, d := range defs.Dialects {
		s := librarySchema(t, d.Name)
		if len(s.Messages) == 0 {
			continue // no shipped definitions
		}
		files, _ := target.Emit(s, emit.Options{Sessions: d.Sessions})
		_, text, _ := strings.Cut(files[0].Text, "\n-- MESSAGES")
		bad, n := 0, 0
		for _, m := range luaField.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], ".wb_") {
				continue
			}
			n++
			if _, mistakes := filter.Compile(m[1], filter.Env{Schema: s}); len(mistakes) > 0 {
				bad++
				t.Logf("%s: %s: %v", d.Name, m[1], mistakes)
			}
		}
		// Some names are other fields of the same name that cannot share a filter.
		if omits := strings.Contains(files[0].Text, "Omitted messages"); n < 20 && !omits || bad*100 > n {
			t.Errorf("%s: %d of %d names are not paths", d.Name, bad, n)
		}
	}
}
