package paste

import (
	"encoding/hex"
	"fmt"

	"wirebench/defs/schema"
)

// PasteInfo is the JSON form of a Paste: the object of paste --json.
type PasteInfo struct {
	Form     string        `json:"form" doc:"detected form of the text"`
	Title    string        `json:"title" doc:"the form, for people"`
	Why      string        `json:"why,omitempty"`
	Stream   bool          `json:"stream,omitempty" doc:"the messages are segments of two byte streams"`
	Messages []MessageInfo `json:"messages"`
	Notes    []string      `json:"notes,omitempty"`

	Conversation bool `json:"conversation,omitempty" doc:"several messages whose directions are known: worth storing as a capture"`
}

// MessageInfo is one message of a PasteInfo.
type MessageInfo struct {
	Hex     string `json:"hex"`
	Dir     string `json:"dir,omitempty" enum:"c2s,s2c"`
	Time    string `json:"time,omitempty"`
	Name    string `json:"name,omitempty"`
	Version int    `json:"version,omitempty"`
	Number  int    `json:"packet,omitempty" doc:"number in the text"`
	Marks   string `json:"marks,omitempty"`
	Note    string `json:"note,omitempty" doc:"words around the bytes in the text"`
	Line    int    `json:"line,omitempty" doc:"line of the text where it starts, 1-based"`
}

// Info describes the paste.
func (p *Paste) Info() PasteInfo {
	out := PasteInfo{Form: p.Form, Title: p.Title, Why: p.Why, Stream: p.Stream, Messages: make([]MessageInfo, 0, len(p.Messages)), Conversation: p.Conversation()}
	for _, m := range p.Messages {
		info := MessageInfo{
			Hex: hex.EncodeToString(m.Bytes), Time: m.Time.String(), Name: m.Name, Version: m.Version, Number: m.Number,
			Marks: m.Marks.String(), Note: m.Note, Line: m.Line,
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

// Conversation reports whether the text has several messages with directions, or complete packets: then it can be stored as a capture.
func (p *Paste) Conversation() bool {
	n := 0
	for i := 0; i < len(p.Messages) && n < 2; i++ {
		if p.Messages[i].Dir != schema.Both {
			n++
		}
	}
	return p.Packets || n > 1
}

// String returns the note with its position.
func (n Note) String() string {
	return fmt.Sprintf("line %d, column %d: %s", n.Line, n.Column, n.Message)
}
