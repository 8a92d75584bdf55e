package emit_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"wirebench/defs/corpora"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/defs/subspace"
	"wirebench/defs/tooltest"
)

// truth is a line of the expected contents of a capture.
type truth struct {
	Kind   string
	N      int
	Dir    string
	Dst    string
	Group  string
	Name   string
	Def    string
	Hex    string
	Opcode uint32
	Via    []string
}

// readTruth returns the lines of a kind.
func readTruth(t *testing.T, c *corpora.Corpus, name, kind string) (out []truth) {
	t.Helper()
	for _, x := range corpora.Rows[truth](t, c, name) {
		if x.Kind == kind {
			out = append(out, x)
		}
	}
	return out
}

// TestToolLuaCaptures has tshark dissect captures of whole sessions, with lost, retransmitted and reordered segments, and compares every message.
func TestToolLuaCaptures(t *testing.T) {
	tooltest.Path(t, "tshark")
	c := corpora.Largest(t)
	t.Run("tera", func(t *testing.T) {
		rows := readTruth(t, c, "captures/tera-plain.truth.jsonl", "msg")
		seen := map[string]bool{}
		var in []txtar.File
		var codes strings.Builder
		for _, r := range rows {
			if seen[r.Def] {
				continue
			}
			seen[r.Def] = true
			in = append(in, txtar.File{Name: r.Def, Data: c.Read(t, "tera/toolbox/definitions/"+r.Def)})
			fmt.Fprintf(&codes, "%s %d\n", r.Name, r.Opcode)
		}
		if len(in) < 30 {
			t.Errorf("only %d definitions", len(in))
		}
		luaStreams(t, c, "tera", parsed(t, "tera", append(in, txtar.File{Name: "codes.map", Data: []byte(codes.String())})), "captures/tera-plain.pcapng", 7801, rows)
	})
	t.Run("muta", func(t *testing.T) {
		rows := readTruth(t, c, "captures/muta-session.truth.jsonl", "msg")
		b := c.Read(t, "captures/muta-session.def")
		luaStreams(t, c, "muta", parsed(t, "muta", []txtar.File{{Name: "muta-session.def", Data: b}}), "captures/muta-session.pcapng", 13490, rows)
	})
	t.Run("subspace", func(t *testing.T) {
		luaDatagrams(t, c, library(t, "subspace"), "subspace/plain-session", 5000)
	})
}

// shown has tshark dissect a capture of the corpora.
func shown(t *testing.T, c *corpora.Corpus, s *luaSample, capture string, args ...string) []pdml {
	t.Helper()
	dir := t.TempDir()
	script := s.script(t, dir)
	p := &pcap{}
	p.b.Write(c.Read(t, capture))
	return readPdml(t, tshark(t, dir, p, []string{script}, append(args, "-T", "pdml")...))
}

func luaStreams(t *testing.T, c *corpora.Corpus, name string, s *schema.Schema, capture string, server uint16, rows []truth) {
	x := &luaSample{name: name, schema: s, ports: [2]uint16{0, server}, toServer: map[bool][]sent{}}
	for _, r := range rows {
		m := s.Find(r.Name, 0)
		data, err := hex.DecodeString(r.Hex)
		if m == nil || err != nil {
			t.Fatalf("message %d: no %s, %v", r.N, r.Name, err)
		}
		x.toServer[r.Dir == "c2s"] = append(x.toServer[r.Dir == "c2s"], sent{m, data})
	}
	packets := shown(t, c, x, capture, "-o", fmt.Sprintf("%s.tcp_ports:%d", name, server), "-o", "tcp.reassemble_out_of_order:TRUE")
	count := map[string]int{}
	x.compare(t, packets, count)
	t.Log(count)
	if count["tcp"] != len(rows) {
		t.Errorf("%d messages compared, want %d", count["tcp"], len(rows))
	}
}

// luaDatagrams compares datagrams, and their nested messages that are not fragmented.
func luaDatagrams(t *testing.T, c *corpora.Corpus, s *schema.Schema, capture string, server uint16) {
	x := &luaSample{name: "subspace", schema: s, packets: map[int]sent{}, sessions: &emit.Sessions{Lua: subspace.Sessions, Named: subspace.Untyped()}}
	find := func(dir string, data []byte) *schema.Message {
		key := schema.Key{Dir: map[string]schema.Dir{"c2s": schema.ToServer, "s2c": schema.ToClient}[dir], Group: "game", Code: uint32(data[0])}
		if data[0] == 0 && len(data) > 1 {
			key.Group, key.Code = "core", uint32(data[1])
		}
		return s.Lookup(key)
	}
	for _, r := range readTruth(t, c, capture+".truth.jsonl", "dgram") {
		data, _ := hex.DecodeString(r.Hex)
		if m := find(r.Dir, data); m != nil {
			x.packets[r.N] = sent{m, data}
		}
	}
	var asked []byte
	for _, r := range readTruth(t, c, capture+".truth.jsonl", "ping") { // on the port after that of the game
		data, _ := hex.DecodeString(r.Hex)
		name := "summary"
		switch toServer := strings.HasSuffix(r.Dst, fmt.Sprintf(":%d", server+1)); {
		case toServer && len(data) == 4:
			name, asked = "ping", data
		case toServer && len(data) == 8:
			name, asked = "summary_request", data
		case toServer:
			continue // servers do not answer it
		case len(asked) == 4:
			name = "pong"
		}
		x.packets[r.N] = sent{s.Find(name, 0), data}
	}
	packets := shown(t, c, x, capture+".pcap", "-o", fmt.Sprintf("subspace.udp_ports:%d", server))
	count := map[string]int{}
	x.compare(t, packets, count)
	if len(x.packets) == 0 || count["ok"] != len(x.packets) {
		t.Errorf("%v of %d datagrams", count, len(x.packets))
	}
	inside := 0
	for _, r := range readTruth(t, c, capture+".truth.jsonl", "msg") {
		data, _ := hex.DecodeString(r.Hex)
		m := find(r.Dir, data)
		if m == nil || slices.Contains(r.Via, "chunk") || slices.Contains(r.Via, "stream") || r.N > len(packets) {
			continue
		}
		var nodes []*pdml
		packets[r.N-1].each(func(n *pdml) bool {
			if n.Name == "subspace."+x.paths[messageName(m)] && n.Size == len(data) {
				nodes = append(nodes, n)
			}
			return true
		})
		late := strings.Contains(fmt.Sprint(r.Via), "reliable") // it may be in an earlier packet
		if len(nodes) == 0 && late {
			continue
		}
		inside++
		if !slices.ContainsFunc(nodes, func(n *pdml) bool { return x.wrong(t, n, sent{m, data}, count) == "" }) {
			t.Errorf("packet %d: no message like %s %s", r.N, messageName(m), r.Hex)
		}
	}
	t.Log(count, inside, "messages inside others")
	if inside < 20 {
		t.Errorf("only %d nested messages", inside)
	}
}
