package workspace

import (
	"fmt"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
)

// Pick returns a schema of the named messages, or of all messages in their highest version if there are no names, for use with package
// emit. left lists the messages whose definitions have errors.
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
		for m := range s.Messages() {
			if m.Version == s.Newest(m) {
				list = append(list, m)
			}
		}
	}
	picked, left = s.PickMessages(list)
	return picked, left, nil
}

// PickMessages is like Pick for a list of messages.
func (s *Snapshot) PickMessages(list []*schema.Message) (picked *schema.Schema, left []*schema.Message) {
	picked = &schema.Schema{Codes: s.Schema().Codes}
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

// maxVectors bounds the vectors of a message.
const maxVectors = 100

// Vectors returns up to n valid messages of each message of a picked schema, with the results for truncated and invalid ones, as test data
// for generated code. Equal definitions give equal vectors.
func (s *Snapshot) Vectors(picked *schema.Schema, n int) []emit.Vector {
	var out []emit.Vector
	outcomes := map[codec.Status]emit.Outcome{codec.OK: emit.OutcomeOK, codec.Incomplete: emit.OutcomeIncomplete, codec.Illegal: emit.OutcomeIllegal}
	for _, m := range picked.Messages {
		p, err := s.Program(m)
		if err != nil {
			continue
		}
		name := m.Name
		if m.Version > 1 {
			name = fmt.Sprintf("%s.%d", m.Name, m.Version)
		}
		for _, x := range value.Examples(p, min(n, maxVectors), 1, m.Key.Code) {
			out = append(out, emit.Vector{Message: name, Value: x.Value, Bytes: x.Data, Used: x.Used, Outcome: outcomes[x.Status]})
		}
	}
	return out
}

// Emitted is the output of a target as JSON.
type Emitted struct {
	Files  []EmittedFile `json:"files"`
	Losses []EmittedLoss `json:"losses" doc:"what the target cannot express"`
	Left   []string      `json:"left,omitempty" doc:"messages whose definitions have errors"`
}

// EmittedFile is a generated file.
type EmittedFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// EmittedLoss is a feature of a definition that the target lacks.
type EmittedLoss struct {
	Message string `json:"message,omitempty" doc:"without it: all messages"`
	Field   string `json:"field,omitempty" doc:"path without indexes"`
	Reason  string `json:"reason" doc:"the missing feature, and its substitute"`
}

// EmittedOf converts the output of a target.
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
