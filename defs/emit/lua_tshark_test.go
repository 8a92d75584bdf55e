package emit_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/view"
	"wirebench/defs/schema"
	"wirebench/defs/tooltest"
)

// pcap is a capture of raw IPv4 packets under construction.
type pcap struct {
	b   bytes.Buffer
	n   int               // packets
	seq map[uint32]uint32 // TCP sequence numbers, by both ports
}

func newPcap() *pcap {
	p := &pcap{seq: map[uint32]uint32{}}
	p.put(uint32(0xa1b2c3d4), uint16(2), uint16(4), uint32(0), uint32(0), uint32(1<<18), uint32(101))
	return p
}

func (p *pcap) put(values ...any) {
	for _, v := range values {
		_ = binary.Write(&p.b, binary.LittleEndian, v)
	}
}

// packet adds a packet. It returns its number in Wireshark.
func (p *pcap) packet(protocol byte, header, data []byte) int {
	p.n++
	size := 20 + len(header) + len(data)
	p.put(uint32(p.n), uint32(0), uint32(size), uint32(size))
	ip := []byte{0x45, 0, byte(size >> 8), byte(size), 0, 0, 0, 0, 64, protocol, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1}
	p.b.Write(ip)
	p.b.Write(header)
	p.b.Write(data)
	return p.n
}

func (p *pcap) udp(from, to uint16, data []byte) int {
	h := binary.BigEndian.AppendUint16(nil, from)
	h = binary.BigEndian.AppendUint16(h, to)
	h = binary.BigEndian.AppendUint16(h, uint16(8+len(data)))
	return p.packet(17, append(h, 0, 0), data)
}

func (p *pcap) tcp(from, to uint16, data []byte) int {
	key := uint32(from)<<16 | uint32(to)
	h := binary.BigEndian.AppendUint16(nil, from)
	h = binary.BigEndian.AppendUint16(h, to)
	h = binary.BigEndian.AppendUint32(h, p.seq[key]+1)
	h = binary.BigEndian.AppendUint32(h, p.seq[uint32(to)<<16|uint32(from)]+1)
	h = append(h, 0x50, 0x18, 0xff, 0xff, 0, 0, 0, 0)
	p.seq[key] += uint32(len(data))
	return p.packet(6, h, data)
}

// pdml is a node of tshark's PDML output of a packet.
type pdml struct {
	Name, Label, Show string
	Pos, Size         int
	Kids              []pdml
}

// each calls a function with a node and its descendants, except those of nested messages.
func (n *pdml) each(call func(*pdml) (inside bool)) {
	if call(n) {
		for i := range n.Kids {
			n.Kids[i].each(call)
		}
	}
}

