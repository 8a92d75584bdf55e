package templates

import (
	"strconv"

	"wirebench/codec"
	"wirebench/defs/diag"
	"wirebench/static"
)

// Frame is what every page has around it.
type Frame struct {
	Title      string
	Workspace  string // name of the open one, "" if none is
	Workspaces []Link
}

// Link is a place to go.
type Link struct{ Href, Text string }

// Workbench is the page of one workspace.
type Workbench struct {
	Frame
	Rail         Rail
	Message      string // NAME.VERSION of the open definition, "" if none is
	Definition   Definition
	Layout       *codec.LayoutInfo // nil if nothing is open
	Input        Input
	Messages     []MessageRow // of an input that has several
	MoreMessages int          // that are not listed
	Shown        *Message     // nil without input
	Values       Values
	Notice       string // what went wrong with the request as a whole
}

// Rail is the list of the library's messages.
type Rail struct {
	Groups  []Group
	Filter  string
	Count   int // messages in the library
	More    int // messages that fit the filter and are not listed
	Samples []SampleLink

	SamplesOpen bool // one was chosen
}

// Group is a heading of the list of messages.
type Group struct {
	Title string
	Items []Item
}

// Item is a message of the library.
type Item struct {
	Href, Name string
	Version    int
	Code       string // "0x1234", "" if it has none
	State      string // "ok", or the worst of its file's mistakes: "warning", "error"
	Current    bool
}

// SampleLink is a message to look at.
type SampleLink struct {
	Href, Message, About string
	Current              bool
}

// Definition is the open definition.
type Definition struct {
	File, Text  string
	Edited      bool // the text is not the stored one
	Stored      bool // there is a stored one
	Diagnostics []diag.Info
}

// Input is what a person pasted, and what it was taken for.
type Input struct {
	Text    string
	Form    string // to read it as, "" = guess
	Forms   []FormGroup
	ByCode  bool // decode by the code that each message carries
	Verdict string
	Notes   []string // odd things that did not stop the reading
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
}

// Message is the decoded message that the page shows, with its bytes.
type Message struct {
	codec.Result
	Data      []byte
	Number    int               // in the input, from 0
	Types     map[string]string // of fields, as written, by their path without indexes
	Linked    bool              // it was decoded by the open definition: lines are that one's
	Other     string            // the definition that its code asks for, if that is another one
	FirstByte int               // that is drawn, and of the tree:
	FirstRow  int
}

// Values are the values to encode.
type Values struct {
	Offered  bool // there is a definition to encode by
	Open     bool // it is them that the page is about
	Text     string
	Made     string // tells the server whether Text was changed
	Kept     bool   // they are as a person wrote them, not those of the message
	TooLong  bool   // for a text field
	Code     string
	CodeHint string // the code that the definition has
	Encoded  string // what came out, in words
	Problems []codec.ProblemInfo
}

// Bounds of what is drawn at once. The pages before and after are a button away; the JSON has all.
const (
	pageBytes = 4096
	pageRows  = 1000
)

func asset(name string) string { return static.URL(name) }

// tint is the colour class of a family; alt tells neighbours apart.
func tint(f codec.Family, alt bool) string {
	if f == "" {
		f = codec.FamilyInt
	}
	if alt {
		return "t-" + string(f) + " alt"
	}
	return "t-" + string(f)
}

// tints are the colour classes of the runs of bits of a message, each other than that of the one of its family before it.
func tints(fields []codec.FieldValue) []string {
	out, alt := make([]string, len(fields)), map[codec.Family]bool{}
	for i, f := range fields {
		out[i] = tint(f.Family, alt[f.Family])
		alt[f.Family] = !alt[f.Family]
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
