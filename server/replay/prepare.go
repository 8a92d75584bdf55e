package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/defs/schema"
)

var (
	errBroken = errors.New("its definition has errors and cannot encode")
	errNoCode = errors.New("its code is not known")
)

// op is a step with its definitions resolved.
type op struct {
	path   string
	step   *Step
	send   *sending
	expect *expected
	inner  []op // of a loop
}

// sending is a message to send.
type sending struct {
	def     *schema.Message // nil: the bytes are sent as they are
	program *codec.Program
	name    string
	out     transport.Outgoing
	value   []byte    // with sets
	sets    []setting // nil: out is complete
}

// expected is an expected message.
type expected struct {
	*Expect
	def    *schema.Message // nil: any matching message
	match  *filter.Filter  // nil: none, or it contains values and is compiled each time
	lifts  []lift
	bytes  []byte // expected; nil: nothing is compared
	within time.Duration
	how    Tolerance
}

// lift is a value taken from a received message.
type lift struct{ name, path string }

// prepared is a script ready to run.
type prepared struct {
	ops       []op
	ignore    []pattern
	keepalive []keeping
}

// keeping is a keepalive.
type keeping struct {
	on    *schema.Message
	lifts []lift
	every time.Duration
	send  *sending
	then  []*sending // the next times
	sent  int
}

// next returns the message to send this time.
func (k *keeping) next() *sending {
	if n := min(k.sent, len(k.then)); n > 0 {
		return k.then[n-1]
	}
	return k.send
}

// prepare finds the definitions of a script. The error names the step.
func prepare(s *Script, o *Options, e *encoder) (*prepared, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	p := &prepared{}
	for _, text := range s.Ignore {
		p.ignore = append(p.ignore, parsePattern(text))
	}
	b := builder{own: s.Sends(), o: o, e: e, how: s.Tolerance}
	if o.Tolerance != "" {
		b.how = o.Tolerance
	}
	if b.how == "" {
		b.how = Fields
	}
	for i := range s.Keepalive {
		k := &s.Keepalive[i]
		send, err := b.send(&k.Send)
		one := keeping{every: time.Duration(k.Every), send: send}
		if err == nil && k.On != "" {
			if one.on, err = o.Definitions.FindIn(k.On, "", transport.Opposite(b.own)); err == nil {
				one.lifts = liftsOf(k.Lift, one.on.Name)
			}
		}
		for n := range k.Then {
			if err != nil {
				break
			}
			send, err = b.send(&k.Then[n])
			one.then = append(one.then, send)
		}
		if err != nil {
			return nil, fmt.Errorf("keepalive %d: %w", i+1, err)
		}
		p.keepalive = append(p.keepalive, one)
	}
	var err error
	p.ops, err = b.steps(s.Steps, "")
	return p, err
}

type builder struct {
	own schema.Dir
	o   *Options
	e   *encoder
	how Tolerance
}

func (b *builder) steps(steps []Step, outer string) ([]op, error) {
	ops := make([]op, len(steps))
	for i := range steps {
		st := &steps[i]
		x := op{path: stepPath(outer, i), step: st}
		var err error
		switch {
		case st.Send != nil:
			x.send, err = b.send(st.Send)
		case st.Expect != nil:
			x.expect, err = b.expect(st.Expect)
		case st.Repeat != nil:
			if x.inner, err = b.steps(st.Repeat.Steps, x.path); err != nil {
				return nil, err
			}
		}
		if err != nil {
			return nil, fmt.Errorf("step %s: %w", x.path, err)
		}
		ops[i] = x
	}
	return ops, nil
}

// find returns a message and its program.
func (b *builder) find(name string, dir schema.Dir) (*schema.Message, *codec.Program, error) {
	m, err := b.o.Definitions.FindIn(name, "", dir)
	if err != nil {
		return nil, nil, err
	}
	p, err := b.o.Definitions.Program(m)
	return m, p, err
}

func (b *builder) send(s *Send) (*sending, error) {
	x := &sending{name: s.Message, out: transport.Outgoing{Raw: s.Raw, Unreliable: s.Unreliable}}
	var err error
	if s.Message != "" {
		x.def, x.program, err = b.find(s.Message, b.own)
		if err != nil {
			return nil, err
		}
		if x.sets, err = settings(s.Set, x.def.Name); err != nil {
			return nil, err
		}
	}
	if s.Hex != "" {
		if x.out.Bytes, err = bytesOf(s.Hex); err != nil || len(x.sets) == 0 {
			return x, err
		}
		var rec codec.Record
		x.program.Decode(&rec, x.out.Bytes)
		if rec.Status() != codec.OK {
			return nil, fmt.Errorf("fields cannot be set: the bytes are %s when decoded as %s", rec.Status(), s.Message)
		}
		x.value = value.AppendJSON(nil, &rec)
		return x, nil
	}
	if x.value = s.Value; len(x.value) == 0 {
		x.value = []byte("{}")
	}
	if len(x.sets) > 0 {
		return x, nil // the zero value may be illegal, the value set later legal
	}
	x.out.Bytes, err = b.e.encode(x.def, x.program, x.value)
	x.value = nil
	return x, err
}

// make encodes the message with the current values.
func (x *sending) make(e *encoder, vars map[string]json.RawMessage) (transport.Outgoing, error) {
	if len(x.sets) == 0 {
		return x.out, nil
	}
	value, err := substituted(x.value, x.sets, vars)
	if err != nil {
		return x.out, err
	}
	out := x.out
	out.Bytes, err = e.encode(x.def, x.program, value)
	return out, err
}

func (b *builder) expect(s *Expect) (*expected, error) {
	x := &expected{Expect: s, within: time.Duration(s.Within), how: b.how}
	if s.Tolerance != "" {
		x.how = s.Tolerance
	}
	if x.within == 0 {
		x.within = DefaultWithin
	}
	var err error
	name := ""
	if s.Message != "" {
		var p *codec.Program
		x.def, p, err = b.find(s.Message, transport.Opposite(b.own))
		if err != nil {
			return nil, err
		}
		name = x.def.Name
		if len(s.Value) > 0 {
			if x.bytes, err = b.e.encode(x.def, p, s.Value); err != nil {
				return nil, err
			}
		}
	}
	if s.Hex != "" {
		if x.bytes, err = bytesOf(s.Hex); err != nil {
			return nil, err
		}
	}
	if s.Match != "" && !strings.Contains(s.Match, "$") {
		if x.match, err = b.o.filter(s.Match, nil); err != nil {
			return nil, err
		}
	}
	x.lifts = liftsOf(s.Lift, name)
	return x, nil
}

// liftsOf returns the lifts of a step in a fixed order.
func liftsOf(lifts map[string]string, message string) (out []lift) {
	for _, v := range slices.Sorted(maps.Keys(lifts)) {
		out = append(out, lift{v, within(lifts[v], message)})
	}
	return out
}

// filter compiles a filter.
func (o *Options) filter(text string, vars map[string]json.RawMessage) (*filter.Filter, error) {
	env := filter.Env{Schema: o.Schema, Program: o.Definitions.Program, Layers: o.Layers}
	if vars != nil {
		env.Values = make(map[string]string, len(vars))
		for name, v := range vars {
			env.Values[name] = filterText(v)
		}
	}
	f, mistakes := filter.Compile(text, env)
	if len(mistakes) > 0 {
		return nil, fmt.Errorf("filter %q: %s", short(text), mistakes[0].Message)
	}
	return f, nil
}
