package scores

import (
	"cmp"
	"context"
	"slices"
	"time"

	"wirebench/codec"
	"wirebench/codec/corpus"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/frames"
	"wirebench/server/workspace"
)

// Scores are those of all definitions of a project.
type Scores struct {
	State       State             `json:"state"`
	Done        bool              `json:"done" doc:"all messages are judged; if not, ask again"`
	Definitions []DefinitionScore `json:"definitions" doc:"with messages of their code: by name and version"`
	NoData      int               `json:"noData" doc:"definitions without a message of their code"`
	Unknown     int               `json:"unknown" doc:"messages without a definition"`
}

// DefinitionScore is how one version of a definition explains the messages of its code.
type DefinitionScore struct {
	Message string `json:"message"`
	Used    bool   `json:"used" doc:"this version decodes the messages of the project"`
	Frames  int    `json:"frames"`
	workspace.Tally
	First    *Defect        `json:"first,omitempty" doc:"the first message that is not clean"`
	Captures []CaptureScore `json:"captures" doc:"those with such messages"`
}

// CaptureScore is how a definition explains the messages of a capture.
type CaptureScore struct {
	Capture string `json:"capture" doc:"id"`
	Name    string `json:"name"`
	Frames  int    `json:"frames"`
	workspace.Tally
	Filter string `json:"filter" doc:"finds these messages in the capture"`
}

// total is how the programs of a library explain messages of one type.
type total struct {
	of []*programTotal
}

type programTotal struct {
	program *codec.Program
	read    int
	by      map[uint32]*sourceTotal
	first   *fault
}

type sourceTotal struct {
	frames int
	tally  workspace.Tally
}

// messageOf returns the definition of messages, nil if they have none.
func (b *Board) messageOf(snap *workspace.Snapshot, m *messages) *schema.Message {
	if !m.settings.Settings.IsZero() {
		snap = b.ws.For(m.settings)
	}
	found := snap.FrameMessage(&m.like)
	if found != nil && found.AlternateOf != nil {
		found = found.AlternateOf
	}
	return found
}

// Scores returns the scores of all definitions. It judges messages that it has not yet judged for some time; Done is false if there are more.
func (b *Board) Scores(ctx context.Context, snap *workspace.Snapshot, enough time.Duration) *Scores {
	b.totalsMu.Lock()
	defer b.totalsMu.Unlock()
	until := time.Now().Add(enough)
	found, blocks, again, state := b.all(func(*messages) bool { return true })
	if again != b.totalsOf {
		b.totals, b.totalsOf = map[*messages]*total{}, again
	}
	out := &Scores{State: state, Done: true, Definitions: []DefinitionScore{}}
	out.Done = out.State.Reading == 0
	all := map[*schema.Message]*DefinitionScore{}
	by := map[*schema.Message]map[uint32]*sourceTotal{}
	var judge corpus.Judge
	var rec codec.Record
	for i, m := range found {
		used := b.messageOf(snap, m)
		if used == nil {
			out.Unknown += m.counted(blocks[i])
			continue
		}
		t := b.totals[m]
		if t == nil {
			t = &total{}
			b.totals[m] = t
		}
		var now []*programTotal
		for _, version := range snap.Named(used.Name) {
			if !sameCode(version, used) {
				continue
			}
			as := version
			if m.alternate {
				as = snap.Alternate(version)
			}
			p, err := snap.Program(as)
			if err != nil {
				continue
			}
			k := slices.IndexFunc(t.of, func(x *programTotal) bool { return x.program == p })
			one := &programTotal{program: p, by: map[uint32]*sourceTotal{}}
			if k >= 0 {
				one = t.of[k]
			}
			now = append(now, one)
			if one.advance(ctx, until, blocks[i], &judge, &rec) {
				out.Done = false
			}
			score := all[version]
			if score == nil {
				score = &DefinitionScore{Message: snap.NameOf(version), Used: version == used, Captures: []CaptureScore{}}
				all[version], by[version] = score, map[uint32]*sourceTotal{}
			}
			for n, x := range one.by {
				sum := by[version][n]
				if sum == nil {
					sum = &sourceTotal{}
					by[version][n] = sum
				}
				sum.frames += x.frames
				sum.tally.Join(x.tally)
			}
			if f := one.first; f != nil && score.First == nil {
				id, name := b.nameOf(f.at.source)
				score.First = &Defect{Capture: id, Name: name, Frame: f.at.n, Reason: f.reason}
			}
		}
		t.of = now
	}
	filters := map[string]string{}
	for m, score := range all {
		for n, x := range by[m] {
			score.Frames += x.frames
			score.Join(x.tally)
			id, name := b.nameOf(n)
			score.Captures = append(score.Captures, CaptureScore{Capture: id, Name: name, Frames: x.frames, Tally: x.tally, Filter: typeFilter(filters, snap, m)})
		}
		slices.SortFunc(score.Captures, func(a, b CaptureScore) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Capture, b.Capture))
		})
		out.Definitions = append(out.Definitions, *score)
	}
	slices.SortFunc(out.Definitions, func(a, b DefinitionScore) int { return cmp.Compare(a.Message, b.Message) })
	out.NoData = snap.Count() - len(out.Definitions)
	return out
}

// counted returns the number of messages in blocks.
func (m *messages) counted(blocks []block) (n int) {
	for i := range blocks {
		n += len(blocks[i].spans)
	}
	return n
}

// advance judges messages that were not judged, and reports whether there are more.
func (t *programTotal) advance(ctx context.Context, until time.Time, blocks []block, judge *corpus.Judge, rec *codec.Record) (more bool) {
	at := 0
	for k := range blocks {
		b := &blocks[k]
		if at += len(b.spans); at <= t.read {
			continue
		}
		if ctx.Err() != nil || time.Now().After(until) {
			return true
		}
		for i := len(b.spans) - (at - t.read); i < len(b.spans); i++ {
			s := b.spans[i]
			t.program.Decode(rec, b.data[s.Off:s.Off+s.Len:s.Off+s.Len])
			v := judge.Of(rec)
			x := t.by[b.at[i].source]
			if x == nil {
				x = &sourceTotal{}
				t.by[b.at[i].source] = x
			}
			x.frames++
			x.tally.Add(v, 1)
			if v != corpus.Clean && t.first == nil {
				t.first = &fault{at: b.at[i], reason: judge.Reason(rec)}
			}
		}
		t.read = at
	}
	return false
}

// typeFilter returns a filter for the messages of a definition.
func typeFilter(known map[string]string, snap *workspace.Snapshot, m *schema.Message) string {
	f := transport.Frame{Dir: m.Key.Dir}
	key := m.Name + "\x00" + m.Key.Group + "\x00" + m.Key.Dir.String()
	if _, ok := known[key]; !ok {
		maker := frames.RowMaker{Snap: snap}
		known[key] = maker.TypeOf(m, &f)
	}
	return known[key]
}
