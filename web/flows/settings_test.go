package flows

import (
	"regexp"
	"strings"
	"testing"

	"wirebench/defs/corpora"
	"wirebench/server"
	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
	"wirebench/web/browsertest"
)

// versionsLibrary is the large library with the code maps of two versions; of the second all codes differ.
func versionsLibrary(t *testing.T) (files map[string]string, session []byte) {
	t.Helper()
	c := corpora.Own()
	files = realLibrary(t)
	files["protocol.387396.map"], files["protocol.100000.map"] = c.Text(t, "tera/toolbox/protocol.387396.map"), "C_CHECK_VERSION 19900\nS_LOGIN 57315\n"
	return files, c.Read(t, "captures/tera-session.pcapng")
}

// "Decode as": two pages show one recording by two code maps, each says which, and the project can have either.
func TestFlowDecodeAs(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	files, session := versionsLibrary(t)
	f := beginCapture(t, files, session, "")
	second := servertest.Keep(t, f.s, "second.pcapng", session)
	p := f.page()
	named := func(f captureFlow, n int, name string) {
		t.Helper()
		f.is(name, frameRowOf(n)+`?.querySelector(".fc-name").textContent === "`+name+`"`)
	}
	named(f, 8, "? 0xDFE3")
	p.Click("button", "Settings in force: no code map")
	p.Choose("Code map", "protocol.387396.map")
	p.Fill("textbox", "Game version", "98.02")
	p.Click("button", "Apply")
	p.Visible("button", "Settings in force: protocol.387396.map · patch 98.02 · for this capture")
	named(f, 8, "S_LOADING_SCREEN_CONTROL_INFO")
	f.choose(8, false)
	f.shows("#definition-head", "S_LOADING_SCREEN_CONTROL_INFO")

	other := captureFlow{flow{t, browsertest.OpenTab(t, f.ctx, browsertest.Value[string](t, f.ctx, "location.origin")+"/p/one/captures/"+second.ID, openSelector)}, f.s}
	o := other.page()
	other.tool("Decode as…")
	o.Choose("Code map", "protocol.100000.map")
	o.Click("button", "Apply")
	named(other, 8, "S_LOGIN")
	named(f, 8, "S_LOADING_SCREEN_CONTROL_INFO")

	other.tool("Decode as…")
	o.Choose("Settings of", "the project One protocol, for all its captures and definitions")
	o.Choose("Code map", "protocol.387396.map")
	o.Click("button", "Apply")
	named(other, 8, "S_LOGIN")
	other.tool("Decode as…")
	o.Click("button", "Reset Code map")
	o.Click("button", "Apply")
	named(other, 8, "S_LOADING_SCREEN_CONTROL_INFO")
	o.Visible("button", "Settings in force: protocol.387396.map")
}

