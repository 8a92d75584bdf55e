package workspace

import (
	"wirebench/defs/emit"
	"wirebench/defs/schema"
)

// Pick is a schema of the messages of these names alone, or without names of all in their highest version, ready to be emitted. left
// are those whose definitions have errors.
func (s *Snapshot) Pick(names []string) (picked *schema.Schema, left []*schema.Message, err error) {
	var list []*schema.Message
	for _, name := range names {
		m, err := s.Find(name)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, m)
	}
	if len(names) == 0 {
		for _, m := range s.Schema.Messages {
			if m.Version == s.Newest(m) {
				list = append(list, m)
			}
		}
	}
	picked, left = s.PickMessages(list)
	return picked, left, nil
}

// PickMessages is Pick of messages themselves.
func (s *Snapshot) PickMessages(list []*schema.Message) (picked *schema.Schema, left []*schema.Message) {
	picked = &schema.Schema{Codes: s.Schema.Codes}
	seen := map[*schema.Message]bool{}
	for _, m := range list {
		switch {
		case seen[m]:
		case m.Broken:
			left = append(left, m)
		default:
			picked.Messages = append(picked.Messages, m)
		}
		seen[m] = true
	}
	schema.Link(picked)
	return picked, left
}

// Emitted is what a target wrote, as JSON.
type Emitted struct {
	Files  []EmittedFile `json:"files"`
	Losses []EmittedLoss `json:"losses" doc:"what the target cannot express"`
	Left   []string      `json:"left,omitempty" doc:"messages whose definitions have errors"`
}

// EmittedFile is one file.
type EmittedFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// EmittedLoss is something that the target does without.
type EmittedLoss struct {
	Message string `json:"message,omitempty" doc:"without it: all messages"`
	Field   string `json:"field,omitempty" doc:"path without indexes"`
	Reason  string `json:"reason" doc:"what is missing, and what is done instead"`
}

// EmittedOf puts the output of a target into JSON.
func EmittedOf(files []emit.File, losses []emit.Loss) Emitted {
	out := Emitted{Files: make([]EmittedFile, 0, len(files)), Losses: make([]EmittedLoss, 0, len(losses))}
	for _, f := range files {
		out.Files = append(out.Files, EmittedFile(f))
	}
	for _, l := range losses {
		out.Losses = append(out.Losses, EmittedLoss(l))
	}
	return out
}
