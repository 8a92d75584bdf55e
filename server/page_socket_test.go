package server

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"wirebench/server/page"
	"wirebench/server/servertest"
	"wirebench/server/socket"
	"wirebench/server/view"
	"wirebench/server/wsconn"
)

// channelConn is a connection of a page with one channel.
type channelConn struct{ *wsconn.Conn }

// dialChannel opens a channel of a page. with is JSON.
func dialChannel(t testing.TB, ctx context.Context, address string, header http.Header, kind, with string) *channelConn {
	t.Helper()
	conn, err := wsconn.Dial(ctx, strings.Replace(address, "http", "ws", 1)+"/ws/one/page", header, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Drop)
	if err := conn.Write(ctx, fmt.Appendf(nil, `{"id":1,"open":%q,"with":%s}`, kind, with)); err != nil {
		t.Fatal(err)
	}
	return &channelConn{conn}
}

// Write sends a message in the channel.
func (c *channelConn) Write(ctx context.Context, text []byte) error {
	return c.Conn.Write(ctx, fmt.Appendf(nil, `{"id":1,"message":%s}`, text))
}

// Read waits for the next message of the channel. If the channel is closed Read returns an error.
func (c *channelConn) Read(ctx context.Context) ([]byte, error) {
	text, err := c.Conn.Read(ctx)
	if err != nil {
		return nil, err
	}
	var m socket.Down
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	if m.Closed != nil {
		return nil, errors.New(*m.Closed)
	}
	return m.Message, nil
}

// openPage is the client of a test.
type openPage struct {
	t    *testing.T
	conn *channelConn
	n    int
	html pageParts
	last page.Answer
	wire int // bytes received
	data shownData
}

// pageParts are parts of a page by id, assembled from the changes it received.
type pageParts map[string]string

func (x pageParts) take(a *page.Answer) {
	maps.Copy(x, a.HTML)
	for id, patch := range a.Patches {
		units := utf16.Encode([]rune(x[id]))
		x[id] = string(utf16.Decode(units[:patch.At])) + patch.Insert + string(utf16.Decode(units[patch.At+patch.Remove:]))
	}
}

// shownData is the message shown by the page, assembled from the changes it received.
type shownData struct {
	Bytes  []byte
	Rows   []int
	Bits   []uint32
	Texts  []string
	Parts  []view.Part
	Layout []view.LayoutRow
}

func (d *shownData) take(c *page.Data) {
	if b := c.Bytes; b != nil && b.Remove < 0 {
		d.Bytes = b.New
	} else if b != nil {
		d.Bytes = slices.Concat(d.Bytes[:b.At], b.New, d.Bytes[b.At+b.Remove:])
	}
	d.Rows, d.Bits, d.Texts, d.Parts = patched(d.Rows, c.Rows), patched(d.Bits, c.Bits), patched(d.Texts, c.Texts), patched(d.Parts, c.Parts)
}

// patched applies the patches of a list, as web/src/message/patch.ts does.
func patched[T any](list []T, patches []view.ListPatch[T]) []T {
	for _, p := range slices.Backward(patches) {
		if p.Remove < 0 {
			return p.New
		}
		list = slices.Concat(list[:p.At], p.New, list[p.At+p.Remove:])
	}
	return list
}

func dialPage(t *testing.T, srv *httptest.Server) *openPage {
	t.Helper()
	return &openPage{t: t, conn: dialChannel(t, t.Context(), srv.URL, nil, "page", "null"), html: pageParts{}}
}

// send sends a message without its number and does not wait.
func (p *openPage) send(fields string) {
	p.t.Helper()
	p.n++
	if err := p.conn.Write(p.t.Context(), fmt.Appendf(nil, `{"n":%d,%s}`, p.n, fields)); err != nil {
		p.t.Fatal(err)
	}
}

// receive waits for an answer that takes all sent messages into account.
func (p *openPage) receive() *openPage {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	for {
		text, err := p.conn.Read(ctx)
		if err != nil {
			p.t.Fatal(err)
		}
		p.last = page.Answer{}
		if err := json.Unmarshal(text, &p.last); err != nil {
			p.t.Fatal(err)
		}
		p.html.take(&p.last)
		p.wire = len(text)
		if p.last.Data != nil {
			p.data.take(p.last.Data)
		}
		if p.last.Layout != nil {
			p.data.Layout = patched(p.data.Layout, p.last.Layout.Rows)
		}
		if p.last.Set == nil {
			p.last.Set = &page.Controls{}
		}
		if p.last.N >= p.n {
			return p
		}
	}
}

