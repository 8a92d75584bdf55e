package captures

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"wirebench/codec/transport"
	"wirebench/server/frames"
	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// People note things of frames by their numbers, and frames get other numbers when they are cut otherwise: by other definitions, keys or
// framing. What stays is where a frame begins in the file. So that is kept with what is noted (store.Place), and each reading of a capture
// says which of its frames that is.

const (
	waitForPlaces = 3 * time.Second // for the frames of a capture, before something is noted by the number alone
	nthWindow     = 64              // frames before one, among which those are counted that begin where it does
	maxKnownAt    = 1 << 17         // places whose frames are kept in mind
	settleTries   = 4
)

// start is the place of a frame, without Nth. A file without packets is one.
func (o *Capture) start(e live.Entry) store.Place {
	x := o.log.Extra(e)
	switch {
	case len(x.From) > 0:
		return store.Place{Packet: x.From[0].Packet, Off: x.From[0].Off}
	case o.raw && x.Offset >= 0:
		return store.Place{Packet: 1, Off: uint32(x.Offset)}
	}
	return store.Place{}
}

// covers are the runs of bytes that a frame was made of.
func (o *Capture) covers(e live.Entry) []transport.Source {
	x := o.log.Extra(e)
	if o.raw && len(x.From) == 0 && x.Offset >= 0 {
		return []transport.Source{{Packet: 1, Off: uint32(x.Offset), Len: e.Len}}
	}
	return x.From
}

// placeOf is where a frame begins; n is its number. It is the zero Place if nobody knows yet, or the frame is not there.
func (o *Capture) placeOf(n uint64) store.Place {
	if n == 0 || n > uint64(o.log.Len()) {
		return store.Place{}
	}
	i := int(n - 1)
	e, _, ok := o.log.Get(i)
	if !ok {
		return store.Place{}
	}
	p := o.start(e)
	if !p.Known() {
		if o.running { // its file may tell
			return store.Place{}
		}
		return store.Nowhere
	}
	for j := max(i-nthWindow, 0); j < i; j++ {
		if before, _, ok := o.log.Get(j); ok && o.start(before) == (store.Place{Packet: p.Packet, Off: p.Off}) {
			p.Nth++
		}
	}
	return p
}

