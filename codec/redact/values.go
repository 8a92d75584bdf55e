package redact

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	utf "unicode/utf16"
	"unicode/utf8"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// Values are the values that a share has replaced, to be looked for where the definitions do not say what bytes are: in messages without a
// definition, in bytes that fields do not explain, and in other fields. Values of fewer than six bytes, and numbers below 1<<40, occur
// anywhere, and are not in it: they are replaced in their own fields alone.
type Values struct {
	seen  []uint64             // bits, by a hash of the first leastValue bytes: most places have no pattern
	by    map[uint64][]pattern // by the first leastValue bytes
	n     int
	full  bool
	finds finder
}

// pattern is a value in an encoding, and what takes its place, again and again: letters in a text, so that it ends where it did.
type pattern struct {
	bytes []byte
	fill  string
	word  bool // letters only: it may be a word that has nothing to do with the value
}

const (
	leastValue = 6
	maxValues  = 300_000 // patterns
	seenBits   = 20
)

// Full reports whether there were more values than are looked for.
func (v *Values) Full() bool { return v.full }

// Empty reports whether there are no values to look for.
func (v *Values) Empty() bool { return v == nil || v.n == 0 }

// add adds a value in the encodings in which others may have it.
func (v *Values) add(data []byte, raw uint64, t schema.Type, it *codec.Item) {
	text, isText := t.(*schema.Text)
	switch n, isNumber := t.(*schema.Number); {
	case isText:
	case isNumber && (n.Kind == schema.Unsigned || n.Kind == schema.Signed):
		if it != nil && it.Var == schema.ZigZag {
			raw = raw>>1 ^ -(raw & 1)
		}
		v.number(raw, data, n.Kind == schema.Signed)
		return
	default:
		v.pattern(data, "\x00")
		if isNumber {
			v.pattern(reversed(data), "\x00")
		}
		return
	}
	data = codec.CutAtNul(data, text.Charset.Unit())
	v.pattern(data, map[bool]string{true: "x\x00", false: "x"}[text.Charset.Unit() == 2])
	chars := string(codec.AppendChars(nil, data, text.Charset))
	if strings.ContainsRune(chars, utf8.RuneError) {
		return
	}
	var little, big []byte
	for _, u := range utf.Encode([]rune(chars)) {
		little, big = binary.LittleEndian.AppendUint16(little, u), binary.BigEndian.AppendUint16(big, u)
	}
	v.pattern([]byte(chars), "x")
	v.pattern(little, "x\x00")
	v.pattern(big, "\x00x")
}

// list adds the small elements of a list that begins with the first leaf as one value: bytes, or characters. It returns their number.
func (v *Values) list(rec *codec.Record, leaves []codec.Leaf) (n int) {
	first := leaves[0]
	end := first.Off
	for n < len(leaves) && leaves[n].Field == first.Field && leaves[n].Off == end && leaves[n].Len == first.Len {
		end += first.Len
		n++
	}
	if first.Len <= 16 {
		v.pattern(rec.Data[first.Off/8:end/8], "\x00")
	}
	return max(n, 1)
}

func reversed(data []byte) []byte {
	data = slices.Clone(data)
	slices.Reverse(data)
	return data
}

// number adds an integer as it is, in both byte orders, in variable size, and as a text.
func (v *Values) number(n uint64, data []byte, signed bool) {
	size := n
	if signed && int64(n) < 0 {
		size = -n
	}
	if size < 1<<40 {
		return
	}
	v.pattern(data, "\x00")
	v.pattern(reversed(data), "\x00")
	v.pattern(binary.LittleEndian.AppendUint64(nil, n), "\x00")
	v.pattern(binary.BigEndian.AppendUint64(nil, n), "\x00")
	v.pattern(codec.AppendVarint(nil, n, schema.LEB128, 64), "\x00")
	if signed {
		v.pattern([]byte(strconv.FormatInt(int64(n), 10)), "0")
		return
	}
	v.pattern(strconv.AppendUint(nil, n, 10), "0")
}

func (v *Values) pattern(p []byte, fill string) {
	if len(p) < leastValue || !slices.ContainsFunc(p, func(b byte) bool { return b != p[0] }) { // "zzzzzz" says nothing
		return
	}
	key := first(p)
	if slices.ContainsFunc(v.by[key], func(x pattern) bool { return bytes.Equal(x.bytes, p) }) {
		return
	}
	if v.n >= maxValues {
		v.full = true
		return
	}
	if v.by == nil {
		v.by, v.seen = map[uint64][]pattern{}, make([]uint64, 1<<seenBits/64)
	}
	v.n++
	at := place(key)
	v.seen[at/64] |= 1 << (at % 64)
	word := !slices.ContainsFunc(p, func(b byte) bool { return b != 0 && b|0x20 < 'a' || b|0x20 > 'z' })
	v.by[key] = append(v.by[key], pattern{slices.Clone(p), fill, word})
}

