package flows

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/chromedp/cdproto/input"

	"wirebench/defs/corpora"
	"wirebench/defs/schema"
	"wirebench/server/projects"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// hands operate a page as a person does, and count the actions: a click, a key chord, a typed text, a chosen file.
type hands struct {
	flow
	did []string
}

func (h *hands) act(format string, args ...any) { h.did = append(h.did, fmt.Sprintf(format, args...)) }

func (h *hands) click(role, name string) {
	h.Helper()
	h.act("click the %s %q", role, name)
	h.page().Click(role, name)
}

func (h *hands) press(key string) {
	h.Helper()
	h.act("press %s", key)
	h.page().Press(key)
}

func (h *hands) types(text string) {
	h.Helper()
	h.act("type %q", text)
	h.page().Type(text)
}

// drop drops a file on the page.
func (h *hands) drop(name string) {
	h.Helper()
	h.act("drop %s on the page", filepath.Base(name))
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: []string{name}, DragOperationsMask: 1}
	for _, event := range []input.DispatchDragEventType{input.DragEnter, input.DragOver, input.Drop} {
		browsertest.Run(h.T, h.ctx, input.DispatchDragEvent(event, 700, 450, data))
	}
}

// field makes a field of the bytes [from, to): they are selected, and its type and name are given.
func (h *hands) field(from, to int, kind, name string) {
	h.Helper()
	h.act("select the bytes %d to %d", from, to)
	h.dragBytes(from, to)
	h.act("open their menu")
	h.rightByte(from)
	h.click("menuitem", kind+"…")
	h.page().Focused("textbox", "Name of the "+kind)
	h.types(name + "\n")
}

// A day begins: a library of 1,192 definitions with the code maps of six builds becomes a project, a session of one of the builds is opened, its
// map is proposed and accepted, and a message that nobody has defined is defined by its bytes.
func TestFlowDayWithCorpus(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	files, codes := realLibrary(t), codesOf(t, corpora.Own().Text(t, "tera/toolbox/protocol.387396.map"))
	for i := range 60 {
		name := fmt.Sprintf("S_NUMBER_%d", i)
		files[name+".1.def"], codes[name] = "int32 number\n", 40000+i
	}
	if len(files) < 800 {
		t.Fatalf("%d definitions in the corpus", len(files))
	}
	// Further versions, as libraries have them that serve several versions of a game.
	for _, name := range slices.Sorted(maps.Keys(files)) {
		message, version, _ := strings.Cut(strings.TrimSuffix(name, ".def"), ".")
		n, err := strconv.Atoi(version)
		if err != nil {
			t.Fatal(name)
		}
		if next := fmt.Sprintf("%s.%d.def", message, n+1); len(files) < 1192 && files[next] == "" {
			files[next] = files[name]
		}
	}
	beginDay(t, files, codes, 379461, 1192)
}

func TestFlowDay(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	files, codes := map[string]string{}, map[string]int{"C_CHECK_VERSION": 19900, "S_CHECK_VERSION": 19901}
	for i := range 60 {
		name := fmt.Sprintf("S_NUMBER_%d", i)
		files[name+".1.def"], codes[name] = "int32 number\n", 20000+i
	}
	files["C_CHECK_VERSION.1.def"] = "array versions\n- uint32 index\n- uint32 value\n"
	beginDay(t, files, codes, 373824, 61)
}

// codesOf reads a code map.
func codesOf(t *testing.T, text string) map[string]int {
	t.Helper()
	codes := map[string]int{}
	for line := range strings.Lines(text) {
		var name string
		var code int
		if n, _ := fmt.Sscan(line, &name, &code); n == 2 {
			codes[name] = code
		}
	}
	return codes
}

// permuted gives the codes of a map to other names. The version check has the same codes in all builds.
func permuted(codes map[string]int, by int) (next map[string]int, text string) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(codes)) {
		if !strings.HasSuffix(name, "_CHECK_VERSION") {
			names = append(names, name)
		}
	}
	next = maps.Clone(codes)
	for i, name := range names {
		next[name] = codes[names[(i+by)%len(names)]]
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(next)) {
		fmt.Fprintf(&b, "%s %d\n", name, next[name])
	}
	return next, b.String()
}

const unseenCode = 0x3039 // in none of the maps

// daySession returns the recording of a client of a build: it names the build, and then comes every defined message without variable parts,
// with the unknown message after each.
func daySession(t *testing.T, build uint32, known []int) (data []byte, unseen int) {
	t.Helper()
	var out bytes.Buffer
	s, at := servertest.Conversation(t, &out)
	send := func(dir schema.Dir, code int, body []byte) {
		t.Helper()
		message := binary.LittleEndian.AppendUint16(nil, uint16(4+len(body)))
		message = append(binary.LittleEndian.AppendUint16(message, uint16(code)), body...)
		at = at.Add(20 * time.Millisecond)
		if err := s.Data(dir, at, message, ""); err != nil {
			t.Fatal(err)
		}
	}
	check := []byte{1, 0, 8, 0, 8, 0, 0, 0, 0, 0, 0, 0}
	send(schema.ToServer, 19900, binary.LittleEndian.AppendUint32(check, build))
	for i, code := range known {
		send(schema.ToClient, code, binary.LittleEndian.AppendUint32(nil, uint32(i)))
		body := []byte{14, 0}
		body = binary.LittleEndian.AppendUint32(body, uint32(1000+i))
		body = binary.LittleEndian.AppendUint32(body, math.Float32bits(float32(i)/2))
		for _, c := range utf16.Encode([]rune(fmt.Sprintf("player %d", i))) {
			body = binary.LittleEndian.AppendUint16(body, c)
		}
		send(schema.ToClient, unseenCode, append(body, 0, 0))
	}
	return out.Bytes(), len(known)
}

