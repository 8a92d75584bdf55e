package templates

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"wirebench/codec/view"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/static"
)

// Frame is what every page has around it.
type Frame struct {
	Title      string
	Workspace  string // name of the open one, "" if none is
	Workspaces []Link
	Nonce      string // lets the editor add its style sheet
	LookOnly   bool   // the person may change nothing on the server: buttons that would are not drawn
	SignedIn   bool   // a cookie says who the person is, and can be taken away
}

// Link is a place to go.
type Link struct{ Href, Text string }

// Workbench is the page of one workspace.
type Workbench struct {
	Frame
	Live         bool // for an open page, which is told of lines by itself
	Form         FormState
	Rail         Rail
	Message      string // name of the open definition as addresses have it, "" if none is
	Targets      []Target
	Definition   Definition
	Layout       *view.LayoutInfo // nil if nothing is open
	Stale        bool             // the open definition has mistakes: layout and fields are by the last one that had none
	Input        Input
	Messages     []MessageRow // of an input that has several
	MoreMessages int          // that are not listed
	Shown        *Message     // nil without input
	Values       Values
	Samples      Samples
	Capture      *Capture // nil on the page of the library alone
	Notice       string   // what went wrong with the request as a whole
	Done         string   // what went well
}

// Capture is the capture whose frames are listed above the fields.
type Capture struct {
	ID, Name string
	Live     bool // it is running traffic
}

// Target is a format that definitions can be written in.
type Target struct{ Name, Title string }

// FormState is what the page hands to itself with its next form.
type FormState struct {
	Show, Bytes, Rows int
	Edits             map[string]string // messages whose bytes were changed, in hex
	Opened            map[string]bool   // runs of list elements that are unfolded
	From              string            // tells whether the input is still that of the page
	Base              string            // tells whether the definition is still the one on disk
	Written           bool              // the table of the layout is in the order of the definition, not of the wire
}

// EditsJSON is Edits for a form, "" if there are none.
func (f FormState) EditsJSON() string {
	if len(f.Edits) == 0 {
		return ""
	}
	text, _ := json.Marshal(f.Edits) // texts always can be
	return string(text)
}

// Rail is the list of the library's messages.
type Rail struct {
	Drawn  bool   // false: as it was drawn before, and the lists are empty
	State  string // of the library
	Groups []Group
	Filter string
	Count  int // definitions of messages in the library
	More   int // names that fit the filter and are not listed

	KeepsCaptures  bool        // the workspace has a place for them
	Relays         bool        // traffic can be relayed and shown
	Demo           bool        // there is a demo game
	Undefined      []Undefined // names of the code map that have no definition
	UndefinedCount int

	Versions  bool       // messages have them
	Codes     bool       // codes of messages stand in maps of their own
	Constants *Constants // nil if the dialect has none
	Maps      []string   // code maps of the library
	MapName   string     // in use
	Options   []Option   // of the dialect
	Names     int        // in the code map
	Notes     []string   // what is odd about the library as a whole
	NoteCount int
}

// Option is an option of a dialect, which people can choose.
type Option struct {
	Name, Title, Doc string
	Choices          []string // nil: any text
	Value            string   // that was chosen; "" = none
}

// Constants are the values of named numbers that definitions use and do not say.
type Constants struct {
	Text    string   // NAME = VALUE lines, as they are set
	Missing []string // names without a value
}

// Group is a heading of the list of messages.
type Group struct {
	Title string
	Items []Item
}

// Item is a message of the library.
type Item struct {
	Name     string
	Code     string        // "0x1234", "" if it has none
	Unmapped bool          // there is a code map, and the name is not in it
	State    string        // "ok", or the worst mistake of its files: "warning", "error"
	File     string        // if that has several messages
	Versions []ItemVersion // the newest first
	Current  bool
}

// ItemVersion is one definition of a message.
type ItemVersion struct {
	Number  int
	Href    string
	State   string // "" for ok
	Current bool
	Sampled bool // there are samples of it
}

// Undefined is a name that has a code and no definition.
type Undefined struct{ Name, Code, Href string }

// Definition is the open definition.
type Definition struct {
	File, Text  string
	New         string // the name that a new definition is offered
	Edited      bool   // the text is not the stored one
	Stored      bool   // there is a stored one
	Versioned   bool   // the file is one version of its message
	NewLabel    string // what the name of a new definition is
	Version     int
	Newest      int  // version of the message; more than Version if this is an older one
	Moves       bool // an older version whose text moves bytes: it cannot be saved as that
	Base        string
	Conflict    *Conflict // the file on disk is not the one that was edited
	Diagnostics []diag.Info
	Language    schema.Language
	Several     []MessageLine // the messages of the text, if it has several
	Part        int           // which of them is open, from 0
}

// MessageLine is a message of a text with several, and the line on which it starts.
type MessageLine struct {
	Name string `json:"name"`
	Line int    `json:"line"`
}

// Conflict is a file that was changed by others while a text of it was edited.
type Conflict struct {
	Deleted bool
	Lines   []ChangedLine
}

// ChangedLine is a line that differs: Sign is "disk" or "here".
type ChangedLine struct {
	Sign   string
	Number int
	Text   string
}

