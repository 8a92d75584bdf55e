package flows

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/web/browsertest"
)

// A message is defined, built and saved by the keyboard alone, in a library of 1,000 files; each focus is one that a person sees.
func TestFlowKeyboardAlone(t *testing.T) {
	t.Parallel()
	files := flowFiles()
	for i := range 1000 {
		files[fmt.Sprintf("S_OTHER_%d.1.def", i)] = "uint32 id\n"
	}
	f, _, dir := begin(t, files, "/p/one/definitions/C_JOIN.1")
	f.bytes(joinHex)
	palette := func(text string) {
		t.Helper()
		f.press("Ctrl+K")
		f.is("the palette", `document.activeElement.matches("dialog input, .palette input, [role=combobox]")`)
		f.types(text)
		f.is("an entry", `[...document.querySelectorAll("[role=option]")].some(e => e.textContent.includes("`+text+`"))`)
		f.press("Enter")
	}
	visible := func(what string) {
		t.Helper()
		f.is(what+": the focus can be seen", `(() => { const e = document.activeElement, r = e.getBoundingClientRect(); return e !== document.body && r.width > 0 && r.bottom > 0 && r.top < innerHeight; })()`)
	}

	palette("New definition")
	f.shows("#definition-head", "C_NEW_MESSAGE.1")
	f.is("the name has the focus", `document.activeElement.id === "name"`)
	visible("the name")
	f.types("C_KEYS.1")
	for range 3 {
		f.press("Tab")
		if browsertest.Value[bool](t, f.ctx, `document.activeElement.matches(".cm-content")`) {
			break
		}
	}
	f.page().Focused("textbox", "Definition text")
	visible("the editor")
	f.press("Ctrl+A")
	f.types("uint32 number")
	f.press("Enter")
	f.types("string text")
	f.shows("#layout-rows", "number")
	f.press("Ctrl+S")
	f.shows(".toasts", "Saved C_KEYS.1.def")
	if text, err := os.ReadFile(filepath.Join(dir, "C_KEYS.1.def")); err != nil || !strings.HasPrefix(string(text), "uint32 number\nstring text") {
		t.Errorf("%q %v", text, err)
	}
	f.press("Escape")
	palette("Build a message from scratch")
	f.shows(row("number"), "0")
	palette("Fields")
	for range 20 {
		if browsertest.Value[bool](t, f.ctx, `document.activeElement.dataset?.path === "number"`) {
			break
		}
		f.press("ArrowDown")
	}
	visible("the field")
	f.press("Enter")
	f.put("258")
	f.shows(row("number"), "258")
	f.is("its bytes", `document.querySelector(".hex-host").textContent.replaceAll(/\s/g, "").includes("02010000")`)
	palette("Keep the message as a sample")
	f.is("its description has the focus", `document.activeElement.id === "about"`)
	f.types("a number of 258")
	f.press("Enter")
	f.is("the sample is listed", `document.querySelector("#samples").textContent.includes("a number of 258")`)
	if text, err := os.ReadFile(filepath.Join(dir, "C_KEYS.1.samples.jsonl")); err != nil || !strings.Contains(string(text), `"about":"a number of 258"`) {
		t.Errorf("%q %v", text, err)
	}
	palette("Keywords of the definition language")
	f.is("the keywords", `document.querySelector("#reference").matches(":popover-open")`)
}
