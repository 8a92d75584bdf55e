package workspace

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/defs/build"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Bounds of a sample, and of trying settings with it.
const (
	maxTrialFrames = 20_000 // of a capture that are looked at
	maxTrialWrong  = 500    // messages that the definitions do not explain
	maxTrialRight  = 8      // other messages of one definition
	maxTrialFirst  = 2000   // frames, after which one in trialStep is looked at
	trialStep      = 16
	maxTrialSize   = 8 << 20
	maxTrialTime   = 2 * time.Second
	maxTrialValues = 64 // of an option
)

// Trial samples the messages of a capture, to find settings with which the definitions explain all of them, or more. It is for one goroutine.
type Trial struct {
	snap         *Snapshot
	frames, size int
	wrong, right []sampled
	rights       map[*schema.Message]int
	leaves       []codec.Leaf

	wide, other int // texts in UTF-8 with characters of several bytes; not in UTF-8
}

type sampled struct {
	message *schema.Message
	session codec.Session
	data    []byte
}

// NewTrial returns an empty trial for messages that a snapshot decodes.
func NewTrial(s *Snapshot) *Trial { return &Trial{snap: s, rights: map[*schema.Message]int{}} }

// Take adds the message of a reading. It reports whether it takes more.
func (s *Trial) Take(r *Reading) bool {
	if s.frames++; s.frames > maxTrialFrames || s.size > maxTrialSize {
		return false
	}
	if r.frame.Kind != transport.Message || s.frames > maxTrialFirst && s.frames%trialStep != 0 {
		return true
	}
	m, rec := r.Message(), r.Record()
	if m == nil || rec == nil {
		return true
	}
	list := &s.right
	if explains(rec) != 0 {
		if list = &s.wrong; len(s.wrong) >= maxTrialWrong {
			return true
		}
	} else {
		s.readTexts(rec)
		if s.rights[m]++; s.rights[m] > maxTrialRight {
			return true
		}
	}
	*list = append(*list, sampled{m, rec.Session, slices.Clone(r.frame.Bytes)})
	s.size += len(r.frame.Bytes)
	return true
}

// readTexts looks at the texts that have the default encoding.
func (s *Trial) readTexts(rec *codec.Record) {
	if !slices.ContainsFunc(s.snap.Dialect.Options, func(o schema.Option) bool { return o.Name == schema.Encoding.Name }) || s.snap.Options.Values[schema.Encoding.Name] != "" {
		return
	}
	s.leaves = rec.AppendLeaves(s.leaves[:0])
	for _, l := range s.leaves {
		if l.Role != codec.RoleValue {
			continue
		}
		t, ok := rec.Program.Fields[l.Field].Schema.Type.(*schema.Text)
		if !ok || t.Charset != schema.Latin1 || l.Range().End()/8 > uint32(len(rec.Data)) {
			continue
		}
		b := codec.CutAtNul(rec.Data[l.Range().Off/8:l.Range().End()/8], 1)
		switch {
		case !utf8.Valid(b):
			s.other++
		case utf8.RuneCount(b) < len(b):
			s.wide++
		}
	}
}

// Better is a value of an option that decodes a sample better.
type Better struct {
	Option, Value string
	Why           string // as a clause
}

// Better returns values of options with which the definitions explain messages that they do not explain now, and all that they do, and the
// encoding of the texts. It stops when the context is done, and after two seconds.
func (s *Trial) Better(ctx context.Context) (out []Better) {
	ctx, stop := context.WithTimeout(ctx, maxTrialTime)
	defer stop()
	files := s.files()
	all := len(s.wrong) == 0 // one option explains everything
	for _, o := range s.snap.Dialect.Options {
		value, explained := "", 0
		for _, v := range s.values(&o) {
			if all || ctx.Err() != nil {
				break
			}
			if n := s.explainedWith(files, o.Name, v); n > explained {
				value, explained = v, n
			}
		}
		switch {
		case explained == len(s.wrong) && explained > 0:
			all = true
			out = append(out, Better{o.Name, value, fmt.Sprintf("with %s %s all bytes are explained; now %s not", o.Name, value, counted(explained, "message is", "messages are"))})
		case explained >= 3 && explained*2 >= len(s.wrong):
			out = append(out, Better{o.Name, value, fmt.Sprintf("with %s %s the definitions explain %d of %d messages that they do not explain now", o.Name, value, explained, len(s.wrong))})
		}
	}
	if s.wide > 0 && s.other == 0 {
		out = append(out, Better{schema.Encoding.Name, "utf-8", fmt.Sprintf("all texts are valid UTF-8, and %s characters of several bytes", counted(s.wide, "of them has", "of them have"))})
	}
	return out
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// values returns the values of an option to try, without the one in use.
func (s *Trial) values(o *schema.Option) (values []string) {
	if values = slices.Clone(o.Values); o.Tries != nil {
		values = nil
		for _, x := range s.wrong {
			for _, v := range o.Tries(x.message.Span.File) {
				if !slices.Contains(values, v) && len(values) < maxTrialValues {
					values = append(values, v)
				}
			}
		}
	}
	return slices.DeleteFunc(values, func(v string) bool { return v == s.snap.Options.Values[o.Name] })
}

// files returns the files that define the messages of the sample, and those that these use.
func (s *Trial) files() (files []*source.File) {
	add := func(f *source.File) {
		if !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	for _, x := range slices.Concat(s.wrong, s.right) {
		add(x.message.Span.File)
	}
	for i := 0; i < len(files); i++ {
		for _, f := range s.snap.set.Uses(files[i]) {
			add(f)
		}
	}
	return files
}

// likewise returns other with the header that m has in place of that of its definition.
func (s *Trial) likewise(m, other *schema.Message) *schema.Message {
	switch h := s.snap.headerOf(m); {
	case h != nil:
		return h.Of(other)
	case m.AlternateOf != nil && s.snap.Dialect.Alternate != nil:
		return s.snap.Dialect.Alternate.Of(other)
	}
	return other
}

// explainedWith returns how many of the messages that are not explained would be with a value of an option; 0 if others no longer were.
func (s *Trial) explainedWith(files []*source.File, option, value string) (n int) {
	options := s.snap.Options
	options.Values = maps.Clone(options.Values)
	if options.Values == nil {
		options.Values = map[string]string{}
	}
	options.Values[option] = value
	set := build.New(s.snap.Dialect.Rules, files, options)
	programs := map[*schema.Message]*codec.Program{}
	program := func(m *schema.Message) *codec.Program {
		p, known := programs[m]
		if !known {
			for _, other := range set.MessagesOf(m.Span.File) {
				if other.Name == m.Name && other.Version == m.Version && other.Key.Dir == m.Key.Dir && other.Key.Group == m.Key.Group {
					p, _ = codec.Compile(s.likewise(m, other))
				}
			}
			programs[m] = p
		}
		return p
	}
	var rec codec.Record
	fits := func(x *sampled) bool {
		p := program(x.message)
		if p == nil {
			return false
		}
		rec.Session = x.session
		data := x.data
		if h := s.snap.headerOf(x.message); h.Leaves() {
			data = h.Full(data, p.Largest())
		}
		p.Decode(&rec, data)
		return explains(&rec) == 0
	}
	for i := range s.wrong {
		if fits(&s.wrong[i]) {
			n++
		}
	}
	for i := range s.right {
		if n > 0 && !fits(&s.right[i]) {
			return 0
		}
	}
	return n
}