// Samples are the messages that are kept beside the open definition.
type Samples struct {
	Rows    []SampleRow
	CanKeep bool // the shown message can become one
}

// SampleRow is one of them.
type SampleRow struct {
	Number, Size   int
	Message, About string
	Current        bool
	Other          bool // it is of another message of the same file
}

// Input is what a person pasted, and what it was taken for.
type Input struct {
	Text    string
	Form    string // to read it as, "" = guess
	Forms   []FormGroup
	ByCode  bool // decode by the code that each message carries
	Verdict string
	Why     string   // of the verdict
	Notes   []string // odd things that did not stop the reading
	Keep    string   // what a capture of the text is called, "" if it is not worth one
	Error   string
}

// FormGroup is a heading of the menu of forms.
type FormGroup struct {
	Title string
	Forms []FormChoice
}

// FormChoice is a form of pasted text.
type FormChoice struct{ ID, Title string }

// MessageRow is one of several messages of an input.
type MessageRow struct {
	Number                  int // from 0
	Dir, Time, Name, Status string
	Size                    int // bytes
	Open                    bool
	Edited                  bool // its bytes were changed
}

// Message is the decoded message that the page shows, with its bytes.
type Message struct {
	view.Result
	Name      string // of its definition, as addresses have it; "" if it has none
	Data      []byte
	Was       []byte            // before it was edited
	Edited    bool              // by a person, in this page
	Number    int               // in the input, from 0
	Types     map[string]string // of fields, as written, by their path without indexes
	Linked    bool              // it was decoded by the open definition: lines are that one's
	Stale     bool              // by an earlier text of it: lines may have moved
	Other     string            // the definition that its code asks for, if that is another one
	Took      time.Duration     // to decode and describe it
	Opened    map[string]bool   // runs of list elements that are unfolded
	FirstByte int               // that is drawn, and of the tree:
	FirstRow  int
	visible   []treeRow // once they are made

	// Of a frame that is no message, as its transport says.
	What  string // a title, "" of messages
	Kind  string // control, opaque or problem
	Facts [][2]string
}

// Values are the values to encode.
type Values struct {
	Offered  bool // there is a definition to encode by
	Text     string
	Made     string // tells the server whether Text was changed
	Kept     bool   // they are as a person wrote them, not those of the message
	TooLong  bool   // for a text field
	Code     string
	CodeHint string // the code that the definition has
	Encoded  string // what came out, in words
	Problems []view.ProblemInfo
}

// Bounds of what is drawn at once. The pages before and after are a button away; the JSON has all.
const (
	pageBytes = 4096
	pageRows  = 1000
)

func asset(name string) string { return static.URL(name) }

// tint is the colour class of a family; alt tells neighbours apart.
func tint(f view.Family, alt bool) string {
	if f == "" {
		f = view.FamilyInt
	}
	if alt {
		return "t-" + string(f) + " alt"
	}
	return "t-" + string(f)
}

// Family is the family of a field's colour.
func Family(f *view.FieldValue) string {
	if f.Family == "" {
		return string(view.FamilyInt)
	}
	return string(f.Family)
}

// tints are the colour classes of the runs of bits of a message, each other than that of the one of its family before it. web/src/model.ts
// does the same.
func tints(fields []view.FieldValue) []string {
	type pair struct {
		class [2]string
		alt   int
	}
	out, of := make([]string, len(fields)), map[view.Family]*pair{}
	for i := range fields {
		p := of[fields[i].Family]
		if p == nil {
			p = &pair{class: [2]string{tint(fields[i].Family, false), tint(fields[i].Family, true)}}
			of[fields[i].Family] = p
		}
		out[i] = p.class[p.alt]
		p.alt ^= 1
	}
	return out
}

func itoa(n int) string { return strconv.Itoa(n) }

// number is a number in text that a program may read back; 0 is no text.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// hintOfSlash names the key of the filter of messages; among frames it is that of their filter.
func hintOfSlash(w Workbench) string {
	if w.Capture != nil {
		return ""
	}
	return "  /"
}

// count is a number with its noun: "1 byte", "2 bytes".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// sizeText is a number of bits in bytes, or in bits if it is not whole bytes.
func sizeText(bits int64) string {
	if bits%8 != 0 {
		return strconv.FormatInt(bits, 10) + " bit"
	}
	return strconv.FormatInt(bits/8, 10)
}

// severityClass is the class of an error or of a warning.
func severityClass(severity string) string {
	if severity == "error" {
		return "err"
	}
	return "warn"
}

// severityMark is a sign that says the same as the colour.
func severityMark(severity string) string {
	if severity == "error" {
		return "✕"
	}
	return "!"
}

func statusClass(status string) string {
	switch status {
	case "ok":
		return "ok"
	case "unknown", "incomplete":
		return "warn"
	}
	return "err"
}

// sortedKeys are the names of a set in their order.
func sortedKeys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// tookText is a time for people, to two digits.
func tookText(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("decoded in %d µs", max(d.Microseconds(), 1))
	case d < 10*time.Millisecond:
		return fmt.Sprintf("decoded in %.1f ms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("decoded in %d ms", d.Milliseconds())
}
