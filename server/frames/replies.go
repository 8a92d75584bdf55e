package frames

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

// Bounds of the search for answers.
const (
	maxReplyTypes = 512     // types of messages that are considered, in the order of their first messages
	maxReplyWaits = 1 << 18 // messages that wait for answers, in all connections: the last one of each type in each connection
	leastReplies  = 0.5     // share of the requests that have the answer
	leastTie      = 0.1     // see tie
)

// ReplyType is a type of message.
type ReplyType struct {
	Type string  `json:"type" doc:"filter for the messages of the type"`
	Name string  `json:"name,omitempty"`
	Code *uint32 `json:"code,omitempty"`
	Dir  string  `json:"dir" ts:"'c2s' | 's2c' | ''"`
}

// ReplyRow is a type of message and the type that answers it: the one of the other direction that comes after it, in the same connection
// and before the next one of its own type, and of which few come otherwise. Durations are microseconds.
type ReplyRow struct {
	Request  ReplyType `json:"request"`
	Answer   ReplyType `json:"answer"`
	Requests int       `json:"requests" doc:"messages of the type"`
	Answered int       `json:"answered" doc:"those with the answer"`
	Answers  int       `json:"answers" doc:"messages of the type of the answer"`
	Least    int64     `json:"least"`
	Median   int64     `json:"median" doc:"3 percent exactly"`
	Mean     int64     `json:"mean"`
	Most95   int64     `json:"most95" doc:"95 percent take no longer; 3 percent exactly"`
	Most     int64     `json:"most"`
	Slowest  int       `json:"slowest" doc:"number of the request that took longest, from 1"`
}

// Replies are the times between requests and answers.
type Replies struct {
	Rows []*ReplyRow `json:"rows" doc:"the types with most requests first; those without an answer are left out"`
	Note string      `json:"note,omitempty" doc:"what is not counted"`
}

// typeSet is a set of types by their index.
type typeSet [maxReplyTypes / 64]uint64

func (s *typeSet) add(i int) (isNew bool) {
	isNew = s[i/64]&(1<<(i%64)) == 0
	s[i/64] |= 1 << (i % 64)
	return isNew
}

// waiting is the last message of a type in a connection.
type waiting struct {
	kind int // index of the type
	at   int64
	n    int
	seen typeSet // types that came after it, in the other direction
}

// replies searches the answers of messages.
type replies struct {
	list  *List
	kinds []*ReplyType
	count []int // messages of each kind
	of    *byType[int]
	open  map[uint32]*[2][]waiting // by connection; of the client, of the server
	held  int
	over  bool // more than maxReplyTypes or maxReplyWaits
}

// Replies finds types of messages that answer others, and measures the times between them, in the frames of the list.
func (l *List) Replies(ctx context.Context) (*Replies, error) {
	r := &replies{list: l, of: newByType[int](l.log, l.snap), open: map[uint32]*[2][]waiting{}}
	pairs := map[[2]int]int{}
	spans := map[[2]int]int64{} // sum, nanoseconds
	err := r.each(ctx, func(_ int, e live.Entry, kind int, others []waiting) {
		for i := range others {
			if w := &others[i]; w.seen.add(kind) {
				pairs[[2]int{w.kind, kind}]++
				spans[[2]int{w.kind, kind}] += e.At - w.at
			}
		}
	})
	out := &Replies{Rows: []*ReplyRow{}}
	if r.over {
		out.Note = "the capture has too many types or connections: some messages are not considered"
	}
	answers := r.choose(pairs, spans)
	if err != nil || len(answers) == 0 {
		return out, err
	}
	rows, times := map[int]*ReplyRow{}, map[int]*durations{}
	for request, answer := range answers {
		rows[request] = &ReplyRow{Request: *r.kinds[request], Answer: *r.kinds[answer], Requests: r.count[request], Answers: r.count[answer]}
		times[request] = &durations{}
		out.Rows = append(out.Rows, rows[request])
	}
	clear(r.count)
	clear(r.open)
	r.held = 0
	err = r.each(ctx, func(_ int, e live.Entry, kind int, others []waiting) {
		for i := range others {
			w := &others[i]
			if answer, is := answers[w.kind]; !is || answer != kind || !w.seen.add(kind) {
				continue
			}
			took := max(e.At-w.at, 0) / 1000
			if row := rows[w.kind]; row.Slowest == 0 || took > row.Most {
				row.Most, row.Slowest = took, w.n
			}
			times[w.kind].add(took)
		}
	})
	for request, row := range rows {
		d := times[request]
		row.Answered, row.Least = d.n, d.least
		row.Median, row.Most95, row.Mean = min(d.at(0.5), row.Most), min(d.at(0.95), row.Most), d.sum/int64(max(d.n, 1))
	}
	slices.SortFunc(out.Rows, func(a, b *ReplyRow) int {
		return cmp.Or(b.Requests-a.Requests, cmp.Compare(a.Request.Type, b.Request.Type))
	})
	return out, err
}

