package capture

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/packettest"
	"wirebench/codec/paste"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

func TestReadRaw(t *testing.T) {
	for _, c := range []struct {
		name    string
		framing string
		data    string
		want    string
	}{
		{"whole", "whole", "abc", `0 "abc"`},
		{"nothing", "whole", "", ``},
		{"fixed", "fixed:2", "abcde", `0 "ab", 2 "cd", problem 4 "e" the stream ends inside a message, after 1 of its 2 bytes`},
		{"u8", "prefixed:1", "\x02ab\x00\x01c", `1 "ab", 4 "", 5 "c"`},
		{"u16, little-endian, counted", "prefixed:2le+self+keep", "\x04\x00ab\x02\x00", `0 "\x04\x00ab", 4 "\x02\x00"`},
		{"u16, big-endian", "prefixed:2be", "\x00\x02ab\x00\x00", `2 "ab", 6 ""`},
		{"u32, little-endian", "prefixed:4le", "\x02\x00\x00\x00ab", `4 "ab"`},
		{"u32, big-endian, counted", "prefixed:4be+self", "\x00\x00\x00\x06ab", `4 "ab"`},
		{"a length that is too small", "prefixed:2le+self", "\x01\x00ab", `problem 0 "\x01\x00ab" the length 1 is too small; 4 bytes not read; no message was found in them`},
		{"a length that is too large", "prefixed:4le", "\xff\xff\xff\xffab", `problem 0 "\xff\xff\xff\xffab" a length of 4294967295: the limit is 67108864; 6 bytes not read; no message was found in them`},
		{"half a length", "prefixed:2le", "\x00\x00\x01", `2 "", problem 2 "\x01" the stream ends inside a message, after 1 of its bytes`},
		{"delimiter", "delimited:0d0a", "ab\r\n\r\ncd\r\ne", `0 "ab", 6 "cd", 10 "e"`},
		{"delimiter, kept", "delimited:00+keep", "ab\x00\x00c", `0 "ab\x00", 3 "\x00", 4 "c"`},
	} {
		var got []string
		err := ReadRaw(scan.NewInput(strings.NewReader(c.data)), Options{Framing: framing(t, c.framing), Options: packet.Options{Dir: schema.ToClient}}, func(f *transport.Frame) {
			s := fmt.Sprintf("%d %q", f.Offset, f.Bytes)
			if f.Kind == transport.Problem {
				s = "problem " + s + " " + f.Note
			}
			got = append(got, s)
			if int(f.N) != len(got) || f.Dir != schema.ToClient || f.Conn == nil {
				t.Errorf("%s: frame %d is %+v", c.name, len(got), f)
			}
		})
		if err != nil || strings.Join(got, ", ") != c.want {
			t.Errorf("%s: got  %s, %v\nwant %s", c.name, strings.Join(got, ", "), err, c.want)
		}
	}
	n := 0
	if err := ReadRaw(scan.NewInput(bytes.NewReader(make([]byte, 100))), Options{Framing: framing(t, "fixed:1"), Options: packet.Options{Limit: 3}}, func(*transport.Frame) { n++ }); err != nil || n != 3 {
		t.Errorf("%d frames of 3, %v", n, err)
	}
}

// teraKey reads the code from the header used in the logs: u16 at 2, little-endian.
func teraKey(dir schema.Dir, message []byte) (schema.Key, bool) {
	if len(message) < 4 {
		return schema.Key{}, false
	}
	return schema.Key{Dir: dir, Code: uint32(binary.LittleEndian.Uint16(message[2:]))}, true
}

func TestCorporaLogFrames(t *testing.T) { corpora.Run(t, testCorpusLogFrames) }

func testCorpusLogFrames(t *testing.T, c *corpora.Corpus) {
	const name = "tera-proxy-1700006390000.log"
	p, err := paste.Recognise(c.Text(t, "pasted/"+name))
	if err != nil {
		t.Fatal(err)
	}
	midnight, ok := paste.LogDay("some/where/" + name)
	if !ok || midnight.Format(time.RFC3339) != "2023-11-14T00:00:00Z" {
		t.Fatalf("the day is %v", midnight)
	}
	type row struct {
		N, Day, Opcode         int
		Clock, Dir, Kind, Name string
		BadDef                 bool `json:"bad_def"`
		Hex                    string
	}
	rows := corpora.Rows[row](t, c, "pasted/tera-proxy-1700006390000.truth.jsonl")
	n := 0
	paste.Read(p, paste.Options{WholeOptions: transport.WholeOptions{Day: midnight, Key: teraKey}}, func(f *transport.Frame) {
		if n == len(rows) {
			t.Fatal("too many frames")
		}
		r := rows[n]
		n++
		at := midnight.AddDate(0, 0, r.Day).Format("2006-01-02T") + r.Clock
		if f.At.Format("2006-01-02T15:04:05.000") != at || f.Dir.String() != r.Dir || hex.EncodeToString(f.Bytes) != r.Hex || int(f.Key.Code) != r.Opcode ||
			!f.HasKey || int(f.N) != r.N || f.Kind != transport.Message {
			t.Errorf("frame %+v, want %+v", f, r)
		}
		var marks []string
		if r.Kind != "real" {
			marks = append(marks, r.Kind)
		}
		if r.BadDef {
			marks = append(marks, "bad def")
		}
		if f.Note != strings.Join(marks, ", ") || len(f.From) != 1 || int(f.From[0].Packet) != r.N {
			t.Errorf("frame %d is marked %q, want %q; from %v", f.N, f.Note, marks, f.From)
		}
	})
	if n != len(rows) {
		t.Errorf("%d frames, want %d", n, len(rows))
	}
}

