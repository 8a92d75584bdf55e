package paste

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

func TestCorporaForms(t *testing.T) { corpora.Run(t, testCorpusForms) }

func testCorpusForms(t *testing.T, c *corpora.Corpus) {
	var truth struct {
		Formats, Repeat []struct{ File, Form, Hex string }
		Errors          []struct {
			File   string
			Digits int
		}
	}
	if err := json.Unmarshal([]byte(c.Text(t, "pasted/truth.json")), &truth); err != nil {
		t.Fatal(err)
	}
	forms := map[string]string{
		"xxd.txt": "xxd", "xxd-p.txt": "hex", "hexdump-C.txt": "hexdump-C", "hexdump-words.txt": "hexdump", "od-Ax-tx1.txt": "od-tx1",
		"wireshark-hex-dump.txt": "wireshark-dump", "wireshark-hex-stream.txt": "hex", "wireshark-escaped-string.txt": "escaped-string",
		"c-array.txt": "c-array", "go-slice.txt": "go-array", "python-bytes.txt": "python-bytes", "base64.txt": "base64",
		"wireshark-hex-only.txt": "wireshark-dump", "wireshark-c-array.txt": "c-array", "wireshark-go-literal.txt": "go-array",
		"wireshark-c-string.txt": "c-string", "xxd-i.txt": "c-array", "xxd-upper-cols8.txt": "xxd", "od-tx2.txt": "od-tx2", "od-tx1z.txt": "od-tx1",
		"decimal-array.txt": "number-array", "base64-wrapped.txt": "base64", "base64url.txt": "base64url", "csharp-array.txt": "csharp-array",
		"java-array.txt": "java-array", "rust-array.txt": "rust-array", "js-uint8array.txt": "js-array", "python-bytes-hex.txt": "quoted-hex",
		"xxd-a.txt": "xxd", "od-octal-words.txt": "od",
	}
	for _, want := range append(truth.Formats, truth.Repeat...) {
		t.Run(want.File, func(t *testing.T) {
			text := c.Text(t, "pasted/"+want.File)
			p, err := Recognise(text)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Messages) != 1 || hex.EncodeToString(p.Messages[0].Bytes) != want.Hex {
				t.Fatalf("read as %s: %x, want %s", p.Form, p.Messages, want.Hex)
			}
			form := forms[filepath.Base(want.File)]
			if form == "" {
				form = "hex"
			}
			if p.Form != form {
				t.Errorf("form %s, want %s", p.Form, form)
			}
			if p.Why == "" || p.Title == "" || len(p.Notes) != 0 {
				t.Errorf("why %q, title %q, notes %v", p.Why, p.Title, p.Notes)
			}
			again, err := RecogniseAs(text, p.Form)
			if err != nil || !bytes.Equal(again.Messages[0].Bytes, p.Messages[0].Bytes) {
				t.Errorf("as %s: %v", p.Form, err)
			}
		})
	}
	for _, want := range truth.Errors {
		_, err := Recognise(c.Text(t, "pasted/"+want.File))
		e, ok := err.(*Error)
		if !ok || e.Digits != want.Digits || e.Line != 1 || e.Column != want.Digits {
			t.Errorf("%s: %+v", want.File, err)
		}
	}
}

func TestCorporaThreeMessages(t *testing.T) { corpora.Run(t, testCorpusThreeMessages) }

