package templates

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"wirebench/codec"
	"wirebench/codec/view"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/static"
)

// Frame is the data of the frame of every page.
type Frame struct {
	Title      string
	Workspace  string // name of the open project, or ""
	Projects   []Project
	Formerly   []string // earlier names of the open project
	Samples    bool     // the open project is of the samples
	Nonce      string   // permits the style sheet of the editor
	LookOnly   bool     // read-only access: buttons for changes are not drawn
	SignedIn   bool     // by a session, which signing out ends
	Role       string   // in the project of the page
	Ports      string   // on which listeners are reached from outside, "" if that is not known
	Who        string   // name of the principal, "" where nobody signs in
	Messages   string   // the fold of the page's list of messages, or ""
	Place      string   // the place of the project that the page belongs to: definitions, captures, live
	Capture    string   // name of the open capture
	Relays     bool     // the project has storage for captures, and listeners
	Demo       bool     // the demo game can be played
	NoEnvelope bool     // messages travel as an envelope says, and there is none without mistakes
	List       string   // what the project says about lists of frames, in JSON; "" for nothing, and on other pages
	Git        *Git     // the repository of the definitions, nil for none
	First      bool     // the page of the samples says how to see frames, until the browser has seen some
}

// Git is the repository that the definitions of a project are in.
type Git struct {
	Branch  string // "" without one
	Missing bool   // the server has no git program
}

// branch is the branch in words.
func (g *Git) branch() string { return cmp.Or(g.Branch, "no branch") }

// title says what the control of the repository is for. Scripts add what has changed.
func (g *Git) title() string {
	if g.Missing {
		return "The definitions are in a git repository, but this server has no git program: changes are not shown, and nothing can be committed here"
	}
	return "What has changed since the last commit, commit and pull"
}

// project returns the attributes of the open project besides its name.
func (f Frame) project() templ.Attributes {
	a := templ.Attributes{}
	if len(f.Formerly) > 0 {
		a["data-formerly"] = strings.Join(f.Formerly, " ")
	}
	if f.Samples {
		a["data-samples"] = true
	}
	if f.Relays {
		a["data-relays"] = true
	}
	if f.Demo {
		a["data-demo"] = true
	}
	if f.List != "" {
		a["data-list"] = f.List
	}
	if f.NoEnvelope {
		a["data-no-envelope"] = true
	}
	return a
}

// fold returns the attribute of a pane that folds away; the pages of captures store it apart. web/src/kit/sizes.ts has the table.
func (w Workbench) fold(pane string) templ.Attributes {
	switch {
	case w.Capture != nil:
		return templ.Attributes{"data-fold": "capture-" + pane}
	case pane == "messages":
		return templ.Attributes{"data-fold": pane}
	}
	return templ.Attributes{}
}

// frame is the frame of the page, with a button for the list of messages.
func (w Workbench) frame() Frame {
	f := w.Frame
	f.Messages, _ = w.fold("messages")["data-fold"].(string)
	f.Place = "definitions"
	if c := w.Capture; c != nil {
		f.Capture, f.Place = c.Name, "captures"
		if c.Live {
			f.Place = "live"
		}
	}
	return f
}

// scripts returns the names of the modules of the page, in the order in which they run.
func (f Frame) scripts() []string {
	switch {
	case f.Messages == "capture-messages": // the fold beside a list of frames
		return []string{"app.js", "workbench.js", "capture.js"}
	case f.Messages != "":
		return []string{"app.js", "workbench.js"}
	case f.Place != "":
		return []string{"app.js", "place.js"}
	}
	return []string{"app.js"}
}

// projectTitle returns the title of the open project.
func (f Frame) projectTitle() string {
	for _, p := range f.Projects {
		if p.Name == f.Workspace {
			return p.Title
		}
	}
	return "Projects"
}

// Project is an open project in the navigation.
type Project struct{ Name, Title string }

