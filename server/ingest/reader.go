package ingest

import (
	"context"
	"errors"
	"sync/atomic"

	"wirebench/codec"
	"wirebench/codec/parquet"
	"wirebench/codec/redact"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/captures"
	"wirebench/server/lake"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// reader takes the frames of a capture.
type reader struct {
	*run
	x    store.Capture
	size int64
	was  string // the numbering of the frames that the lake has; "" if there are none

	numbering text                               // of the frames
	next      atomic.Pointer[workspace.Snapshot] // changed definitions

	broken  bool // the lake failed, not the capture
	of      lake.Capture
	snap    *workspace.Snapshot
	reading *workspace.Reading
	secrets bool // fields are marked as secret
	rec     codec.Record
	hidden  []byte
	conns   map[int]string
	came    lake.Day // of the capture
	days    map[lake.Day]bool
	last    lake.Day // of the last frame
	lastAt  int64    // the second in which it was
}

// text is a text that several goroutines use.
type text struct{ atomic.Pointer[string] }

func (t *text) Load() string {
	if p := t.Pointer.Load(); p != nil {
		return *p
	}
	return ""
}

// read takes the frames of a capture when a slot is free; nil stands for one of those for captures that are being written, which it has. One that begins to
// be written meanwhile is read up to there, and looked at again: it does not keep the slot of others.
func (r *reader) read(ctx context.Context, slot chan struct{}) {
	wait := slot == nil
	if wait {
		slot = r.many
	} else {
		select {
		case slot <- struct{}{}:
		case <-ctx.Done():
			r.end(ctx.Err())
			return
		}
	}
	defer func() { <-slot }()
	r.end(r.take(ctx, wait))
}

// end reports that a capture has been read.
func (r *reader) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.readers[r.x.ID] != r {
		return
	}
	delete(r.readers, r.x.ID)
	switch {
	case err == nil:
		delete(r.failed, r.x.ID)
	case errors.Is(err, context.Canceled) || errors.Is(err, captures.ErrGoesOn) || errors.Is(err, errNumbering) || r.broken:
	default:
		r.mu.Unlock()
		r.fails(err)
		r.mu.Lock()
	}
	if r.broken {
		r.fault = err
	}
	select {
	case r.ended <- struct{}{}:
	default:
	}
}

