package page

import (
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"maps"
	"net/url"
	"strconv"
	"strings"

	"wirebench/defs/source"
	"wirebench/server/admit"
	"wirebench/server/frames"
	"wirebench/server/workspace"
)

// form is the state of the controls of the workbench page, sent by a form, or piece by piece over a websocket.
type form struct {
	action     string // of the button, one of actions
	arg        string // argument of the action, as in "rows:1000"
	message    string // open definition, as from workspace.NameOf
	part       int    // number of a message in a text with several, from 1; 0 selects it by name
	name       string // of a new definition
	definition string // text of the definition, possibly edited; empty for the stored text
	base       string // textRevision of the stored text on which the edit is based
	shared     string // the file whose room has the text; over a websocket only
	input      string // bytes in any form
	form       string // form of the input, "" for automatic detection
	dir        string // direction of the messages of the input, "" for what they say themselves
	byCode     bool   // decode by the code of each message instead of the open definition
	value      string // JSON to encode
	made       string // sumOf of the text that the page had put into value
	code       string // code of the message to encode, "" for that of the definition
	about      string // description of a sample to store
	show       int    // index of the shown message, from 0
	bytes      int    // first byte shown
	score      bool   // the figures of the text are wanted; over a websocket only
	values     bool   // the values are visible; over a websocket only

	edits map[int][]byte // changed bytes by index of the message
	frame *FrameForm     // on a capture page, the frame that is the input; nil for none

	chosen *chosen // the frame of the capture that the input is of; nil for none

	// A value to change, over a websocket only.
	path, role, typed string
	field             string // name of a field of the definition
	exactly           bool   // leave everything else unchanged, even if it becomes inconsistent
}

// FrameForm describes the frame whose bytes are the input.
type FrameForm struct {
	Kind      string `json:"kind"` // a transport.Kind
	Dir       string `json:"dir"`
	Group     string `json:"group"`
	Name      string `json:"name"`      // name of its definition, "" if it has none
	Alternate bool   `json:"alternate"` // the frame has the alternative header of the dialect

	About *frames.About `json:"about"` // for a frame that is not a message
	Offer string        `json:"offer"` // proposed name of a definition, "" if none is needed
}

// number returns the numeric argument of an action.
func (f *form) number() int { return atLeast0(f.arg) }

// postedForm parses the form of the page.
func postedForm(q url.Values) form {
	f := form{
		message: q.Get("message"), name: strings.TrimSpace(q.Get("name")), definition: source.UnixLines(q.Get("definition")), base: q.Get("base"),
		input: source.UnixLines(q.Get("input")), form: q.Get("form"), dir: q.Get("dir"), byCode: q.Get("bycode") != "",
		value: source.UnixLines(q.Get("value")), made: q.Get("made"), code: strings.TrimSpace(q.Get("code")),
		about: strings.TrimSpace(q.Get("about")),
	}
	if pattern := q.Get("pattern"); pattern != "" {
		f.form = workspace.OwnPattern + pattern
	}
	f.action, f.arg, _ = cutAction(q.Get("action"))
	f.part = atLeast0(q.Get("part"))
	f.show, f.bytes = atLeast0(q.Get("show")), atLeast0(q.Get("bytes"))
	f.edits = readEdits(q.Get("edits"))
	if made := q.Get("from"); made != "" && made != sumOf(f.input) { // the input has been replaced
		f.show, f.bytes, f.edits = 0, 0, nil
	}
	return f
}

// cutAction splits "rows:1000" into the name of the action and its argument.
func cutAction(text string) (action, arg string, found bool) { return strings.Cut(text, ":") }

// Bounds of changed messages.
const (
	maxEdits     = 1000
	maxEditBytes = 4 << 20
)

// readEdits parses changed messages: {"0":"0a00..."}. Invalid entries are ignored.
func readEdits(text string) map[int][]byte {
	var in map[string]string
	if text == "" || json.Unmarshal([]byte(text), &in) != nil {
		return nil
	}
	return decodeEdits(in)
}

