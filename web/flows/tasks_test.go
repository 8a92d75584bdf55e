package flows

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// pastes pastes a text where no text field is open.
func (h *hands) pastes(text string) {
	h.Helper()
	h.act("paste %q", text)
	h.pasted(text)
}

// opens opens a page of a task: with nothing done yet.
func opens(t *testing.T, address, selector string) *hands {
	t.Helper()
	return &hands{flow: flow{t, browsertest.OpenAllowing(t, address, selector, regexp.MustCompile(`status of (404|422)|Close received after close`))}}
}

// Ten tasks of a newcomer who knows Wireshark and an editor need no more actions than this.
func TestFlowTasks(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	const definitions = "/p/one/definitions"
	sum := 0
	for _, task := range []struct {
		name string
		most int
		do   func(t *testing.T) *hands
	}{
		{"see a message that is defined", 1, func(t *testing.T) *hands {
			_, srv, _ := begin(t, flowFiles(), definitions)
			h := opens(t, srv.URL+definitions, openSelector)
			h.pastes(joinHex)
			h.shows(row("channel_name"), `"Lann"`)
			return h
		}},
		{"define one that is not, with two fields, and save it", 12, func(t *testing.T) *hands {
			_, srv, dir := begin(t, flowFiles(), definitions)
			h := opens(t, srv.URL+definitions, openSelector)
			h.pastes(unknownHex)
			h.click("button", "New definition from these bytes")
			h.press("Enter")
			h.shows("#fields-head", "left over")
			h.field(6, 10, "uint32", "id")
			h.shows(row("id"), "7")
			h.field(10, 14, "float", "speed")
			h.shows(row("speed"), "1.5")
			h.press("Ctrl+S")
			h.saved()
			if found, _ := filepath.Glob(filepath.Join(dir, "UNKNOWN_3039.1.def")); len(found) != 1 {
				t.Error("it is not saved")
			}
			return h
		}},
		{"change a value and copy the bytes", 5, func(t *testing.T) *hands {
			_, srv, _ := begin(t, flowFiles(), definitions)
			h := opens(t, srv.URL+definitions+"/C_JOIN.1", openSelector)
			h.act("double-click password")
			h.page().DoubleClick("row", "password …")
			h.is("a field", `document.activeElement.matches(".value-edit")`)
			h.types("258\n")
			h.shows("#bytes-head", "2 bytes changed")
			h.press("b")
			h.press("c")
			h.page().Visible("menuitem", "Hex…")
			h.press("Enter")
			h.shows(".toasts", "Copied")
			return h
		}},
		{"build a message with two elements in its list", 3, func(t *testing.T) *hands {
			_, srv, _ := begin(t, flowFiles(), definitions)
			h := opens(t, srv.URL+definitions+"/C_LIST.1", openSelector)
			h.click("button", "Build a message from scratch")
			h.is("its fields", `document.querySelectorAll("#tree-rows tr").length > 2`)
			add := func() {
				h.act("+ add an element")
				h.do(`document.querySelector('#tree-rows tr[data-path="members"]').dispatchEvent(new PointerEvent("pointerover", {bubbles: true}))`)
				h.is("a button", `document.querySelector(".row-tools > button") !== null`)
				h.do(`[...document.querySelectorAll(".row-tools > button")].at(-1).click()`)
			}
			add()
			h.is("one", `document.querySelector('#tree-rows tr[data-path="members[0]"], #tree-rows tr[data-path^="members[0]"]') !== null`)
			add()
			h.is("two", `document.querySelector('#tree-rows tr[data-path^="members[1]"]') !== null`)
			return h
		}},
		{"mend a mistake in a definition", 3, func(t *testing.T) *hands {
			files := flowFiles()
			files["C_JOIN.1.def"] = strings.Replace(files["C_JOIN.1.def"], "uint16", "uint61", 1)
			_, srv, _ := begin(t, files, definitions)
			h := opens(t, srv.URL+definitions+"/C_JOIN.1", openSelector)
			h.page().Visible("button", "1 mistake…")
			h.press("F8")
			h.is("its line", `document.querySelector(".cm-activeLine")?.textContent.includes("uint61")`)
			h.press("Ctrl+.")
			h.shows("#definition-notes", "No mistakes")
			h.press("Ctrl+S")
			h.saved()
			return h
		}},
		{"open a capture, and list the messages with a value", 3, func(t *testing.T) *hands {
			s := captureServer(t, "tera", servertest.ChatFiles)
			file := filepath.Join(t.TempDir(), "talk.bin")
			servertest.WriteFile(t, file, string(servertest.Chat(t, 50)))
			h := opens(t, serve(t, s).URL+definitions, openSelector)
			h.drop(file)
			browsertest.Arrive(t, h.ctx, "html:has(.frames-scroll)")
			f := captureFlow{h.flow, s}
			f.counts("50 frames")
			h.press("/")
			h.types(".text contains \"7\"\n")
			f.is("the messages", `/50 frames · [0-9]+ shown/.test(document.querySelector(".frames-line .counts").textContent)`)
			return h
		}},
		{"find a value in all captures", 3, func(t *testing.T) *hands {
			s := captureServer(t, "tera", servertest.ChatFiles)
			servertest.Keep(t, s, "talk", servertest.Chat(t, 50))
			servertest.Keep(t, s, "lossy", servertest.Lossy(t))
			h := opens(t, serve(t, s).URL+"/p/one/captures", ".place-list")
			h.click("button", "Filter all captures…")
			h.page().Focused("textbox", "Filter of all captures")
			h.types("dir == s2c\n")
			h.click("link", "10")
			browsertest.Arrive(t, h.ctx, "#frames .frame")
			captureFlow{h.flow, s}.counts("50 frames · 10 shown")
			return h
		}},
		{"compare two captures", 3, func(t *testing.T) *hands {
			s := captureServer(t, "tera", servertest.ChatFiles)
			servertest.Keep(t, s, "talk", servertest.Chat(t, 50))
			servertest.Keep(t, s, "lossy", servertest.Lossy(t))
			h := opens(t, serve(t, s).URL+"/p/one/captures", ".place-list")
			h.click("button", "More about talk")
			h.click("menuitem", "Compare with …")
			h.act("choose lossy")
			h.is("the others", `document.querySelector("dialog select")?.options.length > 1`)
			h.do(`{ const choice = document.querySelector("dialog select"); choice.selectedIndex = 1; choice.dispatchEvent(new Event("change", {bubbles: true})) }`)
			h.shows("dialog", "B lossy: 21 frames of 2 types")
			return h
		}},
		{"hold a message of running traffic, change it, send it", 5, func(t *testing.T) *hands {
			f, g := beginLive(t)
			h := &hands{flow: f.flow}
			g.say(t, words(3, "word ")...)
			f.counts("6 frames")
			h.act("click a message")
			f.choose(1, false)
			h.press("i")
			h.is("it holds", `document.querySelector("#live-operate").textContent.includes("Holding")`)
			g.say(t, "hold me")
			h.is("it waits", `document.querySelectorAll("#held .held-row").length === 1`)
			h.press("e")
			h.page().Focused("textbox", "text")
			h.types("changed\n")
			h.shows(".held-changes", "changed")
			h.click("button", "Send changed…")
			h.is("it went", `[...document.querySelectorAll(".frame.modified")].some((row) => row.textContent.includes('"changed"') && row.textContent.includes("was frame"))`)
			return h
		}},
		{"see who changed a definition, and take back the last change", 4, func(t *testing.T) *hands {
			_, srv, _ := begin(t, flowFiles(), definitions)
			h := opens(t, srv.URL+definitions+"/C_JOIN.1", openSelector)
			h.caret(2)
			h.flow.types("_two")
			h.shows("#layout-rows", "password_two")
			h.saves()
			h.click("button", "More about this definition")
			h.click("button", "History…")
			h.page().Visible("dialog", "History…")
			h.is("the revisions", `document.activeElement.matches(".history-row")`)
			h.press("ArrowDown")
			h.is("the one before", `document.querySelectorAll(".history-row")[1]?.ariaSelected === "true"`)
			h.click("button", "Restore this text")
			h.is("as it was", `document.querySelector(".cm-content")?.innerText.includes("_two") === false`)
			return h
		}},
	} {
		t.Run(task.name, func(t *testing.T) {
			h := task.do(t)
			t.Logf("%d actions:\n\t%s", len(h.did), strings.Join(h.did, "\n\t"))
			if sum += len(h.did); len(h.did) > task.most {
				t.Errorf("%d actions, at most %d", len(h.did), task.most)
			}
		})
	}
	t.Log(fmt.Sprint(sum, " actions together"))
}