// How long captures stay is a setting of the project; resetting what the dialog shows leaves what others have chosen elsewhere.
func TestFlowProjectSettings(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 20), "")
	if code := servertest.Request(t, f.s, "PATCH", "/api/v1/projects/one/settings", []byte(`{"list":{"filters":[{"name":"ours","text":"len > 3"}]},"save_typed":true}`), nil); code != 200 {
		t.Fatal(code)
	}
	servertest.Keep(t, f.s, "other.pcapng", servertest.Chat(t, 30))
	type chosen struct {
		Keep *struct {
			Age   string
			Bytes int64
		}
		Ports     []int
		List      *struct{ Filters []struct{ Name string } }
		SaveTyped bool `json:"save_typed"`
	}
	stored := func() chosen {
		t.Helper()
		var out struct{ Settings chosen }
		if code := servertest.Request(t, f.s, "GET", "/api/v1/projects/one/settings/in-force", nil, &out); code != 200 {
			t.Fatal(code)
		}
		return out.Settings
	}
	p := f.page()
	project := func() {
		t.Helper()
		f.tool("Decode as…")
		p.Choose("Settings of", "the project One protocol, for all its captures and definitions")
		p.Visible("textbox", "Captures go after")
	}
	project()
	p.Fill("textbox", "Captures take at most", "1 kB")
	p.Click("button", "Apply")
	p.Says("1 capture will be removed for good within a minute, other.pcapng first. Apply again to do so.")
	if got := stored(); got.Keep != nil {
		t.Errorf("it is applied without being asked twice: %+v", got)
	}
	p.Fill("textbox", "Captures go after", "14d")
	p.Fill("textbox", "Captures take at most", "1.5 GB")
	p.Fill("textbox", "Ports of the server", "7801")
	f.shots("project-settings")
	p.Click("button", "Apply")
	f.is("it is applied", `document.querySelector("dialog[open]") === null`)
	if got := stored(); got.Keep == nil || got.Keep.Age != "14d" || got.Keep.Bytes != 1_500_000_000 || len(got.Ports) != 1 {
		t.Errorf("%+v", got)
	}
	project()
	f.is("it is shown", `document.querySelector("[name=keep_age]").value === "14d" && document.querySelector("[name=keep_bytes]").value === "1500 MB"`)
	p.Click("button", "Reset all")
	f.is("it is reset", `document.querySelector("dialog[open]") === null`)
	if got := stored(); got.Keep != nil && (got.Keep.Age != "" || got.Keep.Bytes != 0) || len(got.Ports) > 0 || got.List == nil || len(got.List.Filters) != 1 || !got.SaveTyped {
		t.Errorf("after the reset: %+v", got)
	}
}

// The build that the client names is proposed with its evidence: accepted by one click, or dismissed for good.
func TestFlowProposals(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	files, session := versionsLibrary(t)
	files["revisions.json"] = `{"387396": "eu-100.02"}`
	f := beginCapture(t, files, session, "")
	p := f.page()
	p.Visible("region", "Proposals")
	p.Click("button", "Use protocol.387396.map, patch 100.02")
	p.Visible("button", "Settings in force: protocol.387396.map · patch 100.02 · for this capture")
	f.is("names", frameRowOf(8)+`?.querySelector(".fc-name").textContent === "S_LOADING_SCREEN_CONTROL_INFO"`)
	p.Gone("region", "Proposals")

	f.tool("Decode as…")
	p.Choose("Code map", "protocol.100000.map")
	p.Click("button", "Apply")
	p.Click("button", "Dismiss: use protocol.387396.map")
	p.Gone("region", "Proposals")
	f.reload()
	f.is("rows", frameRowOf(8)+" !== null")
	f.is("nothing is proposed", `document.querySelector(".proposals")?.checkVisibility() === false`) // it is there once the answer has come
}

// A code is given by hand: to a definition of the list, from a pasted message of unknown code, and from the editor; a first map is made.
func TestFlowGiveCode(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	f, _, dir := begin(t, realLibrary(t), "/p/one/definitions")
	p := f.page()
	p.Visible("button", "Settings in force: no code map")
	f.paste("0400 3930")
	p.Click("button", "Give its code to…")
	p.Fill("combobox", "Message", "C_GET_USER_LIST")
	p.Click("button", "Give the code")
	p.Visible("button", "Settings in force: protocol.map")
	f.shows("#fields-head", "C_GET_USER_LIST")
	if text := servertest.OnDisk(t, dir, "protocol.map"); text != "C_GET_USER_LIST 12345\n" {
		t.Errorf("the map is %q", text)
	}
	p.RightClick("link", "C_ACCEPT_CONTRACT…")
	p.Click("menuitem", "Give it a code…")
	p.Fill("textbox", "Code, decimal or 0x…", "0x3039")
	p.Click("button", "Cancel")
	p.Gone("dialog", "Give a message a code")
	p.RightClick("link", "C_ACCEPT_CONTRACT…")
	p.Click("menuitem", "Give it a code…")
	p.Fill("textbox", "Code, decimal or 0x…", "0x3040")
	p.Press("Enter")
	p.Gone("dialog", "Give a message a code")
	if text := servertest.OnDisk(t, dir, "protocol.map"); text != "C_ACCEPT_CONTRACT 12352\nC_GET_USER_LIST 12345\n" && text != "C_GET_USER_LIST 12345\nC_ACCEPT_CONTRACT 12352\n" {
		t.Errorf("the map is %q", text)
	}
}