// each calls f with each message, its kind, and the last messages of the other direction of its connection.
func (r *replies) each(ctx context.Context, f func(i int, e live.Entry, kind int, others []waiting)) error {
	m := RowMaker{Snap: r.list.snap}
	return r.list.eachOf(ctx, func(i int, e live.Entry, block []byte) bool {
		if e.Kind != transport.Message {
			return true
		}
		kind, ok := r.kind(i, e, block, &m)
		if !ok {
			r.over = true
			return true
		}
		r.count[kind]++
		c := r.open[e.Conn]
		if c == nil {
			c = &[2][]waiting{}
			r.open[e.Conn] = c
		}
		own, other := 0, 1
		if e.Dir != schema.ToServer {
			own, other = 1, 0
		}
		f(i, e, kind, c[other])
		next := waiting{kind: kind, at: e.At, n: i + 1}
		if at := slices.IndexFunc(c[own], func(w waiting) bool { return w.kind == kind }); at >= 0 {
			c[own][at] = next
		} else if r.held++; r.held > maxReplyWaits {
			r.over = true
		} else {
			c[own] = append(c[own], next)
		}
		return true
	})
}

// kind returns the index of the type of a message; false if there are too many.
func (r *replies) kind(i int, e live.Entry, block []byte, m *RowMaker) (int, bool) {
	if known := r.of.of(e, entryData(e, block)); known != nil {
		return *known, true
	}
	if len(r.kinds) == maxReplyTypes {
		return 0, false
	}
	var f transport.Frame
	r.list.log.Frame(i, e, entryData(e, block), &f)
	msg := r.list.snap.FrameMessage(&f)
	t := &ReplyType{Type: m.TypeOf(msg, &f), Dir: f.Dir.String()}
	if f.HasKey {
		code := f.Key.Code
		t.Code = &code
	}
	if msg != nil {
		t.Name = msg.Name
	}
	kind := slices.IndexFunc(r.kinds, func(k *ReplyType) bool { return k.Type == t.Type && k.Dir == t.Dir }) // with another header
	if kind >= 0 {
		r.of.put(e, entryData(e, block), &kind)
		return kind, true
	}
	kind = len(r.kinds)
	r.of.put(e, entryData(e, block), &kind)
	r.kinds, r.count = append(r.kinds, t), append(r.count, 0)
	return kind, true
}

// choose returns the answer of each type that has one. Of two types that follow each other in turns, the answer is the one that comes sooner.
func (r *replies) choose(pairs map[[2]int]int, spans map[[2]int]int64) map[int]int {
	tie := func(p [2]int) float64 { // 1: each is followed by the other and none comes otherwise
		n := float64(pairs[p])
		return n * n / (float64(r.count[p[0]]) * float64(r.count[p[1]]))
	}
	mean := func(p [2]int) int64 { return spans[p] / int64(max(pairs[p], 1)) }
	answers := map[int]int{}
	for p, n := range pairs {
		if float64(n) < leastReplies*float64(r.count[p[0]]) || tie(p) < leastTie {
			continue
		}
		old, has := answers[p[0]]
		if q := [2]int{p[0], old}; !has || cmp.Or(cmp.Compare(tie(p), tie(q)), cmp.Compare(mean(q), mean(p)), old-p[1]) > 0 {
			answers[p[0]] = p[1]
		}
	}
	for request, answer := range answers {
		p, q := [2]int{request, answer}, [2]int{answer, request}
		if back, has := answers[answer]; has && back == request && cmp.Or(cmp.Compare(mean(p), mean(q)), request-answer) > 0 {
			delete(answers, request)
		}
	}
	return answers
}

// durationBits is the binary logarithm of the number of ranges between a power of two and the next one.
const durationBits = 5

// durations counts durations in ranges that grow with them.
type durations struct {
	n          int
	sum, least int64
	counts     [(64 - durationBits) << durationBits]uint32
}

func (d *durations) add(micros int64) {
	if d.n == 0 || micros < d.least {
		d.least = micros
	}
	d.n++
	d.sum += micros
	shift := max(bits.Len64(uint64(micros))-1-durationBits, 0)
	d.counts[shift<<durationBits+int(micros>>shift)]++
}

// at returns a duration that a share of all do not exceed.
func (d *durations) at(share float64) int64 {
	want, n := int(share*float64(d.n)+0.999), 0
	for i, count := range d.counts {
		if n += int(count); n >= want && n > 0 {
			shift := max(i>>durationBits-1, 0)
			return max(int64(i-shift<<durationBits)<<shift+1<<shift/2, d.least)
		}
	}
	return 0
}
