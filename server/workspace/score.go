package workspace

import (
	"cmp"
	"fmt"
	"slices"

	"wirebench/codec/corpus"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Score is how a definition explains the messages of captures. Each frame is counted once, by its worst defect.
type Score struct {
	Message string `json:"message"`
	Version int    `json:"version"`
	Frames  int    `json:"frames"`
	Tally

	First *Defect `json:"first,omitempty"` // the first frame that is not clean
}

// Tally counts messages by verdict: see corpus.Verdict.
type Tally struct {
	Clean    int `json:"clean" doc:"every byte belongs to one field, and the values are encoded as the same bytes"`
	Leftover int `json:"leftover" doc:"bytes belong to no field"`
	Over     int `json:"over" doc:"fields extend past the end of the message"`
	Differ   int `json:"differ" doc:"values are other than the definition permits, or are encoded as other bytes"`
	Doubtful int `json:"doubtful" doc:"fields share bytes, or another warning"`
}

// Add counts messages.
func (t *Tally) Add(v corpus.Verdict, n int) {
	*[corpus.Verdicts]*int{&t.Clean, &t.Leftover, &t.Over, &t.Differ, &t.Doubtful}[v] += n
}

// Join adds the counts of another tally.
func (t *Tally) Join(u Tally) {
	t.Clean, t.Leftover, t.Over, t.Differ, t.Doubtful = t.Clean+u.Clean, t.Leftover+u.Leftover, t.Over+u.Over, t.Differ+u.Differ, t.Doubtful+u.Doubtful
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
	snap   *Snapshot
	read   *Reading
	scores map[*schema.Message]*Score
	judge  corpus.Judge
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
	verdict := s.judge.Of(rec)
	if score.Add(verdict, 1); verdict != corpus.Clean && score.First == nil {
		score.First = &Defect{capture, x.N, s.judge.Reason(rec)}
	}
}

// plainName returns the name of a message as NameOf does, without the version.
func (s *Snapshot) plainName(m *schema.Message) string {
	if q := s.qualifier(m); q != "" {
		return q + "/" + m.Name
	}
	return m.Name
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
