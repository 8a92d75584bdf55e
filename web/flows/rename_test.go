package flows

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wirebench/server/servertest"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
	"wirebench/web/browsertest"
)

// Definitions are renamed, copied and saved from the list, the title, keys and the palette, with the large library. Their codes, samples and
// drafts follow, and so do the pages of others.
func TestFlowRename(t *testing.T) {
	t.Parallel()
	files := realLibrary(t)
	for name := range files {
		if strings.HasSuffix(name, ".map") {
			delete(files, name)
		}
	}
	for name, text := range flowFiles() {
		files[name] = text
	}
	files["C_JOIN.2.def"] = servertest.JoinText + "uint16 more\n"
	s, dir := filesServer(t, files)
	srv := serve(t, s)
	f := flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector, regexp.MustCompile(`status of 4(09|22).*/rename`))}
	p := f.page()
	other := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector)}
	other.caret(0)
	other.types("uint32 draft")
	other.shows("#layout-rows", "draft")
	old, err := os.ReadFile(filepath.Join(dir, "protocol.1.map"))
	if err != nil {
		t.Fatal(err)
	}

	// From the list by keyboard, all versions and the code.
	p.Fill("searchbox", "Filter messages", "c_join")
	p.Press("ArrowDown")
	p.Focused("link", "C_JOIN…")
	p.Press("F2")
	p.Focused("textbox", "New name, with its version")
	p.Type("C LEAVE")
	p.Press("Enter")
	p.In("Rename C_JOIN.2").Says("letters, digits and _")
	p.Press("Ctrl+A")
	p.Type("C_LIST.1")
	p.Press("Enter")
	p.In("Rename C_JOIN.2").Says("C_LIST.1.def exists already")
	p.Press("Ctrl+A")
	p.Type("C_ENTER.2")
	p.Press("Enter")
	p.Says("Renamed 2 versions of C_JOIN to C_ENTER; its code followed in protocol.1.map")
	p.Visible("heading", "C_ENTER.1.def")
	f.is("the address follows", `location.pathname === "/p/one/definitions/C_ENTER.1"`)
	servertest.Stands(t, dir, "protocol.1.map", strings.ReplaceAll(string(old), "C_JOIN", "C_ENTER"))
	servertest.Stands(t, dir, "C_ENTER.1.def", servertest.JoinText)
	servertest.Stands(t, dir, "C_ENTER.1.samples.jsonl", `{"message":"C_ENTER.1","hex":"`+joinHex+`","about":"a text"}`+"\n")
	if _, err := os.Stat(filepath.Join(dir, "C_JOIN.1.def")); err == nil {
		t.Error("C_JOIN.1.def is still there")
	}

	// The page of another, with its unsaved text, which stays after a reload.
	q := other.page()
	q.Visible("heading", "C_ENTER.1.def")
	other.shows("#layout-rows", "draft")
	other.shows("#definition-head", "not saved")
	browsertest.Reload(t, other.ctx, openSelector)
	q.Visible("heading", "C_ENTER.1.def")
	other.shows("#layout-rows", "draft")

	// One step back.
	p.Click("button", "Undo")
	p.Says("Undone: ")
	p.Visible("heading", "C_JOIN.1.def")
	servertest.Stands(t, dir, "protocol.1.map", string(old))
	servertest.Stands(t, dir, "C_JOIN.1.samples.jsonl", flowFiles()["C_JOIN.1.samples.jsonl"])
	q.Visible("heading", "C_JOIN.1.def")
	other.shows("#layout-rows", "draft")

	// From the menu of the title: a copy as the next version.
	p.RightClick("heading", "C_JOIN.1.def")
	p.Click("menuitem", "Duplicate…")
	p.Has("textbox", "Name of the copy, with its version", "C_JOIN.3")
	p.Press("Enter")
	p.Visible("heading", "C_JOIN.3.def")
	servertest.Stands(t, dir, "C_JOIN.3.def", servertest.JoinText)

	// From the palette: another name of this version alone, without its code.
	p.Press("Ctrl+K")
	p.Type("rename the definition")
	p.Press("Enter")
	p.Focused("textbox", "New name, with its version")
	p.Type("C_OTHER")
	p.Click("checkbox", "its other versions…")
	p.Click("checkbox", "keep its code…")
	p.In("Rename C_JOIN.3").Click("button", "Rename")
	p.Visible("heading", "C_OTHER.3.def")
	servertest.Stands(t, dir, "C_JOIN.2.def", files["C_JOIN.2.def"])
	servertest.Stands(t, dir, "protocol.1.map", string(old))

	// An old address leads to the new name.
	f.do(`location.assign("/p/one/definitions/C_JOIN.3")`)
	p.Visible("heading", "C_OTHER.3.def")
}

// Where the text names the message, F2 renames the message and, if wanted, its file, with one undo.
func TestFlowRenameMessage(t *testing.T) {
	t.Parallel()
	files := map[string]string{"game.def": servertest.PingText, "game.samples.jsonl": `{"message":"say","hex":"01020068690000"}` + "\n"}
	d, dir := workspacetest.Dir(t, files)
	home, _ := workspacetest.Dir(t, nil)
	srv := serve(t, serverOf(t, workspacetest.Open(t, workspace.Config{Dialect: "muta", Files: d, Home: home, Captures: workspacetest.Captures(t)})))
	f := flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/definitions/say", openSelector, regexp.MustCompile(`status of 4(09|22).*/rename`))}
	p := f.page()
	f.shows("#layout-rows", "text")
	p.Press("Escape", "F2")
	p.Focused("textbox", "New name of the message")
	p.Type("said")
	p.Press("Enter")
	p.In("Rename say").Says("duplicate packet")
	p.Press("Ctrl+A")
	p.Type("speak")
	p.Press("Enter")
	p.Says("Renamed say to speak")
	f.is("the address follows", `location.pathname === "/p/one/definitions/speak"`)
	f.is("the text has the new name", `document.querySelector(".cm-content").textContent.includes("packet: speak")`)
	p.Visible("link", "speak…")
	servertest.Stands(t, dir, "game.def", strings.Replace(servertest.PingText, "packet: say\n", "packet: speak\n", 1))
	servertest.Stands(t, dir, "game.samples.jsonl", `{"message":"speak","hex":"01020068690000"}`+"\n")
	p.Click("button", "Undo")
	p.Says("Undone: say renamed to speak")
	f.is("the address follows the undo", `location.pathname === "/p/one/definitions/say"`)
	servertest.Stands(t, dir, "game.def", servertest.PingText)

	p.RightClick("link", "say…")
	p.Click("menuitem", "Rename…")
	p.Focused("textbox", "New name of the message")
	p.Type("speak")
	p.Fill("textbox", "New name of the file", "play")
	p.Press("Enter")
	p.Says("Renamed say to speak and the file game to play")
	f.is("the address follows again", `location.pathname === "/p/one/definitions/speak"`)
	servertest.Stands(t, dir, "play.def", strings.Replace(servertest.PingText, "packet: say\n", "packet: speak\n", 1))
	if _, err := os.Stat(filepath.Join(dir, "game.def")); err == nil {
		t.Error("game.def is still there")
	}
}