// tshark dissects a capture with Lua dissectors.
func tshark(t *testing.T, dir string, capture *pcap, scripts []string, args ...string) []byte {
	t.Helper()
	path := tooltest.Path(t, "tshark")
	write(t, dir, "capture.pcap", capture.b.String())
	all := []string{"-r", filepath.Join(dir, "capture.pcap"), "-o", "tcp.relative_sequence_numbers:FALSE", "-o", "ip.check_checksum:FALSE"}
	for _, s := range scripts {
		all = append(all, "-X", "lua_script:"+s)
	}
	cmd := exec.Command(path, append(all, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "WIRESHARK_CONFIG_DIR="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	text := strings.ReplaceAll(stderr.String(), "Running as user \"root\" and group \"root\". This could be dangerous.\n", "")
	if err != nil || text != "" {
		t.Fatalf("tshark: %v\n%s", err, text[:min(len(text), 3000)])
	}
	return out
}

var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#x27;", "'", "&apos;", "'", "&amp;", "&")

// readPdml parses the output of tshark -T pdml: packets with nested nodes. It is not an XML parser, because the output may contain
// characters that are invalid in XML, and because this is faster.
func readPdml(t *testing.T, text []byte) []pdml {
	t.Helper()
	open := []*pdml{{}}
	for rest := string(text); ; {
		from := strings.IndexByte(rest, '<')
		to := strings.IndexByte(rest, '>')
		if from < 0 || to < from {
			break
		}
		tag := rest[from+1 : to]
		rest = rest[to+1:]
		top := open[len(open)-1]
		switch {
		case tag == "/pdml":
			return open[0].Kids
		case tag[0] == '/':
			open = open[:len(open)-1]
		case strings.HasPrefix(tag, "packet"), strings.HasPrefix(tag, "proto "), strings.HasPrefix(tag, "field "):
			n := pdml{Name: attribute(tag, "name"), Label: attribute(tag, "showname"), Show: attribute(tag, "show")}
			n.Pos, _ = strconv.Atoi(attribute(tag, "pos"))
			n.Size, _ = strconv.Atoi(attribute(tag, "size"))
			top.Kids = append(top.Kids, n)
			if !strings.HasSuffix(tag, "/") {
				open = append(open, &top.Kids[len(top.Kids)-1])
			}
		}
	}
	t.Fatalf("the output of tshark is truncated: %s", text[max(0, len(text)-300):])
	return nil
}

func attribute(tag, name string) string {
	_, after, ok := strings.Cut(tag, " "+name+`="`)
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(after, `"`)
	return unescape.Replace(value)
}

// known reports whether the bytes identify their message.
func known(x sent, rec *codec.Record) bool {
	first := x.m.Body.Wire[0]
	switch {
	case first.Kind == schema.Const && len(x.data) < len(first.Bytes), first.Kind == schema.Code && len(x.data) < first.Bits/8:
		return false
	}
	return !slices.ContainsFunc(rec.Problems, func(p codec.Problem) bool { return p.Code == codec.WrongConstant })
}

// compare checks tshark's output for a sample's messages.
func (s *luaSample) compare(t *testing.T, packets []pdml, count map[string]int) {
	t.Helper()
	wrong := 0
	report := func(where string, x sent, text string) {
		if text == "" {
			return
		}
		if wrong++; wrong <= 5 {
			t.Errorf("%s %s %s: %.300x\n%s", s.name, where, messageName(x.m), x.data, text)
		}
	}
	streams := map[bool][]*pdml{}
	for i := range packets {
		n := i + 1
		found := s.messages(&packets[i])
		if x, ok := s.packets[n]; ok {
			if len(found) == 0 {
				report("udp", x, "nothing is shown")
				continue
			}
			report("udp", x, s.wrong(t, found[0], x, count))
			continue
		}
		for _, m := range found {
			up := port(&packets[i], "tcp.dstport") == int(s.ports[1])
			streams[up] = append(streams[up], m)
		}
	}
	for up, want := range s.toServer {
		got := streams[up]
		for i, x := range want {
			if i >= len(got) {
				t.Errorf("%s: %d messages in the stream (to the server: %v), want %d", s.name, len(got), up, len(want))
				break
			}
			count["tcp"]++
			report("tcp", x, s.wrong(t, got[i], x, count))
		}
		if len(got) > len(want) {
			t.Errorf("%s: %d messages in the stream, want %d", s.name, len(got), len(want))
		}
	}
}

func port(packet *pdml, name string) (out int) {
	packet.each(func(n *pdml) bool {
		if n.Name == name {
			out, _ = strconv.Atoi(n.Show)
		}
		return true
	})
	return out
}

// messages returns the nodes of a packet's messages.
func (s *luaSample) messages(packet *pdml) (out []*pdml) {
	for i := range packet.Kids {
		if p := &packet.Kids[i]; p.Name == s.name {
			for k := range p.Kids {
				if n := p.Kids[k].Name; strings.HasPrefix(n, s.name+".") && n != s.name+".wb_unexplained" {
					out = append(out, &p.Kids[k])
				}
			}
		}
	}
	return out
}

var index = regexp.MustCompile(`\[\d+\]`)

// wrong describes the first error in tshark's output for a message.
func (s *luaSample) wrong(t *testing.T, got *pdml, x sent, count map[string]int) string {
	t.Helper()
	p, err := codec.Compile(x.m)
	if err != nil {
		t.Fatal(err)
	}
	var rec codec.Record
	p.Decode(&rec, x.data)
	count[rec.Status().String()]++
	path := s.name + "." + s.paths[messageName(x.m)]
	if got.Name != path {
		return fmt.Sprintf("got the message %s (%s)", got.Name, got.Label)
	}
	type place struct {
		name      string
		pos, size int
	}
	there := map[place][]*pdml{}
	outer := map[*pdml]*pdml{}
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
		case s.isMessage(n): // nested in this one
			return false
		case n.Name != s.name+".name" && n.Name != s.name+".ver":
			at := place{n.Name, n.Pos - got.Pos, n.Size}
			there[at] = append(there[at], n)
		}
		return true
	})
	if status != rec.Status().String() {
		return fmt.Sprintf("got %s, want %s", status, rec.Status())
	}
	if w := s.wrongProblems(&rec, problems); w != "" {
		return w
	}
	for _, f := range view.Fields(&rec) {
		name := luaName(s.name, path, f)
		at := place{name, int(f.BitOffset / 8), int((f.BitOffset+f.BitLength+7)/8 - f.BitOffset/8)}
		nodes := there[at]
		for i := 2; i <= 3 && len(nodes) == 0; i++ { // other versions or alternatives have a field of this name that cannot share its filter
			at.name = fmt.Sprintf("%s_%d", name, i)
			nodes = there[at]
		}
		// tshark adds the position of the outer node to that of a node before it.
		for k, list := range there {
			if len(nodes) == 0 && k.name == name && k.size == at.size && k.pos-outer[list[0]].Pos == at.pos {
				at, nodes = k, list
			}
		}
		if len(nodes) == 0 {
			return fmt.Sprintf("no %s at %d, %d bytes, in\n%s", name, at.pos, at.size, render(got, ""))
		}
		found := slices.IndexFunc(nodes, func(n *pdml) bool { return luaEqual(f, n) })
		if found < 0 {
			return fmt.Sprintf("%s at %d: got %q, want %s", name, at.pos, nodes[0].Show, f.Value)
		}
		if there[at] = slices.Delete(nodes, found, found+1); len(there[at]) == 0 {
			delete(there, at)
		}
	}
	for at, nodes := range there {
		for _, n := range nodes {
			if n.Size > 0 && n.Show != "" && !strings.HasPrefix(n.Name, "_ws.") && !strings.Contains(n.Label, " from bit ") {
				return fmt.Sprintf("%s at %d: got %q, want nothing", at.name, at.pos, n.Show)
			}
		}
	}
	return ""
}

