package workspace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/defs/schema"
)

// Score is how a definition explains the messages of captures. Each frame is counted once, by its worst defect.
type Score struct {
	Message  string `json:"message"`
	Version  int    `json:"version"`
	Frames   int    `json:"frames"`
	Clean    int    `json:"clean"`    // every byte belongs to one field, and the values are encoded as the same bytes
	Leftover int    `json:"leftover"` // bytes belong to no field
	Over     int    `json:"over"`     // fields extend past the end of the message
	Differ   int    `json:"differ"`   // values are other than the definition allows, or are encoded as other bytes
	Doubtful int    `json:"doubtful"` // fields share bytes, or another warning

	First *Defect `json:"first,omitempty"` // the first frame that is not clean
}

// Defect is why a frame is not clean.
type Defect struct {
	Capture string `json:"capture"`
	Frame   uint32 `json:"frame"`
	Reason  string `json:"reason"`
}

// Name returns the name of the message with its version.
func (s *Score) Name() string { return fmt.Sprintf("%s.%d", s.Message, s.Version) }

// Scorer scores the definitions of a snapshot. It is for one goroutine.
type Scorer struct {
	snap    *Snapshot
	read    *Reading
	scores  map[*schema.Message]*Score
	text    []byte
	in, out codec.Record
}

// NewScorer returns a scorer without scores.
func NewScorer(s *Snapshot) *Scorer {
	return &Scorer{snap: s, read: NewReading(s), scores: map[*schema.Message]*Score{}}
}

// Take scores the definition of a frame, if it has one.
func (s *Scorer) Take(capture string, x *transport.Frame) {
	s.read.Take(x)
	rec := s.read.Record()
	if rec == nil {
		return
	}
	m := s.read.Message()
	if m.AlternateOf != nil {
		m = m.AlternateOf
	}
	score := s.scores[m]
	if score == nil {
		score = &Score{Message: s.snap.plainName(m), Version: max(m.Version, 1)}
		s.scores[m] = score
	}
	score.Frames++
	counter, why := s.judge(score, rec)
	if *counter++; why != "" && score.First == nil {
		score.First = &Defect{capture, x.N, why}
	}
}

// plainName returns the name of a message as NameOf does, without the version.
func (s *Snapshot) plainName(m *schema.Message) string {
	if q := s.qualifier(m); q != "" {
		return q + "/" + m.Name
	}
	return m.Name
}

// judge returns the counter of a frame, and its defect.
func (s *Scorer) judge(score *Score, rec *codec.Record) (counter *int, why string) {
	if rec.Status() != codec.OK {
		why := rec.Problems[0].Message(rec)
		if rec.PastEnd() {
			return &score.Over, why
		}
		return &score.Differ, why
	}
	left, doubt := "", ""
	for _, p := range rec.AppendWarnings(nil) {
		switch p.Code {
		case codec.DefinitionErrors:
		case codec.LeftOver, codec.Unexplained:
			left = cmp.Or(left, p.Message(rec))
		default:
			doubt = cmp.Or(doubt, p.Message(rec))
		}
	}
	switch {
	case left != "":
		return &score.Leftover, left
	case doubt != "":
		return &score.Doubtful, doubt
	}
	if why := s.encodes(rec); why != "" {
		return &score.Differ, why
	}
	return &score.Clean, ""
}

// encodes returns why the values of a message are not encoded as its bytes, "" if they are. Numbers of the session, which values do not
// have, are not compared.
func (s *Scorer) encodes(rec *codec.Record) (why string) {
	p := rec.Program
	if slices.ContainsFunc(p.Message.Body.Wire, func(it schema.Item) bool { return it.Kind == schema.Counter || it.Kind == schema.Check }) {
		return ""
	}
	s.text = value.AppendJSON(s.text[:0], rec)
	if err := value.ParseJSON(&s.in, p, json.RawMessage(s.text)); err != nil {
		return "the values cannot be encoded: " + err.Error()
	}
	s.in.Code, s.in.Session = rec.Code, rec.Session
	if err := p.Encode(&s.out, &s.in); err != nil {
		return "the values cannot be encoded: " + err.Error()
	}
	a, b := rec.Data[:rec.Used], s.out.Data
	if bytes.Equal(a, b) {
		return ""
	}
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return fmt.Sprintf("the values are encoded as %d other bytes of %d, from byte %d on", len(b), len(a), at)
}

// Scores returns the scores of the definitions that had a frame, by name and version.
func (s *Scorer) Scores() []Score {
	out := make([]Score, 0, len(s.scores))
	for _, x := range s.scores {
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b Score) int {
		return cmp.Or(cmp.Compare(a.Message, b.Message), cmp.Compare(a.Version, b.Version))
	})
	return out
}

// Defects describes the frames that are not clean, "" if there are none.
func (s *Score) Defects() string {
	var parts []string
	for _, x := range []struct {
		n    int
		name string
	}{{s.Leftover, "leftover"}, {s.Over, "over"}, {s.Differ, "differ"}, {s.Doubtful, "doubtful"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.name))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	out := parts[0]
	for _, x := range parts[1:] {
		out += ", " + x
	}
	return out
}
