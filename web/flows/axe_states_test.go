package flows

import (
	"encoding/hex"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"wirebench/defs/benchtest"
	"wirebench/server"
	"wirebench/server/projects"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// axeShown lists each page and each dialog of the program: its source file, a selector of its content, and the test that checks it.
var axeShown = []struct{ file, selector, test string }{
	{"templates/access.templ", `main.access`, "TestFlowAxeAccess"},
	{"templates/capture.templ", `main.workbench.capture`, "TestFlowAxeCapture"},
	{"templates/docs.templ", `main.page a[href$="openapi.json"]`, "TestFlowAxePages"},
	{"templates/frame.templ", `main.page > h1 + p`, "TestFlowAxePages"},
	{"templates/manual.templ", `main.page > .manual-text`, "TestFlowAxePages"},
	{"templates/places.templ", `main.place`, "TestFlowAxeFiles"},
	{"templates/projects.templ", `main.projects`, "TestFlowAxePages"},
	{"templates/trouble.templ", `main.page`, "TestFlowAxePages"},
	{"templates/upload.templ", `main.page`, "TestFlowAxePages"},
	{"templates/workbench.templ", `main.workbench:not(.capture)`, "TestFlowAxeWorkbench"},

	{"web/src/text/dialogs/beside.tsx", `dialog[aria-label^="Another text of"]`, "TestFlowLinkAndDraft"},
	{"web/src/frames/dialogs/capsule.tsx", `dialog[aria-label="Share messages"]`, "TestFlowCapsule"},
	{"web/src/frames/dialogs/capsule.tsx", `dialog[aria-label="Shared messages"]`, "TestFlowCapsule"},
	{"web/src/frames/dialogs/capsule.tsx", `dialog.question[aria-label*="Copies of its page stay"]`, "TestFlowCapsule"},
	{"web/src/library/dialogs/code.tsx", `dialog[aria-label="Give a message a code"]`, "TestFlowAxeCodes"},
	{"web/src/library/dialogs/codes.tsx", `dialog[aria-label="Give codes from a table"]`, "TestFlowAxeCodes"},
	{"web/src/frames/dialogs/colors.tsx", `dialog[aria-label="Colors of frames"]`, "TestFlowAxeCapture"},
	{"web/src/text/dialogs/history.tsx", `dialog[aria-label^="History of"]`, "TestFlowHistory"},
	{"web/src/text/dialogs/compare.tsx", `dialog[aria-label="Compare definitions"]`, "TestFlowAxeChanges"},
	{"web/src/frames/dialogs/envelopes.tsx", `dialog[aria-label="Envelopes"]`, "TestFlowFoundEnvelope"},
	{"web/src/live/dialogs/events.tsx", `dialog[aria-label^="Events of "]`, "TestFlowAxeLive"},
	{"web/src/library/dialogs/framing.tsx", `dialog[aria-label$=": split into messages"]`, "TestFlowAxeFiles"},
	{"web/src/projects/dialogs/git.tsx", `dialog[aria-label="Git"]`, "TestFlowGit"},
	{"web/src/app/help.ts", `dialog.keyboard`, "TestFlowAxeWorkbench"},
	{"web/src/live/dialogs/messages.tsx", `dialog[aria-label^="Send a message"]`, "TestFlowAxeLive"},
	{"web/src/library/dialogs/newproject.tsx", `dialog[aria-label="Make a project of these definitions?"]`, "TestFlowAxeFiles"},
	{"web/src/library/dialogs/rename.tsx", `dialog[aria-label^="Rename "]`, "TestFlowAxeChanges"},
	{"web/src/library/dialogs/rename.tsx", `dialog[aria-label="Rename say"]`, "TestFlowAxeLive"}, // the name is in the text
	{"web/src/library/dialogs/rename.tsx", `dialog[aria-label^="Duplicate "]`, "TestFlowAxeChanges"},
	{"web/src/live/dialogs/replay.tsx", `dialog[aria-label^="Replay "]`, "TestFlowAxeReplay"},
	{"web/src/text/dialogs/scores.tsx", `dialog[aria-label="Definitions and messages"]`, "TestFlowScores"},
	{"web/src/text/dialogs/threads.tsx", `dialog[aria-label="Comments and suggestions"]`, "TestFlowThreads"},
	{"web/src/live/dialogs/rules.tsx", `dialog[aria-label="Rules for messages"]`, "TestFlowAxeLive"},
	{"web/src/projects/dialogs/settings.tsx", `dialog[aria-label^="Settings of "], dialog[aria-label^="Decode "]`, "TestFlowAxeSettings"},
	{"web/src/projects/dialogs/settings.tsx", `dialog[aria-label="Decode the traffic as"]`, "TestFlowAxeCodes"},
	{"web/src/app/page/text.ts", `dialog.question[aria-label^="Discard all"]`, "TestFlowTogether"},
	{"web/src/app/page/form.ts", `dialog.question[aria-label*=" from the disk?"]`, "TestFlowAxeChanges"},
	{"web/src/app/page/selection.ts", `dialog[aria-label="Go to offset"]`, "TestFlowAxeChanges"},
	{"web/src/kit/finder.ts", `dialog.palette`, "TestFlowAxeWorkbench"},
	{"web/src/library/pasted.tsx", `dialog[aria-label="Pasted text"]`, "TestFlowAxeCapture"},
	{"web/src/projects/places/compare.tsx", `dialog[aria-label^="Compare "]`, "TestFlowCapturesCompare"},
	{"web/src/projects/places/menu.ts", `dialog.question[aria-label$="This cannot be undone."]`, "TestFlowAxeSettings"},
}

// axeSeen has what of axeShown each running test has checked.
var axeSeen struct {
	sync.Mutex
	of map[string]map[string]bool // selectors by test
}

// covered records the entries of axeShown that the checked page has. A test fails if it ends without all entries listed for it.
func (f flow) covered() {
	f.Helper()
	name, t := f.Name(), f.T
	var mine []string
	for _, x := range axeShown {
		if x.test == name {
			mine = append(mine, x.selector)
		}
	}
	if len(mine) == 0 {
		return
	}
	axeSeen.Lock()
	seen := axeSeen.of[name]
	if seen == nil {
		if axeSeen.of == nil {
			axeSeen.of = map[string]map[string]bool{}
		}
		seen = map[string]bool{}
		axeSeen.of[name] = seen
		t.Cleanup(func() {
			axeSeen.Lock()
			defer axeSeen.Unlock()
			delete(axeSeen.of, name) // the test may run again
			for _, selector := range mine {
				if !seen[selector] && !t.Failed() {
					t.Errorf("%s is listed for this test, which has not checked it", selector)
				}
			}
		})
	}
	axeSeen.Unlock()
	for _, selector := range mine {
		if !seen[selector] {
			seen[selector] = browsertest.Value[bool](t, f.ctx, `document.querySelector(`+jsText(selector)+`) !== null`)
		}
	}
}

// Each page and each dialog of the program is listed, with the test that checks it.
func TestAxeShown(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	t.Parallel()
	listed := map[string]int{}
	for _, x := range axeShown {
		listed[x.file]++
	}
	count := func(dir string, made *regexp.Regexp, skip ...string) {
		t.Helper()
		root := os.DirFS("../..")
		err := fs.WalkDir(root, dir, func(name string, d fs.DirEntry, err error) error {
			ext := path.Ext(name)
			if err != nil || d.IsDir() || (ext != ".templ" && ext != ".ts" && ext != ".tsx") || strings.HasSuffix(name, ".test.ts") || strings.Contains(strings.Join(skip, " "), name) {
				return err
			}
			text, err := fs.ReadFile(root, name)
			if n := len(made.FindAll(text, -1)); err == nil && n != listed[name] {
				t.Errorf("%s makes %d pages or dialogs, and axeShown lists %d: each needs a line there, and a check with axe", name, n, listed[name])
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	count("templates", regexp.MustCompile(`@page\(|<main class="access"`))
	count("web/src", regexp.MustCompile(`\b(dialog|askDialog|confirmDialog)\(|\.showModal\(`), "web/src/kit/dialog.tsx", "web/src/kit/dialogs.ts")
}

// The states of projects, settings and code maps.
func TestFlowAxeSettings(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	s, address := axeServer(t, map[string]string{"C_A.1.def": "uint16 a\n", "protocol.1.map": "C_A 2\n", "protocol.373824.map": "C_A 1\n"})
	address += "/p/one/captures/" + servertest.Keep(t, s, "a", servertest.Checked(t, 373824)).ID
	f := flow{t, browsertest.OpenAllowing(t, address, openSelector, regexp.MustCompile(`status of 422|Close received after close`))}
	p := f.page()
	p.Visible("region", "Proposals")
	f.axe("proposals")
	f.narrow("proposals")
	captureFlow{f, s}.tool("Decode as…")
	p.Visible("button", "Apply")
	p.Choose("Code map", "protocol.1.map")
	f.axe("settings that are not applied")
	f.narrow("settings that are not applied")
	p.Fill("textbox", "Game version", "new")
	p.Click("button", "Apply")
	p.Says("patch")
	f.axe("a setting with a mistake")
	p.Choose("Settings of", "the project One protocol, for all its captures and definitions")
	p.Visible("button", "Reset all")
	f.dialog("settings of the project")
	p.Click("button", "List of messages")
	p.RightClick("link", "C_A…")
	f.menu("menu of a message in the list")
	p.Click("button", "More about…")
	p.Click("menuitem", "Rename …")
	f.axe("the new name of a capture")
	p.Press("Escape")
	p.Click("button", "More about…")
	p.Click("menuitem", "Delete …")
	f.dialog("a question before a capture is deleted")
}

func TestFlowAxeCodes(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	_, address := axeServer(t, map[string]string{"C_A.1.def": "uint16 a\n", "C_B.1.def": "uint16 b\n", "protocol.1.map": "C_A 2\n"})
	f := flow{t, browsertest.OpenAllowing(t, address+"/p/one/definitions/C_A.1", openSelector, regexp.MustCompile(`status of 4(09|22)`))}
	p := f.page()
	p.RightClick("link", "C_B…")
	p.Click("menuitem", "Give it a code…")
	p.Fill("textbox", "Code, decimal or 0x…", "two")
	p.Press("Enter")
	p.Says("A code is a number")
	f.axe("a code with a mistake")
	f.narrow("a code with a mistake")
	p.Fill("textbox", "Code, decimal or 0x…", "2")
	p.Press("Enter")
	p.Visible("button", "Take it from that message")
	f.dialog("a code that another message has")

	p.RightClick("link", "C_B…")
	p.Click("menuitem", "Give it a code…")
	p.Click("button", "A table of codes…")
	p.Fill("textbox", "A name and a code per line, decimal or 0x…", "C_A 1\nC_B two\nC_A 3")
	f.shows(".table-mistakes", "line 2: two is not a code")
	f.axe("a table of codes with mistakes")
	f.narrow("a table of codes with mistakes")
	f.dialog("a table of codes")

	f.paste("0600 3930 0102")
	p.Visible("button", "Give its code to…")
	p.Click("button", "New definition from these bytes")
	p.Focused("textbox", "Name of the new definition")
	f.axe("the name of a new definition")
	p.Press("Enter")
	p.Focused("textbox", "Definition text")
	f.dragBytes(4, 6)
	f.axe("selected bytes")
	f.rightByte(4)
	p.Click("menuitem", "uint16…")
	p.Focused("textbox", "Name of the uint16")
	f.axe("the name of a field")
	p.Press("Enter")
	f.shows(row("unk1"), "513")
	p.In("Layout").Click("button", "Table")
	p.In("Layout").RightClick("row", "unk1…")
	f.menu("the menu of a field's type")
	p.Click("link", "Live")
	browsertest.Arrive(t, f.ctx, "#live-start")
	f.axe("the place of live traffic")
	f.narrow("the place of live traffic")
	p.Click("button", "Decode as…")
	p.Visible("button", "Use these settings")
	f.narrow("settings of a listener")
	f.dialog("settings of a listener")
}

// axeServer starts a server with a project of files.
func axeServer(t *testing.T, files map[string]string) (*server.Server, string) {
	t.Helper()
	s := captureServer(t, "tera", files)
	srv := serve(t, s)
	return s, srv.URL
}

func TestFlowAxeFiles(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	s := projectServer(t, t.TempDir(), projects.Options{})
	srv := serve(t, s)
	f := flow{t, browsertest.OpenAllowing(t, srv.URL, openSelector, regexp.MustCompile(`status of 4[0-9][0-9]`))}
	p := f.page()
	p.Click("button", "TERA .def samples")
	f.axe("the menu of the projects")
	f.narrow("the menu of the projects")
	p.Press("Escape")
	folder := t.TempDir()
	zipped, raw := filepath.Join(folder, "my game.zip"), filepath.Join(folder, "raw.bin")
	servertest.WriteFile(t, zipped, servertest.Zip(t, servertest.FilesOf(map[string]string{"C_A.1.def": "uint16 a\n"})...))
	one, _ := hex.DecodeString("0c0001100600610062000000")
	var data []byte
	for range 500 {
		data = append(data, one...)
	}
	servertest.WriteFile(t, raw, string(data))
	browsertest.Run(t, f.ctx, chromedp.SetUploadFiles("#files", []string{zipped}), chromedp.Evaluate(`document.querySelector("#upload").requestSubmit()`, nil))
	p.Visible("dialog", "Make a project of these definitions?")
	f.dialog("definitions for a project of their own")
	h := &hands{flow: f}
	h.drop(raw)
	p.Visible("button", "Keep as a capture")
	f.narrow("the framing of raw bytes")
	f.dialog("the framing of raw bytes")
	p.Press("Escape")
	p.Click("link", "Captures…")
	browsertest.Arrive(t, f.ctx, ".place-list")
	f.axe("the captures")
	f.narrow("the captures")
}

// Changes of a file by others, of many files and of names; search and bookmarks in bytes; and no connection.
func TestFlowAxeChanges(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	files := flowFiles()
	files["C_JOIN.2.def"] = servertest.JoinText + "uint16 more\n"
	s, dir := filesServer(t, files)
	srv := serve(t, s)
	f := flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector, regexp.MustCompile(`WebSocket|Failed to load`))}
	p := f.page()
	f.bytes(joinHex)
	f.pressByte(0)
	p.Press("Ctrl+F")
	p.Fill("textbox", "Find", "lann")
	f.shows(".find-note", "1 match")
	f.axe("the find bar of bytes")
	f.narrow("the find bar of bytes")
	p.Press("Escape")
	f.dragBytes(8, 12)
	p.Press("m")
	p.Focused("textbox", "Name of the bookmark")
	f.axe("the name of a bookmark")
	p.Press("Enter")
	f.is("a bookmark", `document.querySelector(".bookmark") !== null`)
	f.axe("a bookmark")
	f.pressByte(0)
	p.Press("Ctrl+G")
	p.Visible("dialog", "Go to offset")
	p.Type("99")
	p.Press("Enter")
	f.dialog("an offset outside the message")

	p.RightClick("heading", "C_JOIN.1.def")
	p.Click("menuitem", "Rename…")
	p.Visible("dialog", "Rename C_JOIN.1")
	f.dialog("a new name")
	p.RightClick("heading", "C_JOIN.1.def")
	p.Click("menuitem", "Duplicate…")
	p.Visible("dialog", "Duplicate C_JOIN.1")
	f.dialog("a copy")
	p.RightClick("heading", "C_JOIN.1.def")
	p.Click("menuitem", "Compare…")
	p.Visible("dialog", "Compare definitions")
	p.In("Compare definitions").Visible("row", "added more…")
	f.axe("two versions compared")
	f.narrow("two versions compared")
	p.In("Compare definitions").Click("button", "Text")
	f.dialog("the text of two versions compared")
	f.click("#definition-head summary[aria-label]")
	f.click(`#definition-head button[value="delete"]`)
	p.Visible("dialog", "Delete C_JOIN.1.def from the disk?…")
	f.dialog("a question before a file is deleted")

	f.command("Suggest a change of the definition")
	f.shows("#room-bar", "Your suggestion")
	f.caret(2)
	f.types("_mine")
	f.shows("#layout-rows", "password_mine")
	outside := func() {
		t.Helper()
		if err := s.Projects.Find("one").Reload(); err != nil {
			t.Fatal(err)
		}
	}
	servertest.WriteFile(t, filepath.Join(dir, "C_JOIN.1.def"), servertest.JoinText+"uint32 theirs\n")
	outside()
	f.shows("#definition-notes", "changed on disk")
	f.do(`for (const d of document.querySelectorAll("#definition-notes details")) d.open = true`)
	f.axe("a file that another program has changed")
	f.narrow("a file that another program has changed")
	if err := os.Remove(filepath.Join(dir, "C_JOIN.1.def")); err != nil {
		t.Fatal(err)
	}
	outside()
	f.shows("#definition-notes", "no longer on disk")
	f.axe("a file that another program has deleted")

	p.RightClick("link", "C_WIDE…")
	p.Click("menuitem", "Rename…")
	p.Fill("textbox", "New name, with its version", "C_BROAD.1")
	p.Press("Enter")
	p.Visible("button", "Undo")
	f.axe("a change that can be undone")
	f.command("Changes of many files, to undo")
	f.menu("changes that can be undone")

	srv.CloseClientConnections()
	s.Close()
	srv.Close()
	f.shows("#connection", "reconnecting")
	f.caret(0)
	f.types("\nuint32 offline")
	f.press("Ctrl+S")
	f.is("it says that it cannot save", `document.body.innerText.includes("no connection")`)
	f.axe("no connection")
	f.narrow("no connection")
}
