package flows

import (
	"fmt"
	"testing"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// One comments on a line, the other sees it at once, answers, and suggests another text, which the first accepts: it is in the file then, and
// what the messages of the captures say about it was shown before.
func TestFlowThreads(t *testing.T) {
	t.Parallel()
	s := captureServer(t, "tera", map[string]string{"C_HIT.1.def": "uint32 id\nuint32 kind\nstring text\nbyte more\n", "protocol.1.map": "C_HIT 4097\n"})
	servertest.Keep(t, s, "one.pcapng", servertest.Hits(t, 300, 1000))
	srv := serve(t, s)
	address := srv.URL + "/p/one/definitions/C_HIT.1"
	f := flow{t, browsertest.Open(t, address, openSelector)}
	g := flow{t, browsertest.Open(t, address, openSelector)}
	f.do(`localStorage.setItem("wirebench.name", "Ann")`)
	g.do(`localStorage.setItem("wirebench.name", "Bob")`)
	f.is("the editor", documentText+`.startsWith("uint32 id")`)
	g.is("the editor", documentText+`.startsWith("uint32 id")`)
	f.caret(4)
	f.press("Ctrl+Alt+M")
	f.page().Fill("textbox", "Comment on line 4", "Is this there at all, @Bob?")
	f.page().Press("Enter")
	g.is("the mark", `document.querySelector(".line-thread")?.closest(".cm-line").textContent.startsWith("byte more")`)
	f.look("threads-mark")
	g.page().Click("button", "1 comment on line 4")
	g.is("the comment", `document.querySelector(".thread .remark")?.textContent.includes("Is this there at all, @Bob?") && document.querySelector(".remark mark.me") !== null`)
	g.page().Fill("textbox", "Answer", "No.")
	g.page().Click("button", "Answer")
	g.is("the answer", `document.querySelectorAll(".thread .remark").length === 2`)
	g.look("threads-comment")
	g.dialog("comments")

	// A line above moves the mark with its line.
	f.caret(1)
	f.press("Enter")
	f.types("uint32 kind2")
	f.press("Ctrl+S")
	g.is("the moved mark", `document.querySelector(".line-thread")?.closest(".cm-line").textContent.startsWith("byte more") && document.querySelectorAll(".cm-line").length === 6`)
	f.caret(2)
	for range "uint32 kind2" {
		f.press("Backspace")
	}
	f.press("Backspace")
	f.saves()
	g.has("uint32 id\nuint32 kind\nstring text\nbyte more\n")

	// A suggestion: nobody else sees the text while it is written, also after a reload.
	g.command("Suggest a change of the definition")
	g.shows("#room-bar", "Your suggestion: only you see this text")
	g.caret(4)
	for range "byte more" {
		g.press("Backspace")
	}
	g.press("Backspace")
	g.has("uint32 id\nuint32 kind\nstring text\n")
	g.reload()
	g.shows("#room-bar", "Your suggestion: only you see this text")
	g.has("uint32 id\nuint32 kind\nstring text\n")
	f.has("uint32 id\nuint32 kind\nstring text\nbyte more\n")
	g.press("Ctrl+K")
	g.page().Fill("combobox", "Go to anything", "> suggest the edited")
	g.page().Press("Enter")
	g.page().Fill("textbox", "Why this text?", "all messages end with the text")
	g.page().Press("Enter")
	g.has("uint32 id\nuint32 kind\nstring text\nbyte more\n") // the stored one again
	f.is("two marks", `document.querySelectorAll(".line-thread").length === 2 || document.querySelector(".line-thread")?.textContent === "✎ 2"`)
	f.do(`document.querySelector(".line-thread").click()`)
	f.is("the suggestion", `[...document.querySelectorAll(".threads-dialog [role=option]")].length === 2`)
	f.do(`[...document.querySelectorAll(".threads-dialog [role=option]")].find(e => e.textContent.includes("all messages end")).click()`)
	f.shows(".threads-dialog .history-shown", "0 → 300 of 300 in captures")
	f.look("threads-suggestion")
	f.axe("a suggestion")
	f.page().Click("button", "Accept")
	g.has("uint32 id\nuint32 kind\nstring text\n")
	g.shows("#score", "300 of 300 in captures")
	f.press("Escape")
	f.has("uint32 id\nuint32 kind\nstring text\n")
	f.is("no mark", `document.querySelector(".line-thread") === null`)
}

// The bar counts what concerns a person, as it comes and goes: comments with their name, and suggestions of others. A click lists it.
func TestFlowThreadsForYou(t *testing.T) {
	t.Parallel()
	f, srv, _ := begin(t, map[string]string{"C_JOIN.1.def": togetherText}, "/p/one/definitions/C_JOIN.1")
	g := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector)}
	f.together()
	g.together()
	f.named("Ann")
	f.page().In("People in this text").Visible("button", "somebody")
	g.named("Bob")
	f.page().In("People in this text").Visible("button", "Bob")
	comment := func(line int, text string) {
		t.Helper()
		f.caret(line)
		f.press("Ctrl+Alt+M")
		f.page().Fill("textbox", fmt.Sprintf("Comment on line %d", line), text)
		f.page().Press("Enter")
	}
	comment(1, "of the account")
	g.is("the mark", `document.querySelector(".line-thread") !== null`)
	comment(2, "Is this there at all, @bob?")
	g.page().Visible("button", "1 open")
	f.command("Suggest a change of the definition")
	f.shows("#room-bar", "Your suggestion: only you see this text")
	f.page().Gone("button", "Save")
	f.caret(3)
	f.types("2")
	f.press("Ctrl+S") // as the button
	f.page().Fill("textbox", "Why this text?", "another name")
	f.page().Press("Enter")
	g.page().Visible("button", "2 open")
	f.is("no count for the one who has written all of it", `document.querySelector("#concerns").hidden`)
	g.look("threads-count")
	g.axe("a count of what is open")
	g.page().Click("button", "2 open")
	g.is("what concerns them", `document.querySelectorAll(".threads-dialog [role=option]").length === 2 && !document.querySelector(".threads-dialog .history-list").textContent.includes("of the account")`)
	g.look("threads-for-you")
	g.dialog("what is open for somebody")
	g.page().Click("button", "2 open")
	g.page().Click("option", "C_JOIN.1.def:2…")
	g.is("the mention", `document.querySelector(".remark mark.me")?.textContent === "@bob"`)
	g.page().Click("button", "Resolve")
	g.press("Escape")
	g.page().Visible("button", "1 open")
	g.page().Click("button", "1 open")
	g.page().Click("button", "Accept")
	g.press("Escape")
	g.page().Gone("button", "1 open")
}

