package replay

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/defs/schema"
)

// Limits of scripts made from recordings. Messages beyond them are omitted, with a note.
const (
	maxRecorded     = 50_000  // messages
	maxRecordedText = 4 << 20 // bytes of values
	maxWithin       = 10 * time.Minute
)

// FromOptions configure FromFrames.
type FromOptions struct {
	Definitions Definitions
	Protocol    string     // written into the script
	Play        schema.Dir // ToServer: play the client; ToClient: the server
	AllSteps    bool       // do not turn keepalives into Keepalive entries
	NoLifts     bool       // send recorded values
}

// FromFrames makes a script from the frames of one connection, in order. Frames other than messages are skipped. Messages without a
// definition are bytes.
func FromFrames(frames []Message, o FromOptions) (*Script, error) {
	if o.Play != schema.ToServer && o.Play != schema.ToClient {
		return nil, errors.New("the side to play is missing")
	}
	r := &recorder{o: o, enc: encoder{defs: o.Definitions}, script: &Script{Version: Version, Protocol: o.Protocol, Play: "client", Steps: []Step{}}}
	if o.Play == schema.ToClient {
		r.script.Play = "server"
	}
	for i := range frames {
		if f := &frames[i]; f.Kind == transport.Message && f.Dir != schema.Both {
			if len(r.all) == maxRecorded {
				r.script.Note = fmt.Sprintf("only the first %d messages", maxRecorded)
				break
			}
			r.all = append(r.all, recorded{Message: f, def: definition(o.Definitions, f)})
		}
	}
	if len(r.all) == 0 {
		return nil, errors.New("the connection has no messages")
	}
	if !o.AllSteps {
		r.keepalives()
	}
	r.steps()
	if !o.NoLifts {
		r.lifts()
	}
	return r.script, r.script.Check()
}

// recorder makes a script.
type recorder struct {
	o      FromOptions
	script *Script
	enc    encoder
	all    []recorded
	rec    codec.Record
	other  codec.Record
}

// recorded is a message of the recording.
type recorded struct {
	*Message
	def  *schema.Message
	gone bool // a keepalive, without a step
	step int  // its index in the script; -1: omitted
}

// sent reports whether the played side sends it.
func (r *recorder) sent(m *recorded) bool { return m.Dir == r.o.Play }

// decode decodes a message; nil if there are problems.
func (r *recorder) decode(m *recorded, rec *codec.Record) *codec.Record {
	a := arrived{*m.Message, m.def}
	if rec = a.decode(r.o.Definitions, rec); rec == nil || rec.Status() != codec.OK {
		return nil
	}
	return rec
}

// text returns the name of a message, and its fields if they describe it completely, else its bytes.
func (r *recorder) text(m *recorded) (name string, values json.RawMessage, hexText string) {
	if m.def == nil {
		return "", nil, hex.EncodeToString(m.Bytes)
	}
	name = nameOf(m.def)
	if found, err := r.o.Definitions.FindIn(name, "", m.Dir); err != nil || found != m.def {
		return "", nil, hex.EncodeToString(m.Bytes) // another message has this name
	}
	if rec := r.decode(m, &r.rec); rec != nil {
		values = value.AppendJSON(nil, rec)
		if data, err := r.enc.encode(m.def, rec.Program, values); err == nil && r.equal(rec, data) {
			return name, values, ""
		}
	}
	return name, nil, hex.EncodeToString(m.Bytes)
}

// equal reports whether bytes equal those of a record, except for session data: sequence numbers and checksums.
func (r *recorder) equal(rec *codec.Record, data []byte) bool {
	if bytes.Equal(rec.Message(), data) {
		return true
	}
	if rec.Size() != len(data) {
		return false
	}
	a, b := slices.Clone(rec.Message()), slices.Clone(data)
	for _, l := range rec.AppendLeaves(nil) {
		if l.Role == codec.RoleCounter || l.Role == codec.RoleCheck {
			from, to := l.Off/8, (l.Off+l.Len+7)/8
			if int(to) <= len(a) {
				clear(a[from:to])
				clear(b[from:to])
			}
		}
	}
	return bytes.Equal(a, b)
}

// steps makes a step of each message.
func (r *recorder) steps() {
	var last time.Time
	size := 0
	for i := range r.all {
		m := &r.all[i]
		m.step = -1
		if m.gone {
			continue
		}
		name, value, hexText := r.text(m)
		if size += len(value) + len(hexText); size > maxRecordedText {
			r.script.Note = fmt.Sprintf("only the first %d messages: the rest exceeds the size of a script", i)
			for k := i; k < len(r.all); k++ {
				r.all[k].step, r.all[k].gone = -1, true
			}
			return
		}
		gap := time.Duration(0)
		if !last.IsZero() && !m.At.IsZero() {
			gap = min(max(m.At.Sub(last), 0), MaxWait).Round(time.Millisecond)
		}
		if !m.At.IsZero() {
			last = m.At
		}
		st := Step{}
		if r.sent(m) {
			st.Send = &Send{Dir: m.Dir.String(), Message: name, Value: value, Hex: hexText, After: Duration(gap), Unreliable: m.Unreliable}
			if hexText != "" && m.def == nil {
				st.Send.Message = ""
			}
		} else {
			x := &Expect{Dir: m.Dir.String(), Message: name, Value: value, Hex: hexText}
			if within := min(3*gap, maxWithin); within > DefaultWithin {
				x.Within = Duration(within)
			}
			if name == "" {
				x.Match = fmt.Sprintf("len == %d", len(m.Bytes))
				if m.HasKey {
					x.Match = fmt.Sprintf("op == 0x%X", m.Key.Code)
				}
			}
			st.Expect = x
		}
		m.step = len(r.script.Steps)
		r.script.Steps = append(r.script.Steps, st)
	}
}
