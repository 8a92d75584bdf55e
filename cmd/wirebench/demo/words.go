package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/server/workspace"
)

// words are the built-in definitions of a protocol.
type words struct {
	snap *workspace.Snapshot
	part
}

func readWords(r rules, group string) (*words, error) {
	lib := &workspace.Library{}
	if fsys, ok := library.Dialect(r.protocol); ok {
		var err error
		if lib, err = workspace.ReadFS(fsys); err != nil {
			return nil, err
		}
	} else if d, _ := defs.Find(r.protocol); d.Example != nil {
		lib.Files = []*source.File{d.Example}
	}
	snap, err := workspace.Build(lib, workspace.Settings{Dialect: r.protocol})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(r.parts, func(p part) bool { return p.group == group })
	return &words{snap, r.parts[i]}, nil
}

// index returns the index of a direction in arrays.
func index(dir schema.Dir) int {
	if dir == schema.ToClient {
		return 1
	}
	return 0
}

// actor plays one end of a connection. Its methods are called by one goroutine.
type actor interface {
	begin()                     // the connection is established
	tick()                      // the interval between messages has passed
	hear(name string, v values) // a message was received
	leave()                     // the end of the game: sends the last messages
}

// values are the values of a message, by field.
type values map[string]any

// num returns the number in a field, 0 if it has none. 64-bit numbers are strings in JSON.
func (v values) num(field string) float64 {
	switch x := v[field].(type) {
	case float64:
		return x
	case string:
		f, _ := json.Number(x).Float64()
		return f
	}
	return 0
}

// text returns the text in a field.
func (v values) text(field string) string {
	s, _ := v[field].(string)
	return s
}

// speaker encodes the messages of an actor and decodes those it receives. It keeps the first error and then sends nothing more.
type speaker struct {
	words    *words
	dir      schema.Dir // of the messages sent
	send     func(message []byte, reliable bool) error
	told     func(Event)
	rng      *rand.Rand
	encoders map[string]*workspace.Encoder
	rec      codec.Record
	err      error

	finish func(name string, message []byte) // sets fields that the definition leaves to the game; may be nil
}

// leave sends nothing: most ends of streams just stop.
func (s *speaker) leave() {}

// say sends a message reliably.
func (s *speaker) say(name string, v values) { s.utter(name, v, true) }

// mention sends a message unreliably, if the protocol supports that.
func (s *speaker) mention(name string, v values) { s.utter(name, v, false) }

func (s *speaker) utter(name string, v values, reliable bool) {
	if s.err != nil {
		return
	}
	message, err := s.encode(name, v)
	if err == nil {
		s.told(Event{Dir: s.dir, Name: name, Message: message})
		err = s.send(message, reliable)
	}
	s.err = err
}

func (s *speaker) encode(name string, v values) ([]byte, error) {
	e, ok := s.encoders[name]
	if !ok {
		m, err := s.words.snap.FindIn(name, s.words.groups[index(s.dir)], s.dir)
		if err != nil {
			return nil, err
		}
		if e, err = s.words.snap.Encoder(s.words.snap.Sent(m), nil, codec.Session{}); err != nil {
			return nil, err
		}
		s.encoders[name] = e
	}
	if v == nil {
		v = values{}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if _, problems := e.Encode(text); len(problems) > 0 {
		return nil, fmt.Errorf("%s: %s", name, problems[0])
	}
	message := e.Record().Message() // as the other end hears it, with the zeros that frames leave out
	if s.finish != nil {
		s.finish(name, message)
	}
	return message, nil
}

// hear decodes the message at the start of data. state is its group, for games whose messages have groups by the state of the connection. n is
// its size, 0 if it is incomplete.
func (s *speaker) hear(data []byte, state string, a actor) (n int, err error) {
	from := schema.ToClient
	if s.dir == schema.ToClient {
		from = schema.ToServer
	}
	r := s.words.snap.Decode(&s.rec, data, workspace.Request{Dir: from, Group: cmp.Or(s.words.groups[index(from)], state)})
	switch r.Status {
	case "incomplete":
		return 0, nil
	case "ok":
	default:
		return 0, fmt.Errorf("a message that is %s: % x", r.Status, data[:min(len(data), 32)])
	}
	var v values
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return 0, err
	}
	s.told(Event{Dir: from, Got: true, Name: r.Message, Message: data[:r.Used]})
	a.hear(r.Message, v)
	return r.Used, s.err
}

// reciter sends examples of the messages of its direction in rotation.
type reciter struct {
	*speaker
	examples [][]recital // by message
	n        int
}

// recital is an encoded message.
type recital struct {
	name string
	data []byte
}

// repertoire is the number of different examples of a message that a reciter has.
const repertoire = 8

// newReciter finds the examples at once, since that costs far more than to send one. The first example of a message is its emptiest: it is sent
// if there is no other.
func newReciter(s *speaker) actor {
	r := &reciter{speaker: s}
	for _, m := range s.words.snap.Schema().Messages {
		if !m.HasKey || m.Key.Dir != schema.Both && m.Key.Dir != s.dir {
			continue
		}
		p, err := s.words.snap.Program(s.words.snap.Sent(m))
		if err != nil {
			s.err = err
			return r
		}
		var all []recital
		for _, x := range value.Examples(p, 1+repertoire, s.rng.Uint64(), m.Key.Code) {
			if x.Status == codec.OK {
				all = append(all, recital{m.Name, x.Data})
			}
		}
		if len(all) > 1 {
			all = all[1:]
		}
		if len(all) > 0 {
			r.examples = append(r.examples, all)
		}
	}
	return r
}

func (r *reciter) begin()              {}
func (r *reciter) hear(string, values) {}

func (r *reciter) tick() {
	if len(r.examples) == 0 || r.err != nil {
		return
	}
	of := r.examples[r.n%len(r.examples)]
	x := of[r.n/len(r.examples)%len(of)]
	r.n++
	r.told(Event{Dir: r.dir, Name: x.name, Message: x.data})
	r.err = r.send(x.data, true)
}

// one returns one of several texts at random.
func (s *speaker) one(of ...string) string { return of[s.rng.IntN(len(of))] }
