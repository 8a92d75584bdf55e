package server

import (
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"wirebench/defs"
	"wirebench/defs/library"
	"wirebench/server/workspace"
	"wirebench/web/browsertest"
)

var screenshots = flag.Bool("screenshots", false, "write the pictures of the README to web/screenshots")

func TestPageInBrowser(t *testing.T) {
	srv := httptest.NewServer(testServer(t))
	t.Cleanup(srv.Close)
	ctx := browsertest.Open(t, srv.URL+"/w/one", ".tree")
	lit := func() string {
		return strings.Join(browsertest.Value[[]string](t, ctx, `[...document.querySelectorAll(".lit:not(.asc)")].map(e => e.textContent.trim().replace(/\s+/g, " "))`), "|")
	}

	// A byte of the password: its row, its line of the definition and its place in the layout are lit, and the last line names it.
	hover(t, ctx, `.hx[data-range="48:8"]`)
	if got := lit(); !strings.Contains(got, "password") || !strings.Contains(got, "39") || !strings.Contains(got, "12345") {
		t.Errorf("lit: %s", got)
	}
	if got := browsertest.Value[string](t, ctx, `document.getElementById("pointed").textContent`); got != "password: uint16 @ 0x06 +2" {
		t.Errorf("the last line says %s", got)
	}

	// The caret in the text of the definition lights what its line explains; the text is coloured as it is typed.
	browsertest.Run(t, ctx,
		chromedp.Evaluate(`{ const e = document.querySelector("#definition"); e.focus(); e.setSelectionRange(e.value.length - 1, e.value.length - 1) }`, nil),
		chromedp.Poll(`document.querySelector('tr.lit[data-path="password"]') !== null`, nil),
		chromedp.SendKeys("#definition", "# four digits\nbool x"),
	)
	if got := browsertest.Value[string](t, ctx, `[...document.querySelectorAll(".code .ln:nth-last-child(-n+2)")].map(e => [".no", ".ty", ".nm", ".cm"].map(c => e.querySelector(c).textContent.trim()).join(" ")).join("|")`); got != "2 uint16 password # four digits|3 bool x " {
		t.Errorf("the lines are %q", got)
	}

	// The list narrows while typing.
	browsertest.Run(t, ctx, chromedp.SendKeys("[data-filter]", "list"))
	if n := browsertest.Value[int](t, ctx, `[...document.querySelectorAll(".item[data-name]")].filter(e => e.checkVisibility()).length`); n != 1 {
		t.Errorf("%d messages are left of the filter", n)
	}

	// Values become bytes, and the page shows them, by the text as it was typed.
	browsertest.Run(t, ctx,
		chromedp.Click("#values-pane > summary"),
		chromedp.WaitVisible("#value"),
		chromedp.SetValue("#value", `{"channel_name":"Zoë","password":7,"x":true}`),
		chromedp.Click(`button[value="encode"]`),
		chromedp.WaitVisible(".hint.ok"),
	)
	if got := browsertest.Value[string](t, ctx, `document.querySelector("#input").value`); got != "11 00 01 00 08 00 07 00 01 5a 00 6f 00 eb 00 00 00" && got != "11 00 01 00 09 00 07 00 01 5a 00 6f 00 eb 00 00 00" {
		t.Errorf("encoded: %s", got)
	}

	// No sideways scrolling, down to the width of a small phone.
	for _, width := range []int64{360, 900, 1440, 2560} {
		browsertest.Run(t, ctx, emulation.SetDeviceMetricsOverride(width, 800, 1, false))
		if over := browsertest.Value[int](t, ctx, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
			t.Errorf("at %d pixels the page is %d pixels too wide", width, over)
		}
	}
}

// hover moves the pointer over an element, as far as scripts can tell.
func hover(t *testing.T, ctx context.Context, selector string) {
	t.Helper()
	browsertest.Run(t, ctx, chromedp.Evaluate(fmt.Sprintf(`document.querySelector(%q).dispatchEvent(new PointerEvent("pointerover", {bubbles: true}))`, selector), nil))
}

