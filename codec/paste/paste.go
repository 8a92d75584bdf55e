package paste

import (
	"fmt"

	"wirebench/codec/packet"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Bounds of pasted text. They keep a hostile text from costing more than a large valid one.
const (
	MaxText     = 64 << 20  // bytes of text
	MaxBytes    = 64 << 20  // bytes of all messages together
	MaxMessages = 1_000_000 // messages in one text
	maxNotes    = 1000
)

// Paste is the contents of a pasted text.
type Paste struct {
	Form     string // stable id, one of Forms
	Title    string // the form, for people
	Why      string // one sentence: the reason for the form, and other possible forms
	Messages []Message
	Notes    []Note           // oddities that did not prevent reading, in the order of the text
	Peers    []string         // address:port of peer 0 and peer 1, if the text has them; else nil
	Conns    []transport.Conn // if the text has several connections: those of Message.Conn; Peers is nil then
	Packets  bool             // the messages are complete packets of Link: ReadAny reads them as a capture
	Link     packet.LinkType  // with Packets
	Stream   bool             // the messages are segments of two byte streams: their ends need not be ends of game messages
}

// Message is one message, or one segment of a stream if Paste.Stream is set.
type Message struct {
	Bytes   []byte
	Dir     schema.Dir // schema.Both if unknown
	Time    scan.Stamp
	Name    string // in the text: a message name in a log, a variable in source code; else ""
	Note    string // words around the bytes in the text
	Version int    // with Name, if a log has it; else 0
	Number  int    // in the text (a packet number of Wireshark, 1-based); else 0
	Marks   transport.Marks
	Conn    int // index in Paste.Conns
	Line    int // 1-based line of the text where the message starts
}

// Note is an oddity that did not prevent reading.
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
	Group string // heading in a menu
}

// TooLarge is the Message of the Error for a text of more than MaxText bytes.
var TooLarge = fmt.Sprintf("the text is larger than %d MiB", MaxText>>20)

// Forms returns the forms in menu order.
func Forms() []FormInfo {
	infos := make([]FormInfo, len(forms))
	for i, f := range forms {
		infos[i] = f.FormInfo
	}
	return infos
}

// Recognise detects the form of text and reads it. A conversation that is truncated in its last line is read up to that line, with a note.
// The error is an *Error.
func Recognise(text string) (*Paste, error) { return readOrCut(text, false, recognise) }

func recognise(text string) (*Paste, error) {
	return readText(text, func(t *pasted) (*builder, *Error) {
		if e := t.binary(); e != nil {
			return nil, e
		}
		return choose(t)
	})
}

// readText reads a text, and places what is said of it.
func readText(text string, read reader) (*Paste, error) {
	t, e := newPasted(text)
	if e != nil {
		return nil, e
	}
	b, e := read(t)
	if e != nil {
		return nil, e.place(t)
	}
	return b.finish(t), nil
}

// RecogniseAs reads any text as the form with this id, a truncated one as Recognise does. The error is an *Error.
func RecogniseAs(text, form string) (*Paste, error) {
	f := formByID(form)
	if f == nil {
		return nil, &Error{Message: "unknown form " + scan.Quote(form)}
	}
	return readOrCut(text, false, func(text string) (*Paste, error) {
		return readText(text, func(t *pasted) (*builder, *Error) {
			b, e := f.read(t)
			if e == nil {
				b.form, b.why = f.ID, "read as chosen"
				b, e = b.whole(nil, noBytes)
			}
			if e != nil {
				e.Form = f.ID
			}
			return b, e
		})
	})
}

// reader reads a text as one form or one family of forms. Exactly one of its results is nil.
type reader func(t *pasted) (*builder, *Error)
