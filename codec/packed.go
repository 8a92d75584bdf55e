package codec

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
	"sync"

	"wirebench/codec/pack"
	"wirebench/defs/schema"
)

// Pack is the contents of a compressed group. Decode appends them, decompressed, to Record.Data, so that ranges behind the message are ranges
// of such contents.
type Pack struct {
	Node     uint32 // the group; a text or bytes that are computed; NoNode for a text that only selects alternatives
	From, To uint32 // bytes of Record.Data
	Sent     Range  // the compressed bytes
}

const (
	maxUnpacked = 4 << 20 // bytes of all decompressed contents of a message
	packCost    = 1 << 10 // bytes charged for each compressed group
	packNodes   = 1 << 17 // most nodes that are added to the budget for decompressed contents
)

// codecs holds what compresses and decompresses.
var codecs = sync.Pool{New: func() any { return new(pack.Codecs) }}

// Packed reports whether records may have contents behind the message in Data: those of compressed groups, and computed text and bytes.
func (p *Program) Packed() bool { return p.packed }

// Message returns the bytes of Data without decompressed contents: the message, and what follows it.
func (r *Record) Message() []byte { return r.Data[:r.Size()] }

// Size returns the number of bytes of Data that are the message and what follows it, without decompressed contents.
func (r *Record) Size() int {
	if len(r.Packs) > 0 {
		return int(r.Packs[0].From)
	}
	return len(r.Data)
}

// Sent returns the range of the message that holds a range of Data: for one in decompressed contents that of the compressed bytes. An empty
// range at the end of the message is in the message.
func (r *Record) Sent(at Range) Range {
	for len(r.Packs) > 0 && at.Off+min(at.Len, 1) > r.Packs[0].From*8 {
		at = r.Packs[r.packOf(at.Off)].Sent
	}
	return at
}

// ContentsOf returns the byte of Data at which the decompressed contents begin that have a range; 0 for a range of the message.
func (r *Record) ContentsOf(at Range) uint32 {
	from, _ := r.origin(at)
	return uint32(from)
}

// packOf returns the index of the pack whose contents have a bit of Data.
func (r *Record) packOf(bit uint32) int {
	i := sort.Search(len(r.Packs), func(i int) bool { return r.Packs[i].From > bit/8 }) - 1
	return max(i, 0)
}

// unpack reads a compressed group, which takes all bytes that remain if it has no size.
func (d *decoder) unpack(o *Op, node int) bool {
	from, to := uint64(d.cur+7)/8, uint64(d.have)
	if o.size != noIndex {
		to = from + min(d.r.regs[o.size], math.MaxUint32)
	}
	if to > uint64(d.have) || o.size == noIndex && d.limit != math.MaxUint32 && d.have < d.limit {
		d.r.Nodes[node].Bad = d.over(ContentsOutside, from*8, max(to, uint64(d.have)+1)*8, o.Field, node)
		d.forget(o, node)
		return false
	}
	from = min(from, to)
	sent := Range{uint32(from) * 8, uint32(to-from) * 8}
	plain, ok := d.contents(o, sent, node)
	if d.stop {
		return false
	}
	if ok {
		have, limit, end, measured, base, around := d.have, d.limit, d.end, d.measured, d.base, d.from
		d.cur, d.base, d.have, d.limit, d.measured = plain.From*8, plain.From, plain.To, plain.To, false
		d.bounds(o, plain.From, plain.To)
		d.body(d.r.Nodes[node].Op+1, o.End)
		d.have, d.limit, d.end, d.measured, d.base, d.from = have, limit, end, measured, base, around
	} else {
		d.r.Nodes[node].Bad = NotUnpacked
		d.forget(o, node)
	}
	d.cur, d.end = uint32(to)*8, max(d.end, uint32(to))
	return !d.stop
}

// contents appends the decompressed contents of a group to the data of the record.
func (d *decoder) contents(o *Op, sent Range, node int) (Pack, bool) {
	r, method, field := d.r, o.packing, o.Field
	if !d.charge(packCost + uint64(sent.Len/8)) {
		return Pack{}, false
	}
	if len(r.Packs) == 0 {
		r.plain = append(r.plain[:0], r.Data...)
	}
	from := len(r.plain)
	room := maxUnpacked
	if len(r.Packs) > 0 {
		room -= from - int(r.Packs[0].From)
	}
	var plain []byte
	var err error
	if method.Keyed() {
		v := d.values()
		key := v.key(o)
		r.keys = append(r.keys, packKey{uint32(node), key})
		if plain = append(r.plain, d.data[sent.Off/8:sent.End()/8]...); len(plain) > from+room {
			err = pack.ErrTooLarge
		}
		key.apply(method, plain[from:], false)
	} else {
		x := codecs.Get().(*pack.Codecs)
		plain, err = x.Decompress(r.plain, method, d.data[sent.Off/8:sent.End()/8], -1, room)
		codecs.Put(x)
	}
	if err != nil {
		r.plain = r.plain[:from]
		p := Problem{Code: NotUnpacked, Range: sent, Spot: spot(node, field, -1), Got: uint64(method)}
		if errors.Is(err, pack.ErrTooLarge) {
			p.Code, p.Got = TooLargeUnpacked, maxUnpacked
		}
		d.illegal(p)
		return Pack{}, false
	}
	at := Pack{Node: uint32(node), From: uint32(from), To: uint32(len(plain)), Sent: sent}
	r.Packs = append(r.Packs, at)
	r.plain, r.Data, d.data = plain, plain, plain
	n := len(plain) - from
	d.bytes += n * 4
	d.nodes += min(n*4, packNodes-d.granted)
	d.granted += min(n*4, packNodes-d.granted)
	return at, true
}