func TestCorporaFollowFrames(t *testing.T) { corpora.Run(t, testCorpusFollowFrames) }

func testCorpusFollowFrames(t *testing.T, c *corpora.Corpus) {
	for _, file := range []string{"conversation", "conversation-split"} {
		want := map[schema.Dir]string{}
		times := map[schema.Dir][]string{}
		type row struct {
			Dir, Hex string
			Time     float64
		}
		for _, r := range corpora.Rows[row](t, c, "pasted/follow/"+file+".packets.jsonl") {
			want[packettest.TruthDir(r.Dir)] += r.Hex
			times[packettest.TruthDir(r.Dir)] = append(times[packettest.TruthDir(r.Dir)], fmt.Sprintf("%.5f", r.Time))
		}
		for _, form := range []string{"c-arrays", "hex-dump-old", "hex-dump", "tshark-hex", "tshark-raw", "tshark-yaml", "yaml-old", "yaml"} {
			p, err := paste.Recognise(c.Text(t, "pasted/follow/"+file+"."+form+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			var got *packettest.Tape
			paste.Read(p, paste.Options{New: func(c transport.Conn) transport.Transport {
				got = &packettest.Tape{Conn: c}
				return got
			}}, func(*transport.Frame) {})
			for dir, hexBytes := range want {
				d := &got.Dirs[dir]
				if hex.EncodeToString(d.Bytes) != hexBytes || !d.Start || strings.Contains(strings.Join(got.Log, ""), "AGAIN") {
					t.Errorf("%s %s %v: %x", file, form, dir, d.Bytes)
				}
				if !strings.HasSuffix(form, "yaml") { // the old form has no times
					continue
				}
				if name := got.Conn.Name(); !strings.HasSuffix(name, "-127.0.0.1:7801") {
					t.Errorf("%s %s: the connection is %s", file, form, name)
				}
				for i, m := range d.Marks {
					if at := fmt.Sprintf("%.5f", float64(m.At.UnixNano())/1e9); at != times[dir][i] {
						t.Errorf("%s %s: a packet is at %s, want %s", file, form, at, times[dir][i])
					}
				}
			}
		}
	}
}

func TestCorporaMessages(t *testing.T) { corpora.Run(t, testCorpusMessages) }

func testCorpusMessages(t *testing.T, c *corpora.Corpus) {
	p, err := paste.Recognise(c.Text(t, "pasted/three-messages.hexdump-C.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	paste.Read(p, paste.Options{WholeOptions: transport.WholeOptions{Dir: schema.ToClient, Key: teraKey}, New: packettest.NewSink}, func(f *transport.Frame) {
		got = append(got, fmt.Sprintf("%d %v %x", f.Key.Code, f.Dir, f.Bytes))
	})
	type row struct {
		Opcode int
		Hex    string
	}
	for i, r := range corpora.Rows[row](t, c, "pasted/three-messages.truth.jsonl") {
		if want := fmt.Sprintf("%d s2c %s", r.Opcode, r.Hex); i >= len(got) || got[i] != want {
			t.Errorf("message %d: want %s", i+1, want)
		}
	}
}

// TestPasteServer: if peer 0 has a port of a server, the directions are swapped.
func TestPasteServer(t *testing.T) {
	p := &paste.Paste{
		Stream: true, Peers: []string{"10.0.0.2:5000", "10.0.0.1:40001"},
		Messages: []paste.Message{{Bytes: []byte("a"), Dir: schema.ToServer}, {Bytes: []byte("b"), Dir: schema.ToClient}, {Bytes: []byte("c")}},
	}
	for _, c := range []struct {
		opts paste.Options
		want string
	}{
		{paste.Options{}, `10.0.0.2:5000-10.0.0.1:40001 1: c2s "a" start, 2: s2c "b" start, 3: c2s "c"`},
		{paste.Options{Ports: []uint16{5000}}, `10.0.0.1:40001-10.0.0.2:5000 1: s2c "a" start, 2: c2s "b" start, 3: c2s "c"`},
		{paste.Options{Proto: transport.UDP}, `10.0.0.2:5000-10.0.0.1:40001 1: c2s "a", 2: s2c "b", 3: c2s "c"`},
		{paste.Options{WholeOptions: transport.WholeOptions{Limit: 1}}, `10.0.0.2:5000-10.0.0.1:40001 1: c2s "a" start`},
	} {
		var got *packettest.Tape
		c.opts.New = func(c transport.Conn) transport.Transport {
			got = &packettest.Tape{Conn: c}
			return got
		}
		paste.Read(p, c.opts, func(*transport.Frame) {})
		if text := got.Conn.Name() + " " + strings.Join(got.Log, ", "); text != c.want {
			t.Errorf("got  %s\nwant %s", text, c.want)
		}
	}
}
