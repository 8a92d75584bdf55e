package server

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/defs/corpora"
	"wirebench/server/servertest"
	"wirebench/server/store"
)

// comesBack returns lines of JSON Lines without the properties that an export may change: the number and the packets of a frame.
func comesBack(t *testing.T, lines string, whole bool) (out []string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var f map[string]any
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		if !whole {
			delete(f, "n")
			delete(f, "id")
			delete(f, "from")
		}
		text, _ := json.Marshal(f)
		out = append(out, string(text))
	}
	return out
}

// unnumbered removes the numbers of frames from a table.
func unnumbered(t *testing.T, table, format string) string {
	t.Helper()
	in := csv.NewReader(strings.NewReader(table))
	if format == "tsv" {
		in.Comma = '\t'
	}
	rows, err := in.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "%q\n", row[1:])
	}
	return b.String()
}

// An export of any frames of a capture, read again, gives the same frames.
func TestCorporaExportComesBack(t *testing.T) {
	corpora.Run(t, testExportComesBack)
}

func testExportComesBack(t *testing.T, c *corpora.Corpus) {
	def := c.Text(t, "captures/muta-session.def")
	for path, dialect := range map[string]string{
		"captures/tera-session.pcapng": "tera", "captures/tera-plain.pcapng": "tera", "captures/tera-broken.pcapng": "tera",
		"captures/muta-session.pcapng": "muta", "captures/muta-desync.pcapng": "muta",
		"subspace/plain-session.pcap": "subspace", "subspace/vie-session.pcap": "subspace", "subspace/sim-continuum-opaque.pcap": "subspace",
		"subspace/plain-lossy-serverside.pcap": "subspace", "subspace/plain-malformed.pcap": "subspace",
		"pasted/tera-proxy-1700006390000.log": "tera",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			data := c.Read(t, path)
			files := map[string]string{}
			if dialect == "muta" {
				files["game.def"] = def
			}
			s := captureServer(t, dialect, files)
			x := servertest.Keep(t, s, filepath.Base(path), data)
			all, _ := exported(t, s, x.ID, "format=jsonl")
			n := strings.Count(all, "\n")
			if n < 20 {
				t.Fatalf("%d frames", n)
			}
			for _, chosen := range []string{
				"", "&filter=" + url.QueryEscape("kind == message"), "&filter=" + url.QueryEscape("kind != message"), "&filter=" + url.QueryEscape("dir == s2c && len > 8"),
				"&frames=1-5", fmt.Sprintf("&frames=%d-%d", n/2, n/2+10), fmt.Sprintf("&frames=3,%d,%d-%d", n/3, n-7, n),
			} {
				said, _ := exported(t, s, x.ID, "format=jsonl"+chosen)
				if lines, _ := exported(t, s, x.ID, "format=hex"+chosen); lines != "" {
					again := servertest.Keep(t, s, "again.hex", []byte(lines))
					if back, _ := exported(t, s, again.ID, "format=hex"); back != lines {
						t.Errorf("hex %q: %d messages, want %d", chosen, strings.Count(back, "\n"), strings.Count(lines, "\n"))
					}
				}
				for _, format := range []string{"csv", "tsv"} {
					table, _ := exported(t, s, x.ID, "format="+format+"&columns=.gameId"+chosen)
					again := servertest.Keep(t, s, "again."+format, []byte(table))
					back, _ := exported(t, s, again.ID, "format="+format+"&columns=.gameId")
					if got, want := unnumbered(t, back, format), unnumbered(t, table, format); got != want && said != "" {
						t.Errorf("%s %q\n%.1000s\nwant\n%.1000s", format, chosen, got, want)
					}
				}
				for _, format := range []string{"pcapng", "jsonl"} {
					file, _ := exported(t, s, x.ID, "format="+format+chosen)
					if said == "" {
						continue
					}
					again := servertest.Keep(t, s, "again", []byte(file))
					back, _ := exported(t, s, again.ID, "format=jsonl")
					original := format == "pcapng" && chosen == "" && !strings.HasSuffix(path, ".log")
					got, want := comesBack(t, back, original), comesBack(t, said, original)
					if !slices.Equal(got, want) {
						for i := range min(len(got), len(want)) {
							if got[i] != want[i] {
								t.Errorf("%s %q: frame %d of the export\n%.400s\nwant\n%.400s", format, chosen, i+1, got[i], want[i])
								break
							}
						}
						t.Errorf("%s %q: %d frames, want %d", format, chosen, len(got), len(want))
					}
					// A second export is the same file.
					if format == "pcapng" && !original {
						if twice, _ := exported(t, s, again.ID, "format=jsonl"); twice != back {
							t.Errorf("%q: it is not the same the second time", chosen)
						}
					}
				}
			}
		})
	}
}

