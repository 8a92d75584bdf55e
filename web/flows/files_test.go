package flows

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"wirebench/server"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// upload selects files in the form of the library and sends them.
func (f flow) upload(names ...string) {
	f.Helper()
	browsertest.Run(f.T, f.ctx, chromedp.SetUploadFiles("#files", names, chromedp.ByQuery))
	f.click(`#upload button[type="submit"]`)
}

// Files selected in the form are listed without a reload; existing ones are unchanged unless replacing is requested.
func TestFlowUpload(t *testing.T) {
	t.Parallel()
	f, _, dir := begin(t, map[string]string{"C_JOIN.1.def": servertest.JoinText}, "/p/one/definitions/C_JOIN.1")
	picked := t.TempDir()
	file := func(name, text string) string {
		servertest.WriteFile(t, filepath.Join(picked, name), text)
		return filepath.Join(picked, name)
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create("some/folder/C_ZIPPED.2.def")
	if err == nil {
		_, err = w.Write([]byte("byte zipped\n"))
	}
	if err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	f.do(`document.querySelector(".library").open = true`)

	f.upload(file("C_PICKED.1.def", "byte picked\n"), file("more.zip", packed.String()))
	f.shows("#rail-list", "C_PICKED")
	f.shows("#rail-list", "C_ZIPPED")
	f.shows(".toasts", "2 new")
	f.is("nothing is picked any more", `document.querySelector("#files").files.length === 0`)
	f.is("the page is the same one", `document.querySelector("#definition-head").innerText.includes("C_JOIN.1.def")`)

	// A map gives messages their codes, and lists names without a definition.
	f.paste(joinHex)
	f.shows(row("password"), "12345")
	f.upload(file("protocol.7.map", "C_PICKED 7\nC_JOIN 1\nS_MISSING 9\n"))
	f.is("the codes are known", `document.querySelector('.item[data-name="C_PICKED"] a').title.includes("code 0x0007")`)
	f.is("what has no definition", `document.querySelector('.undefined .item[data-name="S_MISSING"]') !== null`)
	f.paste("0500070063")
	f.do(`document.querySelector("#bycode").click()`)
	f.shows("#fields-head", "C_PICKED.1")
	f.shows(row("picked"), "99")
	f.do(`document.querySelector("#bycode").click()`)

	// Existing files.
	f.open("C_JOIN.1")
	changed := file("C_JOIN.1.def", "string channel_name\nuint16 replaced\n")
	f.upload(changed)
	f.shows(".toasts", "1 exists")
	servertest.Stands(t, dir, "C_JOIN.1.def", servertest.JoinText)
	f.do(`document.querySelector('#upload input[name="replace"]').click()`)
	f.upload(changed)
	f.is("what was done and what came of it", `["1 replaced", "changed on disk"].every(t => document.querySelector(".toasts").innerText.includes(t))`)
	f.shows("#layout-rows", "replaced")
	f.says("the editor follows", "string channel_name\nuint16 replaced\n")
	f.upload(file("C_WRONG.1.def", "in32 x\n"))
	f.is("a definition with mistakes is listed as one", `document.querySelector('.item[data-name="C_WRONG"] .dot.err') !== null`)
}

// Files written and deleted by other programs: a page without edits follows, one with edits shows a notice.
func TestFlowOtherPrograms(t *testing.T) {
	t.Parallel()
	f, srv, dir := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	f.bytes(joinHex)
	path := filepath.Join(dir, "C_JOIN.1.def")
	reload := func() {
		t.Helper()
		if err := srv.Config.Handler.(*server.Server).Projects.Find("one").Reload(); err != nil {
			t.Fatal(err)
		}
	}
	remove := func() {
		t.Helper()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		reload()
	}
	servertest.WriteFile(t, filepath.Join(dir, "S_LATE.1.def"), "byte late\n")
	reload()
	f.shows("#rail-list", "S_LATE")
	servertest.WriteFile(t, path, "string channel_name\nuint16 from_outside\n")
	reload()
	f.says("the text of the disk", "string channel_name\nuint16 from_outside\n")
	f.shows(row("from_outside"), "12345")

	// Deleted without edits, and with edits.
	remove()
	f.shows("#definition-notes", "no longer on disk")
	f.says("the text is still here", "string channel_name\nuint16 from_outside\n")
	f.shows(row("from_outside"), "12345")
	f.click(`#definition-head button[value="save"]`)
	f.shows(".toasts", "Saved C_JOIN.1.def")
	servertest.Stands(t, dir, "C_JOIN.1.def", "string channel_name\nuint16 from_outside\n")
	f.caret(2)
	f.types("_typed")
	f.shows("#layout-rows", "from_outside_typed")
	remove()
	f.shows("#definition-notes", "no longer on disk")
	f.open("C_LIST.1")
	browsertest.Run(t, f.ctx, chromedp.NavigateBack())
	f.says("what was typed, after another definition", "string channel_name\nuint16 from_outside_typed\n")
	f.press("Ctrl+S")
	f.is("written with what was typed", `document.querySelector("#facts").innerText.includes("saved") && !document.querySelector("#facts").innerText.includes("not saved")`)
	servertest.Stands(t, dir, "C_JOIN.1.def", "string channel_name\nuint16 from_outside_typed\n")

	// Written with mistakes: the last valid state stays, as for typed mistakes.
	servertest.WriteFile(t, path, "strin channel_name\n")
	reload()
	f.says("the text with mistakes", "strin channel_name\n")
	f.shows("#definition-notes", `did you mean "string"?`)
	servertest.WriteFile(t, path, servertest.JoinText)
	reload()
	f.says("the text without", servertest.JoinText)
	f.shows(row("password"), "12345")
	f.is("no mistake is left", `document.querySelector("#definition-notes .problems") === null`)
}