func testCorpusThreeMessages(t *testing.T, c *corpora.Corpus) {
	want := corpora.Rows[struct{ Hex string }](t, c, "pasted/three-messages.truth.jsonl")
	p, err := Recognise(c.Text(t, "pasted/three-messages.hexdump-C.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Messages) != len(want) {
		t.Fatalf("%d messages, want %d", len(p.Messages), len(want))
	}
	for i, m := range p.Messages {
		if hex.EncodeToString(m.Bytes) != want[i].Hex {
			t.Errorf("message %d is %x", i, m.Bytes)
		}
	}
}

func TestCorporaProxyLog(t *testing.T) { corpora.Run(t, testCorpusProxyLog) }

func testCorpusProxyLog(t *testing.T, c *corpora.Corpus) {
	type record struct {
		Clock, Dir, Kind, Name, Hex string
		Day, Version                int
		BadDef                      bool `json:"bad_def"`
	}
	want := corpora.Rows[record](t, c, "pasted/tera-proxy-1700006390000.truth.jsonl")
	p, err := Recognise(c.Text(t, "pasted/tera-proxy-1700006390000.log"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Form != "tera-log" || len(p.Messages) != len(want) || len(p.Notes) != 0 {
		t.Fatalf("form %s, %d messages, want %d; notes %v", p.Form, len(p.Messages), len(want), p.Notes)
	}
	for i, m := range p.Messages {
		kind := "real"
		if m.Marks&transport.Fake != 0 {
			kind = "fake"
		} else if m.Marks&transport.Silenced != 0 {
			kind = "silenced"
		}
		day := int(m.Time.Since / (24 * time.Hour))
		clock, _, _ := strings.Cut(m.Time.String(), "+")
		got := record{clock, m.Dir.String(), kind, m.Name, hex.EncodeToString(m.Bytes), day, m.Version, m.Marks&transport.BadDef != 0}
		if got != want[i] {
			t.Errorf("record %d:\n got %+v\nwant %+v", i+1, got, want[i])
		}
	}
}

func TestCorporaFollow(t *testing.T) { corpora.Run(t, testCorpusFollow) }

func testCorpusFollow(t *testing.T, c *corpora.Corpus) {
	type packet struct {
		Packet int
		Dir    string
		Time   float64
		Hex    string
	}
	for _, name := range []string{"conversation", "conversation-split"} {
		want := corpora.Rows[packet](t, c, "pasted/follow/"+name+".packets.jsonl")
		for file, form := range map[string]string{
			"c-arrays": "follow-c-arrays", "yaml": "follow-yaml", "yaml-old": "follow-yaml", "tshark-yaml": "follow-yaml",
			"hex-dump": "follow-hex", "hex-dump-old": "follow-hex", "tshark-hex": "follow-hex", "tshark-raw": "follow-raw",
		} {
			t.Run(name+"/"+file, func(t *testing.T) {
				p, err := Recognise(c.Text(t, "pasted/follow/"+name+"."+file+".txt"))
				if err != nil {
					t.Fatal(err)
				}
				if p.Form != form || !p.Stream || len(p.Notes) != 0 {
					t.Errorf("form %s, stream %v, notes %v", p.Form, p.Stream, p.Notes)
				}
				if strings.HasPrefix(file, "tshark") || file == "yaml" {
					if len(p.Peers) != 2 || p.Peers[1] != "127.0.0.1:7801" {
						t.Errorf("peers %v", p.Peers)
					}
				}
				// No packet of these conversations ends on a full line, so that even hex dumps show all ends.
				if len(p.Messages) != len(want) {
					t.Fatalf("%d messages, want %d", len(p.Messages), len(want))
				}
				var streams, wantStreams [3]string
				for i, m := range p.Messages {
					w := want[i]
					streams[m.Dir] += hex.EncodeToString(m.Bytes)
					if w.Dir == "c2s" {
						wantStreams[schema.ToServer] += w.Hex
					} else {
						wantStreams[schema.ToClient] += w.Hex
					}
					if hex.EncodeToString(m.Bytes) != w.Hex || m.Dir.String() != w.Dir {
						t.Errorf("packet %d is %s %x", i, m.Dir, m.Bytes)
					}
					if (form == "follow-yaml" || form == "follow-c-arrays") && m.Number != w.Packet {
						t.Errorf("packet %d has number %d, want %d", i, m.Number, w.Packet)
					}
					if file == "yaml" || file == "tshark-yaml" {
						off := float64(m.Time.At.UnixNano())/1e9 - w.Time
						if m.Time.Kind != scan.Absolute || off < -2e-6 || off > 2e-6 {
							t.Errorf("packet %d at %s", i, m.Time)
						}
					}
				}
				if streams != wantStreams {
					t.Error("the streams differ")
				}
			})
		}
	}
}
