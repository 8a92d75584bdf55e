package paste

import (
	"wirebench/codec/packet"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Bounds of pasted text. They keep a hostile text from costing more than a large honest one.
const (
	MaxText     = 64 << 20  // bytes of text
	MaxBytes    = 64 << 20  // bytes of all messages together
	MaxMessages = 1_000_000 // messages in one text
	maxNotes    = 1000
)

// Paste is what a pasted text holds.
type Paste struct {
	Form     string // stable id, one of Forms
	Title    string // the form, for people
	Why      string // one sentence: what told the form, and what else the text could have been
	Messages []Message
	Notes    []Note           // odd things that did not stop the reading, in the order of the text
	Peers    []string         // address:port of peer 0 and peer 1, where the text names them; else nil
	Conns    []transport.Conn // where the text tells several connections: those that Message.Conn means; Peers is nil then
	Packets  bool             // the messages are whole packets of Link: ReadAny reads them as a capture
	Link     packet.LinkType  // with Packets
	Stream   bool             // the messages are pieces of two byte streams: their ends need not be ends of game messages
}

// Message is one message, or one piece of a stream if Paste.Stream is set.
type Message struct {
	Bytes   []byte
	Dir     schema.Dir // schema.Both if the text does not tell
	Time    scan.Stamp
	Name    string // as the text calls it: a message name in a log, a variable in source code; else ""
	Version int    // with Name, where a log states it; else 0
	Number  int    // as the text counts it (a packet number of Wireshark, 1-based); else 0
	Marks   transport.Marks
	Conn    int // index in Paste.Conns
	Line    int // 1-based line of the text where the message starts
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
// is an *Error.
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
	var best *Error
	for _, r := range recognisers {
		p, e := r.try(t)
		if p != nil && len(p.msgs) > 0 {
			return p.finish(t), nil
		}
		if e == nil {
			continue
		}
		if e.Form == "" && e.strength > weak && !r.family {
			e.Form = r.ID
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

// RecogniseAs reads text as the form with this id, whatever it looks like. The error is an *Error.
func RecogniseAs(text, form string) (*Paste, error) {
	f := formByID(form)
	if f == nil {
		return nil, &Error{Message: "unknown form " + scan.Quote(form)}
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
type reader func(t *pasted) (*builder, *Error)
