package relay

import (
	"encoding/json"
	"errors"
	"fmt"

	"wirebench/codec"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/codec/view"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// Outgoing is a message to send: bytes, or a definition and values.
type Outgoing struct {
	Hex        string          `json:"hex,omitempty" maxLength:"131072" doc:"the unencrypted message, including its header"`
	Message    string          `json:"message,omitempty" maxLength:"1000" doc:"NAME or NAME.VERSION of the message to encode from value"`
	Value      json.RawMessage `json:"value,omitempty" doc:"an object of values"`
	Raw        bool            `json:"raw,omitempty" doc:"send the bytes unchanged: lengths, sequence numbers and checksums are not computed"`
	Unreliable bool            `json:"unreliable,omitempty" doc:"send without acknowledgment, if the protocol supports it"`
}

// ValueError reports that values cannot be encoded.
type ValueError struct{ Problems []view.ProblemInfo }

func (e *ValueError) Error() string { return "the value cannot be encoded" }

// Make returns the message. It may replace one, whose form of header it then has unless it states another; was is nil if it does not.
func (b *Outgoing) Make(snap *workspace.Snapshot, dir schema.Dir, was *transport.Frame) (transport.Outgoing, error) {
	out := transport.Outgoing{Raw: b.Raw, Unreliable: b.Unreliable}
	if b.Message == "" {
		data, err := scan.HexLine(b.Hex)
		if err == nil && len(data) == 0 {
			err = errors.New("no bytes to send")
		}
		if err != nil {
			return out, fmt.Errorf("hex: %w", err)
		}
		out.Bytes = data
		return out, nil
	}
	m, err := snap.FindIn(b.Message, "", dir)
	if err != nil {
		return out, err
	}
	if was != nil && snap.HasAlternate(was) {
		m = snap.AlternateFor(m, was.Bytes)
	}
	if other := snap.Alternate(m); other != m || snap.Envelope != nil && m.AlternateOf != nil {
		if out.Alternate, out.Open, err = encoded(snap, other, b.Value); err != nil || snap.Envelope != nil {
			out.Bytes = out.Alternate
			return out, err
		}
	}
	out.Bytes, _, err = encoded(snap, m, b.Value)
	return out, err
}

// encoded encodes values.
func encoded(snap *workspace.Snapshot, m *schema.Message, value json.RawMessage) ([]byte, []transport.Open, error) {
	enc, err := snap.Encoder(m, nil, codec.Session{Counter: 1})
	if err != nil {
		return nil, nil, err
	}
	data, problems := enc.Encode(value)
	if len(problems) > 0 {
		return nil, nil, &ValueError{problems}
	}
	return data, enc.Open(), nil
}
