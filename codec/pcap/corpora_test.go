package pcap

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packettest"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

type truthConn struct {
	Conn           int
	Client, Server string
	Transport      string
	Stream         struct{ C2S, S2C int64 } `json:"stream_bytes"`
}

type truthRow struct {
	Kind   string
	N      int
	Time   json.Number
	Conn   int
	Dir    string
	Frame  uint32
	First  uint32 `json:"first_frame"`
	Offset int64
	Length int64
	Hex    string
}

// seconds formats a time as in the truth files.
func seconds(at time.Time) string { return fmt.Sprintf("%d.%06d", at.Unix(), at.Nanosecond()/1000) }

// TestCorporaCaptures compares the streams of the captures with the truth files: connections, sizes and losses, and for unencrypted streams
// each message at its offset, with the packets of its first and last byte and its time.
func TestCorporaCaptures(t *testing.T) { corpora.Run(t, testCorpusCaptures) }

func testCorpusCaptures(t *testing.T, c *corpora.Corpus) {
	for _, name := range []string{
		"captures/tera-session", "captures/tera-plain", "captures/tera-broken", "captures/muta-session", "captures/muta-desync",
		"pasted/follow/conversation", "pasted/follow/conversation-split",
	} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			var conns []truthConn
			if err := json.Unmarshal([]byte(c.Text(t, name+".conns.json")), &conns); err != nil {
				t.Fatal(err)
			}
			tapes, sum := play(t, []byte(c.Text(t, name+".pcapng")))
			if sum.Torn != nil || len(tapes) != len(conns) {
				t.Fatalf("%d connections, want %d; torn: %v", len(tapes), len(conns), sum.Torn)
			}
			for i, x := range conns {
				p := tapes[i]
				if p.Conn.Name() != x.Client+"-"+x.Server || p.Conn.ID != x.Conn || p.Conn.Session != 0 {
					t.Errorf("connection %d is %v", i, p.Conn)
				}
				for dir, want := range map[schema.Dir]int64{schema.ToServer: x.Stream.C2S, schema.ToClient: x.Stream.S2C} {
					if d := &p.Dirs[dir]; int64(len(d.Bytes)) != want || !d.Start {
						t.Errorf("connection %d %v: %d bytes, want %d; start %t", i, dir, len(d.Bytes), want, d.Start)
					}
				}
			}
			lost := map[string]int64{}
			for _, row := range corpora.Rows[truthRow](t, c, name+".truth.jsonl") {
				d := &tapes[row.Conn].Dirs[packettest.TruthDir(row.Dir)]
				switch row.Kind {
				case "gap":
					lost[fmt.Sprintf("%d %s", row.Conn, row.Dir)] += row.Length
					m := d.MarkAt(row.Offset)
					if m.Off != row.Offset || m.Packet != row.Frame || seconds(m.At) != string(row.Time) {
						t.Errorf("the gap is %v, want %+v", m, row)
					}
				case "msg":
					data, err := hex.DecodeString(row.Hex)
					if err != nil {
						t.Fatal(err)
					}
					end := row.Offset + int64(len(data))
					if conns[row.Conn].Transport != "encrypted" && !bytes.Equal(d.Bytes[row.Offset:end], data) {
						t.Fatalf("message %d is not at offset %d", row.N, row.Offset)
					}
					// Delayed bytes have their own packet, and the time of the packet that released them.
					late := time.Time{}
					for _, m := range d.Marks {
						if m.Off < end && m.Off >= d.MarkAt(row.Offset).Off && m.At.After(late) {
							late = m.At
						}
					}
					if seconds(late) != string(row.Time) {
						t.Errorf("message %d is complete at %s, want %s", row.N, seconds(late), row.Time)
					}
					if m := d.MarkAt(row.Offset); m.Packet > row.First {
						t.Errorf("message %d starts in packet %d, want %d", row.N, m.Packet, row.First)
					}
				}
			}
			for i, p := range tapes {
				for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
					if want := lost[fmt.Sprintf("%d %v", i, dir)]; p.Dirs[dir].Lost != want {
						t.Errorf("connection %d %v: %d bytes lost, want %d", i, dir, p.Dirs[dir].Lost, want)
					}
				}
			}
		})
	}
}

// TestCorporaDatagrams compares datagrams with their truth: number, direction, time and bytes.
func TestCorporaDatagrams(t *testing.T) { corpora.Run(t, testCorpusDatagrams) }

func testCorpusDatagrams(t *testing.T, c *corpora.Corpus) {
	for _, path := range c.Glob(t, "subspace/*.pcap") {
		name := strings.TrimSuffix(filepath.Base(path), ".pcap")
		t.Run(name, func(t *testing.T) {
			file := c.Read(t, path)
			type row struct {
				Kind, Session, Dir, Hex, Src string
				N                            uint32
				TS                           json.Number
			}
			want := map[uint32]row{}
			for _, r := range corpora.Rows[row](t, c, "subspace/"+name+".truth.jsonl") {
				if r.Kind == "dgram" || r.Kind == "ping" {
					want[r.N] = r
				}
			}
			tapes, _ := play(t, file, 5000, 5001, 5010, 5011, 4990)
			seen := map[uint32]bool{}
			for _, p := range tapes {
				for dir := range p.Dirs {
					d := &p.Dirs[dir]
					for i, m := range d.Marks {
						end := len(d.Bytes)
						if i+1 < len(d.Marks) {
							end = int(d.Marks[i+1].Off)
						}
						r := want[m.Packet]
						seen[m.Packet] = true
						if got := hex.EncodeToString(d.Bytes[m.Off:end]); got != r.Hex {
							t.Errorf("packet %d is %s, want %s", m.Packet, got, r.Hex)
						}
						if r.Kind == "dgram" && (schema.Dir(dir).String() != r.Dir || p.Conn.Name() != r.Session) {
							t.Errorf("packet %d is %s %v, want %s %s", m.Packet, p.Conn.Name(), schema.Dir(dir), r.Session, r.Dir)
						}
						if seconds(m.At) != (string(r.TS) + "000000")[:len(seconds(m.At))] {
							t.Errorf("packet %d is at %s, want %s", m.Packet, seconds(m.At), r.TS)
						}
					}
				}
			}
			for n := range want {
				if !seen[n] && want[n].Hex != "" {
					t.Errorf("packet %d is missing", n)
				}
			}
		})
	}
}