// ProjectPath returns the path of a page of a project, such as of ("mine", "definitions", "C_CHAT.1").
func ProjectPath(name string, parts ...string) string {
	var b strings.Builder
	b.WriteString(static.Base() + "/p/" + url.PathEscape(name))
	for _, part := range parts {
		b.WriteString("/" + url.PathEscape(part))
	}
	return b.String()
}

// At is the address of a path of the server, for attributes.
func At(path string) templ.SafeURL { return templ.SafeURL(static.Base() + path) }

// ProjectURL is ProjectPath for attributes.
func ProjectURL(name string, parts ...string) templ.SafeURL {
	return templ.SafeURL(ProjectPath(name, parts...))
}

// Hole is a line of the definition with mistakes.
type Hole struct {
	Line int
	Kept bool // shown as it was before the mistakes; otherwise it is left out
}

// holeText says how lines with mistakes are shown, "" if there are none.
func (w Workbench) holeText() string {
	var as, without []string
	for _, h := range w.Holes {
		if h.Kept {
			as = append(as, itoa(h.Line))
		} else {
			without = append(without, itoa(h.Line))
		}
	}
	var parts []string
	for _, p := range []struct {
		lines     []string
		one, many string
	}{{as, "line %s as it was", "lines %s as they were"}, {without, "without line %s", "without lines %s"}} {
		if len(p.lines) == 1 {
			parts = append(parts, fmt.Sprintf(p.one, p.lines[0]))
		} else if len(p.lines) > 1 {
			parts = append(parts, fmt.Sprintf(p.many, strings.Join(p.lines, ", ")))
		}
	}
	return strings.Join(parts, ", ")
}

// holeLines are the lines with mistakes, for data-hold.
func (w Workbench) holeLines() string {
	var lines []string
	for _, h := range w.Holes {
		lines = append(lines, itoa(h.Line))
	}
	return strings.Join(lines, " ")
}

// Ask is a question that the page puts before an action. An empty Text means none.
type Ask struct{ Text, Action, Title string }

// Workbench is the page of a workspace.
type Workbench struct {
	Empty bool // the project has no definitions
	Frame
	Form         FormState
	Rail         Rail
	Message      string // name of the open definition in addresses, or ""
	Targets      []Target
	Definition   Definition
	Layout       *view.LayoutInfo // nil if nothing is open
	Stale        bool             // the open definition has mistakes: layout and fields are those of its last valid version
	Holes        []Hole           // lines with mistakes, without which, or in whose earlier form, layout and fields are shown
	Input        Input
	Messages     []MessageRow // of an input with several
	MoreMessages int          // that are not listed
	Shown        *Message     // nil without input
	Values       Values
	Samples      Samples
	Capture      *Capture // nil on the page of the library
	Notice       string   // error of the request as a whole
	Done         string   // success message
	Ask          Ask      // a question before an action
	First        any      // what scripts draw, as JSON: the layout and the shown message
	Uses         Uses
}

// Uses are the settings in force that change the meaning of bytes most.
type Uses struct {
	Codes bool     // the protocol has code maps
	Map   string   // code map in use, "" for none
	Other []string // other settings that were chosen: "patch 98.02"
	Own   bool     // the capture has settings of its own

	Secrets bool // definitions mark fields as secret
}

// Capture is the capture whose frames are listed above the fields.
type Capture struct {
	ID, Name string
	Live     bool // live traffic
}

// Target is an output format for definitions.
type Target struct{ Name, Title string }

// FormState is the state that a page passes to the next through its form.
type FormState struct {
	Show, Bytes int
	Edits       map[string]string // edited messages by number, in hex
	From        string            // detects whether the input has changed
	Base        string            // detects whether the definition on disk has changed
}

// EditsJSON is Edits for a form, "" without edits.
func (f FormState) EditsJSON() string {
	if len(f.Edits) == 0 {
		return ""
	}
	text, _ := json.Marshal(f.Edits) // cannot fail: it has only strings
	return string(text)
}