func (p *openPage) do(fields string) *openPage {
	p.t.Helper()
	p.send(fields)
	return p.receive()
}

// until receives answers until a part of the page contains a text: changes on disk are sent when they are detected.
func (p *openPage) until(id, want string) {
	p.t.Helper()
	for !strings.Contains(p.html[id], want) {
		p.receive()
	}
}

// has checks the parts of the page.
func (p *openPage) has(what string, parts map[string]string) {
	p.t.Helper()
	for id, want := range parts {
		if not, lacks := strings.CutPrefix(want, "!"); lacks && strings.Contains(p.html[id], not) || !lacks && !strings.Contains(p.html[id], want) {
			p.t.Errorf("%s: %s is\n%s\nwant %s", what, id, p.html[id], want)
		}
	}
}

func testPage(t *testing.T, files map[string]string) (p *openPage, s *Server, dir string) {
	t.Helper()
	s, dir = testServerOf(t, files)
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return dialPage(t, srv), s, dir
}

func TestPageSocket(t *testing.T) {
	p, _, dir := testPage(t, map[string]string{"C_JOIN.1.def": servertest.JoinText, "protocol.1.map": "C_JOIN 1\n"})
	p.do(`"set":{"message":"C_JOIN.1","input":"12000100080039304c0061006e006e000000"}`)
	p.has("opened", map[string]string{"definition-head": "C_JOIN.1.def", "fields-head": `class="tag ok"`, "layout-head": "8 bytes"})
	if len(p.data.Bytes) != 18 || len(p.data.Bits) != 5 || p.last.Set.Definition == nil || *p.last.Set.Definition != servertest.JoinText {
		t.Fatalf("%+v %+v", p.data, p.last.Set)
	}

	// Nothing has changed: nothing is sent.
	if p.do(`"set":{}`); len(p.last.HTML)+len(p.last.Patches) > 0 || p.last.Layout != nil || p.last.Mistakes != nil || p.last.Data != nil {
		t.Errorf("drawn for nothing: %v", p.last.HTML)
	}

	// A line with a mistake is left out, with a notice; its repair is offered.
	p.do(`"set":{"definition":"string channel_name\nuint16 password\nin32 x\n"}`)
	p.has("broken", map[string]string{"layout-head": "without line 3", "fields-head": "without line 3", "definition-notes": "did you mean", "definition-head": "not saved"})
	if m := *p.last.Mistakes; len(m) != 1 || m[0].Fix == nil || m[0].Fix.Text != "int32" || p.last.Set.Definition != nil {
		t.Errorf("%+v", m)
	}
	p.do(`"set":{"definition":"string channel_name\nuint16 password\nbyte x\n"}`)
	p.has("whole again", map[string]string{"layout-head": "!without", "fields-head": "!without"})

	// The formatted text comes back, and is an ordinary edit.
	p.do(`"set":{"definition":"string channel_name\nuint16     password\nbyte x\n"},"action":"format"`)
	if d := p.last.Set.Definition; d == nil || strings.Contains(*d, "     ") || p.last.Set.Reset {
		t.Errorf("formatted: %+v", p.last.Set)
	}

	// Saved text is on disk.
	p.do(`"action":"save"`)
	p.has("saved", map[string]string{"notices": "Saved C_JOIN.1.def", "definition-head": "!not saved"})
	if text, _ := os.ReadFile(filepath.Join(dir, "C_JOIN.1.def")); strings.Join(strings.Fields(string(text)), " ") != "string channel_name uint16 password byte x" {
		t.Errorf("on disk: %q", text)
	}

	// The next version, and the older one whose layout is frozen.
	p.do(`"action":"version"`)
	p.has("next version", map[string]string{"definition-head": "C_JOIN.2.def"})
	p.do(`"set":{"definition":"","base":""},"action":"open:C_JOIN.1"`)
	p.do(`"set":{"definition":"string channel_name\n"}`)
	p.has("older", map[string]string{"definition-head": "older version", "definition-notes": "changes the layout of an older version"})
	p.do(`"action":"save"`)
	p.has("older, saved", map[string]string{"notices": "Not saved"})
	p.do(`"set":{"definition":"string place\nuint16 word\nbyte x\n"}`)
	p.has("older, renamed", map[string]string{"definition-notes": "layout of this older version is unchanged"})
	p.do(`"action":"save"`)
	p.has("older, renamed and saved", map[string]string{"notices": "Saved"})
}