func (s *luaSample) isMessage(n *pdml) bool {
	if n.Name == s.name+".wb_unknown" {
		return true
	}
	for _, path := range s.paths {
		if n.Name == s.name+"."+path {
			return true
		}
	}
	return false
}

// wrongProblems compares the problems in the output with those of the codec, by code.
func (s *luaSample) wrongProblems(rec *codec.Record, got map[string]bool) string {
	want := map[string]bool{}
	for _, p := range view.Problems(rec) {
		switch p.Code {
		case "nan-payload", "bytes-left-over": // not detected; the next message
		default:
			want[strings.ReplaceAll(p.Code, "-", "_")] = true
		}
	}
	for name := range want {
		if !got[name] {
			return fmt.Sprintf("got the problems %v, want %v", got, want)
		}
	}
	for name := range got {
		if !want[name] {
			return fmt.Sprintf("got the problems %v, want %v", got, want)
		}
	}
	return ""
}

// luaName returns the filter name of a field: its path in the program's filters, without the characters that Wireshark does not allow.
func luaName(top, message string, f view.FieldValue) string {
	path := index.ReplaceAllString(f.Path, "")
	var b strings.Builder
	b.WriteString(message)
	for _, part := range strings.Split(path, ".") {
		if part == "" {
			continue
		}
		b.WriteByte('.')
		for _, c := range part {
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
				b.WriteRune(c)
			} else {
				b.WriteByte('_')
			}
		}
	}
	switch f.Role {
	case "value":
		return b.String()
	case "count", "offset", "here", "next":
		return b.String() + ".wb_" + f.Role
	case "length":
		return top + ".len"
	case "code":
		return top + ".op"
	case "gap":
		return top + ".wb_unexplained"
	}
	return top + ".wb_" + f.Role
}

// luaEqual reports whether the output has the right value.
func luaEqual(f view.FieldValue, n *pdml) bool {
	var v any
	d := json.NewDecoder(bytes.NewReader(f.Value))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return false
	}
	switch v := v.(type) {
	case bool:
		return n.Show == map[bool]string{true: "1", false: "0"}[v]
	case json.Number:
		return f.Role == "pad" || sameNumber(v.String(), n.Show)
	case string:
		switch got := n.Show; {
		case f.Role == "pad", got == v:
			return true
		case strings.HasPrefix(v, "NaN"):
			return strings.HasSuffix(got, "nan")
		case v == "Infinity":
			return got == "inf"
		case v == "-Infinity":
			return got == "-inf"
		case strings.ReplaceAll(got, ":", "") == v:
			return true
		default:
			return escaped(v) == got
		}
	case map[string]any: // a bitfield: its parts are child nodes
		for name, part := range v {
			want := strings.Trim(fmt.Sprint(part), "\"")
			want = map[string]string{"true": "1", "false": "0"}[want] + strings.TrimSuffix(strings.TrimSuffix(want, "true"), "false")
			i := slices.IndexFunc(n.Kids, func(k pdml) bool { return strings.HasSuffix(k.Name, "."+name) })
			if want != "0" && (i < 0 || n.Kids[i].Show != want) || i >= 0 && n.Kids[i].Show != want {
				return false
			}
		}
		return true
	}
	return false
}

// escaped returns a text as tshark escapes it in PDML.
func escaped(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case c == 0:
			b.WriteRune(0x2400) // replaced by the dissector
		case c < ' ' && !strings.ContainsRune("\t\n\r", c) || c == 0x7f:
			fmt.Fprintf(&b, `\x%x`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

func sameNumber(want, got string) bool {
	if want == got {
		return true
	}
	a, err1 := strconv.ParseFloat(want, 64)
	b, err2 := strconv.ParseFloat(got, 64)
	if math.IsInf(b, 0) && strings.Contains(got, "e+308") { // the largest number, rounded up
		b, err2 = math.Copysign(math.MaxFloat64, b), nil
	}
	if err1 != nil || err2 != nil || !strings.ContainsAny(want+got, ".e") {
		return false
	}
	return a == b || math.Abs(a-b) <= 1e-5*math.Max(math.Abs(a), math.Abs(b)) // Wireshark shows six digits of a float
}

// render returns a node and its descendants as text.
func render(n *pdml, indent string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s %d+%d %q\n", indent, n.Name, n.Pos, n.Size, n.Label)
	for i := range n.Kids {
		b.WriteString(render(&n.Kids[i], indent+"  "))
	}
	return b.String()
}
