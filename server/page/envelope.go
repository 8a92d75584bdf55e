package page

import (
	"slices"
	"strings"

	"wirebench/defs/envelope"
	"wirebench/defs/schema"
	"wirebench/server/store"
	"wirebench/server/view"
	"wirebench/server/workspace"
)

// maxNames bounds the names that the editor of an envelope completes.
const maxNames = 3000

// openedEnvelope shows an envelope in the place of a definition. Bytes are decoded by their codes.
func (p *work) openedEnvelope(def *workspace.Definition) {
	d := &p.view.Definition
	d.Envelope, d.Language = true, p.ws.envelopeLanguage()
	p.view.Message, p.def = p.form.message, def
	if p.view.Message == "" {
		p.view.Message = d.File
	}
}

// envelopeLanguage returns the language of envelopes with the names of the library.
func (ws *space) envelopeLanguage() schema.Language {
	l := envelope.Language()
	for _, g := range ws.Groups() {
		if g != "" {
			l.Names = append(l.Names, schema.Name{Name: g, Kind: "group"})
		}
	}
	listed := map[schema.Name]bool{}
	add := func(n schema.Name) {
		if !listed[n] && len(l.Names) < maxNames {
			listed[n] = true
			l.Names = append(l.Names, n)
		}
	}
	for m := range ws.Messages() {
		add(schema.Name{Name: m.Name, Kind: "message", Of: view.SetTitle(m.Key.Group, m.Key.Dir)})
	}
	for m := range ws.Messages() {
		if m.Body == nil {
			continue
		}
		for _, f := range m.Body.Fields {
			switch f.Type.(type) {
			case *schema.Number, *schema.Text, *schema.Blob:
				add(schema.Name{Name: f.Name, Kind: "field", Of: m.Name})
			}
		}
	}
	return l
}

// foundEnvelope returns the newest capture in which an envelope was found.
func (ws *space) foundEnvelope() (x store.Capture, ok bool) {
	if ws.Captures == nil {
		return x, false
	}
	all, err := ws.Captures.List()
	if err != nil {
		return x, false
	}
	i := slices.IndexFunc(all, func(x store.Capture) bool { return x.Settings.Envelope != "" }) // the newest is first
	if i < 0 {
		return x, false
	}
	return all[i], true
}

// newEnvelope returns the initial text of an envelope: the one found in a capture, or an example.
func (ws *space) newEnvelope() string {
	if text := ws.UserSettings().Envelope; text != "" {
		return text
	}
	if x, ok := ws.foundEnvelope(); ok {
		return x.Settings.Envelope
	}
	return strings.TrimLeft(exampleEnvelope, "\n")
}

// exampleEnvelope is the initial text of an envelope.
const exampleEnvelope = `
# How the messages of the protocol travel. Change what differs,
# and remove the # of what applies.

# The protocol below: tcp, udp or websocket.
carrier tcp

# How a stream is cut into messages. Here their length precedes them;
# with "including itself" it counts its own bytes, too.
frame length u16 be

# The number at the start of a message that tells its definition.
code u8

# Messages of 256 bytes and more are compressed.
# compress zlib size varint from 256

# The streams are encrypted from their first byte.
# cipher xor key hex 2a

# States of a connection, named after groups of messages. The first one is
# the initial state; rules say which message leads to another one.
# state handshake
#   hello to-server when next = 2 -> login
# state login
#   accepted to-client -> play
# state play
`
