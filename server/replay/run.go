package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/codec/view"
	"wirebench/defs/schema"
)

// MaxTime is the maximum duration of a run.
const MaxTime = 24 * time.Hour

// Peer is one end of a connection to the program under test.
type Peer interface {
	// Send sends a message. It waits until that is possible or the context is done.
	Send(ctx context.Context, o transport.Outgoing) error

	// Receive waits for the next frame: a message, or a problem. The error is the context's, io.EOF after the last one, or the reason why
	// there are no more.
	Receive(ctx context.Context) (Message, error)
}

// Options configure a run.
type Options struct {
	Definitions Definitions
	Schema      *schema.Schema    // the same definitions, for filters
	Layers      *transport.Layers // for filters, too
	Vars        map[string]json.RawMessage
	Speed       float64       // overrides the script's; 0 = the script's
	Tolerance   Tolerance     // overrides the script's; "" = the script's
	MaxTime     time.Duration // 0 = MaxTime
	KeepGoing   bool          // a missing message does not end the run
	Progress    func(Result)  // called with each result, including those that the report omits; may be nil
}

// Run plays a script. The error is about the script; events of the conversation are in the report. It starts no goroutine, and ends
// with its context.
func Run(ctx context.Context, s *Script, peer Peer, o Options) (*Report, error) {
	if o.Definitions == nil {
		return nil, errors.New("there are no definitions")
	}
	if err := o.Tolerance.check(); err != nil {
		return nil, err
	}
	r := &runner{o: o, e: encoder{defs: o.Definitions}, peer: peer, vars: map[string]json.RawMessage{}, renamed: map[string]string{}, speed: 1}
	p, err := prepare(s, &r.o, &r.e)
	if err != nil {
		return nil, err
	}
	r.p = p
	maps.Copy(r.vars, s.Vars)
	maps.Copy(r.vars, o.Vars)
	for _, speed := range []float64{s.Speed, o.Speed} {
		if speed > 0 {
			r.speed = speed
		}
	}
	if o.MaxTime <= 0 || o.MaxTime > MaxTime {
		r.o.MaxTime = MaxTime
	}
	limited, stop := context.WithTimeout(ctx, r.o.MaxTime)
	defer stop()
	r.ctx = limited

	r.start = time.Now()
	r.last = r.start
	for i := range p.keepalive {
		if p.keepalive[i].every > 0 {
			r.beats = append(r.beats, beat{&p.keepalive[i], r.start.Add(p.keepalive[i].every)})
		}
	}
	r.rep = &Report{Play: "client", Started: r.start, Results: []Result{}}
	if s.Sends() == schema.ToClient {
		r.rep.Play = "server"
	}
	if err := r.steps(p.ops, nil); err != nil {
		r.rep.Stopped = err.Error()
	} else if err := r.linger(); err != nil {
		r.rep.Stopped = err.Error()
	}
	r.finish()
	return r.rep, nil
}

// runner is a run.
type runner struct {
	ctx     context.Context
	o       Options
	p       *prepared
	e       encoder
	peer    Peer
	rep     *Report
	vars    map[string]json.RawMessage
	renamed map[string]string
	speed   float64
	start   time.Time
	last    time.Time // end of the previous step
	inbox   inbox
	ended   error // reason why nothing more is received
	over    bool  // all steps are done
	beats   []beat
	diffs   int
	got     codec.Record
	want    codec.Record
}

// beat is a keepalive sent at intervals.
type beat struct {
	*keeping
	next time.Time
}

// Duration of answering keepalives after the last step.
const (
	lingerQuiet = time.Second      // without an answered message
	lingerTime  = 10 * time.Second // in all
)

// linger keeps answering keepalives after the last step: the other end may not be at its last step yet and would otherwise fail. It ends
// when the other end closes.
func (r *runner) linger() error {
	if !slices.ContainsFunc(r.p.keepalive, func(k keeping) bool { return k.on != nil }) {
		return nil
	}
	r.over = true
	end := time.Now().Add(lingerTime)
	for r.ended == nil {
		before := r.rep.Answered
		until := time.Now().Add(lingerQuiet)
		if until.After(end) {
			return nil
		}
		if _, err := r.pump(until, func(*arrived) bool { return false }); err != nil {
			if ctx := r.ctx.Err(); ctx != nil {
				return r.stopped(ctx)
			}
			return nil // the peer has left after the last step
		}
		if r.rep.Answered == before {
			return nil
		}
	}
	return nil
}

// finish completes the report.
func (r *runner) finish() {
	for _, a := range r.inbox.list {
		r.unexpected(a)
	}
	rep := r.rep
	rep.Took = Duration(time.Since(r.start))
	rep.Vars = r.vars
	rep.OK = rep.Stopped == "" && rep.Different == 0 && rep.Missing == 0
}

func (r *runner) unexpected(a *arrived) {
	r.rep.Unexpected++
	if len(r.rep.Extra) < maxUnexpected {
		r.rep.Extra = append(r.rep.Extra, Seen{r.since(a.At), a.title(), len(a.Bytes)})
	}
}

