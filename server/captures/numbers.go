package captures

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sort"
	"time"

	"wirebench/codec/transport"
	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Marks and notes name their frame by identity (transport.FrameID). Its number depends on the reading of the capture: other definitions,
// keys or framing split the bytes into other frames.

const (
	waitForNumbers = 3 * time.Second // for the frames of a capture, before a note is stored with a number only
	maxKnown       = 1 << 17         // identities whose numbers are cached
	nearby         = 1 << 9          // frames checked on either side of the expected place
)

// ID returns the identity of frame n, zero if it is not in memory.
func (o *Capture) ID(n uint64) transport.FrameID {
	if n == 0 || n > uint64(o.log.Len()) {
		return transport.FrameID{}
	}
	e, _, ok := o.log.Get(int(n - 1))
	if !ok {
		return transport.FrameID{}
	}
	return e.ID()
}

// spot is the place of an identity in this reading.
type spot struct {
	n    uint64 // number of the frame with the identity, else of the frame with its first byte, else of the next frame in its packet; 0 if there is none
	from uint64 // number of the first frame that does not begin before it; 0 if there is none
}

// spots returns the places of identities. had holds their previous numbers, which are checked first.
func (o *Capture) spots(ids []transport.FrameID, had []uint64) []spot {
	out := make([]spot, len(ids))
	var look []int
	done := (o.complete() || o.filled.Load()) && o.log.Err() == nil
	o.mu.Lock()
	for i, id := range ids {
		s, known := o.known[id]
		switch {
		case known:
			out[i] = s
		case id == transport.FrameID{}:
		case o.ID(had[i]) == id:
			out[i] = spot{had[i], had[i]}
		default:
			if n := o.near(id); n > 0 {
				out[i] = spot{n, n}
			} else {
				look = append(look, i)
			}
		}
	}
	o.mu.Unlock()
	if len(look) == 0 {
		return out
	}
	slices.SortFunc(look, func(a, b int) int { return ids[a].Compare(ids[b]) })
	at := make([]transport.FrameID, len(look))
	for k, i := range look {
		at[k] = ids[i]
	}
	found := map[transport.FrameID]spot{}
	for k, s := range o.seek(at) {
		out[look[k]], found[at[k]] = s, s
	}
	if done && o.log.Err() == nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.known == nil || len(o.known)+len(found) > maxKnown {
			o.known = map[transport.FrameID]spot{}
		}
		maps.Copy(o.known, found)
	}
	return out
}

// near searches for the frame of an identity around its expected place, since frames are nearly in packet order. It returns 0 if it is not
// there.
func (o *Capture) near(id transport.FrameID) uint64 {
	base, end := o.log.Base(), o.log.Len()
	at := base + sort.Search(end-base, func(i int) bool { return o.ID(uint64(base+i+1)).Packet >= id.Packet })
	for n := max(base, at-nearby) + 1; n <= min(end, at+nearby); n++ {
		if o.ID(uint64(n)) == id {
			return uint64(n)
		}
	}
	return 0
}

// Number returns the number of the frame with an identity, 0 if there is none.
func (o *Capture) Number(id transport.FrameID) uint64 {
	return o.spots([]transport.FrameID{id}, []uint64{0})[0].n
}

// seeker searches for identities in one pass. Its slices are parallel to ids.
type seeker struct {
	ids []transport.FrameID // ascending

	begins []uint64 // frame with the identity, else the last frame that begins there
	exact  []bool   // begins is the frame with the identity itself
	inside []uint64 // first frame that contains the byte
	skip   []int    // next identity from this one on whose inside is unknown; has one more element
	after  []uint64 // next frame that begins later, at the identity in next
	next   []transport.FrameID
}

// seek returns the places of identities, which must ascend.
func (o *Capture) seek(ids []transport.FrameID) []spot {
	n := len(ids)
	s := seeker{
		ids: ids, begins: make([]uint64, n), exact: make([]bool, n), inside: make([]uint64, n), skip: make([]int, n+1), after: make([]uint64, n),
		next: make([]transport.FrameID, n),
	}
	for k := range s.skip {
		s.skip[k] = k
	}
	var from []transport.Source
	o.log.Each(o.log.Base(), o.log.Len(), func(i int, e live.Entry, _ []byte) bool {
		from = o.log.AppendFrom(from[:0], e)
		id, n := e.ID(), uint64(i+1)
		s.frame(id, n)
		if id.Shown() && len(from) == 0 { // in a raw file
			s.has(transport.Source{Packet: id.Packet, Off: id.Off, Len: e.Len}, n)
		}
		for _, x := range from {
			s.has(x, n)
		}
		return true
	})
	for k := n - 2; k >= 0; k-- {
		if s.after[k] == 0 {
			s.after[k], s.next[k] = s.after[k+1], s.next[k+1]
		}
	}
	out := make([]spot, n)
	for k := range out {
		out[k] = spot{n: cmp.Or(s.begins[k], s.inside[k]), from: cmp.Or(s.begins[k], s.inside[k], s.after[k])}
		if out[k].n == 0 && s.next[k].Packet == ids[k].Packet {
			out[k].n = s.after[k]
		}
	}
	return out
}

// find returns the index of the first identity that is not less than id.
func (s *seeker) find(id transport.FrameID) int {
	return sort.Search(len(s.ids), func(i int) bool { return s.ids[i].Compare(id) >= 0 })
}

