package page

import (
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/source"
	"wirebench/server/admit"
	"wirebench/server/frames"
)

// form is what a person asks of the workbench page, as its controls send it: by a form, or bit by bit over a websocket.
type form struct {
	action     string // of the button, one of actions
	arg        string // that belongs to the action: "rows:1000"
	message    string // of the open definition, as workspace.NameOf has it
	part       int    // which message of a text with several, from 1; 0 = the one of the name
	name       string // of a definition to be written anew
	filter     string // of the list of messages
	definition string // its text, perhaps edited; empty = as it is stored
	base       string // textRevision of the stored text that the edit began with
	input      string // bytes in any form
	form       string // to read them as, "" = guess
	byCode     bool   // decode by the code that each message carries, not by the open definition
	value      string // JSON to encode
	made       string // what the page had put into value, as sumOf says it
	code       string // of the message to encode, "" = as the definition has it
	about      string // of a sample to keep
	show       int    // which of several messages is open, from 0
	bytes      int    // first byte drawn
	rows       int    // first row of the tree drawn
	written    bool   // the table of the layout is in the order of the definition
	values     bool   // the values are in view; over a websocket alone

	edits  map[int][]byte  // messages whose bytes were changed, by their number
	opened map[string]bool // runs of list elements that are unfolded
	frame  *FrameForm      // of a page of a capture: what is known of the input; nil if it is no frame

	// One value to change, over a websocket alone.
	path, role, typed string
	exactly           bool // leave everything else as it is, right or wrong
}

// FrameForm is what a list of frames knows of the one whose bytes are the input.
type FrameForm struct {
	Kind      string `json:"kind"` // as transport.Kind has it
	Dir       string `json:"dir"`
	Group     string `json:"group"`
	Name      string `json:"name"`      // of its definition, "" if it has none
	Alternate bool   `json:"alternate"` // it has the alternative header of the dialect

	About *frames.About `json:"about"` // of what is no message, as Frame has it
	Offer string        `json:"offer"` // how a definition of it could be called, "" if it needs none
}

// number is the argument of an action that has a number.
func (f *form) number() int { return atLeast0(f.arg) }

// postedForm reads what the page's form sends.
func postedForm(q url.Values) form {
	f := form{
		message: q.Get("message"), name: strings.TrimSpace(q.Get("name")), definition: source.UnixLines(q.Get("definition")), base: q.Get("base"),
		input: source.UnixLines(q.Get("input")), form: q.Get("form"), byCode: q.Get("bycode") != "",
		value: source.UnixLines(q.Get("value")), made: q.Get("made"), code: strings.TrimSpace(q.Get("code")),
		about: strings.TrimSpace(q.Get("about")), opened: map[string]bool{},
	}
	f.action, f.arg, _ = cutAction(q.Get("action"))
	f.written = q.Get("written") != ""
	f.part = atLeast0(q.Get("part"))
	f.show, f.bytes, f.rows = atLeast0(q.Get("show")), atLeast0(q.Get("bytes")), atLeast0(q.Get("rows"))
	for _, name := range q["opened"] {
		f.opened[name] = true
	}
	f.edits = readEdits(q.Get("edits"))
	if made := q.Get("from"); made != "" && made != sumOf(f.input) { // the input is another one: what was open of the old one is not of it
		f.show, f.bytes, f.rows, f.edits = 0, 0, 0, nil
	}
	return f
}

// cutAction cuts "rows:1000" into the name of the action and what belongs to it.
func cutAction(text string) (action, arg string, found bool) { return strings.Cut(text, ":") }

// sortedNames are the names of a set in their order.
func sortedNames(set map[string]bool) []string {
	out := slices.Sorted(maps.Keys(set))
	if out == nil {
		return []string{}
	}
	return out
}

// Bounds of changed messages.
const (
	maxEdits     = 1000
	maxEditBytes = 4 << 20
)

// readEdits reads changed messages: {"0":"0a00..."}. What is none of ours is left out.
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

// writeEdits is the opposite of readEdits.
func writeEdits(edits map[int][]byte) map[string]string {
	out := make(map[string]string, len(edits))
	for n, data := range edits {
		out[strconv.Itoa(n)] = hex.EncodeToString(data)
	}
	return out
}

// addressForm is what an address asks for: a message and, if there is one, its first sample. An address that asks for nothing gets a
// sample, so that the first visit shows what the page is for.
func (ws *space) addressForm(q url.Values) form {
	f := form{message: q.Get("message"), filter: q.Get("filter"), opened: map[string]bool{}}
	if f.message == "" && f.filter == "" && !q.Has("new") {
		f.message = ws.firstShown()
	}
	if q.Has("new") {
		f.action, f.arg = "new", q.Get("new")
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

// firstShown is the message that a visit starts with: the dialect's example, or the first that has a sample, or the first of all.
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

// atLeast0 reads a number that pages write; anything else is 0.
func atLeast0(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// sumOf tells whether a text is still what the page had put there.
func sumOf(text string) string {
	h := fnv.New64a()
	h.Write([]byte(text))
	return strconv.FormatUint(h.Sum64(), 36)
}

// work is what a form of the page may take.
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
