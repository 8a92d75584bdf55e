package workspace

import (
	"fmt"
	"strings"

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
			if s.highest(m.Name, func(o *schema.Message) bool { return o.Key.Group == m.Key.Group && o.Key.Dir == m.Key.Dir }) == m {
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
		case m.Broken, m.Unreadable:
			left = append(left, m)
		default:
			picked.Messages = append(picked.Messages, m)
		}
		seen[m] = true
	}
	schema.Link(picked)
	return picked, left
}

// Emit writes the messages of a picked schema in the format of a target, with up to n test vectors of each.
func (s *Snapshot) Emit(t emit.Target, picked *schema.Schema, name string, n int) ([]emit.File, []emit.Loss) {
	return t.Emit(picked, emit.Options{Name: name, Vectors: s.vectors(picked, n), Sessions: s.Dialect.Sessions})
}

// NothingWritten is the error of an output without messages.
type NothingWritten struct {
	Target  string
	Reasons []string // a line for each message
}

func (e *NothingWritten) Error() string {
	if len(e.Reasons) == 0 {
		return "there is no message to write"
	}
	return fmt.Sprintf("no message can be written as %s: %s", e.Target, strings.Join(e.Reasons, "; "))
}

// Written returns an error if an output of Emit has no message, with the reason for each; left are the messages whose definitions have
// errors.
func (s *Snapshot) Written(t emit.Target, picked *schema.Schema, left []*schema.Message, losses []emit.Loss) error {
	reasons := emit.Nothing(picked, losses)
	if len(picked.Messages) > 0 && reasons == nil {
		return nil
	}
	for _, m := range left {
		reasons = append(reasons, s.NameOf(m)+": its definition has errors")
	}
	return &NothingWritten{t.Title, reasons}
}

// maxVectors bounds the vectors of a message.
const maxVectors = 100

// vectors returns up to n valid messages of each message of a picked schema, with the results for truncated and invalid ones, as test data
// for generated code. Equal definitions give equal vectors.
func (s *Snapshot) vectors(picked *schema.Schema, n int) []emit.Vector {
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
	From int    `json:"from,omitempty" doc:"first line about the messages, from 1; the lines around this part are the same for all messages. 0: all lines"`
	To   int    `json:"to,omitempty" doc:"last line about the messages"`
}

// EmittedLoss is a kind of feature of the definitions that the target lacks.
type EmittedLoss struct {
	Reason string   `json:"reason" doc:"the missing feature, and its substitute"`
	Count  int      `json:"count,omitempty" doc:"number of places; without it: about the definitions as a whole"`
	Places []string `json:"places,omitempty" doc:"the first places: a message, or a message and the path of a field without indexes"`
}

// EmittedOf converts the output of a target.
func EmittedOf(files []emit.File, losses []emit.Loss) Emitted {
	out := Emitted{Files: make([]EmittedFile, 0, len(files)), Losses: make([]EmittedLoss, 0, len(losses))}
	for _, f := range files {
		x := EmittedFile{Name: f.Name, Text: f.Text}
		if f.Own.End > f.Own.Start {
			before, own := f.Text[:f.Own.Start], f.Text[f.Own.Start:f.Own.End]
			bare := strings.TrimLeft(own, "\n")
			x.From = strings.Count(before, "\n") + len(own) - len(bare) + 1
			x.To = x.From + strings.Count(strings.TrimRight(bare, "\n"), "\n")
		}
		out.Files = append(out.Files, x)
	}
	for _, l := range losses {
		out.Losses = append(out.Losses, EmittedLoss{Reason: l.Reason, Count: l.Count, Places: l.Places})
	}
	return out
}
