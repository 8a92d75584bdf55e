// Package redact replaces secret values in the bytes of messages, so that captures can be shared.
//
// A field is secret if its comment in the definition contains the word @secret; a secret list or group makes everything in it secret. In
// the comment of a message the word makes the fields secret whose names follow on its line, or all fields if none follow. The
// replacement has the size of the value and is made from it with a random key: within one share equal values stay equal, and without the
// key nothing leads back. Texts become letters, numbers other numbers of their range, names of an enumeration other names of it; a number
// of variable size keeps its size. Counts, offsets, lengths, codes, constants and values that select an alternative or determine a size
// stay; a value that selects the alternative for all others is replaced. A checksum is computed anew, or becomes 0 if its key is not known.
//
// Compressed contents with a secret are compressed again, and may have another size then. If the message cannot be laid out with them, they
// become 0.
//
// In a message with secret fields all bytes that the definition does not explain become 0, those after the point where decoding stops too:
// they may contain what is to be hidden. Short values can be guessed by trying, whatever the replacement: a share hides them from readers,
// not from those who can make the program redact values of their choice.
package redact

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"slices"
	"strings"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// Mark is the word in the comment of a field that makes it secret.
const Mark = "@secret"

// IsMarked reports whether the comment of a field contains the mark.
func IsMarked(doc string) bool { return slices.Contains(wordsOf(doc), Mark) }

// wordsOf returns the words of a comment; a path such as members.name is one.
func wordsOf(doc string) []string {
	words := strings.FieldsFunc(doc, func(r rune) bool { return strings.ContainsRune(" \t\n,;:()", r) })
	for i, w := range words {
		words[i] = strings.TrimRight(w, ".")
	}
	return words
}

// named returns the fields that the comment of a message makes secret: their paths, or all.
func named(doc string) (paths []string, all bool) {
	for line := range strings.Lines(doc) {
		words := wordsOf(line)
		if i := slices.Index(words, Mark); i >= 0 {
			paths = append(paths, words[i+1:]...)
			all = all || i == len(words)-1
		}
	}
	return paths, all
}

// Redactor redacts the messages of one share. It serves one goroutine at a time.
type Redactor struct {
	mac      hash.Hash
	sum      []byte
	secrets  map[*codec.Program][]bool // by field; nil if the message has no secret field
	rules    []Rule
	unmarked bool    // marks in definitions do not count
	values   *Values // nil: they are not collected
	leaves   []codec.Leaf
	known    []bool
	selects  map[*codec.Program]map[*schema.Field]selector
	salt     uint64 // of the hashes: another one gives other replacements
	was      []byte // the value that is replaced
	stayed   []uint16
}

// Stayed returns the fields of the values that the last call of Bytes was to replace and could not: they select an alternative, or no other
// value is possible. A field is there once for each value.
func (r *Redactor) Stayed() []uint16 { return r.stayed }

// NewWith returns a redactor that replaces the values of further fields, and adds what it replaces to values, which may be nil.
func NewWith(rules []Rule, values *Values) *Redactor {
	r := New()
	r.rules, r.values = rules, values
	return r
}

// OnlyRules is NewWith for the fields of the rules alone, whatever definitions mark.
func OnlyRules(rules []Rule, values *Values) *Redactor {
	r := NewWith(rules, values)
	r.unmarked = true
	return r
}

// IsSecret reports whether the values of a field are replaced.
func (r *Redactor) IsSecret(p *codec.Program, field int) bool {
	secret := r.of(p)
	return secret != nil && secret[field]
}

// New returns a redactor with a random key.
func New() *Redactor {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return &Redactor{mac: hmac.New(sha256.New, key), secrets: map[*codec.Program][]bool{}, selects: map[*codec.Program]map[*schema.Field]selector{}}
}

// Has reports whether a message has secret fields.
func (r *Redactor) Has(p *codec.Program) bool { return r.of(p) != nil }

func (r *Redactor) of(p *codec.Program) []bool {
	if known, ok := r.secrets[p]; ok {
		return known
	}
	paths, all := named(p.Message.Doc)
	if r.unmarked {
		paths, all = nil, false
	}
	isNamed := func(i int) bool {
		return all || len(paths) > 0 && slices.Contains(paths, string(p.AppendFieldPath(nil, uint16(i))))
	}
	var out []bool
	for i, f := range p.Fields {
		if IsMarked(f.Doc) && !r.unmarked || isNamed(i) || slices.ContainsFunc(r.rules, func(rule Rule) bool { return rule.fits(p, i) }) || f.Parent >= 0 && out != nil && out[f.Parent] {
			if out == nil {
				out = make([]bool, len(p.Fields))
			}
			out[i] = true
		}
	}
	if out != nil {
		selects := map[*schema.Field]selector{}
		selectors(p.Message.Body, selects, map[*schema.Struct]bool{})
		for i, f := range p.Fields {
			out[i] = out[i] && !selects[f.Schema].all
		}
		r.selects[p] = selects
	}
	r.secrets[p] = out
	return out
}

