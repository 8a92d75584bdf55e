package flows

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// command runs a command from the palette.
func (f flow) command(title string) {
	f.Helper()
	f.press("Ctrl+K")
	f.is("the palette", `document.activeElement.matches("dialog input, .palette input, [role=combobox]")`)
	f.types(title)
	f.is("the command", `document.querySelector('#palette-list [aria-selected="true"]')?.innerText.includes(`+jsText(title)+`)`)
	f.press("Enter")
}

// Changes of many files are undone as a whole: from the message about them, and from the palette. Files that others have changed meanwhile
// are named and left.
func TestFlowUndoFiles(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	files := realLibrary(t)
	files["protocol.1.map"] = "C_GET_USER_LIST = 1\r\nC_ACCEPT_CONTRACT = 2"
	_, srv, dir := begin(t, files, "/p/one/definitions")
	f := flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/definitions/C_ACCEPT_CONTRACT.1", openSelector, regexp.MustCompile("status of 409"))}
	p := f.page()
	stands := func(want map[string]string) {
		t.Helper()
		for name, text := range want {
			if have, _ := os.ReadFile(filepath.Join(dir, name)); string(have) != text {
				t.Errorf("%s has %.80q, want %.80q", name, have, text)
			}
		}
	}
	picked := t.TempDir()
	var up []string
	changed := map[string]string{}
	for _, name := range []string{"C_ACCEPT_CONTRACT.1.def", "C_GET_USER_LIST.1.def", "C_BRAND_NEW.1.def"} {
		changed[name] = files[name] + "\nuint32 uploaded\n"
		servertest.WriteFile(t, filepath.Join(picked, name), changed[name])
		up = append(up, filepath.Join(picked, name))
	}
	f.do(`document.querySelector(".library").open = true`)
	f.do(`document.querySelector('#upload input[name="replace"]').click()`)
	f.upload(up...)
	f.shows("#layout-rows", "uploaded")
	stands(changed)
	f.is("what was done", `document.querySelector(".toasts").innerText.includes("2 replaced")`)
	p.Click("button", "Undo")
	f.shows(".toasts", "Undone: 2 files replaced, 1 new")
	f.is("the layout follows", `!document.querySelector("#layout-rows").innerText.includes("uploaded")`)
	stands(files)
	if _, err := os.Stat(filepath.Join(dir, "C_BRAND_NEW.1.def")); err == nil {
		t.Error("the new file is still there")
	}
	p.Click("button", "Redo")
	f.shows(".toasts", "Redone: 2 files replaced, 1 new")
	stands(changed)

	// Another program changes one of the files.
	servertest.WriteFile(t, filepath.Join(dir, "C_GET_USER_LIST.1.def"), "int64 theirs\n")
	f.command("Undo the last change of many files")
	f.shows(".toasts", "changed since: C_GET_USER_LIST.1.def")
	p.Click("button", "Undo the other 2 files")
	f.shows(".toasts", "Undone: 2 files replaced, 1 new")
	stands(map[string]string{"C_ACCEPT_CONTRACT.1.def": files["C_ACCEPT_CONTRACT.1.def"], "C_GET_USER_LIST.1.def": "int64 theirs\n"})

	// A message is renamed, in the list, and the renaming undone from the list of changes.
	p.RightClick("link", "C_ACCEPT_CONTRACT…")
	p.Click("menuitem", "Rename…")
	p.Fill("textbox", "New name, with its version", "C_SIGN_CONTRACT.1")
	p.Press("Enter")
	f.shows(".toasts", "Renamed")
	f.shows("#definition-head", "C_SIGN_CONTRACT")
	stands(map[string]string{"C_SIGN_CONTRACT.1.def": files["C_ACCEPT_CONTRACT.1.def"], "protocol.1.map": strings.Replace(files["protocol.1.map"], "C_ACCEPT", "C_SIGN", 1)})
	f.command("Changes of many files, to undo")
	p.Click("menuitem", "Undo: C_ACCEPT_CONTRACT.1.def renamed…")
	f.shows(".toasts", "Undone: C_ACCEPT_CONTRACT.1.def renamed to C_SIGN_CONTRACT.1.def")
	f.shows("#definition-head", "C_ACCEPT_CONTRACT")
	stands(map[string]string{"C_ACCEPT_CONTRACT.1.def": files["C_ACCEPT_CONTRACT.1.def"], "protocol.1.map": files["protocol.1.map"]})
}
