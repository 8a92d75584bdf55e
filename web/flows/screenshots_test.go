package flows

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"wirebench/defs"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
	"wirebench/web/browsertest"
)

var screenshots = flag.Bool("screenshots", false, "write the pictures of the README to web/screenshots")

// Rows with children close and open by keys and by their button.
func TestFlowTreeFolds(t *testing.T) {
	t.Parallel()
	s, _ := filesServer(t, servertest.Files())
	srv := serve(t, s)
	ctx := browsertest.Open(t, srv.URL+"/p/one/definitions/C_LIST.1", "html.live:has(.definition-editor) .tree")
	visible := func() string {
		return strings.Join(browsertest.Value[[]string](t, ctx, `[...document.querySelectorAll(".tree tr[data-path]")].filter(e => e.checkVisibility() && e.dataset.path.startsWith("members")).map(e => e.cells[0].textContent.trim())`), " ")
	}
	const open = "members count members offset members [0] here next name offset id name [1] here next name offset id name"
	press := func(key string) chromedp.Action { return chromedp.KeyEvent(key) }
	for _, step := range []struct {
		name string
		do   chromedp.Action
		want string
	}{
		{"at first", chromedp.Focus(`tr[data-path="members[0]"][aria-expanded]`), open},
		{"left closes", press(kb.ArrowLeft), strings.Replace(open, " here next name offset id name", "", 1)},
		{"left again goes out", press(kb.ArrowLeft), strings.Replace(open, " here next name offset id name", "", 1)},
		{"left closes all", press(kb.ArrowLeft), "members count members offset members"},
		{"right opens, but not what was closed inside", press(kb.ArrowRight), strings.Replace(open, " here next name offset id name", "", 1)},
		{"a click opens", chromedp.Click(`tr[data-path="members[0]"] .fold`), open},
	} {
		browsertest.Run(t, ctx, step.do)
		if got := visible(); got != step.want {
			t.Errorf("%s:\ngot  %s\nwant %s", step.name, got, step.want)
		}
	}
}

// Without scripts everything works by plain forms, and the text of a definition is readable.
func TestFlowWithoutScripts(t *testing.T) {
	t.Parallel()
	s, _ := filesServer(t, servertest.Files())
	srv := serve(t, s)
	ctx := browsertest.Open(t, srv.URL+"/p/one/definitions", ".tree")
	var text, definition string
	browsertest.Run(t, ctx,
		emulation.SetScriptExecutionDisabled(true),
		chromedp.Navigate(srv.URL+"/p/one/definitions/C_WIDE.1"), // it has no sample, so that the page has no rows yet
		chromedp.SetValue("#input", "1400 0000 ffffffffffffffff 0000000000000080"),
		chromedp.Click(`.btn.primary[value="decode"]`, chromedp.NodeVisible),
		chromedp.WaitVisible(`#fields-body .dump`),
		chromedp.Text(`#fields-body .dump`, &text),
		chromedp.Value("#definition", &definition),
	)
	if !strings.Contains(text, "-9223372036854775808") || definition != "uint64 a\nint64 b\n" {
		t.Errorf("the fields are %q, the definition %q", text, definition)
	}
}

const pickMember = `document.querySelector('.tree tr[data-path="members[0].player_id"]').focus()`