// Rail is the list of the library's messages, and what belongs to the library as a whole.
type Rail struct {
	Drawn bool   // false: unchanged since the last drawing, and what is below the list is empty
	Had   bool   // an open page came with what is below the list
	State string // of the library
	Count int    // definitions of messages in the library

	Groups   []Group  // of the rows that are drawn
	Begun    []string // names of definitions that were begun and not saved
	Versions bool     // messages have versions
	Filter   string
	Earlier  string // address of the rows before those, "" for none
	Later    string // and after them

	EnvelopeFrom string // capture in which an envelope was found, for a library without one; "" for none

	Ext       string     // extension of definitions, ".def"
	Accept    string     // extensions of files that can be added: ".def,.json"
	Codes     bool       // codes of messages are in code maps
	Constants *Constants // nil if the dialect has none
	Maps      []string   // code maps of the library
	MapName   string     // in use
	Options   []Option   // of the dialect
	SaveTyped bool       // definitions are saved as people type
	Notes     []string   // diagnostics of the library as a whole
	NoteCount int
}

// Option is an option of a dialect, for a setting.
type Option struct {
	Name, Title, Doc string
	Choices          []string // nil: any text
	Value            string   // "" = the server's default
}

// Constants are the values of constants that definitions use but do not define.
type Constants struct {
	Text    string   // NAME = VALUE lines
	Missing []string // names without a value
}

// Group is a heading in the list of messages.
type Group struct {
	Title string
	Count int // items of the group
	Items []Item

	Envelopes bool // the items are envelopes
	Undefined bool // or names of the code map without a definition
}

// Item is a message of the library in all its versions, or another name.
type Item struct {
	Name     string
	Code     string        // "0x1234", or ""
	Unmapped bool          // the code map lacks the name
	State    string        // the worst severity in its files: "", "warning", "error"
	Sampled  bool          // the newest version has samples
	File     string        // of a file with several messages
	Unused   bool          // envelope: another one applies
	New      bool          // envelope: there is none yet
	Versions []ItemVersion // newest first
}

// ItemVersion is one definition of a message.
type ItemVersion struct {
	Number  int
	Href    string
	Current bool
}

// Definition is the open definition.
type Definition struct {
	File, Text  string
	New         string // proposed name of a new definition
	Edited      bool   // the text differs from the stored one
	Stored      bool   // it is stored
	Begun       bool   // it is not, but a text that everybody has
	Place       string // the file that it has, or would have
	Envelope    bool   // it is an envelope, without messages
	Versioned   bool   // the file is one version of its message
	NewLabel    string // label of the name of a new definition
	Version     int
	Newest      int  // version of the message; greater than Version for an older one
	Moves       bool // an older version whose text has another layout: it cannot be saved under its version
	Base        string
	Conflict    *Conflict // the file on disk changed during editing
	Diagnostics []diag.Info
	Language    schema.Language
	Begin       string        // how a new text begins, with $NAME for its name
	Several     []MessageLine // the messages of a text with several
	Part        int           // index of the open one
}

// oneByOne reports whether the text has messages that can be shown alone.
func (d *Definition) oneByOne() bool {
	return len(d.Several) > 1 && slices.ContainsFunc(d.Several, func(m MessageLine) bool { return m.First > 0 })
}

// MessageLine is a message of a text with several, the line of its name, and the lines that say nothing else; 0 if these are not together.
type MessageLine struct {
	Name        string
	Line        int
	First, Last int
}

// Conflict is a file that was changed by others while its text was edited.
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

// Samples are the messages stored beside the open definition.
type Samples struct {
	Rows    []SampleRow
	CanKeep bool // the shown message can be stored

	Left        int    // samples that were not decoded: there are too many bytes
	Judged, Fit int    // samples that were decoded, and those that are explained without a problem
	Worse       bool   // with the stored text more of them fit
	Failing     int    // number of the first that does not fit
	Why         string // its description, and the problem
	Broken      int    // samples that are broken on purpose
	How         string // what is wrong with the first of them
}