// Bytes returns the bytes of a decoded message without its secret values, in dst's memory, and the number of replaced values. The record
// stays as it is.
func (r *Redactor) Bytes(dst []byte, rec *codec.Record) ([]byte, int) {
	secret := r.of(rec.Program)
	r.stayed = r.stayed[:0]
	if secret == nil {
		return append(dst[:0], rec.Message()...), 0
	}
	dst = append(dst[:0], rec.Data...)
	r.leaves = rec.AppendLeaves(r.leaves[:0])
	r.known = slices.Grow(r.known[:0], len(dst))[:len(dst)] // bytes that the definition explains
	clear(r.known)
	replaced, walk, listed := 0, walker{rec: rec, secret: secret}, 0
	for i := range r.leaves {
		l := &r.leaves[i]
		walk.to(l.Node)
		if l.Role != codec.RoleGap {
			for b := l.Off / 8; b < (l.Off+l.Len+7)/8 && int(b) < len(r.known); b++ {
				r.known[b] = true
			}
		}
		if l.Role != codec.RoleValue || l.Field == codec.NoField || l.Len == 0 {
			continue
		}
		selects := r.selects[rec.Program][rec.Program.Fields[l.Field].Schema]
		if !secret[l.Field] && (!walk.inSecret(l.Node) || selects.all) {
			continue
		}
		if f := rec.Program.Fields[l.Field].Schema; r.values != nil && l.Off%8 == 0 && l.Len%8 == 0 {
			r.values.add(rec.Data[l.Off/8:(l.Off+l.Len)/8], l.Raw, typeOf(f, l), rec.Item(*l))
			if i >= listed {
				listed = i + r.values.list(rec, r.leaves[i:])
			}
		}
		if r.replace(dst, rec, l, selects, &walk) {
			replaced++
		} else {
			r.stayed = append(r.stayed, l.Field)
		}
	}
	for i, ok := range r.known {
		if !ok {
			dst[i] = 0
		}
	}
	return finish(dst, rec), replaced
}

// finish returns the message of changed data of a record. Changed contents are compressed again; if that gives no message that is decoded as
// they are, their compressed bytes become 0.
func finish(data []byte, rec *codec.Record) []byte {
	changed := false
	for _, x := range rec.Packs {
		changed = changed || !bytes.Equal(data[x.From:x.To], rec.Data[x.From:x.To])
	}
	if changed {
		if out, ok := laidOut(data, rec); ok {
			return out
		}
	}
	for _, x := range slices.Backward(rec.Packs) {
		if !bytes.Equal(data[x.From:x.To], rec.Data[x.From:x.To]) {
			clear(data[x.Sent.Off/8 : x.Sent.End()/8])
		}
	}
	data = data[:rec.Size()]
	rec.Program.StoreCheck(data, rec.Session)
	return data
}

// laidOut encodes changed data of a record, and reports whether the result is decoded as the same values.
func laidOut(data []byte, rec *codec.Record) ([]byte, bool) {
	if rec.Status() != codec.OK || rec.Unexplained() > 0 {
		return nil, false
	}
	p, in := rec.Program, *rec
	in.Data, in.Nodes, in.Packs = data, slices.Clone(rec.Nodes), nil
	for i := range in.Nodes {
		if n := &in.Nodes[i]; n.Kind == codec.NodeVar && n.Len > 0 {
			it := p.Var(&p.Ops[n.Op])
			n.Raw, _ = codec.ReadVarint(data[n.Off/8:(n.Off+n.Len)/8], it.Var, it.Bits)
		}
	}
	for _, x := range rec.Packs { // what has not changed keeps its bytes
		if bytes.Equal(data[x.From:x.To], rec.Data[x.From:x.To]) {
			in.Packs = append(in.Packs, x)
		}
	}
	var out, again codec.Record
	if err := p.Encode(&out, &in); err != nil {
		return nil, false
	}
	message := slices.Clone(out.Message())
	again.Session = rec.Session
	if p.Decode(&again, message); again.Status() != codec.OK {
		return nil, false
	}
	have, want := again.AppendLeaves(nil), rec.AppendLeaves(nil)
	return message, slices.EqualFunc(have, want, func(a, b codec.Leaf) bool {
		if a.Role != b.Role || a.Field != b.Field || a.Role != codec.RoleValue {
			return a.Role == b.Role && a.Field == b.Field
		}
		if a.Off%8+a.Len%8+b.Off%8 != 0 {
			return a.Len == b.Len && codec.LoadBits(again.Data, a.Off, min(a.Len, 64), 0) == codec.LoadBits(data, b.Off, min(b.Len, 64), 0)
		}
		return a.Len == b.Len && bytes.Equal(again.Data[a.Off/8:(a.Off+a.Len)/8], data[b.Off/8:(b.Off+b.Len)/8])
	})
}