// since converts a time for the report.
func (r *runner) since(at time.Time) Duration { return Duration(max(at.Sub(r.start), 0)) }

// faster scales a wait by the speed.
func (r *runner) faster(d Duration) time.Duration { return time.Duration(float64(d) / r.speed) }

// steps executes steps. turns counts the iterations of the enclosing loops.
func (r *runner) steps(ops []op, turns []int) error {
	for i := range ops {
		x := &ops[i]
		if err := r.ctx.Err(); err != nil {
			return r.stopped(err)
		}
		var err error
		switch {
		case x.send != nil:
			err = r.send(x, turns)
		case x.expect != nil:
			err = r.expect(x, turns)
		case x.step.Repeat != nil:
			for n := range x.step.Repeat.Times {
				if name := x.step.Repeat.Count; name != "" {
					r.vars[name] = json.RawMessage(fmt.Sprint(n))
				}
				if err = r.steps(x.inner, append(turns[:len(turns):len(turns)], n+1)); err != nil {
					return err
				}
				if err = r.ctx.Err(); err != nil {
					return r.stopped(err)
				}
			}
		case x.step.Pause != 0:
			err = r.wait(r.last.Add(r.faster(x.step.Pause)))
			r.last = time.Now()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stopped returns the reason why the context ended a run.
func (r *runner) stopped(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the run reached its time limit of %s", r.o.MaxTime)
	}
	return errors.New("the run was stopped")
}

// stepName returns the name of a step in the report.
func stepName(path string, turns []int) string {
	if len(turns) == 0 {
		return path
	}
	return path + "#" + strings.Trim(strings.ReplaceAll(fmt.Sprint(turns), " ", "."), "[]")
}

// done adds the result of a step.
func (r *runner) done(x Result) {
	r.last = time.Now()
	r.rep.add(x)
	if r.o.Progress != nil {
		r.o.Progress(x)
	}
}

func (r *runner) send(x *op, turns []int) error {
	if after := x.step.Send.After; after > 0 {
		if err := r.wait(r.last.Add(r.faster(after))); err != nil {
			return err
		}
	}
	res := Result{Step: stepName(x.path, turns), Kind: "send", Status: Done, Message: x.send.name}
	before := r.last
	out, err := x.send.make(&r.e, r.vars)
	if err == nil {
		err = r.peer.Send(r.ctx, out)
	}
	now := time.Now()
	res.At, res.Took, res.Bytes = r.since(now), Duration(now.Sub(before)), len(out.Bytes)
	if err != nil {
		res.Status, res.Error = Failed, err.Error()
		r.done(res)
		if ctx := r.ctx.Err(); ctx != nil {
			return r.stopped(ctx)
		}
		return fmt.Errorf("step %s could not be sent: %w", res.Step, err)
	}
	r.rep.Sent++
	r.done(res)
	return nil
}

func (r *runner) expect(x *op, turns []int) error {
	e := x.expect
	res := Result{Step: stepName(x.path, turns), Kind: "expect", Status: Done, Message: e.Message}
	before := r.last
	match := e.match
	if match == nil && e.Match != "" {
		var err error
		if match, err = r.o.filter(e.Match, r.vars); err != nil {
			return fmt.Errorf("step %s: %w", res.Step, err)
		}
	}
	fits := r.fits(e, match)
	a := r.inbox.take(fits)
	var err error
	if a == nil {
		a, err = r.pump(time.Now().Add(e.within), fits)
	}
	if a == nil {
		if ctx := r.ctx.Err(); ctx != nil {
			return r.stopped(ctx)
		}
		now := time.Now()
		res.At, res.Took, res.Status = r.since(now), Duration(now.Sub(before)), Missing
		if e.Optional {
			res.Status = Absent
		}
		why := fmt.Sprintf("no matching message within %s", e.within)
		if err != nil {
			why = ending(err)
		}
		res.Error = why
		r.done(res)
		if e.Optional || r.o.KeepGoing && err == nil {
			return nil
		}
		return fmt.Errorf("step %s: %s", res.Step, why)
	}
	r.rep.Matched++
	res.Message, res.Bytes = a.title(), len(a.Bytes)
	res.At, res.Took = r.since(a.At), Duration(max(a.At.Sub(before), 0))
	rec := a.decode(r.o.Definitions, &r.got)
	if e.bytes != nil {
		c := comparison{expected: e.bytes, how: e.how, ignore: r.p.ignore, renamed: r.renamed, room: min(maxDiffs, maxDiffsInAll-r.diffs)}
		for _, l := range e.lifts {
			c.lifted = append(c.lifted, l.path)
		}
		res.Diffs, res.More = c.compare(&r.want, a, rec)
	}
	r.lift(e.lifts, rec, &res)
	r.diffs += len(res.Diffs)
	if len(res.Diffs)+res.More > 0 {
		res.Status = Different
	}
	r.done(res)
	return nil
}

// ending returns the reason why nothing more is received.
func ending(err error) string {
	if errors.Is(err, io.EOF) {
		return "the other end closed the connection"
	}
	return err.Error()
}

// fits reports whether a received message matches a step.
func (r *runner) fits(e *expected, match *filter.Filter) func(*arrived) bool {
	return func(a *arrived) bool {
		return (e.def == nil || kin(a.def, e.def)) && (match == nil || a.matches(match, r.o.Definitions, &r.got))
	}
}

// lift takes values from a received message.
func (r *runner) lift(lifts []lift, rec *codec.Record, res *Result) {
	if len(lifts) == 0 {
		return
	}
	var values []view.FieldValue
	if rec != nil {
		values = view.Fields(rec)
	}
	for _, l := range lifts {
		i := slices.IndexFunc(values, func(v view.FieldValue) bool { return v.Path == l.path && v.Role == codec.RoleValue.String() })
		switch {
		case i < 0 || !isValue(values[i].Value):
			res.Diffs = append(res.Diffs, Difference{l.path, "a value for $" + l.name, "nothing"})
			continue
		case len(values[i].Value) > MaxValue || len(r.vars) >= 2*MaxVars:
			res.Diffs = append(res.Diffs, Difference{l.path, "a value for $" + l.name, "a value that is too long"})
			continue
		}
		v := slices.Clone(values[i].Value)
		r.vars[l.name] = v
		if res.Lifted == nil {
			res.Lifted = map[string]json.RawMessage{}
		}
		res.Lifted[l.name] = v
	}
}

// wait receives until a time. The end of the connection is not an error: the next step reports it if it expects a message.
func (r *runner) wait(until time.Time) error {
	if _, err := r.pump(until, nil); err != nil && r.ctx.Err() == nil && r.ended == nil {
		return err
	}
	if err := r.ctx.Err(); err != nil {
		return r.stopped(err)
	}
	return nil
}

// pump receives until a time or until a message fits, which it returns. err is the reason why nothing more is received.
func (r *runner) pump(until time.Time, fits func(*arrived) bool) (*arrived, error) {
	for {
		next := until
		for i := range r.beats {
			if r.beats[i].next.Before(next) {
				next = r.beats[i].next
			}
		}
		now := time.Now()
		if !now.Before(next) {
			if !now.Before(until) {
				return nil, nil
			}
			if err := r.beat(now); err != nil {
				return nil, err
			}
			continue
		}
		if r.ended != nil {
			if fits != nil {
				return nil, r.ended
			}
			if !r.sleep(next) {
				return nil, r.ctx.Err()
			}
			continue
		}
		ctx, stop := context.WithDeadline(r.ctx, next)
		m, err := r.peer.Receive(ctx)
		stop()
		switch {
		case err == nil:
		case r.ctx.Err() != nil:
			return nil, r.ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			continue
		default:
			r.ended = err
			continue
		}
		a, err := r.arrive(m)
		switch {
		case err != nil:
			return nil, err
		case a == nil:
		case fits != nil && fits(a):
			return a, nil
		default:
			for _, old := range r.inbox.put(a) {
				r.unexpected(old)
			}
		}
	}
}

// sleep waits without receiving; false if the run is stopped.
func (r *runner) sleep(until time.Time) bool {
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// beat sends due keepalives.
func (r *runner) beat(now time.Time) error {
	for i := range r.beats {
		b := &r.beats[i]
		if now.Before(b.next) {
			continue
		}
		b.next = now.Add(b.every)
		if r.ended != nil {
			continue
		}
		if err := r.keep(b.keeping); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) keep(k *keeping) error {
	if r.rep.Keepalive >= MaxSends {
		return fmt.Errorf("more than %d keepalives were sent", MaxSends)
	}
	out, err := k.next().make(&r.e, r.vars)
	if err == nil {
		err = r.peer.Send(r.ctx, out)
	}
	if err != nil {
		return fmt.Errorf("keepalive: %w", err)
	}
	k.sent++
	r.rep.Keepalive++
	return nil
}

// arrive handles a received frame; nil if no step should see it.
func (r *runner) arrive(m Message) (*arrived, error) {
	if m.Kind != transport.Message {
		if m.Kind == transport.Problem || m.Kind == transport.Opaque {
			r.rep.note(fmt.Sprintf("%s, %d bytes: %s", m.Kind, len(m.Bytes), m.Note))
		}
		return nil, nil
	}
	a := &arrived{Message: m, def: definition(r.o.Definitions, &m)}
	for i := range r.p.keepalive {
		if k := &r.p.keepalive[i]; k.on != nil && kin(a.def, k.on) {
			r.rep.Received++
			r.rep.Answered++
			r.lift(k.lifts, a.decode(r.o.Definitions, &r.got), &Result{})
			return nil, r.keep(k)
		}
	}
	if r.over { // messages after the end of the recording
		return nil, nil
	}
	r.rep.Received++
	if a.def != nil && slices.ContainsFunc(r.p.ignore, func(p pattern) bool { return p.matches(a.def.Name) }) {
		r.rep.Ignored++
		return nil, nil
	}
	return a, nil
}