// SampleRow is a sample.
type SampleRow struct {
	Number, Size   int
	Message, About string
	Current        bool
	Other          bool   // of another message of the same file
	Wrong          string // the first problem, "" if it fits or was not judged
}

// Input is the pasted text and its recognized form.
type Input struct {
	Text    string
	Form    string // to read it as, "" = automatic
	Pattern string // of the user, instead of a form
	Dir     string // of all messages, "" = as they say themselves
	Forms   []FormGroup
	ByCode  bool // decode by the code of each message
	Guess   bool // without one, fields are guessed from the bytes
	Verdict string
	Why     string   // reason of the verdict
	Notes   []string // oddities in the text
	Keep    string   // name for a capture of the text, "" if it has no conversation
	Error   string
}

// FormGroup is a heading in the menu of forms.
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
	Edited                  bool // its bytes were edited
}

// Message is the decoded message on the page, with its bytes.
type Message struct {
	view.Result
	Name      string // of its definition in addresses, or ""
	Data      []byte
	Was       []byte            // before editing
	Edited    bool              // in this page
	Number    int               // in the input, from 0
	Types     map[string]string // of fields, as written, by path without indexes
	Linked    bool              // decoded by the open definition, so lines refer to it
	Stale     bool              // decoded by an earlier text of it, so lines may have moved
	Other     string            // the definition of its code, if that is another one
	Stray     bool              // no definition has its code, or it has none, and the open one does
	FirstByte int               // first byte drawn
	Fits      []Fit             // definitions that explain it, if its own does not
	Begin     Begin             // of a new one
	Setting   string            // with which its own does: "patch 73"

	FitsPartial bool // not all definitions were tried

	// Of a frame that is not a message, from its transport.
	What  string // title, "" of messages
	Kind  string // control, opaque or problem
	Facts [][2]string
}

// Fit is a definition that explains a message, or most of it.
type Fit struct {
	Name, Evidence, Href string
	Explained            int // bytes
}

// Doubtful reports whether the definition places contents where they hardly are: in bytes of other fields, or outside the message.
func (m *Message) Doubtful() bool {
	return slices.ContainsFunc(m.Problems, func(p view.ProblemInfo) bool {
		return p.Code == codec.SharedBytes.String() || p.Code == codec.EmptyOutside.String()
	})
}

// Begin is a proposed definition of a message without one.
type Begin struct {
	Name string // with a version, if the dialect has versions; "": nothing is proposed
	Code uint32
	Map  string // the code map that can get a name for the code, "" if none is needed

	Offered bool // the list of frames offers to begin it
}

// Values are the values to encode.
type Values struct {
	Offered  bool // there is a definition to encode by
	Text     string
	Made     string // detects whether Text was edited
	Kept     bool   // edited, not those of the message
	TooLong  bool   // for a text field
	Code     string
	CodeHint string // code of the definition
	Encoded  string // result in words
	Problems []view.ProblemInfo
}

// Limits of the items drawn at once. Buttons lead to the pages before and after; the JSON routes return everything.
const (
	pageBytes = 4096
	pageRows  = 1000 // fields
)

func asset(name string) string { return static.URL(name) }

// Family is the family of a field's color.
func Family(f *view.FieldValue) string {
	if f.Family == "" {
		return string(view.FamilyInt)
	}
	return string(f.Family)
}

func itoa(n int) string { return strconv.Itoa(n) }

// number formats a number; 0 is "".
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// hintOfSlash is the key of the message filter. On the page of a capture the key belongs to the filter of frames.
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

// severityClass is the class of an error or of a warning.
func severityClass(severity string) string {
	if severity == "error" {
		return "err"
	}
	return "warn"
}

// severityMark is a sign for a severity, in addition to the color.
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

// countState returns the number of projects in a state.
func countState(rows []ProjectRow, state string) (n int) {
	for _, p := range rows {
		if p.State == state {
			n++
		}
	}
	return n
}
