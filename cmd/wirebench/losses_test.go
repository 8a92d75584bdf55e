package main

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/corpora"
	"wirebench/defs/library"
	"wirebench/defs/source"
	"wirebench/server/workspace"
)

// lossy is a capture that loses packets, with the limits of what that costs.
type lossy struct {
	name    string
	snap    *workspace.Snapshot
	packets []packet.Packet
	worst   int     // messages that one lost packet may cost besides those that it held; the median of the places is 0
	late    float64 // median of the shares of the messages behind a packet that are read if the capture begins there; 0: its key is lost
	least   float64 // the least one
}

func (c *lossy) read(t *testing.T, skip func(n uint32) bool) (out map[uint64]message) {
	t.Helper()
	p, ok := c.snap.Protocol()
	if !ok {
		t.Fatal("no protocol")
	}
	env := c.snap.Env()
	p = p.With(env)
	out = map[uint64]message{}
	a := packet.NewAssembler(packet.Options{New: func(k transport.Conn) transport.Transport {
		if (k.Proto == transport.TCP) != p.Streams {
			return nil
		}
		return p.New(env.For(k.Name(), k.Session), k.Server.Port())
	}}, func(f *transport.Frame) {
		if f.Kind != transport.Message || len(f.From) == 0 {
			return
		}
		m := message{first: ^uint32(0)}
		h := fnv.New64a()
		fmt.Fprintln(h, f.Dir, f.Key, f.Via, f.From)
		h.Write(f.Bytes)
		for _, s := range f.From {
			m.first, m.last = min(m.first, s.Packet), max(m.last, s.Packet)
		}
		out[h.Sum64()] = m
	})
	for i := range c.packets {
		if p := c.packets[i]; !skip(p.N) {
			a.Packet(&p)
		}
	}
	a.Flush()
	return out
}

// message is a message of a capture, with the packets that hold it.
type message struct {
	first, last uint32
}

func readPackets(t *testing.T, file []byte) (out []packet.Packet) {
	t.Helper()
	in, err := pcap.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for {
		p, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		c := *p
		c.Data = bytes.Clone(p.Data)
		out = append(out, c)
	}
}

func built(t *testing.T, set workspace.Settings, lib *workspace.Library, err error) *workspace.Snapshot {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	snap, err := workspace.Build(lib, set)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// sessionEnvelope says how the messages of the session of the corpora travel.
const sessionEnvelope = `frame length varint
code varint

state handshaking
  set_protocol to-server when nextState = 1 -> status
  set_protocol to-server when nextState = 2 -> login

state status

state login
  compress to-client: compress zlib size varint from threshold
  success to-client -> play

state play
`

// TestCorporaLosses loses packets of captures, one each time, and begins them late, and counts what that costs.
func TestCorporaLosses(t *testing.T) {
	for _, c := range []lossy{
		{name: "tera"}, {name: "muta", worst: 3, late: 1, least: 0.97}, {name: "subspace"}, {name: "protodef", worst: 1, late: 1, least: 0.98},
	} {
		t.Run("shipped/"+c.name, func(t *testing.T) {
			fsys, _ := library.Dialect(c.name)
			lib, err := workspace.ReadFS(fsys)
			c.snap = built(t, workspace.Settings{Dialect: c.name}, lib, err)
			file, err := os.ReadFile("../../defs/library/" + c.name + "/demo.pcapng")
			if err != nil {
				t.Fatal(err)
			}
			c.packets = readPackets(t, file)
			c.lose(t)
		})
	}
	corpora.Run(t, func(t *testing.T, data *corpora.Corpus) {
		t.Run("session", func(t *testing.T) {
			lib, err := workspace.ReadFS(fstest.MapFS{
				"protocol.json":     {Data: data.Read(t, "protodef/pc-1.16.1.json")},
				"protocol.envelope": {Data: []byte(sessionEnvelope)},
			})
			c := lossy{snap: built(t, workspace.Settings{Dialect: "protodef"}, lib, err), packets: readPackets(t, data.Read(t, "protodef/session-1.16.1.pcapng")), worst: 1, late: 1, least: 0.99}
			c.lose(t)
		})
		for _, name := range []string{"muta-session", "muta-desync"} {
			t.Run(name, func(t *testing.T) {
				lib, err := workspace.ReadFS(fstest.MapFS{"muta.def": {Data: data.Read(t, "captures/muta-session.def")}})
				c := lossy{snap: built(t, workspace.Settings{Dialect: "muta"}, lib, err), packets: readPackets(t, data.Read(t, "captures/"+name+".pcapng")), late: 1, least: 0.97}
				c.lose(t)
			})
		}
		for _, name := range []string{"tera-plain", "tera-broken", "tera-session"} {
			t.Run(name, func(t *testing.T) {
				lib, err := workspace.Read(data.Dir(t) + "/tera/toolbox/definitions")
				codes := source.New("map", string(data.Read(t, "tera/toolbox/protocol.387396.map")))
				c := lossy{snap: built(t, workspace.Settings{Dialect: "tera", Codes: codes}, lib, err), packets: readPackets(t, data.Read(t, "captures/"+name+".pcapng"))}
				if name == "tera-plain" {
					c.late, c.least = 1, 0.99
				}
				c.lose(t)
			})
		}
	})
}

// lose loses one packet at each of 20 places, and begins at each of 20 places.
func (c *lossy) lose(t *testing.T) {
	t.Helper()
	all := c.read(t, func(uint32) bool { return false })
	var holding []uint32 // packets that hold messages
	for _, m := range all {
		holding = append(holding, m.first, m.last)
	}
	slices.Sort(holding)
	holding = slices.Compact(holding)
	var costs []int
	var shares []float64
	for i := range 20 {
		n := holding[len(holding)*(2*i+1)/40]
		found := c.read(t, func(k uint32) bool { return k == n })
		cost := 0
		for id, m := range all {
			if _, ok := found[id]; !ok && (n < m.first || n > m.last) {
				cost++
			}
		}
		costs = append(costs, cost)
		found = c.read(t, func(k uint32) bool { return k <= n })
		behind, read := 0, 0
		for id, m := range all {
			if m.first > n {
				behind++
				if _, ok := found[id]; ok {
					read++
				}
			}
		}
		share := 1.0
		if behind > 0 {
			share = float64(read) / float64(behind)
		}
		shares = append(shares, share)
	}
	slices.Sort(costs)
	slices.Sort(shares)
	median, worst := costs[len(costs)/2], costs[len(costs)-1]
	late, least := shares[len(shares)/2], shares[0]
	t.Logf("%d messages: a lost packet costs %d besides its own, at worst %d; from a late start on %.1f%% are read, at least %.1f%%", len(all), median, worst, 100*late, 100*least)
	if median > 0 || worst > c.worst || late < c.late || least < c.least {
		t.Errorf("at most 0 and %d, at least %.1f%% and %.1f%% are wanted", c.worst, 100*c.late, 100*c.least)
	}
}
