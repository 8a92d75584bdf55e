package subspace

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"strconv"
	"time"

	"wirebench/codec/transport"
)

const (
	farRow  = 32 // consecutive packets beyond the window that prove a gap in the capture
	maxRuns = 64 // runs of missing numbers remembered
	recent  = 64 // numbers whose body hash is stored, to detect repetitions with other content
)

// How long to wait for a number. A sender without an acknowledgement sends a packet 15 times at intervals that grow by 0.6 s, and so gives
// up after 63 s; with an acknowledgement it does not retransmit, but the packet may be later in the capture than the ack.
const (
	patience       = 64 * time.Second
	patienceCount  = 4096 // datagrams of the direction, for captures without times
	ackedPatience  = 2 * time.Second
	ackedPatienceN = 64
)

// gaps is what an observer of an order knows about numbers that it has not received, or received twice. It cannot ask for them again, and
// gives them up when they will not be in the capture.
type gaps struct {
	first  int64            // the first number delivered
	far    []*early         // packets beyond the window, of rising numbers
	acked  map[int32]moment // acknowledged numbers from next on that were never captured
	hole   moment           // since when next has been missing while others wait
	runs   []run            // numbers given up
	bodies *[recent]uint64  // hashes, at number % recent
	seed   maphash.Seed     // of the hashes
}

// moment is a position in the capture.
type moment struct {
	at    time.Time
	count int64 // datagrams of the direction
}

// run is a run of numbers.
type run struct{ from, to int64 }

// missing and acknowledged are reasons for giving up a number.
const (
	missing      = ""
	acknowledged = ": acknowledged, but not in the capture"
)

func (o *order) clearFar() {
	for _, e := range o.far {
		o.recycle(e)
	}
	o.far = o.far[:0]
}

// expect prepares the order for a number that has been received.
func (t *Transport) expect(w *way, n int32) {
	o := &w.order
	if !o.started {
		o.start(n, t.session.hasInit || t.session.answered)
		if o.next > 0 {
			t.doubt(w)
		}
	}
	// More packets wait than any sender has in flight: the missing ones will not arrive.
	for !o.busy && int64(n) >= o.next+window && int64(n) < o.next+2*window && len(o.early) >= window/2 {
		t.skip(w)
	}
}

// start begins the order: at 0 in a session whose start was captured, otherwise at the first number.
func (o *order) start(n int32, seen bool) {
	o.started = true
	if seen {
		o.next, o.first = 0, 0
		return
	}
	o.next, o.first = int64(n), int64(n)
	if n > 0 { // the numbers just before it may be in flight
		o.runs = append(o.runs, run{max(0, o.next-window), o.next - 1})
	}
}

func (t *Transport) moment(w *way) moment { return moment{t.at, w.count} }

// past reports whether m is longer ago than a duration or a number of datagrams.
func (m moment) past(now moment, d time.Duration, count int64) bool {
	return now.at.Sub(m.at) >= d || now.count-m.count >= count
}

// delivered records a packet that was received.
func (g *gaps) delivered(n int32, body []byte) {
	g.remember(n, body)
	if len(g.acked) > 0 {
		delete(g.acked, n)
	}
}

func (g *gaps) remember(n int32, body []byte) {
	if g.bodies == nil {
		g.bodies, g.seed = new([recent]uint64), maphash.MakeSeed()
	}
	g.bodies[n%recent] = maphash.Bytes(g.seed, body)
}

// again reads a packet whose turn is over.
func (t *Transport) again(w *way, data []byte, off uint32) {
	n, body := number(data), data[reliableHeader:]
	o := &w.order
	if o.givenUp(int64(n)) {
		t.tooLate(w, n, body, off+reliableHeader)
		return
	}
	known := int64(n) >= o.next-recent && int64(n) >= o.first && o.bodies != nil
	t.repeated(w, data, off, !known || o.bodies[n%recent] == maphash.Bytes(o.seed, body))
}

// tooLate emits the content of a packet that was given up before.
func (t *Transport) tooLate(w *way, n int32, body []byte, off uint32) {
	o := &w.order
	if int64(n) >= o.next-recent {
		o.remember(n, body)
	}
	note, late, busy := t.note, t.late, o.busy
	t.note, t.late, o.busy = "late: packets after it were delivered without waiting for it", true, true
	t.path = append(t.path, wrap{inReliable, n})
	t.read(w, body, off)
	t.path = t.path[:len(t.path)-1]
	t.note, t.late, o.busy = note, late, busy
	if !busy {
		t.drain(w)
	}
}

// far reads a packet that is beyond the window. Many of them in a row prove a gap in the capture; a single one may be forged and is
// ignored.
func (t *Transport) far(w *way, data []byte, off uint32) {
	o := &w.order
	n, body := number(data), data[reliableHeader:]
	if last := len(o.far) - 1; last >= 0 {
		before := int64(o.far[last].number)
		if int64(n) == before {
			t.repeated(w, data, off, bytes.Equal(o.far[last].body, body))
			return
		}
		if int64(n) < before || int64(n) >= before+window {
			t.dropFar(w)
		}
	}
	if len(o.far) == farRow-1 && o.busy {
		t.problem(w, data, off, "too far ahead, inside another packet")
		return
	}
	o.far = append(o.far, t.copied(w, n, body, off+reliableHeader))
	if len(o.far) < farRow {
		return
	}
	t.skipAll(w)
	for _, e := range o.far {
		o.keep(e)
	}
	o.far = o.far[:0]
	t.skip(w)
}

