package paste

import (
	"encoding/hex"
	"fmt"

	"wirebench/defs/schema"
)

// PasteInfo is a Paste as other programs get it: the object of paste --json.
type PasteInfo struct {
	Form     string        `json:"form" doc:"what the text was taken for"`
	Title    string        `json:"title" doc:"the form, for people"`
	Why      string        `json:"why,omitempty"`
	Stream   bool          `json:"stream,omitempty" doc:"the messages are pieces of two byte streams"`
	Messages []MessageInfo `json:"messages"`
	Notes    []string      `json:"notes,omitempty"`

	Conversation bool `json:"conversation,omitempty" doc:"several messages, and the text tells which way they went: worth keeping as a capture"`
}

// MessageInfo is one message of a PasteInfo.
type MessageInfo struct {
	Hex     string `json:"hex"`
	Dir     string `json:"dir,omitempty" enum:"c2s,s2c"`
	Time    string `json:"time,omitempty"`
	Name    string `json:"name,omitempty"`
	Version int    `json:"version,omitempty"`
	Number  int    `json:"packet,omitempty" doc:"as the text counts it"`
	Marks   string `json:"marks,omitempty"`
	Line    int    `json:"line,omitempty" doc:"where it starts in the text, 1-based"`
}

// Info describes the paste.
func (p *Paste) Info() PasteInfo {
	out := PasteInfo{Form: p.Form, Title: p.Title, Why: p.Why, Stream: p.Stream, Messages: make([]MessageInfo, 0, len(p.Messages)), Conversation: p.Conversation()}
	for _, m := range p.Messages {
		info := MessageInfo{
			Hex: hex.EncodeToString(m.Bytes), Time: m.Time.String(), Name: m.Name, Version: m.Version, Number: m.Number,
			Marks: m.Marks.String(), Line: m.Line,
		}
		if m.Dir != schema.Both {
			info.Dir = m.Dir.String()
		}
		out.Messages = append(out.Messages, info)
	}
	for _, n := range p.Notes {
		out.Notes = append(out.Notes, n.String())
	}
	return out
}

// Conversation reports whether the text shows more than one message and which way they went, or whole packets: then it is as good as a
// capture.
func (p *Paste) Conversation() bool {
	if p.Packets {
		return true
	}
	n := 0
	for i := range p.Messages {
		if p.Messages[i].Dir != schema.Both {
			if n++; n > 1 {
				return true
			}
		}
	}
	return false
}

// String is the note with its place.
func (n Note) String() string {
	return fmt.Sprintf("line %d, column %d: %s", n.Line, n.Column, n.Message)
}