// A pasted table of codes is checked line by line, and is one change of the map, which Undo takes back.
func TestFlowGiveCodes(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	files := realLibrary(t)
	for name := range files {
		if strings.HasSuffix(name, ".map") {
			delete(files, name)
		}
	}
	const before = "# of 1\r\nC_GET_USER_LIST = 7\r\nS_LOGIN = 8 # kept\r\n"
	files["protocol.1.map"] = before
	s, dir := filesServer(t, files)
	srv := serve(t, s)
	f := flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/definitions", openSelector, regexp.MustCompile(`status of 409.*/codes`))}
	p := f.page()
	p.Visible("button", "Settings in force: protocol.1.map")
	p.Press("Ctrl+K")
	p.Type("give a message a code")
	p.Press("Enter")
	p.Click("button", "A table of codes…")
	p.Focused("textbox", "A name and a code per line, decimal or 0x…")
	p.Type("S_LOGIN 0x7\nC_GET_USER_LIST, 8\nC_NEW two\n")
	f.shows(".table-mistakes", "line 3: two is not a code")
	p.Press("Ctrl+Enter")
	p.In("Give codes from a table").Says("Correct the lines")
	f.is("nothing is stored", `document.querySelector("dialog.operate") !== null`)
	p.Fill("textbox", "A name and a code per line, decimal or 0x…", "S_LOGIN 0x7\nC_GET_USER_LIST, 8\n0x10 C_NEW\n")
	p.In("Give codes from a table").Says("3 codes")
	p.Press("Ctrl+Enter")
	p.Says("3 codes in protocol.1.map")
	p.Gone("dialog", "Give codes from a table")
	servertest.Stands(t, dir, "protocol.1.map", "# of 1\r\nC_GET_USER_LIST = 8\r\nC_NEW = 16\r\nS_LOGIN = 7 # kept\r\n")
	p.Click("button", "Undo")
	p.Says("Undone: 3 codes in protocol.1.map")
	servertest.Stands(t, dir, "protocol.1.map", before)

	// A code of a message that is not in the table is taken from it only on purpose.
	p.Press("Ctrl+K")
	p.Type("give codes from a table")
	p.Press("Enter")
	p.Fill("textbox", "A name and a code per line, decimal or 0x…", "C_NEW 8\nC_OTHER 0x9")
	p.In("Give codes from a table").Click("button", "Give the codes")
	p.In("Give codes from a table").Says("S_LOGIN has the code 8 in protocol.1.map")
	p.In("Give codes from a table").Click("button", "Take them from other messages")
	p.Says("2 codes in protocol.1.map")
	servertest.Stands(t, dir, "protocol.1.map", "# of 1\r\nC_GET_USER_LIST = 7\r\nC_NEW = 8\r\nC_OTHER = 9\r\n")
}

// twoProtocols opens a page of a server with a TERA project, which has two code maps, and a MUTA project.
func twoProtocols(t *testing.T, address string) (flow, *server.Server) {
	t.Helper()
	var list []*workspace.Workspace
	for _, c := range []struct {
		name, title, dialect string
		files                map[string]string
	}{
		{"one", "My game", "tera", map[string]string{"C_SAY.1.def": "string text\n", "protocol.1.map": "C_SAY 4097\n", "protocol.2.map": "C_SAY 4098\n"}},
		{"two", "My other game", "muta", map[string]string{"game.def": servertest.PingText}},
	} {
		d, _ := workspacetest.Dir(t, c.files)
		list = append(list, workspacetest.Open(t, workspace.Config{Name: c.name, FirstTitle: c.title, Dialect: c.dialect, Files: d, Captures: workspacetest.Captures(t)}))
	}
	s := newServer(t, server.Config{Projects: servertest.Fixed(t, list...)})
	srv := serve(t, s)
	return flow{t, browsertest.OpenAllowing(t, srv.URL+address, openSelector, regexp.MustCompile(`Close received after close`))}, s
}

