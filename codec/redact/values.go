package redact

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	utf "unicode/utf16"
	"unicode/utf8"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// Values are the values that a share has replaced, to be looked for where the definitions do not say what bytes are: in messages without a
// definition, in bytes that fields do not explain, and in other fields. Values of fewer than six bytes occur anywhere, and are not in it.
type Values struct {
	known map[string]struct{}
	by    map[uint64][]pattern // by the first leastValue bytes
	full  bool
}

// pattern is a value in an encoding, and what takes its place, again and again: letters in a text, so that it ends where it did.
type pattern struct {
	bytes []byte
	fill  string
}

const (
	leastValue = 6
	maxValues  = 100_000 // patterns
)

// Full reports whether there were more values than are looked for.
func (v *Values) Full() bool { return v.full }

// add adds a value in the encodings in which others may have it.
func (v *Values) add(data []byte, t schema.Type) {
	text, isText := t.(*schema.Text)
	if !isText {
		v.pattern(data, "\x00")
		if _, isNumber := t.(*schema.Number); isNumber {
			other := slices.Clone(data)
			slices.Reverse(other)
			v.pattern(other, "\x00") // the other byte order
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

func (v *Values) pattern(p []byte, fill string) {
	if len(p) < leastValue || !slices.ContainsFunc(p, func(b byte) bool { return b != p[0] }) { // "zzzzzz" says nothing
		return
	}
	if _, ok := v.known[string(p)]; ok {
		return
	}
	if len(v.known) >= maxValues {
		v.full = true
		return
	}
	if v.known == nil {
		v.known, v.by = map[string]struct{}{}, map[uint64][]pattern{}
	}
	p = slices.Clone(p)
	v.known[string(p)] = struct{}{}
	v.by[first(p)] = append(v.by[first(p)], pattern{p, fill})
}

// first is a number made of the first leastValue bytes.
func first(p []byte) uint64 {
	return uint64(binary.LittleEndian.Uint32(p)) | uint64(binary.LittleEndian.Uint16(p[4:]))<<32
}

// at returns the longest pattern that data begins with; nil if there is none.
func (v *Values) at(data []byte) (found *pattern) {
	if len(data) < leastValue {
		return nil
	}
	list := v.by[first(data)]
	for i := range list {
		if p := &list[i]; bytes.HasPrefix(data, p.bytes) && (found == nil || len(p.bytes) > len(found.bytes)) {
			found = p
		}
	}
	return found
}

// In reports whether data has one of the values.
func (v *Values) In(data []byte) bool {
	for i := range data {
		if v.at(data[i:]) != nil {
			return true
		}
	}
	return false
}

// Erase overwrites the values in data, and returns how many there were.
func (v *Values) Erase(data []byte) (n int) {
	for i := 0; i < len(data); i++ {
		if p := v.at(data[i:]); p != nil {
			for k := range p.bytes {
				data[i+k] = p.fill[k%len(p.fill)]
			}
			i += len(p.bytes) - 1
			n++
		}
	}
	return n
}