// dropFar reports isolated packets beyond the window.
func (t *Transport) dropFar(w *way) {
	now, o := t.origin, &w.order
	for _, e := range o.far {
		t.origin = e.origin
		t.problem(w, e.body, e.off, "reliable packet "+strconv.Itoa(int(e.number))+" is too far ahead of the expected "+strconv.FormatInt(o.next, 10)+
			": servers ignore it")
	}
	t.origin = now
	o.clearFar()
}

// skip gives up the numbers before the lowest one that waits, and continues from there. The frames have the times at which the packets
// arrived, not that of this decision.
func (t *Transport) skip(w *way) {
	o := &w.order
	lowest := o.next
	if len(o.early) > 64 { // many within the window, so one is near
		for o.early[int32(lowest)] == nil {
			lowest++
		}
	} else {
		lowest = maxNumber
		for n := range o.early {
			lowest = min(lowest, int64(n))
		}
	}
	t.giveUp(w, lowest, missing)
	now := t.at
	t.at = time.Time{}
	for e := o.early[int32(lowest)]; e != nil; e = o.early[int32(o.next)] {
		if t.at.Before(e.at) {
			t.at = e.at
		}
		t.deliver(w, e)
	}
	t.at = now
	t.drain(w)
}

// skipAll gives up all numbers for which packets wait.
func (t *Transport) skipAll(w *way) {
	for len(w.order.early) > 0 {
		t.skip(w)
	}
}

// giveUp reports the numbers before to as missing.
func (t *Transport) giveUp(w *way, to int64, why string) {
	o := &w.order
	from := o.next
	if to <= from {
		return
	}
	if to-from < int64(len(o.acked)) {
		for n := from; n < to; n++ {
			delete(o.acked, int32(n))
		}
	} else {
		maps.DeleteFunc(o.acked, func(n int32, _ moment) bool { return int64(n) < to })
	}
	if len(o.runs) == maxRuns {
		o.runs = o.runs[:copy(o.runs, o.runs[1:])]
	}
	o.runs = append(o.runs, run{from, to - 1})
	o.next = to
	o.hole = t.moment(w)
	t.doubt(w)
	note := fmt.Sprintf("reliable packet %d is missing%s", from, why)
	if to > from+1 {
		note = fmt.Sprintf("reliable packets %d to %d are missing%s", from, to-1, why)
	}
	path := t.path
	t.path = nil // these numbers were in no packet
	f := t.start(transport.Problem, w, nil, nil, note)
	f.Length = transport.Unknown
	if e := o.early[int32(to)]; e != nil {
		t.one[0] = transport.Source{Packet: e.packet, Off: e.off}
		f.From, f.At = t.one[:], e.at
	}
	t.emit(f)
	t.path = path
}

// doubt records that parts of a message may be missing before the next number.
func (t *Transport) doubt(w *way) {
	w.chunk.doubt, w.chunk.after, w.stream.doubt = true, w.order.next, true
}

// givenUp reports whether a number was given up, and removes it from the runs.
func (g *gaps) givenUp(n int64) bool {
	for i := range g.runs {
		r := &g.runs[i]
		if n < r.from || n > r.to {
			continue
		}
		switch {
		case r.from == r.to:
			g.runs = append(g.runs[:i], g.runs[i+1:]...)
		case n == r.from:
			r.from++
		case n == r.to:
			r.to--
		case len(g.runs) < maxRuns:
			rest := run{n + 1, r.to}
			r.to = n - 1
			g.runs = append(g.runs, rest)
		default:
			r.from = n + 1 // the numbers before it count as delivered from now on
		}
		return true
	}
	return false
}

// ack records numbers that the other end has received but that were not captured: they will not be retransmitted.
func (t *Transport) ack(w *way, data []byte, off uint32) {
	if len(data) != ackSize {
		t.control(w, data, off, sized(false))
		return
	}
	n, sender := number(data), t.other(w)
	o := &sender.order
	if !o.started && (t.session.hasInit || t.session.answered) {
		o.start(n, true) // numbering begins at 0, even if that packet is not in the capture
	}
	if !o.started || n >= 0 && int64(n) < o.next || o.early[n] != nil {
		t.control(w, data, off, "")
		return
	}
	t.control(w, data, off, "acknowledges a packet that is not in the capture so far")
	if n < 0 || int64(n) >= o.next+window {
		return
	}
	if _, known := o.acked[n]; known {
		return
	}
	if o.acked == nil {
		o.acked = map[int32]moment{}
	}
	o.acked[n] = t.moment(sender)
}

// ackedTo returns the first number from next on that is not in acked.
func (o *order) ackedTo() int64 {
	for to := o.next; ; to++ {
		if _, acked := o.acked[int32(to)]; !acked {
			return to
		}
	}
}

// overdue gives up numbers that have been missing for too long. While no packet waits, nothing is given up: an ack may be of a number not
// yet sent.
func (t *Transport) overdue() {
	for i := range t.ways {
		w := &t.ways[i]
		o := &w.order
		if len(o.early) == 0 {
			continue
		}
		t.path = t.path[:0]
		now := t.moment(w)
		for len(o.early) > 0 {
			if m, acked := o.acked[int32(o.next)]; acked && m.past(now, ackedPatience, ackedPatienceN) {
				t.giveUp(w, o.ackedTo(), acknowledged)
				t.drain(w)
				continue
			}
			count := int64(patienceCount)
			if now.at.After(o.hole.at) {
				count = math.MaxInt64
			}
			if !o.hole.past(now, patience, count) {
				break
			}
			t.skip(w)
		}
	}
}