// numbersOf are the numbers of the frames that begin at some places: those that begin there, else those that have the byte, else those that
// begin next. Of a place that nobody knows, or that all frames come before, it is the number that it had.
func (o *Capture) numbersOf(places []store.Place, had []uint64) []uint64 {
	out := slices.Clone(had)
	var look []int
	done := o.complete() || o.filled.Load()
	o.mu.Lock()
	for i, p := range places {
		if n, known := o.knownAt[p]; known {
			out[i] = cmp.Or(n, had[i])
		} else if p.Known() {
			look = append(look, i)
		}
	}
	o.mu.Unlock()
	same := map[store.Place]uint64{}
	look = slices.DeleteFunc(look, func(i int) bool {
		if o.placeOf(had[i]) != places[i] {
			return false
		}
		same[places[i]] = had[i]
		return true
	})
	slices.SortFunc(look, func(a, b int) int { return places[a].Compare(places[b]) })
	if len(look) > 0 {
		at := make([]store.Place, len(look))
		for k, i := range look {
			at[k] = places[i]
		}
		for k, n := range o.seek(at) {
			same[at[k]] = n
			out[look[k]] = cmp.Or(n, had[look[k]])
		}
	}
	if !done {
		return out
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.knownAt == nil || len(o.knownAt)+len(same) > maxKnownAt {
		o.knownAt = map[store.Place]uint64{}
	}
	maps.Copy(o.knownAt, same)
	return out
}

// seeker looks for the frames of places in one pass.
type seeker struct {
	o      *Capture
	places []store.Place // rising

	last   []uint64 // that begin there: the one that is the Nth, else the last one
	exact  []bool   // it is the Nth
	inside []uint64 // the first that has the byte
	skip   []int    // the next place from one on whose inside is not known yet; its end is one more than there are
	after  []uint64 // the one that begins next, where next is
	next   []store.Place
	recent map[store.Place][]int // frames that begin at a place, the last ones
}

// seek is the numbers of the frames of places, which rise; 0 where there is none.
func (o *Capture) seek(places []store.Place) []uint64 {
	n := len(places)
	s := seeker{
		o: o, places: places, last: make([]uint64, n), exact: make([]bool, n), inside: make([]uint64, n), skip: make([]int, n+1),
		after: make([]uint64, n), next: make([]store.Place, n), recent: map[store.Place][]int{},
	}
	for k := range s.skip {
		s.skip[k] = k
	}
	s.o.log.Each(s.o.log.Base(), s.o.log.Len(), func(i int, e live.Entry, _ []byte) bool {
		if p := s.o.start(e); p.Known() {
			s.begins(p, i)
		}
		for _, x := range s.o.covers(e) {
			s.has(x, uint64(i+1))
		}
		return true
	})
	for k := len(s.places) - 2; k >= 0; k-- {
		if s.after[k] == 0 {
			s.after[k], s.next[k] = s.after[k+1], s.next[k+1]
		}
	}
	out := make([]uint64, n)
	for k := range out {
		out[k] = cmp.Or(s.last[k], s.inside[k], s.after[k])
	}
	return out
}

// find is the index of the first place that is not before one.
func (s *seeker) find(p store.Place) int {
	return sort.Search(len(s.places), func(i int) bool { return s.places[i].Compare(p) >= 0 })
}

// begins takes the place of a frame, without Nth.
func (s *seeker) begins(p store.Place, i int) {
	k := s.find(p)
	if before := k - 1; before >= 0 && (s.after[before] == 0 || p.Compare(s.next[before]) < 0) {
		s.after[before], s.next[before] = uint64(i+1), p
	}
	if k == len(s.places) || s.places[k].Packet != p.Packet || s.places[k].Off != p.Off {
		return
	}
	recent := s.recent[p]
	for len(recent) > 0 && recent[0] < i-nthWindow {
		recent = recent[1:]
	}
	nth := uint32(len(recent))
	s.recent[p] = append(recent, i)
	for ; k < len(s.places) && s.places[k].Packet == p.Packet && s.places[k].Off == p.Off; k++ {
		if !s.exact[k] {
			s.last[k], s.exact[k] = uint64(i+1), s.places[k].Nth == nth
		}
	}
}

// has takes bytes that a frame has.
func (s *seeker) has(x transport.Source, n uint64) {
	end := uint64(x.Off) + uint64(x.Len)
	for k := s.open(s.find(store.Place{Packet: x.Packet, Off: x.Off})); k < len(s.places); k = s.open(k) {
		if p := s.places[k]; p.Packet != x.Packet || uint64(p.Off) >= end {
			return
		}
		s.inside[k] = n
		s.skip[k] = k + 1
	}
}

// open is the first place from one on whose inside is not known yet.
func (s *seeker) open(k int) int {
	for s.skip[k] != k {
		s.skip[k] = s.skip[s.skip[k]]
		k = s.skip[k]
	}
	return k
}

// Numbered is what people noted by the numbers of this reading. While that is not all there, and of running traffic, the numbers are what they
// are.
func (o *Capture) Numbered(n store.Notes) store.Notes {
	if o.running || !o.filled.Load() && !o.CaughtUp() || len(n.Places) == 0 && !slices.ContainsFunc(n.Markers, func(m store.Marker) bool { return m.Place.Known() }) {
		return n
	}
	pins := n.Pins()
	places, had := make([]store.Place, 0, len(pins)+len(n.Markers)), make([]uint64, 0, len(pins)+len(n.Markers))
	for _, p := range pins {
		places, had = append(places, p.Place), append(had, p.N)
	}
	for _, m := range n.Markers {
		places, had = append(places, m.Place), append(had, m.N)
	}
	now := o.numbersOf(places, had)
	if slices.Equal(now, had) {
		return n
	}
	for i := range pins {
		pins[i].N = now[i]
	}
	n.Markers = slices.Clone(n.Markers)
	for i := range n.Markers {
		n.Markers[i].N = now[len(pins)+i]
	}
	slices.SortStableFunc(n.Markers, func(a, b store.Marker) int { return cmp.Compare(a.N, b.N) })
	n.SetPins(pins)
	return n
}

// settled is numbered with the places of what had none. It reports whether anything is otherwise than it was.
func (o *Capture) settled(n store.Notes) (store.Notes, bool) {
	out := o.Numbered(n)
	found := !frames.SameNotes(n, out)
	pins := out.Pins()
	fresh := false
	for i, p := range pins {
		if p.Place == (store.Place{}) {
			pins[i].Place = o.placeOf(p.N)
			fresh = fresh || pins[i].Place != (store.Place{})
		}
	}
	if fresh {
		out.SetPins(pins)
	}
	out.Markers = slices.Clone(out.Markers)
	for i, m := range out.Markers {
		if m.Place == (store.Place{}) {
			out.Markers[i].Place = o.placeOf(m.N)
			fresh = fresh || out.Markers[i].Place != (store.Place{})
		}
	}
	return out, found || fresh
}

var errNotedMeanwhile = errors.New("something else was noted meanwhile")

// settle stores what people noted of a capture by the numbers of a reading, if that is the one by what is stored now: whoever lists marks
// and notes then has the numbers that the frames have.
func (c *Set) settle(ws *workspace.Workspace, id string, o *Capture) {
	for range settleTries {
		x, err := ws.Captures.Get(id)
		if err != nil || o.running || o.key != readingOfCapture(ws.Name, ws.Now(), x) {
			return
		}
		next, changed := o.settled(x.Notes)
		if !changed {
			return
		}
		_, err = ws.Captures.Edit(id, func(y *store.Capture) error {
			if !frames.SameNotes(x.Notes, y.Notes) || !slices.Equal(x.Notes.Places, y.Notes.Places) {
				return errNotedMeanwhile
			}
			y.Notes = next
			return nil
		})
		if !errors.Is(err, errNotedMeanwhile) {
			return // it is done, or the disk does not take it: each reading says the numbers all the same
		}
	}
}

// Await waits a while for the frames up to a number, or for all of them.
func (o *Capture) Await(ctx context.Context, n uint64, enough <-chan time.Time) {
	tick := time.NewTicker(rereadPause)
	defer tick.Stop()
	for !o.running && !o.CaughtUp() && (n == 0 || uint64(o.log.Len()) < n) {
		select {
		case <-o.done:
			return
		case <-enough:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// withCut is the open reading of a capture that is cut so, nil if there is none.
func (c *Set) withCut(ws, id, cut string) *Capture {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.live[ws+"/"+id]; o != nil && cut == liveCut {
		return o
	}
	for key, o := range c.open {
		if o.cut == cut && (key == ws+"/"+id || strings.HasPrefix(key, ws+"/"+id+"/")) {
			return o
		}
	}
	return nil
}

// Numbering is what numbers of frames mean in a request: those of one reading, which are stored as those of the one by what is stored now.
type Numbering struct {
	said   *Capture // whose numbers are said; nil: nobody knows
	stored *Capture // nil: nobody knows
}

// ErrCut says that numbers of frames are those of a reading that is not open.
var ErrCut = errors.New("the frames have been renumbered: reload the list")

// Numbering opens what a request's numbers are about, and waits a while for the frames up to the greatest of them. cut is "" for what is
// stored now. What cannot be read leaves numbers without places.
func (c *Set) Numbering(ctx context.Context, ws *workspace.Workspace, snap *workspace.Snapshot, x store.Capture, cut string, greatest uint64) (Numbering, error) {
	stored, err := c.Get(ws, snap, x)
	if err != nil {
		stored = nil
	}
	n := Numbering{stored, stored}
	if cut != "" && cut != liveCut && (stored == nil || cut != stored.cut) {
		if n.said = c.withCut(ws.Name, x.ID, cut); n.said == nil {
			return n, ErrCut
		}
	}
	enough := time.After(waitForPlaces)
	if n.said != nil {
		n.said.Await(ctx, greatest, enough)
	}
	if n.said != n.stored && n.stored != nil {
		n.stored.Await(ctx, 0, enough)
	}
	if n.stored != nil && n.stored.filled.Load() {
		c.settle(ws, x.ID, n.stored)
	}
	return n, nil
}

// Pin is a frame of a number that is said: its place, and the number that is stored.
func (n Numbering) Pin(said uint64) store.Pin {
	p := store.Pin{N: said}
	if n.said == nil {
		return p
	}
	p.Place = n.said.placeOf(said)
	if n.said != n.stored && n.stored != nil && n.stored.filled.Load() {
		p.N = n.stored.numbersOf([]store.Place{p.Place}, []uint64{said})[0]
	}
	return p
}

// of are the numbers that are said of some pins.
func (n Numbering) of(pins []store.Pin) []uint64 {
	places, had := make([]store.Place, len(pins)), make([]uint64, len(pins))
	for i, p := range pins {
		places[i], had[i] = p.Place, p.N
	}
	if n.said == n.stored || n.said == nil || n.said.running {
		return had
	}
	return n.said.numbersOf(places, had)
}

// Note changes marks and notes of frames. A text of "" takes a note away.
func (n Numbering) Note(x *store.Notes, mark, unmark []uint64, texts map[uint64]string) {
	pins := x.Pins()
	at := map[uint64][]int{}
	for i, said := range n.of(pins) {
		at[said] = append(at[said], i)
	}
	first := func(said uint64) int {
		if len(at[said]) == 0 {
			at[said] = []int{len(pins)}
			pins = append(pins, n.Pin(said))
		}
		return at[said][0]
	}
	for _, said := range mark {
		if !slices.ContainsFunc(at[said], func(i int) bool { return pins[i].Mark }) {
			pins[first(said)].Mark = true
		}
	}
	for _, said := range unmark {
		for _, i := range at[said] {
			pins[i].Mark = false
		}
	}
	for said, text := range texts {
		for _, i := range at[said] {
			pins[i].Note = ""
		}
		if text != "" {
			pins[first(said)].Note = text
		}
	}
	x.SetPins(pins)
}

// NumberIn is the number that a frame of another reading of a capture has in one, by where it begins. cut is that of the other one. What
// nobody knows is as it was.
func (c *Set) NumberIn(ws, id string, o *Capture, cut string, n int) int {
	if cut == "" || cut == o.cut || n < 1 {
		return n
	}
	from := c.withCut(ws, id, cut)
	if from == nil || from == o {
		return n
	}
	return int(o.numbersOf([]store.Place{from.placeOf(uint64(n))}, []uint64{uint64(n)})[0])
}
