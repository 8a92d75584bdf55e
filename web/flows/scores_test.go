package flows

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"wirebench/codec/value"
	"wirebench/defs/schema"
	"wirebench/server/servertest"
	"wirebench/server/workspace"
	"wirebench/web/browsertest"
)

func newFiles(files map[string]string) (out []workspace.NewFile) {
	for name, text := range files {
		out = append(out, workspace.NewFile{Name: name, Text: []byte(text)})
	}
	return out
}

// The page says how the text explains the messages of the captures, with each key: below it, beside each line, and for all definitions in a
// dialog. What does not fit is a click away.
func TestFlowScores(t *testing.T) {
	t.Parallel()
	s := captureServer(t, "tera", map[string]string{"C_HIT.1.def": servertest.HitText, "C_NONE.1.def": "byte a\n", "protocol.1.map": "C_HIT 4097\nC_NONE 4098\n"})
	x := servertest.Keep(t, s, "one.pcapng", servertest.Hits(t, 3000, 1000))
	srv := serve(t, s)
	f := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_HIT.1", openSelector)}
	f.shows("#score", "2,997 of 3,000 in captures; 3 with bytes left over")
	marks := func(want string) {
		t.Helper()
		f.is("the figures "+want, `[...document.querySelectorAll(".cm-scores .line-score")].slice(1).map(e => e.textContent).join(" | ") === `+jsText(want)) // the first one only takes the width
	}
	marks("3k · 3k | 3k · 3 | 3k · 10")
	f.look("scores")
	f.caret(3)
	f.types("x") // a renamed field has the same values
	marks("3k · 3k | 3k · 3 | 3k · 10")
	f.press("Enter")
	f.types("uint32 more")
	f.shows("#score", "0 of 3,000 in captures; 3 with bytes left over, 2,997 doubtful") // the number is where texts begin
	f.look("scores-broken")

	f.ofDefinition("All definitions…")
	f.shows("dialog .operate-says", "3,000 messages of 1 capture; 0 of 1 definitions clean; 1 without data") // of the stored text
	f.page().Click("button", "Captures of C_HIT.1")
	f.page().Visible("link", "one.pcapng")
	f.page().Visible("link", "those that are not clean")
	f.look("scoreboard")
	f.is("the address of the frame", `[...document.querySelectorAll("dialog a")].some(a => a.textContent === "frame 1000" && a.href.endsWith("/captures/`+x.ID+`#n=1000"))`)
	f.dialog("scores")
}

// look stores a screenshot, if pictures are wanted.
func (f flow) look(name string) {
	if os.Getenv("WIREBENCH_LOOK") != "" {
		f.shot(name, 1440, 900)
	}
}

// The scoreboard of a large library with messages of all its definitions, and a phone, to be looked at: WIREBENCH_LOOK=DIR go test -run
// TestFlowLookScores ./web/flows
func TestFlowLookScores(t *testing.T) {
	if os.Getenv("WIREBENCH_LOOK") == "" {
		t.Skip("WIREBENCH_LOOK is not set")
	}
	browsertest.Require(t)
	files := realLibrary(t)
	lib, err := workspace.LibraryOf(newFiles(files))
	if err != nil {
		t.Fatal(err)
	}
	snap, err := workspace.Build(lib, workspace.Settings{Dialect: "tera"})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s, at := servertest.Conversation(t, &out)
	codes, n := strings.Builder{}, 0
	for m := range snap.Messages() {
		if snap.Newest(m) != m.Version || m.Key.Dir == schema.Both {
			continue
		}
		n++
		fmt.Fprintf(&codes, "%s %d\n", m.Name, 1000+n)
		p, err := snap.Program(m)
		if err != nil {
			continue
		}
		for i, e := range value.Examples(p, 5, uint64(n), 7) {
			data := bytes.Clone(e.Data)
			if len(data) < 4 || int(binary.LittleEndian.Uint16(data)) != len(data) { // broken on purpose
				continue
			}
			binary.LittleEndian.PutUint16(data[2:], uint16(1000+n))
			if (n+i)%9 == 0 && len(data) < 60000 {
				data = append(data, 1, 2, 3)
				binary.LittleEndian.PutUint16(data, uint16(len(data)))
			}
			if err := s.Data(m.Key.Dir, at.Add(time.Duration(n)*time.Millisecond), data, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	files["protocol.1.map"] = codes.String()
	srv := captureServer(t, "tera", files)
	servertest.Keep(t, srv, "all.pcapng", out.Bytes())
	h := serve(t, srv)
	f := flow{t, browsertest.Open(t, h.URL+"/p/one/definitions/S_PARTY_MEMBER_LIST.9", openSelector)}
	f.shows("#score", "in captures")
	f.shot("large", 1440, 900)
	f.ofDefinition("All definitions…")
	f.shows("dialog .operate-says", "definitions clean")
	f.shot("large-scores", 1440, 900)
	f.shot("large-scores-phone", 390, 844)
	f.press("Escape")
	f.press("Ctrl+K")
	f.page().Fill("combobox", "Go to anything", "> comments and")
	f.page().Press("Enter")
	f.shot("large-threads-phone", 390, 844)
}