// forget clears the registers that a group sets, which could not be read.
func (d *decoder) forget(o *Op, node int) {
	for op := d.r.Nodes[node].Op + 1; op < o.End; op++ {
		for _, reg := range d.p.sets(op) {
			d.r.regs[reg] = 0
		}
	}
}

// pack replaces the contents of a group, from a byte of the output on, by their compressed form. source is the node of the group in the
// source: if its contents are the same, so are the bytes.
func (e *encoder) pack(o *Op, from uint32, source int) {
	plain := e.out[from:]
	for i := range e.src.Packs {
		if x := &e.src.Packs[i]; int(x.Node) == source {
			if bytes.Equal(plain, e.src.Data[x.From:x.To]) {
				e.out = append(e.out[:from], e.src.Data[x.Sent.Off/8:x.Sent.End()/8]...)
				return
			}
			break
		}
	}
	if o.packing.Keyed() {
		i, ok := slices.BinarySearchFunc(e.src.keys, uint32(source), func(k packKey, node uint32) int { return cmp.Compare(k.node, node) })
		if !ok {
			e.fail("%s has no key", e.name(e.src.Nodes[source].Op))
			return
		}
		e.src.keys[i].key.apply(o.packing, plain, true)
		return
	}
	x := codecs.Get().(*pack.Codecs)
	packed, err := x.Compress(nil, o.packing, plain)
	codecs.Put(x)
	if err != nil {
		e.fail("%v", err)
		return
	}
	e.out = append(e.out[:from], packed...)
}

// again decodes a message that was laid out, so that its nodes refer to decompressed contents.
func (p *Program) again(r *Record) error {
	r.spare = append(r.spare[:0], r.Nodes...)
	was := r.spare
	p.Decode(r, r.own)
	if r.Status() == OK && r.Used == len(r.own) {
		if node, ok := r.unlike(was); ok {
			return fmt.Errorf("the result has other values: %s depends on sizes or positions that are not those of the values", r.AppendPath(nil, p.Ops[node.Op].Field, -1, -1))
		}
		return nil
	}
	if len(r.Problems) > 0 {
		return fmt.Errorf("the result cannot be decoded: %s", r.Problems[0].Message(r))
	}
	return errors.New("the result cannot be decoded")
}

// unlike returns the first node that is not as in the record, whose contents of compressed groups are not compared.
func (r *Record) unlike(was []Node) (n Node, ok bool) {
	i := 0
	for _, n = range was {
		if i >= len(r.Nodes) {
			return n, true
		}
		is := r.Nodes[i]
		if is.Op != n.Op || is.Kind != n.Kind || r.Program.Ops[n.Op].Made() == nil && (is.Off != n.Off || is.Len != n.Len || is.Raw != n.Raw && (n.Kind == NodeText || n.Kind == NodeBlob || n.Kind == NodeVar)) {
			return n, true
		}
		if i++; is.Kind == NodeGroup && r.Program.Ops[n.Op].packing != schema.Unpacked {
			i = int(is.After)
		}
	}
	return n, i < len(r.Nodes) && len(was) > 0
}

// packKey is the key of a group, see schema.Group.Key.
type packKey struct {
	node uint32
	key  Key
}

// Key is that of the contents of a group: a number, or bytes.
type Key struct {
	Number int64
	Bytes  []byte
}

// key computes the key of a group.
func (v *Values) key(o *Op) Key {
	if o.expr.Kind() == schema.TextExpr {
		return Key{Bytes: bytes.Clone(v.Text(o.expr))}
	}
	return Key{Number: v.Int(o.expr)}
}

// AddKey computes the key of a group of a record to encode, whose node has just been added.
func (r *Record) AddKey(v *Values, node int) {
	o := &r.Program.Ops[r.Nodes[node].Op]
	if o.packing.Keyed() {
		r.keys = append(r.keys, packKey{uint32(node), v.key(o)})
	}
}

// apply replaces bytes by what they are with a key, or by what they are sent as.
func (k Key) apply(method schema.Packing, b []byte, send bool) {
	by := int(k.Number)
	if send {
		by = -by
	}
	for i := range b {
		switch {
		case method == schema.Rotate:
			b[i] = bits.RotateLeft8(b[i], by)
		case len(k.Bytes) > 0:
			b[i] ^= k.Bytes[i%len(k.Bytes)]
		case k.Bytes == nil:
			b[i] ^= byte(k.Number)
		}
	}
}