// value replaces one value.
func (r *Redactor) value(data []byte, l *codec.Leaf, f *schema.Field, it *codec.Item) {
	if it != nil && it.Var != schema.Sized {
		r.varint(data[l.Off/8:(l.Off+l.Len)/8], l.Raw, it)
		return
	}
	switch t := typeOf(f, l).(type) {
	case *schema.Text:
		r.text(data[l.Off/8:(l.Off+l.Len)/8], t, int(l.Raw))
	case *schema.Number:
		if t.Bits == int(l.Len) {
			codec.StoreBits(data, l.Off, l.Len, t.Order, r.number(codec.LoadBits(data, l.Off, l.Len, t.Order), t))
			return
		}
		r.bits(data, l)
	case *schema.Bitfield:
		if t.Bits == int(l.Len) {
			v := codec.LoadBits(data, l.Off, l.Len, t.Order)
			codec.StoreBits(data, l.Off, l.Len, t.Order, binary.LittleEndian.Uint64(r.hash('b', v))&mask(l.Len))
			return
		}
		r.bits(data, l)
	default:
		r.bits(data, l)
	}
}

// typeOf returns the type of a leaf: of a list of plain values that of its elements.
func typeOf(f *schema.Field, l *codec.Leaf) schema.Type {
	t := f.Type
	for {
		list, ok := t.(*schema.List)
		if !ok || !list.Bare || len(list.Elem.Fields) != 1 {
			return t
		}
		t = list.Elem.Fields[0].Type
	}
}

// text replaces the characters of a text; what stands after its terminator becomes 0.
func (r *Redactor) text(data []byte, t *schema.Text, units int) {
	unit := t.Charset.Unit()
	n := min(units*unit, len(data))
	if n == 0 {
		return
	}
	sum := r.hash('t', 0, data[:n]...)
	for i := 0; i < n; i += unit {
		at := i / unit
		if at > 0 && at%len(sum) == 0 {
			sum = r.hash('+', uint64(at), sum...)
		}
		data[i] = 'a' + sum[at%len(sum)]%26
		clear(data[i+1 : min(i+unit, n)])
	}
	clear(data[min(n+unit, len(data)):])
}

// number returns the replacement of a number.
func (r *Redactor) number(v uint64, t *schema.Number) uint64 {
	h := binary.LittleEndian.Uint64(r.hash('n', v))
	switch {
	case t.Enum != nil && len(t.Enum.Values) > 0:
		return t.Enum.Values[h%uint64(len(t.Enum.Values))].Value
	case t.Kind == schema.Bool:
		return h & 1
	case t.Kind == schema.Float && t.Bits == 16:
		return schema.FloatBits(1, 16) | h&(1<<10-1)
	case t.Kind == schema.Float && t.Bits == 32:
		return uint64(math.Float32bits(1))&^(1<<23-1) | h&(1<<23-1)
	case t.Kind == schema.Float && t.Bits == 64:
		return math.Float64bits(1) | h&(1<<52-1)
	}
	h &= mask(uint32(t.Bits))
	switch {
	case t.Kind == schema.Signed && (t.Min != nil || t.Max != nil):
		low, high := int64(-1)<<(t.Bits-1), int64(1)<<(t.Bits-1)-1
		if t.Min != nil {
			low = t.Min.Int
		}
		if t.Max != nil {
			high = t.Max.Int
		}
		return uint64(low+int64(within(h, uint64(high)-uint64(low)))) & mask(uint32(t.Bits))
	case t.Kind == schema.Unsigned && (t.Min != nil || t.Max != nil):
		low, high := uint64(0), mask(uint32(t.Bits))
		if t.Min != nil {
			low = t.Min.Uint
		}
		if t.Max != nil {
			high = t.Max.Uint
		}
		return low + within(h, high-low)
	}
	return h
}

// within maps a number to 0..span.
func within(h, span uint64) uint64 {
	if span == math.MaxUint64 {
		return h
	}
	return h % (span + 1)
}

func mask(bits uint32) uint64 {
	if bits >= 64 {
		return math.MaxUint64
	}
	return 1<<bits - 1
}

// bits replaces the bits of a value of any type.
func (r *Redactor) bits(data []byte, l *codec.Leaf) {
	from, to := l.Off, l.Off+l.Len
	whole := data[from/8 : (to+7)/8]
	sum := r.hash('x', uint64(from%8), whole...)
	for i, at := 0, from; at < to; i++ {
		if i > 0 && i%len(sum) == 0 {
			sum = r.hash('+', uint64(i), sum...)
		}
		n := min(8-at%8, to-at)
		m := byte(mask(n) << (at % 8))
		data[at/8] = data[at/8]&^m | sum[i%len(sum)]&m
		at += n
	}
}

// hash returns a keyed hash, valid until the next call.
func (r *Redactor) hash(kind byte, v uint64, data ...byte) []byte {
	var head [9]byte
	head[0] = kind
	binary.LittleEndian.PutUint64(head[1:], v)
	r.mac.Reset()
	_, _ = r.mac.Write(head[:])
	_, _ = r.mac.Write(data)
	if r.salt > 0 {
		_, _ = r.mac.Write(binary.LittleEndian.AppendUint64(nil, r.salt))
	}
	r.sum = r.mac.Sum(nil)
	return r.sum
}
