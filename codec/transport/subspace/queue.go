package subspace

import (
	"maps"
	"slices"

	"wirebench/codec/transport"
)

// item is a packet to be sent on.
type item struct {
	id       uint64 // if not 0, the relay is notified when it is sent
	held     bool
	lane     *lane
	reliable bool
	how      form
	bytes    []byte
	more     []uint64 // further ids, of a cluster
}

// form is how a message is sent.
type form uint8

const (
	alone   form = iota
	chunked      // in parts, without a total
	streamed
	core // a core packet, not a message
	gone // not sent
)

const itemCost = 128 // bytes charged for each waiting item

// cost returns the bytes that an item is charged while it waits.
func (it *item) cost() int { return len(it.bytes) + itemCost }

// pile holds items that wait, in order.
type pile struct {
	items []*item
	bytes int // charged
}

// add appends a copy.
func (p *pile) add(it *item) {
	waits := *it
	waits.bytes = slices.Clone(it.bytes)
	p.items = append(p.items, &waits)
	p.bytes += waits.cost()
}

// queue holds the items of a direction that wait for a decision: those that are held, and behind the first reliable one the other reliable
// ones. So the reliable messages keep their order, and the pile is empty or begins with a held item. The bytes are of all.
type queue struct {
	pile
	held map[uint64]*item // by id
}

// add appends a copy of a held item, or of a reliable one behind it.
func (q *queue) add(it *item) {
	q.pile.add(it)
	last := len(q.items) - 1
	if it.held {
		if q.held == nil {
			q.held = map[uint64]*item{}
		}
		q.held[it.id] = q.items[last]
	}
	if !it.reliable {
		q.items = q.items[:last]
	}
}

// release ends the holding of an item, and sends what does not wait any more.
func (q *queue) release(it *item, send func(*item)) {
	delete(q.held, it.id)
	it.held = false
	if !it.reliable {
		q.bytes -= it.cost()
		send(it)
		return
	}
	for len(q.items) > 0 && !q.items[0].held {
		first := q.items[0]
		q.items[0], q.items = nil, q.items[1:]
		q.bytes -= first.cost()
		send(first)
	}
}

// forget reports that the items will not be sent.
func (q *queue) forget(r *transport.Relay) {
	for _, it := range q.items {
		if it.id != 0 {
			r.Forget(it.id)
		}
		for _, id := range it.more {
			r.Forget(id)
		}
		delete(q.held, it.id)
	}
	for _, id := range slices.Sorted(maps.Keys(q.held)) {
		r.Forget(id)
	}
}
