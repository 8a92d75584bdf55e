package subspace_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

// datagram is a datagram of a capture.
type datagram struct {
	n        uint32 // from 1
	at       time.Time
	src, dst string
	payload  []byte
}

// datagrams reads a little-endian pcap of Ethernet, IPv4 and UDP, the format of the corpora.
func datagrams(tb testing.TB, pcap []byte) []datagram {
	tb.Helper()
	if len(pcap) < 24 || binary.LittleEndian.Uint32(pcap) != 0xA1B2C3D4 || binary.LittleEndian.Uint32(pcap[20:]) != 1 {
		tb.Fatal("not a little-endian pcap of Ethernet")
	}
	var all []datagram
	for at, n := 24, uint32(1); at < len(pcap); n++ {
		header := pcap[at:]
		size := int(binary.LittleEndian.Uint32(header[8:]))
		packet := header[16 : 16+size]
		at += 16 + size
		if binary.BigEndian.Uint16(packet[12:]) != 0x0800 || packet[23] != 17 {
			tb.Fatalf("packet %d is not UDP in IPv4", n)
		}
		ip := packet[14:]
		udp := ip[int(ip[0]&15)*4:]
		end := func(address, port []byte) string {
			return fmt.Sprintf("%d.%d.%d.%d:%d", address[0], address[1], address[2], address[3], binary.BigEndian.Uint16(port))
		}
		all = append(all, datagram{
			n: n, at: time.Unix(int64(binary.LittleEndian.Uint32(header)), int64(binary.LittleEndian.Uint32(header[4:]))*1000),
			src: end(ip[12:16], udp), dst: end(ip[16:20], udp[2:]), payload: udp[8:binary.BigEndian.Uint16(udp[4:])],
		})
	}
	return all
}

// truth is a line of the expected contents of a capture.
type truth struct {
	Kind    string
	N       uint32
	Session string
	Dir     string
	Via     []string
	Hex     string
	Src     string
	Dst     string
	Tree    map[string]any
	Plain   string
	Enc     string
}

// frame is a copy of a Frame, with the number of the packet that completed it.
type frame struct {
	transport.Frame
	n uint32
}

func copied(f *transport.Frame, n uint32) frame {
	c := frame{*f, n}
	c.Bytes, c.From, c.Via = slices.Clone(f.Bytes), slices.Clone(f.From), slices.Clone(f.Via)
	return c
}

// message is the compared part of a message.
type message struct {
	N    uint32
	Dir  string
	Via  string
	Code uint32
	Hex  string
}

func dirName(d schema.Dir) string {
	if d == schema.ToServer {
		return "c2s"
	}
	return "s2c"
}

func messageOf(f frame) message {
	return message{f.n, dirName(f.Dir), strings.Join(f.Via, " "), f.Key.Code, hex.EncodeToString(f.Bytes)}
}

// sessions returns the UDP pairs of a capture, in order, with the client first: the end that does not use the server's port.
func sessions(tb testing.TB, c *corpora.Corpus, name string) (names []string, of map[string][]transport.Segment) {
	tb.Helper()
	of = map[string][]transport.Segment{}
	for _, d := range datagrams(tb, c.Read(tb, "subspace/"+name+".pcap")) {
		key, dir := d.src+"-"+d.dst, schema.ToServer
		if back := d.dst + "-" + d.src; of[back] != nil {
			key, dir = back, schema.ToClient
		}
		if of[key] == nil {
			names = append(names, key)
		}
		of[key] = append(of[key], transport.Segment{Dir: dir, At: d.at, Packet: d.n, Bytes: d.payload})
	}
	return names, of
}

// play feeds segments to a new transport and collects the frames. The bytes of a segment are overwritten after Feed.
func play(o subspace.Options, segments []transport.Segment) []frame {
	var all []frame
	var n uint32
	collect := func(f *transport.Frame) { all = append(all, copied(f, n)) }
	t := subspace.New(o)
	var at time.Time
	for _, seg := range segments {
		n, at = seg.Packet, seg.At
		seg.Bytes = slices.Clone(seg.Bytes)
		t.Feed(seg, collect)
		for i := range seg.Bytes {
			seg.Bytes[i] = 0xAA
		}
	}
	t.Flush(at, collect)
	return all
}

var captures = []string{
	"plain-session", "vie-session", "plain-lossy-serverside", "plain-malformed", "sim-directory-list", "sim-continuum-opaque",
}

func TestCorporaCapturesGiveTheMessagesOfTheirTruth(t *testing.T) {
	corpora.Run(t, testCapturesGiveTheMessagesOfTheirTruth)
}

func testCapturesGiveTheMessagesOfTheirTruth(t *testing.T, c *corpora.Corpus) {
	for _, name := range captures {
		t.Run(name, func(t *testing.T) {
			lines := corpora.Rows[truth](t, c, "subspace/"+name+".truth.jsonl")
			names, of := sessions(t, c, name)
			for _, session := range names {
				var want []message
				for _, line := range lines {
					if line.Kind == "msg" && line.Session == session {
						b, err := hex.DecodeString(line.Hex)
						if err != nil {
							t.Fatal(err)
						}
						want = append(want, message{line.N, line.Dir, strings.Join(line.Via, " "), uint32(b[0]), line.Hex})
					}
				}
				var got []message
				for _, f := range play(subspace.Options{}, of[session]) {
					if f.Kind == transport.Message {
						got = append(got, messageOf(f))
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-truth +got):\n%s", session, diff)
				}
			}
		})
	}
}

// TestCorporaCapturesAreAccountedFor: the sources of a frame contain its bytes, and everything that the truth lists as opaque, as a ping, or as
// malformed is reported as such.
func TestCorporaCapturesAreAccountedFor(t *testing.T) { corpora.Run(t, testCapturesAreAccountedFor) }

func testCapturesAreAccountedFor(t *testing.T, c *corpora.Corpus) {
	for _, name := range captures {
		t.Run(name, func(t *testing.T) {
			plain := map[uint32]string{}
			want := map[uint32]string{} // expected kinds of some packets
			for _, line := range corpora.Rows[truth](t, c, "subspace/"+name+".truth.jsonl") {
				switch {
				case line.Kind == "msg" || line.Kind == "end":
					continue
				case line.Kind == "ping":
					want[line.N] = "control"
					if len(line.Hex) == 6 {
						want[line.N] = "problem"
					}
				case line.Tree["p"] == "opaque":
					want[line.N] = "opaque"
				case line.Tree["malformed"] != nil || line.Tree["p"] == "malformed":
					want[line.N] = "odd"
				}
				plain[line.N] = line.Hex
				if line.Plain != "" {
					plain[line.N] = line.Plain
				}
			}
			names, of := sessions(t, c, name)
			for _, session := range names {
				for _, f := range play(subspace.Options{}, of[session]) {
					var made strings.Builder
					for _, s := range f.From {
						if w := want[s.Packet]; w == f.Kind.String() || w == "odd" && (f.Kind == transport.Problem || f.Note != "") {
							delete(want, s.Packet)
						}
						made.WriteString(plain[s.Packet][2*s.Off : 2*(s.Off+s.Len)])
					}
					if made.String() != hex.EncodeToString(f.Bytes) {
						t.Fatalf("packet %d: %v of %x is said to be made of %s", f.n, f.Kind, f.Bytes, made.String())
					}
					if f.Kind == transport.Problem && name != "plain-malformed" && strings.HasSuffix(session, "00") {
						t.Errorf("packet %d: %s", f.n, f.Note)
					}
				}
			}
			for n, kind := range want {
				t.Errorf("packet %d is no %s", n, kind)
			}
		})
	}
}