// Suggestions of files that do not exist, as a program makes them: the list has them with their texts, their mistakes and what they would read; codes
// count for a definition before they are accepted. Keys accept one and decline another; the accepted file is open then.
func TestFlowThreadsNewFile(t *testing.T) {
	t.Parallel()
	s := captureServer(t, "tera", map[string]string{"C_OTHER.1.def": "uint32 id\n"})
	servertest.Keep(t, s, "one.pcapng", servertest.Hits(t, 300, 1000))
	suggest := func(body string) {
		t.Helper()
		if code := servertest.AskJSON(t, s, "POST", "/api/v1/projects/one/threads", body, nil); code != 201 {
			t.Fatal(code)
		}
	}
	suggest(`{"name":"A program","text":"a wrong one","file":"C_WRONG.1.def","suggest":{"text":"uint33 id\n"}}`)
	suggest(`{"name":"A program","text":"names","suggest":{"codes":[{"message":"C_HIT","code":4097}]}}`)
	suggest(`{"name":"A program","text":"all of them","file":"C_HIT.1.def","suggest":{"text":"uint32 id\nuint32 kind\nstring text\n"}}`)
	srv := serve(t, s)
	f := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_OTHER.1", openSelector)}
	f.page().Click("button", "3 open")
	f.is("the list", `document.querySelectorAll(".threads-dialog [role=option]").length === 3`)
	f.page().Click("option", "C_HIT.1.def, a new file…")
	f.shows(".threads-dialog .history-shown", "0 → 300 of 300 in captures, with code 4097")
	f.shows(".threads-dialog .compare-body", "string text")
	f.look("threads-new-file")
	f.axe("a suggestion of a new file")
	f.page().Click("option", "protocol.map, a new file…")
	f.shows(".threads-dialog .history-shown", "names 300 messages of the captures")
	f.shows(".threads-dialog .compare-body", "C_HIT")
	f.press("a")
	f.shows(".threads-dialog .thread-head", "accepted")
	f.page().Click("option", "C_WRONG.1.def, a new file…")
	f.shows(".threads-dialog .compare-body", "unknown type \"uint33\"")
	f.press("d")
	f.shows(".threads-dialog .thread-head", "declined")
	f.page().Click("option", "C_HIT.1.def, a new file…")
	f.shows(".threads-dialog .history-shown", "0 → 300 of 300 in captures")
	f.press("a")
	f.shows(".threads-dialog .thread-head", "C_HIT.1.def:1 id accepted")
	f.press("Escape")
	f.page().Gone("button", "1 open")

	// One is opened in the editor, as a definition that is not saved.
	suggest(`{"name":"A program","text":"another","file":"C_NEXT.1.def","suggest":{"text":"uint32 first\nuint32 next\n"}}`)
	f.page().Click("button", "1 open")
	f.shows(".threads-dialog .compare-body", "uint32 next")
	f.page().Click("button", "Open in the editor")
	f.has("uint32 first\nuint32 next\n")
	if ws := s.Projects.Find("one").Now(); ws.File("C_NEXT.1.def") != nil || ws.File("C_HIT.1.def") == nil || ws.File("C_WRONG.1.def") != nil || ws.Options.Codes["C_HIT"] != 4097 {
		t.Errorf("%v", ws.Library.All())
	}
}