// first is a number made of the first leastValue bytes.
func first(p []byte) uint64 {
	return uint64(binary.LittleEndian.Uint32(p)) | uint64(binary.LittleEndian.Uint16(p[4:]))<<32
}

// place is the bit of a key in Values.seen.
func place(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> (64 - seenBits) }

// at returns the longest pattern that data begins with; nil if there is none.
func (v *Values) at(data []byte) (found *pattern) {
	if len(data) < leastValue {
		return nil
	}
	key := first(data)
	if at := place(key); v.seen[at/64]>>(at%64)&1 == 0 {
		return nil
	}
	list := v.by[key]
	for i := range list {
		if p := &list[i]; bytes.HasPrefix(data, p.bytes) && (found == nil || len(p.bytes) > len(found.bytes)) {
			found = p
		}
	}
	return found
}

// In reports whether one of the values can be read in data: as it is, decompressed, or after decoding hex, Base64 and the escapes of texts,
// also one in another.
func (v *Values) In(data []byte) bool { return v.reads(data, true) }

// Reads is In without values that are letters only: a page has many words.
func (v *Values) Reads(data []byte) bool { return v.reads(data, false) }

func (v *Values) reads(data []byte, words bool) (found bool) {
	if v.Empty() {
		return false
	}
	v.finds.begin(v, len(data), words)
	v.finds.find(data, 0, func(int, int, string) { found = true })
	return found
}

// Erase overwrites the values in data that In finds, and returns how many there were.
func (v *Values) Erase(data []byte) (n int) {
	if v.Empty() {
		return 0
	}
	return v.erase(data, data)
}

// erase overwrites in data, and in a copy of it that may lack parts, what is found in the copy. What stands there as it is goes first: then it
// is not found a second time in what may be an encoding.
func (v *Values) erase(data, scan []byte) (n int) {
	f := &v.finds
	f.begin(v, len(scan), true)
	for _, step := range []func([]byte, int, func(int, int, string)){f.plain, f.decoded, f.compressed} {
		type span struct {
			from, to int
			fill     string
		}
		var spans []span
		step(scan, 0, func(from, to int, fill string) { spans = append(spans, span{from, to, fill}) })
		for _, s := range spans {
			for i := range data[s.from:s.to] {
				data[s.from+i] = s.fill[i%len(s.fill)]
				scan[s.from+i] = data[s.from+i]
			}
		}
		n += len(spans)
	}
	return n
}

// EraseIn returns the bytes of a decoded message without the values, in dst's memory, and how many there were. Decompressed contents are
// looked through as well, and compressed again. The record stays as it is.
func (v *Values) EraseIn(dst []byte, rec *codec.Record) ([]byte, int) {
	if v.Empty() {
		return append(dst[:0], rec.Message()...), 0
	}
	n := 0
	dst = append(dst[:0], rec.Data...)
	for _, l := range rec.AppendLeaves(nil) { // first each by itself: what is compressed in one ends with it
		if l.Role == codec.RoleValue && l.Off%8 == 0 && l.Len%8 == 0 && l.Len >= leastValue*8 {
			n += v.Erase(dst[l.Off/8 : (l.Off+l.Len)/8])
		}
	}
	scan := slices.Clone(dst)
	for _, x := range rec.Packs { // their contents are elsewhere
		clear(scan[x.Sent.Off/8 : x.Sent.End()/8])
	}
	n += v.erase(dst[:rec.Size()], scan[:rec.Size()])
	for _, x := range rec.Packs {
		n += v.erase(dst[x.From:x.To], scan[x.From:x.To])
	}
	if n == 0 {
		return dst[:rec.Size()], 0
	}
	return finish(dst, rec), n
}

// ReadsIn reports whether one of the values can be read in a decoded message.
func (v *Values) ReadsIn(rec *codec.Record) bool {
	if v.Empty() {
		return false
	}
	if v.In(rec.Message()) {
		return true
	}
	for _, x := range rec.Packs {
		if v.In(rec.Data[x.From:x.To]) {
			return true
		}
	}
	return slices.ContainsFunc(rec.AppendLeaves(nil), func(l codec.Leaf) bool {
		return l.Off%8 == 0 && l.Len%8 == 0 && l.Len >= leastValue*8 && v.In(rec.Data[l.Off/8:(l.Off+l.Len)/8])
	})
}
