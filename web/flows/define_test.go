package flows

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"wirebench/defs/corpora"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// byteSpot is the middle of a byte of the grid.
func (f flow) byteSpot(n int) (x, y float64) {
	f.Helper()
	var at struct{ X, Y float64 }
	browsertest.Run(f.T, f.ctx, chromedp.Evaluate(fmt.Sprintf(`new Promise(done => { // when it no longer moves
		let was, calm = 0
		const look = () => {
			const b = document.querySelectorAll(".hex-rows .hx")[%d].getBoundingClientRect(), now = {X: b.x + b.width / 2, Y: b.y + b.height / 2}
			calm = was !== undefined && was.X === now.X && was.Y === now.Y ? calm + 1 : 0
			was = now
			if (calm > 5) done(now)
			else setTimeout(look, 20)
		}
		look()
	})`, n), &at, awaited))
	return at.X, at.Y
}

// dragBytes selects bytes [from, to) with the mouse.
func (f flow) dragBytes(from, to int) {
	f.Helper()
	x, y := f.byteSpot(from)
	lastX, lastY := f.byteSpot(to - 1)
	browsertest.Run(f.T, f.ctx,
		chromedp.MouseEvent("mousePressed", x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.MouseEvent("mouseMoved", lastX, lastY, chromedp.ButtonLeft),
		chromedp.MouseEvent("mouseReleased", lastX, lastY, chromedp.ButtonLeft, chromedp.ClickCount(1)),
	)
}

// rightByte opens the menu of a byte.
func (f flow) rightByte(n int) {
	f.Helper()
	x, y := f.byteSpot(n)
	browsertest.Run(f.T, f.ctx, chromedp.MouseClickXY(x, y, chromedp.ButtonRight))
}

// realLibrary returns a library of the size of a real one.
func realLibrary(t *testing.T) map[string]string {
	t.Helper()
	return corpora.Definitions(836)
}

const unknownHex = "1a00 3930 1400 07000000 0000c03f 0201 2c01 0000 4100 6100 0000"

// A message that nobody has defined: a new definition is begun from it, and its bytes become fields, by mouse, with the large library.
func TestFlowDefineUnknown(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	files := realLibrary(t)
	f, _, _ := begin(t, files, "/p/one/definitions")
	p := f.page()
	f.paste(unknownHex)
	p.Click("button", "New definition from these bytes")
	p.Focused("textbox", "Name of the new definition")
	p.Press("Ctrl+A")
	p.Type("S_UNSEEN.1")
	p.Press("Enter")
	p.Visible("heading", "S_UNSEEN.1.def")
	p.Focused("textbox", "Definition text")
	f.bytes(unknownHex)
	f.shows("#fields-head", "22 bytes left over")

	f.dragBytes(4, 6)
	f.rightByte(4)
	p.In("2 bytes at 0x04").Click("menuitem", "string…")
	p.Type("name")
	p.Press("Enter")
	f.says("a text", "# description of S_UNSEEN\n\nstring name\n")
	f.shows(row("name"), `"Aa"`)

	// By keyboard: select, choose a type, give it a name.
	f.pressByte(6)
	for range 3 {
		p.Press("Shift+ArrowRight")
	}
	p.Press("t")
	p.Visible("menuitem", "int32…")
	f.shows(`[role="menuitem"]:focus`, "int32")
	p.Type("uint32")
	p.Press("Enter")
	p.Focused("textbox", "Name of the uint32")
	p.Type("id")
	p.Press("Enter")
	f.says("a number before it", "# description of S_UNSEEN\n\nuint32 id\nstring name\n")
	f.shows(row("id"), "7")
	p.Focused("grid", "Bytes")

	f.dragBytes(10, 14)
	f.rightByte(11)
	f.is("values", `[...document.querySelectorAll('[role="menuitem"]')].some(e => e.innerText.includes("float") && e.innerText.includes("1.5"))`)
	p.Click("menuitem", "float…")
	p.Press("Enter")
	f.says("the default name", "# description of S_UNSEEN\n\nuint32 id\nfloat  unk1\nstring name\n")

	// The row of unexplained bytes has the same menu.
	p.Click("row", "unexplained…")
	p.Press("Shift+F10")
	p.Click("menuitem", "Define these bytes …")
	p.In("6 bytes at 0x0e").Visible("menuitem", "byte[6]…")
}

// Fields get another type, are split, joined, renamed and removed from the tree, the layout and the bytes; each is one step of undo.
func TestFlowReshapeFields(t *testing.T) {
	t.Parallel()
	const text = "# what it is\n\nuint32  id     # its number\nvec3    pos    # where\nuint32  flags\n"
	f, _, _ := begin(t, map[string]string{"C_JOIN.1.def": text, "protocol.1.map": codesText}, "/p/one/definitions/C_JOIN.1")
	p := f.page()
	tree := p.In("C_JOIN.1")
	f.paste("1800 0100 01000200 0000803f 0000003f 00000040 07000000")
	f.shows(row("id"), "131073")
	says := func(what, lines string) {
		t.Helper()
		f.says(what, "# what it is\n\n"+lines)
	}
	undo := func() {
		t.Helper()
		p.Click("textbox", "Definition text")
		p.Press("Ctrl+Z")
		f.says("undone in one step", strings.TrimSuffix(text, "\n")+"\n")
		f.is("the fields follow", `document.querySelector("#tree-rows").innerText.replaceAll(/\s+/g, " ").includes("131073 0x04 4") && document.querySelectorAll("#tree-rows tr").length === 8`)
	}

	tree.Click("row", "id uint32…")
	p.Press("F2")
	p.Focused("textbox", "New name of id")
	p.Type("number")
	p.Press("Enter")
	says("renamed", "uint32  number # its number\nvec3    pos    # where\nuint32  flags\n")
	undo()

	tree.RightClick("row", "id uint32…")
	p.Click("menuitem", "Type, name and parts of the field …")
	p.Click("menuitem", "Split into 2 fields")
	says("split", "uint16  id     # its number\nuint16  unk1\nvec3    pos    # where\nuint32  flags\n")
	f.shows(row("unk1"), "2")
	undo()

	p.In("Layout").Click("button", "Table")
	p.In("Layout").RightClick("row", "flags…")
	p.Click("menuitem", "float…")
	says("another type, with its name", "uint32  id     # its number\nvec3    pos    # where\nfloat   flags\n")
	undo()

	tree.Click("row", "id uint32…")
	p.Press("t")
	p.Click("menuitem", "Join with the next field …")
	p.Click("menuitem", "uint64…")
	p.Type("both")
	p.Press("Enter")
	says("joined; of the vector a part remains", "uint64  both   # its number\nuint64  pos    # where\nuint32  flags\n")
	undo()

	tree.RightClick("row", "flags uint32…")
	p.Click("menuitem", "Type, name and parts of the field …")
	p.Click("menuitem", "Remove from the definition")
	says("removed", "uint32  id     # its number\nvec3    pos    # where\n")
	undo()

	// The length of the message is no field.
	f.dragBytes(0, 2)
	f.rightByte(0)
	f.shows(".pop", "these bytes are the length of the message")
	p.Press("Escape")
}

// A string becomes bytes, with the size that follows its offset, and a plain number, from the tree; its name and its comment stay.
func TestFlowRetypePointer(t *testing.T) {
	t.Parallel()
	const text = "string name # of it\nuint16 size # in bytes\nuint32 id\n"
	f, _, _ := begin(t, map[string]string{"C_JOIN.1.def": text, "protocol.1.map": codesText}, "/p/one/definitions/C_JOIN.1")
	p := f.page()
	f.paste("1000 0100 0c00 0400 07000000 61000000")
	f.shows(row("name"), `"a"`)
	p.In("C_JOIN.1").Click("row", "name string…")
	p.Press("t")
	p.Click("menuitem", "bytes…")
	f.says("bytes", "ref    name # of it\n            # in bytes\nuint32 id\nbytes  name\n")
	f.shows(row("name"), "61000000")
	p.Click("textbox", "Definition text")
	p.Press("Ctrl+Z")
	f.says("undone in one step", text)
	f.shows(row("name"), `"a"`)
	p.In("C_JOIN.1").Click("row", "name string…")
	p.Press("t")
	p.Click("menuitem", "uint16…")
	f.says("a number", "uint16 name # of it\nuint16 size # in bytes\nuint32 id\n")
	f.shows(row("name"), "12")
}

// A byte order mark at the start of a file is not shown, and stays when the text is saved.
func TestFlowByteOrderMark(t *testing.T) {
	t.Parallel()
	f, _, dir := begin(t, map[string]string{"C_JOIN.1.def": "\ufeffuint32 id\n", "protocol.1.map": codesText}, "/p/one/definitions/C_JOIN.1")
	f.shows("#layout-rows", "id")
	f.is("the editor shows no sign", `document.querySelector(".cm-content") !== null && document.querySelector(".cm-specialChar") === null`)
	f.caret(0)
	f.types("uint16 more")
	f.shows("#layout-rows", "more")
	f.press("Ctrl+S")
	f.is("saved", `document.querySelector(".unsaved") === null`)
	if text := servertest.OnDisk(t, dir, "C_JOIN.1.def"); !strings.HasPrefix(text, "\ufeff") || !strings.Contains(text, "uint16 more") || strings.Count(text, "\ufeff") != 1 {
		t.Errorf("on disk %q", text)
	}
}

// The same in the other languages.
func TestFlowDefineMUTA(t *testing.T) {
	t.Parallel()
	f, _ := beginAs(t, "muta", map[string]string{"game.def": "group: a\n\npacket: say\n   __group = a\n   id      = uint16\n"}, "/p/one/definitions/say")
	p := f.page()
	f.paste("01 0500 07 00")
	f.shows(row("id"), "5")
	f.dragBytes(3, 5)
	f.rightByte(3)
	p.Click("menuitem", "int16…")
	p.Type("level")
	p.Press("Enter")
	f.says("a field", "group: a\n\npacket: say\n   __group = a\n   id      = uint16\n   level   = int16\n")
}

func TestFlowDefineSubSpace(t *testing.T) {
	t.Parallel()
	f, _ := beginAs(t, "subspace", map[string]string{"game.def": servertest.SubspaceText}, "/p/one/definitions")
	p := f.page()
	f.paste("7a 02 0100 6869 00")
	p.Click("button", "New definition from these bytes")
	p.Focused("textbox", "Name of the new definition")
	p.Press("Ctrl+A")
	p.Type("score_sign")
	p.Press("Enter")
	f.says("a table with its type", "# description of score_sign\n\n0x7A score sign\noffset size comment\n")
	f.dragBytes(4, 7)
	f.rightByte(4)
	p.Click("menuitem", "cstr…")
	p.Type("words")
	p.Press("Enter")
	f.says("a row", "# description of score_sign\n\n0x7A score sign\noffset size comment\n4      ?    cstr words\n")
	f.shows(row("words"), `"hi"`)
}

// In JSON, XML and YAML bytes become fields as in other languages.
func TestFlowDefineInTrees(t *testing.T) {
	t.Parallel()
	f, _ := beginAs(t, "protodef", map[string]string{"game.json": `{"types": {"told": ["container", [{"name": "id", "type": "u8"}]]}}` + "\n"}, "/p/one/definitions/told")
	p := f.page()
	f.paste("01 02 0361626a")
	f.shows(row("id"), "1")
	f.dragBytes(2, 3)
	f.rightByte(2)
	p.Click("menuitem", "u8 and text…")
	p.Type("words")
	p.Press("Enter")
	f.says("a line for each field", `{
  "types": {
    "told": ["container", [
      {"name": "id", "type": "u8"},
      {"name": "unk1", "type": "u8"},
      {"name": "words", "type": ["pstring", {"countType": "u8"}]}
    ]]
  }
}
`)
	f.shows(row("words"), `"abj"`)
}

func TestFlowDefineInYAML(t *testing.T) {
	t.Parallel()
	f, _ := beginAs(t, "kaitai", map[string]string{"log.ksy": "meta:\n  id: log\n  endian: le\nseq:\n  - id: kind # of it\n    type: u1\n"}, "/p/one/definitions/log")
	p := f.page()
	f.paste("01 0200")
	f.shows(row("kind"), "1")
	f.dragBytes(1, 3)
	f.rightByte(1)
	p.Click("menuitem", "u2be…")
	p.Type("count")
	p.Press("Enter")
	f.says("two lines", "meta:\n  id: log\n  endian: le\nseq:\n  - id: kind # of it\n    type: u1\n  - id: count\n    type: u2be\n")
	f.shows(row("count"), "512")
}

// A definition that places a text in the bytes of a number reads the message, and the page does not call that ok.
func TestFlowSharedBytesAreDoubtful(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	f, _, _ := begin(t, map[string]string{"C_TALK.1.def": "int32 a\nint32 b\nstring s\n", "protocol.1.map": "C_TALK 4660\n"}, "/p/one/definitions/C_TALK.1")
	f.paste("0e0034120a00010000004c000000")
	f.shows("#fields-head", "doubtful")
	f.shows("#tree-problems", `"s" shares 4 bytes with "b"`)
}

// Definitions that explain a message, or most of it, are ranked with the reason.
func TestFlowFitsAreRanked(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	f, _, _ := begin(t, map[string]string{
		"C_TALK.1.def": "byte channel\nstring message\n", "C_TALK.2.def": "byte channel\nuint32 item\nstring message\n", "C_OTHER.1.def": "uint32 a\nuint32 b\n",
		"protocol.1.map": "C_TALK 1\n",
	}, "/p/one/definitions")
	p := f.page()
	f.paste("1700 0900 0b00 01 07000000 680065006c006c006f000000")
	f.is("the first explains all bytes, the second most", `[...document.querySelectorAll(".fits li")].map(li => li.textContent).join() .match(/^C_TALK.2\s*all 23 bytes: 1 text, 1 offset or count.*C_TALK.1\s*19 of 23 bytes: 1 text, 1 offset or count/s) !== null`)
	p.Click("link", "C_TALK.2")
	f.shows(row("message"), `"hello"`)
}

// The code of a message gets the name of a definition that is begun from it when that is saved, and not before.
func TestFlowDefineNamesCodeWhenSaved(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	f, _, dir := begin(t, map[string]string{"C_TALK.1.def": "int32 a\n", "protocol.1.map": "C_TALK 4660\n"}, "/p/one/definitions")
	p := f.page()
	codes := func() string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, "protocol.1.map"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	f.paste("0600 3930 0700")
	p.Click("button", "New definition from these bytes")
	p.Focused("textbox", "Name of the new definition")
	p.Press("Ctrl+A")
	p.Type("S_BEGUN.1")
	p.Press("Enter")
	p.Visible("heading", "S_BEGUN.1.def")
	p.Focused("textbox", "Definition text")
	f.types("int16 level")
	f.shows(row("level"), "7")
	if got := codes(); got != "C_TALK 4660\n" {
		t.Fatalf("the code map before the definition is saved: %q", got)
	}
	p.Press("Ctrl+S")
	f.saved()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(codes(), "S_BEGUN 12345"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the code map after the definition is saved: %q", codes())
		}
	}
}