// Rows with others inside close and open by keys and by their sign.
func TestTreeFolds(t *testing.T) {
	srv := httptest.NewServer(testServer(t))
	t.Cleanup(srv.Close)
	ctx := browsertest.Open(t, srv.URL+"/w/one?sample=1", ".tree")
	visible := func() string {
		return strings.Join(browsertest.Value[[]string](t, ctx, `[...document.querySelectorAll(".tree tr[data-path]")].filter(e => e.checkVisibility() && e.dataset.path.startsWith("members")).map(e => e.cells[0].textContent.trim())`), " ")
	}
	const open = "[members count] [members offset] members [0] [here] [next] [name offset] id name [1] [here] [next] [name offset] id name"
	press := func(key string) chromedp.Action { return chromedp.KeyEvent(key) }
	for _, step := range []struct {
		name string
		do   chromedp.Action
		want string
	}{
		{"at first", chromedp.Focus(`tr[data-path="members[0]"][aria-expanded]`), open},
		{"left closes", press(kb.ArrowLeft), strings.Replace(open, " [here] [next] [name offset] id name", "", 1)},
		{"left again goes out", press(kb.ArrowLeft), strings.Replace(open, " [here] [next] [name offset] id name", "", 1)},
		{"left closes all", press(kb.ArrowLeft), "[members count] [members offset] members"},
		{"right opens, but not what was closed inside", press(kb.ArrowRight), strings.Replace(open, " [here] [next] [name offset] id name", "", 1)},
		{"a click opens", chromedp.Click(`tr[data-path="members[0]"] .fold`), open},
	} {
		browsertest.Run(t, ctx, step.do)
		if got := visible(); got != step.want {
			t.Errorf("%s:\ngot  %s\nwant %s", step.name, got, step.want)
		}
	}
}

// Without scripts everything works by plain forms, and the text of a definition is readable.
func TestPageWithoutScripts(t *testing.T) {
	srv := httptest.NewServer(testServer(t))
	t.Cleanup(srv.Close)
	ctx := browsertest.Open(t, srv.URL+"/w/one", ".tree")
	var text, definition string
	browsertest.Run(t, ctx,
		emulation.SetScriptExecutionDisabled(true),
		chromedp.Navigate(srv.URL+"/w/one?message=C_WIDE.1"), // of which there is no sample, so that the page has no rows yet
		chromedp.WaitVisible(`.code:not(.live)`),
		chromedp.SetValue("#input", "1400 0000 ffffffffffffffff 0000000000000080"),
		chromedp.Click(`.btn.primary[value="decode"]`, chromedp.NodeVisible),
		chromedp.WaitVisible(`tr[data-path="b"]`),
		chromedp.Text(`tr[data-path="b"]`, &text),
		chromedp.Value("#definition", &definition),
	)
	if !strings.Contains(text, "-9223372036854775808") || definition != "uint64 a\nint64 b\n" {
		t.Errorf("the row says %q, the definition %q", text, definition)
	}
}

// TestScreenshots draws the page of the shipped samples, as the README shows it.
func TestScreenshots(t *testing.T) {
	d := defs.Dialects[0]
	fsys, _ := library.Dialect(d.Name)
	lib, err := workspace.ReadFS(fsys)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := workspace.Build(lib, workspace.Settings{Dialect: d.Name})
	if err != nil {
		t.Fatal(err)
	}
	ws := Workspace{Name: d.Name, Title: d.Title, Snapshot: snap}
	for _, s := range library.Samples(d.Name) {
		ws.Samples = append(ws.Samples, Sample{Message: s.Message, Hex: s.Hex, About: s.About})
	}
	h, err := New(Config{Workspaces: []Workspace{ws}})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	ctx := browsertest.Open(t, srv.URL+"/w/"+d.Name, ".tree")
	for _, shot := range []struct {
		name, theme   string
		width, height int64
	}{{"workbench", "dark", 1440, 860}, {"workbench-light", "light", 1440, 860}, {"workbench-narrow", "dark", 420, 900}} {
		var png []byte
		browsertest.Run(t, ctx,
			emulation.SetDeviceMetricsOverride(shot.width, shot.height, 1, false),
			emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: shot.theme}}),
			chromedp.Evaluate(`document.querySelector('.hx[data-range="128:8"]').dispatchEvent(new PointerEvent("pointerover", {bubbles: true}))`, nil),
			chromedp.CaptureScreenshot(&png),
		)
		if len(png) < 10000 {
			t.Errorf("%s is a picture of %d bytes", shot.name, len(png))
		}
		if !*screenshots {
			continue
		}
		if err := os.MkdirAll("../web/screenshots", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("../web/screenshots/"+shot.name+".png", png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