// channelCapture returns a capture with messages of the definition of the first picture; their passwords and members differ.
func channelCapture(t *testing.T, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	s, at := servertest.Conversation(t, &out)
	msg, err := hex.DecodeString("26002c4e02000c001c00d2040c001400e903000014000000d20700004c0061006e006e000000")
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		binary.LittleEndian.PutUint16(msg[10:], uint16(1000+7*i))
		binary.LittleEndian.PutUint32(msg[16:], uint32(1001+i%9))
		if err := s.Data(schema.ToServer, at.Add(time.Duration(i)*time.Second), msg, ""); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// TestFlowScreenshots renders the page of the shipped samples for the README.
func TestFlowScreenshots(t *testing.T) {
	browsertest.Require(t)
	d := defs.Dialects[0]
	fsys, _ := library.Dialect(d.Name)
	dir := t.TempDir()
	if err := os.CopyFS(dir, fsys); err != nil {
		t.Fatal(err)
	}
	files, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := store.OpenCaptures(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, _ := workspacetest.Dir(t, nil)
	ws, err := workspace.Open(workspace.Config{Name: d.Name, FirstTitle: d.Title, Dialect: d.Name, Files: files, Home: home, Captures: kept})
	if err != nil {
		t.Fatal(err)
	}
	sample, _ := library.Recorded(d.Name)
	capture, err := kept.Add("session.pcapng", time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), bytes.NewReader(sample.Data))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range library.Samples(d.Name) {
		m, err := ws.Now().Find(s.Message)
		if err == nil {
			err = ws.AddSample(m.Span.File.Name, workspace.Sample{Message: s.Message, Hex: s.Hex, About: s.About})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := kept.Add("channels.pcapng", time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), bytes.NewReader(channelCapture(t, 40))); err != nil {
		t.Fatal(err)
	}
	if _, err := ws.Begin("Bob", workspace.NewThread{File: "C_EDIT_PRIVATE_CHANNEL.1.def", Line: 7, Text: "Four digits?"}); err != nil {
		t.Fatal(err)
	}
	h := serverOf(t, ws)
	srv := serve(t, h)
	ctx := browsertest.Open(t, srv.URL+"/p/"+d.Name, "html.live:has(.definition-editor) .tree")
	bob := browsertest.Open(t, srv.URL+"/p/"+d.Name, "html.live:has(.definition-editor) .tree") // another person, in the definition of the first picture
	const joins = `{ const name = document.querySelector(".together-name"); name.value = "NAME"; name.dispatchEvent(new Event("change")) }`
	browsertest.Run(t, bob, chromedp.Poll(`document.querySelector(".together-name") !== null`, nil), chromedp.Evaluate(strings.Replace(joins, "NAME", "Bob", 1), nil),
		chromedp.Evaluate(`{ const view = document.querySelector(".definition-editor .cm-content").cmTile.root.view, line = view.state.doc.line(4); view.focus(); view.dispatch({selection: {anchor: line.from, head: line.to}}) }`, nil))
	for _, shot := range []struct{ name, path, do, until string }{
		{
			"workbench", "", strings.Replace(joins, "NAME", "Ann", 1) + ";" + pickMember,
			`document.querySelector(".cell.picked") !== null && document.querySelector(".peer-caret") !== null && document.querySelector(".line-thread") !== null && document.querySelector("#score").textContent.includes("in captures") && document.querySelector("#people-bar").innerText.includes("Bob")`,
		},
		{
			"capture", "/captures/" + capture.ID + "?f=" + url.QueryEscape(`!(C_PLAYER_LOCATION) && kind == message`) + "#n=9&sel=40+16",
			`document.querySelectorAll(".frame-switches button").forEach(toggle => toggle.click())`, // the definition in the place of the inspector
			`document.querySelector(".frame.cur") !== null && document.querySelectorAll(".tree tr[data-path]").length > 5 && document.querySelectorAll(".hex-host .hex-line").length > 2`,
		},
	} {
		var png []byte
		actions := []chromedp.Action{
			emulation.SetDeviceMetricsOverride(1440, 860, 1, false),
			emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}),
		}
		if shot.path != "" {
			actions = append(actions, chromedp.Navigate(srv.URL+"/p/"+d.Name+shot.path))
		}
		browsertest.Run(t, ctx, append(actions, chromedp.Evaluate(shot.do+";undefined", nil), chromedp.Poll(shot.until, nil), browsertest.Painted(), chromedp.CaptureScreenshot(&png))...)
		if len(png) < 10000 {
			t.Errorf("%s is a picture of %d bytes", shot.name, len(png))
		}
		if !*screenshots {
			continue
		}
		if err := os.MkdirAll("../screenshots", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("../screenshots/"+shot.name+".png", png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