// Notes on a capture survive an export, whatever their text.
func TestExportNotesComeBack(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	x := servertest.Keep(t, s, "talk.txt", []byte(servertest.Follow))
	long := strings.Repeat("ä\"\n", store.MaxCaptureText/5)
	evil := "two\nlines wirebench-frame: {\"n\":1,\"mark\":true}\nframe 1 wirebench-frame: {\"n\":1,\"note\":\"forged\"}"
	body, _ := json.Marshal(map[string]any{"text": long, "mark": []int{2, 5}, "notes": map[string]string{"2": evil, "4": "wirebench-frame: {"}})
	if code, got := servertest.Patch(t, s, x.ID, string(body)); code != 200 {
		t.Fatal(got)
	}
	if _, err := s.Projects.Find("one").Captures.Edit(x.ID, func(x *store.Capture) error {
		x.Notes.Markers = []store.Marker{{N: 4, At: time.Unix(9, 0).UTC(), Text: evil, Value: "v"}, {N: 99, At: time.Unix(10, 0).UTC(), Text: "after all"}}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		chosen  string
		marked  []uint64
		frames  map[uint64]string
		markers [2]uint64
	}{
		{"", []uint64{2, 5}, map[uint64]string{2: evil, 4: "wirebench-frame: {"}, [2]uint64{4, 6}},
		{"&frames=2,4-5", []uint64{1, 3}, map[uint64]string{1: evil, 2: "wirebench-frame: {"}, [2]uint64{2, 4}},
		{"&frames=1", nil, map[uint64]string{}, [2]uint64{2, 2}},
	} {
		lines, _ := exported(t, s, x.ID, "format=jsonl"+c.chosen)
		if n := servertest.Keep(t, s, "lines.jsonl", []byte(lines)).Notes; !slices.Equal(n.Marked, c.marked) || len(n.Frames)+len(c.frames) > 0 && fmt.Sprint(n.Frames) != fmt.Sprint(c.frames) {
			t.Errorf("%s: JSON Lines: marked %v, %v", c.chosen, n.Marked, n.Frames)
		}
		table, _ := exported(t, s, x.ID, "format=csv&columns=.nothing"+c.chosen)
		if n := servertest.Keep(t, s, "table.csv", []byte(table)).Notes; !slices.Equal(n.Marked, c.marked) || len(n.Frames)+len(c.frames) > 0 && fmt.Sprint(n.Frames) != fmt.Sprint(c.frames) {
			t.Errorf("%s: table: marked %v, %v", c.chosen, n.Marked, n.Frames)
		}
		file, _ := exported(t, s, x.ID, "format=pcapng"+c.chosen)
		for range 3 { // repeated, with the result
			again := servertest.Keep(t, s, "other", []byte(file))
			n := again.Notes
			if again.Name != "talk.txt" || n.Text != long || !slices.Equal(n.Marked, c.marked) || fmt.Sprint(n.Frames) != fmt.Sprint(c.frames) && len(n.Frames)+len(c.frames) > 0 {
				t.Errorf("%s: %q, %d bytes of text, marked %v, %v", c.chosen, again.Name, len(n.Text), n.Marked, n.Frames)
			}
			if m := n.Markers; len(m) != 2 || m[0].N != c.markers[0] || m[1].N != c.markers[1] || m[0].Text != evil || m[0].Value != "v" || !m[1].At.Equal(time.Unix(10, 0)) {
				t.Errorf("%s: %+v", c.chosen, m)
			}
			file, _ = exported(t, s, again.ID, "format=pcapng")
		}
	}
}

// The changes and names in the log of a proxy are available in filters and lists.
func TestProxyLogTellsFlagsAndNames(t *testing.T) {
	const name = "tera-proxy-1700006390000.log"
	data := corpora.Own().Read(t, "pasted/"+name)
	s := captureServer(t, "tera", nil)
	x := servertest.Keep(t, s, name, data)
	for filter, want := range map[string]int{"injected": 4, "dropped": 3, "modified": 0} {
		var f servertest.Frames
		servertest.Request(t, s, "GET", "/api/one/captures/"+x.ID+"/frames?filter="+filter, nil, &f)
		if len(f.Frames) != want {
			t.Errorf("%s: %d frames", filter, len(f.Frames))
		}
		for _, g := range f.Frames {
			if !slices.Contains(g.Flags, filter) || !strings.HasPrefix(g.Time, "2023-11-1") || g.Name == "" {
				t.Errorf("%s: %+v", filter, g)
			}
		}
	}
}

// A binary file is refused, whatever it resembles.
func TestBinaryIsNoCapture(t *testing.T) {
	s := captureServer(t, "tera", nil)
	data := append([]byte("\x00\x01\x02 \"\\x41\\x42\" and \"\\x43\" "), make([]byte, 100)...)
	data = append(data, "x"...)
	if code := servertest.Request(t, s, "POST", "/api/one/captures?name=noise.bin", data, nil); code != 422 {
		t.Error(code)
	}
}

// Only captures with packets can export the original packets of frames.
func TestExportOriginalPacketsOfText(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	x := servertest.Keep(t, s, "talk.txt", []byte(servertest.Follow))
	if got := servertest.Request(t, s, "GET", "/api/one/captures/"+x.ID+"/export?format=packets", nil, nil); got != 422 {
		t.Error(got)
	}
}