// fails notes that a capture cannot be read, until it has another size.
func (r *reader) fails(err error) {
	r.Log.Warn("a capture cannot be read to its end for the lake", "project", r.ws.Name, "capture", r.x.ID, "error", err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed[r.x.ID] = failure{r.size, err}
}

// errNumbering reports that the frames of a capture have other numbers than those of which the lake has some.
var errNumbering = errors.New("the frames have other numbers now")

// take takes the frames of a capture that the batch does not have. With wait, it waits at the end of one that is being written; otherwise its error
// is captures.ErrGoesOn then. An error of the lake breaks the reader.
func (r *reader) take(ctx context.Context, wait bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.of, r.conns, r.days = lake.Capture{ID: r.x.ID, Name: r.x.Name}, map[int]string{}, map[lake.Day]bool{}
	r.came = lake.DayOf(r.x.Added)
	r.last, r.lastAt = r.came, -1<<63
	size, err := r.Captures.Stream(ctx, r.ws, r.x, captures.Streaming{
		Wait: wait,
		Begun: func(snap *workspace.Snapshot, x store.Capture) {
			r.of.Cut = captures.Numbering(snap, x)
			r.numbering.Store(&r.of.Cut)
			if r.was != "" && r.was != r.of.Cut {
				cancel(errNumbering)
			}
			r.define(snap)
		},
		Frame: func(f *transport.Frame) {
			if ctx.Err() != nil {
				return
			}
			if err := r.frame(f); err != nil {
				cancel(err)
			}
		},
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return err
	}
	r.batching.Lock()
	defer r.batching.Unlock()
	if r.batch == nil {
		return context.Canceled
	}
	r.batch.End(&r.of, r.last, size)
	r.begun()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[r.x.ID] = size
	return nil
}

// define sets the definitions.
func (r *reader) define(snap *workspace.Snapshot) {
	r.snap, r.reading, r.secrets = snap, workspace.NewReading(snap), snap.HasSecrets()
}

// frame takes a frame.
func (r *reader) frame(f *transport.Frame) error {
	if next := r.next.Swap(nil); next != nil {
		r.define(next)
	}
	r.reading.Take(f)
	p, message := r.reading.Program()
	if p != nil && r.secrets {
		message = r.hide(p, message)
	}
	row := parquet.RowOf(f)
	row.Capture, row.Conn = r.x.ID, r.conn(f)
	r.batching.Lock()
	defer r.batching.Unlock()
	if r.batch == nil {
		return context.Canceled // the lake is opened again
	}
	isNew, err := r.batch.Take(&r.of, r.day(f), p, message, row)
	if err != nil {
		r.broken = true
		return err
	}
	if isNew {
		r.begun()
		if p != nil {
			r.pending.Add(1)
		}
	}
	return nil
}

// hide returns a message with its secret values replaced: equal ones by equal ones in all captures of the project.
func (r *reader) hide(p *codec.Program, message []byte) []byte {
	r.hiding.Lock()
	defer r.hiding.Unlock()
	if r.redactor == nil {
		r.redactor = redact.New()
	}
	if !r.redactor.Has(p) {
		return message
	}
	r.rec.Session = codec.Session{}
	p.Decode(&r.rec, message)
	r.hidden, _ = r.redactor.Bytes(r.hidden, &r.rec)
	return r.hidden
}

// conn returns the name of the connection of a frame.
func (r *reader) conn(f *transport.Frame) string {
	if f.Conn == nil {
		return ""
	}
	name, ok := r.conns[f.Conn.ID]
	if !ok {
		if len(r.conns) > maxConns {
			clear(r.conns)
		}
		name = f.Conn.Name()
		r.conns[f.Conn.ID] = name
	}
	return name
}

const maxConns = 1 << 16 // whose names are kept

// day returns the day of a frame: that of its capture if it has no time, or if the frames of the capture have too many days.
func (r *reader) day(f *transport.Frame) lake.Day {
	if f.At.IsZero() {
		return r.came
	}
	if s := f.At.Unix(); s != r.lastAt {
		r.lastAt, r.last = s, lake.DayOf(f.At)
		if year := f.At.UTC().Year(); year < 1 || year > 9999 || !r.days[r.last] && len(r.days) >= mostDays {
			r.last = r.came
		}
		r.days[r.last] = true
	}
	return r.last
}

// count adds what the files and the manifests have to a state.
func (r *run) count(p *lake.Project, s *LakeState) {
	type key struct {
		message, group, direction, definition string
		version                               int
	}
	rows, days := map[key]int{}, map[lake.Day]bool{}
	p.Files(func(d lake.Day, l *lake.Listed) {
		s.Rows, s.Files, s.Bytes = s.Rows+l.Rows, s.Files+1, s.Bytes+l.Bytes
		days[d] = true
		rows[key{l.Message, l.Group, l.Direction, l.Definition, l.Version}] += l.Rows
	})
	s.Days = len(days)
	for _, of := range p.Captures() {
		for _, t := range of {
			s.Undefined += t.Undefined
		}
	}
	snap := r.ws.Now()
	present := map[key]*schema.Message{}
	for _, m := range snap.Schema().Messages {
		present[key{m.Name, m.Key.Group, m.Key.Dir.String(), "", m.Version}] = m
	}
	changed := map[key]*LakeChange{}
	hashes := map[*schema.Message]string{}
	for k, n := range rows {
		definition := k.definition
		k.definition = ""
		m := present[k]
		if m != nil && hashes[m] == "" {
			if program, err := snap.Program(m); err == nil {
				hashes[m] = lake.Definition(parquet.Of(program))
			}
		}
		if m != nil && hashes[m] == definition {
			continue
		}
		if changed[k] == nil {
			changed[k] = &LakeChange{Message: k.message, Version: k.version, Gone: m == nil}
		}
		changed[k].Rows += n
	}
	for _, c := range changed {
		s.Changed = append(s.Changed, *c)
	}
}