// A listener is started with settings of its own, and in the project of another protocol.
func TestFlowListenerDecodeAs(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	f, _ := twoProtocols(t, "/p/one/definitions")
	p := f.page()
	p.Click("link", "Live")
	browsertest.Arrive(t, f.ctx, "#live-start")
	p.Click("button", "Decode as…")
	p.Choose("Code map", "protocol.2.map")
	p.Fill("textbox", "Game version", "98.02")
	p.Click("button", "Use these settings")
	f.shows("#live-start", "Decoded as: protocol.2.map · patch 98.02")
	start := func() {
		t.Helper()
		p.Fill("textbox", "Listen on", "127.0.0.1:0")
		p.Fill("textbox", "and relay to the server at", "127.0.0.1:9")
		p.Click("button", "Start")
		browsertest.Arrive(t, f.ctx, "html.live #live-bar")
	}
	start()
	p.Visible("button", "Settings in force: protocol.2.map · patch 98.02 · for this capture")

	f.visit(strings.Split(browsertest.Value[string](t, f.ctx, "location.href"), "/p/")[0]+"/p/one/live", "#live-list") // above the form
	p.Click("button", "Decode as…")
	p.Choose("Protocol and project", "muta: My other game")
	p.Visible("textbox", "Groups of messages, by port and direction…")
	p.Fill("textbox", "Groups of messages, by port and direction…", "c2s=clmsg")
	p.Click("button", "Use these settings")
	f.shows("#live-start", "Decoded as: My other game · groups")
	start()
	f.arrives("it runs in the other project", `location.pathname.startsWith("/p/two/captures/")`)
	p.Visible("button", "Settings in force: …")
}

// A capture is read as another protocol in a project that has it, one click away: where its messages are, or where one wants it.
func TestFlowOtherProtocol(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	f, s := twoProtocols(t, "/p/two/definitions")
	var x store.Capture
	if code := servertest.Request(t, s, "POST", "/api/two/captures?name=chat.pcapng", servertest.Chat(t, 20), &x); code != 201 {
		t.Fatal(code)
	}
	origin := browsertest.Value[string](t, f.ctx, "location.origin")
	f.visit(origin+"/p/two/captures/"+x.ID, openSelector)
	p := f.page()
	captureFlow{f, s}.tool("Decode as…")
	p.In("Decode chat.pcapng as").Click("button", "Open it in My game")
	f.arrives("it is there", `location.pathname.startsWith("/p/one/captures/") && document.querySelector("html.live .frames") !== null`)
	captureFlow{f, s}.counts("20 frames")

	captureFlow{f, s}.tool("Decode as…")
	p.Choose("Protocol and project", "muta: My other game")
	p.Click("button", "Open it in My other game")
	f.arrives("it is back", `location.pathname.startsWith("/p/two/captures/")`)
}

// The groups of a MUTA session are given in the page alone: for its ports and directions, as proposed and by hand.
func TestFlowGroups(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	session, text := corpora.Own().Read(t, "captures/muta-session.pcapng"), corpora.Own().Text(t, "captures/muta-session.def")
	other := "group: admsg\n\npacket: admin_hello\n\t__group = admsg\n\tname = char {1, 20}\n\npacket: admin_bye\n\t__group = admsg\n\tn = uint32\n"
	s := captureServer(t, "muta", map[string]string{"game.def": text, "admin.def": other})
	x := servertest.Keep(t, s, "muta.pcapng", session)
	srv := serve(t, s)
	f := captureFlow{flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/captures/"+x.ID, openSelector, regexp.MustCompile(`status of 422`))}, s}
	p := f.page()
	f.tool("Decode as…")
	p.Fill("textbox", "Groups of messages, by port and direction…", "c2s=nogroup")
	p.Click("button", "Apply")
	p.Says("nogroup")
	p.Fill("textbox", "Groups of messages, by port and direction…", "c2s=clmsg, s2c=svmsg")
	p.Click("button", "Apply")
	p.Visible("button", "Settings in force: …")
	f.counts("500 frames")
	f.filter("kind == problem || status != ok")
	f.counts("500 frames · 0 shown")
}