func decodeEdits(in map[string]string) map[int][]byte {
	out, total := map[int][]byte{}, 0
	for k, v := range in {
		n, err := strconv.Atoi(k)
		data, wrong := hex.DecodeString(v)
		if total += len(data); err == nil && wrong == nil && n >= 0 && len(out) < maxEdits && total <= maxEditBytes {
			out[n] = data
		}
	}
	return out
}

// writeEdits is the inverse of readEdits.
func writeEdits(edits map[int][]byte) map[string]string {
	out := make(map[string]string, len(edits))
	for n, data := range edits {
		out[strconv.Itoa(n)] = hex.EncodeToString(data)
	}
	return out
}

// addressForm returns the form for the query of an address: a message and, if there is one, its first sample. An empty query selects a
// sample, so that a first visit shows something.
func (ws *space) addressForm(message string, q url.Values) form {
	f := form{message: message}
	if f.message == "" && q.Get("filter") == "" && !q.Has("list") && !q.Has("new") {
		f.message = ws.firstShown()
	}
	if q.Has("new") {
		f.action, f.arg = "new", q.Get("new")
		return f
	}
	if f.message == workspace.EnvelopeName && ws.EnvelopeNamed(f.message) == nil {
		f.action, f.arg = "new", f.message
		return f
	}
	if m, err := ws.Find(f.message); err == nil && f.message != "" {
		for i, sample := range ws.Samples(m.Span.File.Name) {
			if n, err := strconv.Atoi(q.Get("sample")); err == nil && n != i {
				continue
			}
			if of, err := ws.Find(sample.Message); err == nil && of == m {
				f.input = sample.Hex
				break
			}
		}
	}
	return f
}

// firstShown returns the message for a first visit: the example of the dialect, or the first one with a sample, or the first of all.
func (ws *space) firstShown() string {
	sampled := ws.SampledFiles()
	for _, name := range sampled {
		if name == ws.Dialect.Example.Name {
			sampled = []string{name}
		}
	}
	for _, name := range sampled {
		if s := ws.Samples(name); len(s) > 0 {
			return s[0].Message
		}
	}
	for m := range ws.Messages() {
		return ws.NameOf(m)
	}
	return ""
}

// atLeast0 parses a non-negative number; anything else is 0.
func atLeast0(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// sumOf returns a checksum that tells whether a text is still the one that the page had inserted.
func sumOf(text string) string {
	h := fnv.New64a()
	h.Write([]byte(text))
	return strconv.FormatUint(h.Sum64(), 36)
}

// edit applies a change to a text. It reports whether the form has the text that the page has changed.
func (f *form) edit(e *TextEdit) bool {
	text := map[string]*string{"definition": &f.definition, "input": &f.input, "value": &f.value}[e.Control]
	if text != nil {
		now, ok := e.apply(*text)
		if ok {
			*text = now
		}
		return ok
	}
	was, known := f.edits[e.Number]
	now, ok := e.apply(hex.EncodeToString(was))
	data, err := hex.DecodeString(now)
	total := len(data) - len(was)
	for _, other := range f.edits {
		total += len(other)
	}
	if e.Control != "edits" || !known || !ok || err != nil || total > maxEditBytes {
		return false
	}
	f.edits = maps.Clone(f.edits)
	f.edits[e.Number] = data
	return true
}

// work returns the kind and the maximum cost of the work for a form.
func (f *form) work() (admit.Kind, int64) {
	size := admit.Work(len(f.definition), admit.PerCompiled) + admit.Work(len(f.input), admit.PerDecoded) + admit.Work(len(f.value), admit.PerValue)
	switch {
	case f.action == "emit":
		return admit.Emit, size
	case f.input != "":
		return admit.Decode, size
	}
	return admit.Layout, size
}