// The answer to a keystroke contains only the changes, whatever the size of definition and message.
func TestPageKeystroke(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "int32 field_%d # what it is\n", i)
	}
	text := b.String()
	p, _, _ := testPage(t, map[string]string{"C_BIG.1.def": text, "protocol.1.map": "C_BIG 1\n"})
	p.do(`"set":{"message":"C_BIG.1","input":"d4070100` + strings.Repeat("00000000", 500) + `"}`)
	opened := p.wire
	for i, c := range []struct {
		what, old, new string
		most           int // bytes
	}{
		{"the first one", "field_9 # what", "field_9 # whats", 5200}, // the head with its menu: entries become enabled
		{"a comment", "field_250 # what", "field_250 # whats", 250},
		{"a name", "field_250 ", "field_2500 ", 500},
		{"a new line", "int32 field_250", "\nint32 field_250", 500},
		{"a mistake", "int32 field_2500", "int3 field_2500", 3000},
		{"no mistake any more", "int3 field_2500", "int32 field_2500", 2000},
		{"another comment", "field_250 # what", "field_250 # what?", 250},
	} {
		text = strings.Replace(text, c.old, c.new, 1)
		definition, _ := json.Marshal(text)
		p.do(`"set":{"definition":` + string(definition) + `}`)
		if p.wire > c.most {
			t.Errorf("%d. %s is answered with %d bytes, at most %d were wanted", i+1, c.what, p.wire, c.most)
		}
	}
	t.Logf("the page was opened with %d bytes", opened)
	line := 0
	for _, x := range p.data.Layout {
		if !x.Unlined {
			line += x.Skip + 1
		}
	}
	if last := p.data.Layout[len(p.data.Layout)-1]; line != 501 || last.Path != "field_499" {
		t.Errorf("the last field is of line %d: %+v", line, last)
	}
	line = 0
	for _, x := range p.data.Parts {
		if !x.Unlined {
			line += x.Skip + 1
		}
	}
	if len(p.data.Bits) != 502 || line != 501 || p.data.Parts[252].Path != "field_2500" {
		t.Errorf("%d runs, the last of line %d: %+v", len(p.data.Bits), line, p.data.Parts[252])
	}
}

// So does the answer to a changed byte of a long message.
func TestPageByteOfALongMessage(t *testing.T) {
	p, _, _ := testPage(t, map[string]string{"C_LIST.1.def": "array ids\n- uint32 id\n", "protocol.1.map": "C_LIST 1\n"})
	const n = 8000
	data := []byte{(8 + 8*n) & 255, (8 + 8*n) >> 8, 1, 0, n & 255, n >> 8, 8, 0}
	for i := range n {
		next := 8 * (i + 2) % (8 * (n + 1)) // of the last one 0
		data = append(data, byte(8*(i+1)), byte((i+1)>>5), byte(next), byte(next>>8), byte(i), 0, 0, 0)
	}
	input := hex.EncodeToString(data)
	p.do(`"set":{"message":"C_LIST.1","input":"` + input + `"}`)
	opened := p.wire
	p.do(`"set":{"edits":{"0":"` + strings.Replace(input, "00000000", "01000000", 1) + `"}}`)
	if p.do(`"set":{"edits":{"0":"` + strings.Replace(input, "00000000", "02000000", 1) + `"}}`); p.wire > 600 || opened < 100*p.wire {
		t.Errorf("it is answered with %d bytes, the message with %d", p.wire, opened)
	}
}

