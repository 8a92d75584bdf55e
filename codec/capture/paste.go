package capture

import (
	"slices"
	"strings"

	"wirebench/defs/schema"
)

// Bounds of pasted text. They keep a hostile text from costing more than a large honest one.
const (
	MaxPasteText     = 64 << 20  // bytes of text
	MaxPasteBytes    = 64 << 20  // bytes of all messages together
	MaxPasteMessages = 1_000_000 // messages in one text
	maxPasteNotes    = 1000
)

// Paste is what a pasted text holds.
type Paste struct {
	Form     string // stable id, one of Forms
	Title    string // the form, for people
	Why      string // one sentence: what told the form, and what else the text could have been
	Messages []Message
	Notes    []Note   // odd things that did not stop the reading, in the order of the text
	Peers    []string // address:port of peer 0 and peer 1, where the text names them; else nil
	Conns    []Conn   // where the text tells several connections: those that Message.Conn means; Peers is nil then
	Packets  bool     // the messages are whole packets of Link: ReadAny reads them as a capture
	Link     LinkType // with Packets
	Stream   bool     // the messages are pieces of two byte streams: their ends need not be ends of game messages
}

// Message is one message, or one piece of a stream if Paste.Stream is set.
type Message struct {
	Bytes   []byte
	Dir     schema.Dir // schema.Both if the text does not tell
	Time    Stamp
	Name    string // as the text calls it: a message name in a log, a variable in source code; else ""
	Version int    // with Name, where a log states it; else 0
	Number  int    // as the text counts it (a packet number of Wireshark, 1-based); else 0
	Marks   Marks
	Conn    int // index in Paste.Conns
	Line    int // 1-based line of the text where the message starts
}

// Marks are what the log of a proxy says about a message. Several can be set.
type Marks uint8

// The marks.
const (
	Fake     Marks = 1 << iota // made by the proxy or its modules: injected, or the changed copy of a real message
	Silenced                   // stopped by the proxy: the other side never got it
	BadDef                     // the logger's definition did not fit the bytes
	Changed                    // by the proxy: what came, and what was sent in its place
)

func (m Marks) String() string {
	var set []string
	for i, name := range [...]string{"fake", "silenced", "bad def", "changed"} {
		if m&(1<<i) != 0 {
			set = append(set, name)
		}
	}
	return strings.Join(set, ", ")
}

// flagNames are the names that filters have for what a proxy did.
var flagNames = []struct {
	mark Marks
	name string
}{{Fake, "injected"}, {Changed, "modified"}, {Silenced, "dropped"}}

// Flags are the names that filters have for what a proxy did to the message: injected, modified, dropped.
func (m Marks) Flags() (names []string) {
	for _, f := range flagNames {
		if m&f.mark != 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// marksOf is the opposite of Marks.Flags.
func marksOf(names []string) (m Marks) {
	for _, f := range flagNames {
		if slices.Contains(names, f.name) {
			m |= f.mark
		}
	}
	return m
}

// Note is something odd that did not stop the reading.
type Note struct {
	Line    int // 1-based
	Column  int // 1-based, in Unicode characters
	Message string
	off     int // bytes from the start of the text
}

// FormInfo describes a form for a menu.
type FormInfo struct {
	ID    string // stable
	Title string // for people
	Group string // heading under which a menu shows it
}

// Forms lists the forms in the order in which a menu shows them.
func Forms() []FormInfo {
	infos := make([]FormInfo, len(forms))
	for i, f := range forms {
		infos[i] = f.FormInfo
	}
	return infos
}

// Recognise tells the form of text and reads it. Of a conversation that breaks off in its last line the rest is read, with a note. The error
// is a *PasteError.
func Recognise(text string) (*Paste, error) {
	p, err := recognise(text)
	if err != nil {
		if cut := recogniseCut(text, false); cut != nil {
			return cut, nil
		}
	}
	return p, err
}

func recognise(text string) (*Paste, error) {
	t, e := newPasted(text)
	if e != nil {
		return nil, e
	}
	if e := t.binary(); e != nil {
		return nil, e.place(t)
	}
	var best *PasteError
	for _, r := range recognisers {
		p, e := r.try(t)
		if p != nil && len(p.msgs) > 0 {
			return p.finish(t), nil
		}
		if e == nil {
			continue
		}
		if e.Form == "" && e.strength > weak {
			e.Form = r.form
		}
		if best == nil || e.strength > best.strength {
			best = e
		}
		if e.strength == certain {
			break
		}
	}
	if best == nil || best.strength == weak {
		best = errNothing(best)
	}
	return nil, best.place(t)
}

// RecogniseAs reads text as the form with this id, whatever it looks like. The error is a *PasteError.
func RecogniseAs(text, form string) (*Paste, error) {
	f := formByID(form)
	if f == nil {
		return nil, &PasteError{Message: "unknown form " + quoteShort(form)}
	}
	t, e := newPasted(text)
	if e != nil {
		return nil, e
	}
	p, e := f.read(t)
	if e == nil && len(p.msgs) == 0 {
		e = errWhole("there are no bytes of this form in the text")
	}
	if e != nil {
		e.Form = form
		return nil, e.place(t)
	}
	p.form, p.why = form, "read as chosen"
	return p.finish(t), nil
}

// reader reads a whole text as one form or one family of forms. Exactly one of its results is nil.
type reader func(t *pasted) (*builder, *PasteError)

// recogniser is a reader that may also decline: both results nil means that the text does not look like its forms.
type recogniser struct {
	form string // named in its errors where they name none
	try  func(t *pasted) (*builder, *PasteError)
}

// recognisers in the order in which they look at a text: what has the clearest marks first.
var recognisers = []recogniser{
	{"packets", tryPackets},
	{"tera-log", tryTeraLog},
	{"follow-yaml", tryYAML},
	{"follow-c-arrays", tryFollowArrays},
	{"follow-hex", tryFollowHex},
	{"follow-raw", tryFollowRaw},
	{"node-buffer", tryNode},
	{"gdb-print", tryGdbPrint},
	{"od-c", tryChars},
	{"", tryDump},
	{"json-rows", tryJSON},
	{"csv", tryCSVHeader},
	{"", tryCode},
	{"hex", tryHexOrCSV},
	{"base64", tryBase64},
}

type form struct {
	FormInfo
	read reader
}

func formByID(id string) *form {
	for i := range forms {
		if forms[i].ID == id {
			return &forms[i]
		}
	}
	return nil
}
