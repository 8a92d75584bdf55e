package page

import (
	"encoding/hex"
	"encoding/json"
	"errors"

	"wirebench/codec/transport"
	"wirebench/server/captures"
	"wirebench/server/frames"
	"wirebench/server/workspace"
)

// Pick names a frame of the capture that the page shows. The server has its bytes, and knows how they are read.
type Pick struct {
	N  int               `json:"n"`           // number in the list, from 1; 0 for none
	ID transport.FrameID `json:"id,omitzero"` // identity, which counts if the number is of another frame by now
}

// Picked describes the frame that an open page has picked, besides its bytes and fields.
type Picked struct {
	frames.Origin
	Lost string `json:"lost,omitempty"` // why the frame cannot be shown
}

// chosen is the frame of a pick.
type chosen struct {
	pick  Pick
	taken *frames.Taken       // nil: it is not there
	lost  string              // then, why
	told  *frames.Origin      // as it was read last; nil before
	in    *workspace.Snapshot // the stored definitions when it was taken; nil before, and when the capture is read in another way
	more  <-chan struct{}     // closed when the frame may be there
	done  <-chan struct{}     // closed when all frames are there
}

// errGone says that a frame is not in the capture as it is read now.
var errGone = errors.New("this frame is not in the capture any more")

// in returns a picked frame. waits reports that it is missing because the capture has not been read that far.
func (p Pick) in(open *captures.Capture) (t *frames.Taken, waits bool, err error) {
	n, complete := p.N, open.Complete()
	known := p.ID == (transport.FrameID{}) || open.ID(uint64(n)) == p.ID
	if !known && (complete || open.Running()) { // until then it may be read, and each look would search all frames
		n = int(open.Number(p.ID))
		known = n > 0
	}
	switch {
	case !known && !complete && !open.Running(), n > open.Log().Len() && !complete:
		return nil, true, nil
	case !known:
		return nil, false, errGone
	}
	t, err = frames.Take(open, n)
	return t, false, err
}

// choose takes another frame, whose bytes become the input; see fetch.
func (l *livePage) choose(p Pick) {
	f := &l.form
	f.input, f.form, f.byCode, f.show, f.edits, f.frame, f.chosen = "", "hex", true, 0, nil, &FrameForm{}, nil
	if delete(l.sent, "picked"); p.N > 0 {
		f.chosen = &chosen{pick: p}
	}
}

// fetch takes the frame of the pick from the capture, again if that is read in another way now, and makes its bytes the input. Until the
// capture has been read that far, the pick waits.
func (l *livePage) fetch() {
	c := l.form.chosen
	if c == nil {
		return
	}
	if l.capture == "" || l.ws.Captures == nil {
		c.lost = errGone.Error()
		return
	}
	stored := l.ws.For(l.read)
	if c.in == stored && c.more == nil {
		return
	}
	c.in, c.more, c.done = stored, nil, nil
	snap := stored
	if l.good != nil && l.good.Edited && (len(stored.Dialect.Frames) == 0 || workspace.IsEnvelope(l.form.message)) {
		snap = l.good.Snap // the unsaved text decides where frames end, in the list, too
	}
	open, err := l.bench.Captures.Follow(l.ws, snap, l.read)
	var taken *frames.Taken
	if err == nil {
		more, done, waits := open.Changed(), open.Done(), false
		if taken, waits, err = c.pick.in(open); waits {
			c.more, c.done = more, done
			return
		}
	}
	switch {
	case err == nil:
		c.taken, l.form.input = taken, hex.EncodeToString(taken.Bytes())
	case c.taken == nil: // otherwise it is shown as it was
		c.lost = err.Error()
	}
}

// awaits returns channels that are closed when a missing frame may be there; nil while none is missing.
func (l *livePage) awaits() (more, done <-chan struct{}) {
	if c := l.form.chosen; c != nil {
		return c.more, c.done
	}
	return nil, nil
}

// waits reports whether the frame may still come.
func (c *chosen) waits() bool { return c != nil && c.more != nil }

// frameForm describes the picked frame as the definitions of a snapshot explain it.
func (c *chosen) frameForm(snap *workspace.Snapshot) *FrameForm {
	if c.taken == nil {
		return &FrameForm{}
	}
	o := c.taken.Origin(snap)
	c.told = &o
	return &FrameForm{Kind: c.taken.Kind().String(), Dir: o.Dir, Group: o.Group, Name: o.Name, Alternate: o.Alternate, About: o.About, Offer: o.Definition()}
}

// picked sends the description of the frame, unless the page has the same one.
func (l *livePage) picked(out *Answer) {
	c := l.form.chosen
	if c == nil {
		delete(l.sent, "picked")
		return
	}
	p := &Picked{Lost: c.lost}
	if c.told != nil {
		p.Origin = *c.told
		p.About = nil // it is among the fields
	} else if c.lost == "" {
		return // it is awaited
	}
	if text, _ := json.Marshal(p); !l.same("picked", string(text)) { // cannot fail
		out.Picked = p
	}
}