// Texts are changed where they differ. A change of another text than that of the server is refused, with the action of the message.
func TestPageTextEdits(t *testing.T) {
	p, _, dir := testPage(t, map[string]string{"C_JOIN.1.def": servertest.JoinText, "protocol.1.map": "C_JOIN 1\n"})
	edit := func(at, remove int, insert, of string) string {
		sum := uint32(2166136261)
		for _, unit := range utf16.Encode([]rune(of)) {
			sum = (sum ^ uint32(unit)) * 16777619
		}
		return fmt.Sprintf(`"edit":[{"control":"definition","at":%d,"remove":%d,"insert":%q,"sum":%d}]`, at, remove, insert, sum)
	}
	p.do(`"set":{"message":"C_JOIN.1","input":"12000100080039304c0061006e006e000000"}`)
	p.do(edit(37, 8, "word", "string channel_name # where\nuint16 pword\n"))
	if !p.last.Resend {
		t.Fatalf("a change of another text was taken: %+v", p.last)
	}
	joined, _ := json.Marshal(servertest.JoinText)
	p.do(`"set":{"definition":` + string(joined) + `,"input":"12000100080039304c0061006e006e000000","value":"","edits":{}}`)
	p.do(edit(35, 8, "word", "string channel_name # where\nuint16 word\n"))
	if p.last.Resend || !slices.ContainsFunc(p.data.Layout, func(r view.LayoutRow) bool { return r.Path == "word" }) {
		t.Fatalf("%+v", p.data.Layout)
	}
	for _, refused := range []string{
		edit(0, 6, "bytes", "nothing like it") + `,"action":"save"`,
		`"action":"save"`, // sent before the page knew that its text is needed
		`"set":{"definition":"bytes b\n"},"action":"save"`, // the other texts are needed, too
	} {
		if p.do(refused); !p.last.Resend {
			t.Errorf("taken: %s", refused)
		}
	}
	servertest.Stands(t, dir, "C_JOIN.1.def", servertest.JoinText)
	const all = `"set":{"definition":"bytes b\n","input":"","value":"","edits":{"0":"0600010002"}}`
	p.do(all + `,"action":"save"`)
	servertest.Stands(t, dir, "C_JOIN.1.def", "bytes b\n")
	for _, refused := range []string{
		edit(0, 0, "x", "no"),
		`"edit":[{"control":"edits","number":0,"at":0,"insert":"x","sum":0}]`,
		`"edit":[{"control":"edits","number":7,"at":0,"sum":2166136261}]`,
		`"edit":[{"control":"base","at":0,"sum":2166136261}]`,
		`"edit":[` + strings.Repeat(`{"control":"value","at":0,"sum":2166136261},`, 16) + `{"control":"value","at":0,"sum":2166136261}]`,
	} {
		if p.do(refused); !p.last.Resend {
			t.Errorf("taken: %s", refused)
		}
		if p.do(all); p.last.Resend {
			t.Fatalf("whole texts were refused after %s", refused)
		}
	}
}

// Values and bytes change each other; impossible changes are reported, and change nothing.
func TestPageValues(t *testing.T) {
	p, _, _ := testPage(t, map[string]string{"C_JOIN.1.def": servertest.JoinText, "C_LIST.1.def": "array members\n- uint32 id\n- string name\n", "protocol.1.map": "C_JOIN 1\nC_LIST 2\n"})
	p.do(`"set":{"message":"C_JOIN.1","input":"12000100080039304c0061006e006e000000"}`)
	hex := func() string { return fmt.Sprintf("%x", p.data.Bytes) }
	set := func(path, role, typed string, exactly bool) string {
		typedJSON, _ := json.Marshal(typed)
		p.do(fmt.Sprintf(`"action":"set","path":%q,"role":%q,"typed":%s,"exactly":%v`, path, role, typedJSON, exactly))
		return p.last.Failed
	}
	for _, c := range []struct {
		path, role, typed string
		exactly           bool
		want, failed      string
	}{
		{"password", "value", "0x0102", false, "12000100080002014c0061006e006e000000", ""},
		{"password", "value", "70000", false, "12000100080002014c0061006e006e000000", "does not fit"},
		{"channel_name", "value", "Zo", false, "0e000100080002015a006f000000", ""},
		{"channel_name", "value", "Zoë", true, "0e000100080002015a006f00eb000000", ""}, // the length becomes inconsistent
		{"length", "length", "16", false, "10000100080002015a006f00eb000000", ""},
		{"channel_name", "offset", "99999", false, "10000100080002015a006f00eb000000", "does not fit"},
		{"nothing", "value", "1", false, "10000100080002015a006f00eb000000", "no value"},
	} {
		if failed := set(c.path, c.role, c.typed, c.exactly); c.failed == "" && failed != "" || !strings.Contains(failed, c.failed) || hex() != c.want {
			t.Errorf("%s = %s: %q, %s, want %s", c.path, c.typed, failed, hex(), c.want)
		}
	}
	p.has("changed", map[string]string{"bytes-head": "changed"})
	if p.do(`"action":"original"`); hex() != "12000100080039304c0061006e006e000000" {
		t.Errorf("original: %s", hex())
	}

	p.do(`"action":"open:C_LIST.1"`)
	p.do(`"set":{"input":"","edits":{}},"action":"build"`)
	if hex() != "0800020000000000" {
		t.Errorf("built: %s", hex())
	}
	p.do(`"action":"insert","path":"members"`)
	p.do(`"action":"insert","path":"members"`)
	set("members[1].id", "value", "7", false)
	p.do(`"action":"copy","path":"members[1]"`)
	p.do(`"action":"remove","path":"members[0]"`)
	const two = "2000" + "0200" + "0200" + "0800" + // length, code, count, offset
		"0800" + "1400" + "1200" + "07000000" + "0000" + // here, next, offset of the name, 7, an empty name
		"1400" + "0000" + "1e00" + "07000000" + "0000"
	if hex() != two {
		t.Errorf("elements: %s, want %s", hex(), two)
	}
}