// frame processes the identity of frame n.
func (s *seeker) frame(id transport.FrameID, n uint64) {
	if !id.Shown() { // matched by equality only
		if k := s.find(id); k < len(s.ids) && s.ids[k] == id {
			s.begins[k] = n
		}
		return
	}
	start := transport.FrameID{Packet: id.Packet, Off: id.Off}
	k := s.find(start)
	if before := k - 1; before >= 0 && s.ids[before].Shown() && (s.after[before] == 0 || start.Compare(s.next[before]) < 0) {
		s.after[before], s.next[before] = n, start
	}
	for ; k < len(s.ids) && s.ids[k].Packet == id.Packet && s.ids[k].Off == id.Off; k++ {
		if !s.exact[k] {
			s.begins[k], s.exact[k] = n, s.ids[k] == id
		}
	}
}

// has processes a range of bytes that frame n contains.
func (s *seeker) has(x transport.Source, n uint64) {
	end := uint64(x.Off) + uint64(x.Len)
	for k := s.open(s.find(transport.FrameID{Packet: x.Packet, Off: x.Off})); k < len(s.ids); k = s.open(k) {
		if p := s.ids[k]; p.Packet != x.Packet || uint64(p.Off) >= end {
			return
		}
		s.inside[k] = n
		s.skip[k] = k + 1
	}
}

// open returns the first identity from k on whose inside is unknown.
func (s *seeker) open(k int) int {
	for s.skip[k] != k {
		s.skip[k] = s.skip[s.skip[k]]
		k = s.skip[k]
	}
	return k
}

// Numbered returns the notes with the frame numbers of this reading; 0 means that it has no such frame. Notes with only a number get the
// identity of their frame. While the file is being read, and where frames cannot be read, the numbers stay unchanged.
func (o *Capture) Numbered(n store.Notes) store.Notes {
	if !o.running && !o.filled.Load() && !o.CaughtUp() || o.Broken() {
		return n
	}
	ids, had := make([]transport.FrameID, 0, len(n.Noted)+len(n.Markers)), make([]uint64, 0, len(n.Noted)+len(n.Markers))
	for _, x := range n.Noted {
		ids, had = append(ids, x.ID), append(had, x.N)
	}
	for _, m := range n.Markers {
		ids, had = append(ids, m.ID), append(had, m.N)
	}
	for i, id := range ids {
		if id == (transport.FrameID{}) {
			ids[i] = o.ID(had[i])
		}
	}
	now := make([]spot, len(ids))
	if o.running { // the stored numbers are from this log
		for i := range now {
			now[i] = spot{had[i], had[i]}
		}
	} else {
		now = o.spots(ids, had)
	}
	if o.Broken() { // found out just now
		return n
	}
	n.Noted, n.Markers = slices.Clone(n.Noted), slices.Clone(n.Markers)
	for i := range n.Noted {
		if x := &n.Noted[i]; ids[i] != (transport.FrameID{}) {
			x.ID, x.N = ids[i], now[i].n
		}
	}
	for i := range n.Markers { // a marker after the last frame keeps its number
		m, k := &n.Markers[i], len(n.Noted)+i
		m.ID, m.N = ids[k], cmp.Or(now[k].from, m.N)
	}
	n.Show()
	return n
}

var errSettled = errors.New("the notes have the numbers of this reading")

// settle stores newly found identities, and the numbers of a reading if it is the one for the stored keys, framing and definitions.
func (c *Set) settle(ws *workspace.Workspace, id string, o *Capture) {
	if o.running {
		return
	}
	_, _ = ws.Captures.Edit(id, func(x *store.Capture) error { // on failure, each reading computes the numbers again
		next := o.Numbered(x.Notes)
		if next.Same(x.Notes) || o.key != Reading(ws.Name, ws.For(*x), *x) {
			return errSettled
		}
		x.Notes = next
		return nil
	})
}

// Await waits for the frames up to number n, for all frames if n is 0, or until enough receives.
func (o *Capture) Await(ctx context.Context, n uint64, enough <-chan time.Time) {
	for !o.running {
		changed := o.log.Changed()
		if o.CaughtUp() || n > 0 && uint64(o.log.Len()) >= n {
			return
		}
		var pause <-chan time.Time
		for wait := true; wait; {
			select {
			case <-o.done:
				return
			case <-enough:
				return
			case <-ctx.Done():
				return
			case <-changed: // closed for each frame: check only now and then, to keep the reader fast
				changed, pause = nil, time.After(rereadPause)
			case <-pause:
				wait = false
			}
		}
	}
}

// Name completes the frame names of a request: it sets the number for an identity and the identity for a number, according to the reading
// for the stored settings. It waits up to 3 seconds for the frames. If the capture cannot be read, the names are unchanged and the result
// is nil.
func (c *Set) Name(ctx context.Context, ws *workspace.Workspace, snap *workspace.Snapshot, x store.Capture, names []*store.FrameName) *Capture {
	o, err := c.Get(ws, snap, x)
	if err != nil {
		return nil
	}
	greatest := uint64(0)
	ids := make([]transport.FrameID, len(names))
	for i, f := range names {
		ids[i], greatest = f.ID, max(greatest, f.N)
	}
	if slices.ContainsFunc(ids, func(id transport.FrameID) bool { return id != transport.FrameID{} }) {
		greatest = 0 // all frames
	}
	o.Await(ctx, greatest, time.After(waitForNumbers))
	at := o.spots(ids, make([]uint64, len(ids)))
	for i, f := range names {
		if f.ByNumber {
			f.ID = o.ID(f.N)
		} else {
			f.N = at[i].n
		}
	}
	return o
}