func beginDay(t *testing.T, files map[string]string, codes map[string]int, build, definitions int) {
	if len(files) != definitions {
		t.Fatalf("%d definitions, not %d", len(files), definitions)
	}
	var own map[string]int
	for i, n := range []int{366222, 367081, 373824, 376012, 379461, 387396} {
		next, text := permuted(codes, 7*i+1)
		files[fmt.Sprintf("protocol.%d.map", n)] = text
		if n == build {
			own = next
		}
	}
	// One field of 4 bytes: these are in the session.
	var names []string
	oneNumber := regexp.MustCompile(`^(?:#.*\n|\s*\n)*(?:u?int32|float)\s+\w+\s*(?:#.*)?\s*$`)
	for file, text := range files {
		name, _, _ := strings.Cut(file, ".")
		if strings.HasPrefix(name, "S_") && own[name] != 0 && oneNumber.MatchString(text) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = names[:min(len(names), 60)]
	var known []int
	for _, name := range names {
		known = append(known, own[name])
	}
	if len(known) < 10 {
		t.Fatalf("only %d messages for the session", len(known))
	}
	data, unseen := daySession(t, uint32(build), known)
	folder := t.TempDir()
	zipped, session := filepath.Join(folder, "My game.zip"), filepath.Join(folder, "evening.pcapng")
	servertest.WriteFile(t, zipped, servertest.Zip(t, servertest.FilesOf(files)...))
	servertest.WriteFile(t, session, string(data))

	s := projectServer(t, t.TempDir(), projects.Options{})
	srv := serve(t, s)
	h := &hands{flow: flow{T: t, ctx: browsertest.OpenAllowing(t, srv.URL, openSelector, regexp.MustCompile(`Close received after close`))}}
	p := h.page()
	began := time.Now()

	h.drop(zipped)
	h.click("button", "Make the project")
	h.arrives("the project", `location.pathname === "/p/my-game/definitions"`)
	browsertest.Arrive(t, h.ctx, openSelector)
	p.Visible("button", "My game")
	if n := s.Projects.Find("my-game").Now().Count(); n != definitions {
		t.Errorf("%d messages, not %d", n, definitions)
	}
	p.Visible("button", "Settings in force: no code map")

	h.drop(session)
	browsertest.Arrive(t, h.ctx, "html:has(.frames-scroll)")
	p.Visible("region", "Proposals")
	f := captureFlow{h.flow, s}
	use := fmt.Sprintf("Use protocol.%d.map", build)
	if build == 373824 {
		use += ", patch 98.02"
	}
	f.is("rows", frameRowOf(1)+" !== null")
	h.click("button", use)
	f.is("names", frameRowOf(2)+`?.querySelector(".fc-name").textContent === "`+names[0]+`"`)
	p.Gone("region", "Proposals")

	const n = 3 // the first of the unknown ones
	f.is("a frame of unknown code", frameRowOf(n)+`?.querySelector(".fc-name").textContent.includes("0x3039")`)
	h.click("row", fmt.Sprintf("%d …", n))
	h.click("button", "Define…")
	h.types("S_UNSEEN")
	h.press("Enter")
	p.Focused("textbox", "Definition text")
	f.shows("#fields-head", "left over")
	h.field(4, 6, "string", "name")
	f.shows(row("name"), `"player 0"`)
	h.field(6, 10, "uint32", "id")
	f.shows(row("id"), "1000")
	h.field(10, 14, "float", "height")
	f.shows(row("height"), "0")
	h.press("Ctrl+S")
	p.Says("Saved S_UNSEEN.1.def")

	// All frames of the capture are decoded by it.
	for i := 1; i <= 5; i++ {
		f.info(n+2*(i-1), fmt.Sprintf("id %d", 1000+i-1))
	}
	type frameInfo struct {
		Message, Status string
		Leftover        int
		Value           struct {
			ID     int
			Height float64
			Name   string
		}
	}
	var frames struct{ Frames []frameInfo }
	id := browsertest.Value[string](t, h.ctx, `document.getElementById("main").dataset.capture`)
	if code := servertest.Request(t, s, "GET", "/api/v1/my-game/captures/"+id+"/frames?value=true&count=1000&filter=S_UNSEEN", nil, &frames); code != 200 || len(frames.Frames) != unseen {
		t.Fatalf("%d: %d frames, not %d", code, len(frames.Frames), unseen)
	}
	for i, got := range frames.Frames {
		want := frameInfo{Message: "S_UNSEEN", Status: "ok"}
		want.Value.ID, want.Value.Height, want.Value.Name = 1000+i, float64(i)/2, fmt.Sprintf("player %d", i)
		if got != want {
			t.Fatalf("%+v, not %+v", got, want)
		}
	}
	t.Logf("%d actions in %v:\n  %s", len(h.did), time.Since(began).Round(time.Millisecond), strings.Join(h.did, "\n  "))
	if len(h.did) > 25 {
		t.Errorf("%d actions; at most 25", len(h.did))
	}
}