// A file changed by others is followed without edits, and is a conflict with edits; no edit is lost.
func TestPageConflict(t *testing.T) {
	p, s, dir := testPage(t, map[string]string{"C_JOIN.1.def": servertest.JoinText})
	p.do(`"set":{"message":"C_JOIN.1"}`)
	write := func(text string) {
		t.Helper()
		servertest.WriteFile(t, filepath.Join(dir, "C_JOIN.1.def"), text)
		if err := s.Projects.Find("one").Reload(); err != nil {
			t.Fatal(err)
		}
	}
	write("byte theirs\n")
	for p.receive(); p.last.Set.Definition == nil || *p.last.Set.Definition != "byte theirs\n"; p.receive() {
	}
	p.do(`"set":{"definition":"byte mine\n"}`)
	write("byte theirs_again\n")
	p.until("definition-notes", "has changed on disk")
	p.has("changed meanwhile", map[string]string{"definition-notes": "has changed on disk", "definition-head": "disabled"})
	if p.last.Set.Definition != nil {
		t.Errorf("what was typed gave way: %q", *p.last.Set.Definition)
	}
	p.do(`"action":"save"`)
	p.has("not saved over it", map[string]string{"notices": "Not saved"})
	p.do(`"action":"mine"`)
	p.has("mine", map[string]string{"definition-notes": "!changed on disk"})
	p.do(`"action":"save"`)
	if text, _ := os.ReadFile(filepath.Join(dir, "C_JOIN.1.def")); string(text) != "byte theirs_again\nbyte mine\n" { // both: neither is a part of the other
		t.Errorf("on disk: %q", text)
	}
	p.do(`"set":{"definition":"byte edited\n"}`)
	if err := os.Remove(filepath.Join(dir, "C_JOIN.1.def")); err != nil {
		t.Fatal(err)
	}
	if err := s.Projects.Find("one").Reload(); err != nil {
		t.Fatal(err)
	}
	p.until("definition-notes", "no longer on disk")
	p.do(`"action":"save"`)
	if text, _ := os.ReadFile(filepath.Join(dir, "C_JOIN.1.def")); string(text) != "byte edited\n" {
		t.Errorf("on disk after it was deleted: %q", text)
	}
}

// Pages of other sites, and invalid messages, are refused; pages are notified when the server shuts down.
func TestPageSocketRefuses(t *testing.T) {
	t.Parallel() // it waits
	s, _ := testServerOf(t, map[string]string{"C_JOIN.1.def": servertest.JoinText})
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	url := strings.Replace(srv.URL, "http", "ws", 1) + "/ws/one/page"
	if _, err := wsconn.Dial(t.Context(), url, http.Header{"Origin": {"http://elsewhere.example"}}, 1<<20); err == nil {
		t.Error("a page of another site was let in")
	}
	if _, err := wsconn.Dial(t.Context(), strings.Replace(url, "/one/", "/two/", 1), nil, 1<<20); err == nil {
		t.Error("a workspace that is not there was opened")
	}
	ended := func(p *openPage, what string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		for {
			if _, err := p.conn.Read(ctx); err != nil {
				if ctx.Err() != nil {
					t.Errorf("%s: the connection stays open", what)
				}
				return
			}
		}
	}
	p := dialPage(t, srv)
	if err := p.conn.Conn.Write(t.Context(), []byte("no JSON")); err != nil {
		t.Fatal(err)
	}
	ended(p, "no JSON")
	p = dialPage(t, srv)
	p.send(`"set":[]`)
	ended(p, "a message of another channel")
	p = dialPage(t, srv)
	p.do(`"set":{"message":"C_JOIN.1"}`)
	done := make(chan struct{})
	go func() { s.Close(); close(done) }()
	ended(p, "the server is shutting down")
	<-done
}
