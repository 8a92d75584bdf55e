package redact

import (
	"bytes"
	"encoding/base64"
	"html"
	"strconv"

	"wirebench/codec/pack"
	"wirebench/defs/schema"
)

// finder looks for values as a reader of a file would: it decodes what could be an encoding of something, and looks into that too.
type finder struct {
	v      *Values
	words  bool // values that are letters only count
	budget int  // bytes that may still be decoded
	codecs pack.Codecs
	room   [maxDepth][]byte // decompressed, by depth
}

const (
	maxDepth  = 4       // encodings in each other
	maxOpened = 1 << 20 // bytes that are decompressed at a place
	maxStarts = 64      // places in data at which compression without a header is tried
)

// begin prepares for data of a size. What would take more than the budget counts as a place with a value.
func (f *finder) begin(v *Values, size int, words bool) {
	f.v, f.words, f.budget = v, words, 8<<20+64*size
}

// find calls add with each place of data in which a value can be read, and what overwrites it.
func (f *finder) find(data []byte, depth int, add func(from, to int, fill string)) {
	if len(data) < leastValue {
		return
	}
	if f.budget -= len(data); f.budget < 0 {
		add(0, len(data), "\x00")
		return
	}
	f.plain(data, depth, add)
	if depth < maxDepth {
		f.decoded(data, depth, add)
		f.compressed(data, depth, add)
	}
}

func (f *finder) plain(data []byte, _ int, add func(from, to int, fill string)) {
	for i := 0; i+leastValue <= len(data); i++ {
		if p := f.v.at(data[i:]); p != nil && (f.words || !p.word) {
			add(i, i+len(p.bytes), p.fill)
			i += len(p.bytes) - 1
		}
	}
}

func (f *finder) decoded(data []byte, depth int, add func(from, to int, fill string)) {
	for _, decode := range decodings {
		decode(data, func(out []byte, at []int, fill string) {
			f.find(out, depth+1, func(from, to int, _ string) { add(at[from], at[to], fill) })
		})
	}
}

// compressed looks into what may be compressed: with a header anywhere, without one near the start.
func (f *finder) compressed(data []byte, depth int, add func(from, to int, fill string)) {
	starts := maxStarts >> (2 * depth)
	for i := 0; i+leastValue < len(data); i++ {
		var methods [4]schema.Packing
		n := 0
		if m := headerOf(data[i:]); m != schema.Unpacked {
			methods[0], n = m, 1
		}
		if i < starts {
			n += copy(methods[n:], []schema.Packing{schema.Deflate, schema.Snappy, schema.LZ4Block})
		}
		for _, m := range methods[:n] {
			size := -1
			if m == schema.LZ4Block { // its size is not known
				size = min(32*(len(data)-i)+64, maxOpened)
			}
			out, _ := f.codecs.Decompress(f.room[depth][:0], m, data[i:], size, maxOpened) // what comes before an error can be read
			f.room[depth] = out[:0]
			found := false
			if f.find(out, depth+1, func(int, int, string) { found = true }); found {
				add(i, len(data), "\x00")
				return
			}
		}
	}
}

// headerOf returns the method of compression whose header data begin with.
func headerOf(data []byte) schema.Packing {
	switch b := data[0]; {
	case b == 0x1f && data[1] == 0x8b:
		return schema.Gzip
	case b == 0x28 && bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")):
		return schema.Zstd
	case b == 0x04 && bytes.HasPrefix(data, []byte("\x04\x22\x4d\x18")):
		return schema.LZ4
	case b == 0xff && bytes.HasPrefix(data, []byte("\xff\x06\x00\x00sNaPpY")):
		return schema.SnappyFrame
	case b&15 == 8 && b>>4 < 8 && (uint(b)<<8|uint(data[1]))%31 == 0:
		return schema.Zlib
	}
	return schema.Unpacked
}

// decodings find runs of data in an encoding and pass what they mean, with the place of each byte, and of their end, in data.
var decodings = []func(data []byte, found func(out []byte, at []int, fill string)){
	hexRuns, hexPairs, base64Runs, wideRuns,
	func(data []byte, found func([]byte, []int, string)) { unescaped(data, '%', percent, found) },
	func(data []byte, found func([]byte, []int, string)) { unescaped(data, '=', percent, found) }, // quoted-printable
	func(data []byte, found func([]byte, []int, string)) { unescaped(data, '\\', backslash, found) },
	func(data []byte, found func([]byte, []int, string)) { unescaped(data, '&', entity, found) },
}

// classes of characters.
const (
	hexDigit = 1 << iota
	base64Char
	wordChar
)

var classes = func() (out [256]byte) {
	for c := range 256 {
		b := byte(c)
		digit, letter := b >= '0' && b <= '9', b|0x20 >= 'a' && b|0x20 <= 'z'
		if digit || b|0x20 >= 'a' && b|0x20 <= 'f' {
			out[c] |= hexDigit
		}
		if digit || letter || b == '+' || b == '/' || b == '-' || b == '_' {
			out[c] |= base64Char
		}
		if digit || letter {
			out[c] |= wordChar
		}
	}
	return out
}()

func unhex(b byte) byte {
	if b <= '9' {
		return b - '0'
	}
	return b | 0x20 - 'a' + 10
}

// hexRuns are digits without anything between them, from the first and from the second on.
func hexRuns(data []byte, found func([]byte, []int, string)) {
	for i := 0; i < len(data); i++ {
		from := i
		for i < len(data) && classes[data[i]]&hexDigit != 0 {
			i++
		}
		for start := from; start <= from+1 && i-start >= 2*leastValue; start++ {
			var out []byte
			var at []int
			for k := start; k+1 < i; k += 2 {
				out, at = append(out, unhex(data[k])<<4|unhex(data[k+1])), append(at, k)
			}
			found(out, append(at, at[len(at)-1]+2), "0")
		}
	}
}

// hexPairs are bytes with something between them: "68 75", "68:75", "0x68, 0x75".
func hexPairs(data []byte, found func([]byte, []int, string)) {
	var out []byte
	var at []int
	end := 0
	flush := func() {
		if len(out) >= leastValue {
			found(out, append(at, end), "0")
		}
		out, at = nil, nil
	}
	for i := 0; i+1 < len(data); i++ {
		if classes[data[i]]&classes[data[i+1]]&hexDigit == 0 || i+2 < len(data) && classes[data[i+2]]&wordChar != 0 ||
			i > 0 && classes[data[i-1]]&wordChar != 0 && data[i-1]|0x20 != 'x' {
			continue
		}
		if len(out) > 0 && i-end > 4 {
			flush()
		}
		out, at, end = append(out, unhex(data[i])<<4|unhex(data[i+1])), append(at, i), i+2
		i++
	}
	flush()
}

// base64Runs are characters of both alphabets, also over several lines, from each of four on.
func base64Runs(data []byte, found func([]byte, []int, string)) {
	for i := 0; i < len(data); i++ {
		if classes[data[i]]&base64Char == 0 {
			continue
		}
		var chars []byte
		var at []int
		for ; i < len(data); i++ {
			c := data[i]
			if c == '\r' || c == '\n' {
				continue
			}
			if classes[c]&base64Char == 0 {
				break
			}
			switch c {
			case '-':
				c = '+'
			case '_':
				c = '/'
			}
			chars, at = append(chars, c), append(at, i)
		}
		at = append(at, i)
		for start := 0; start < 4 && len(chars)-start >= leastValue*4/3; start++ {
			run := chars[start:]
			if len(run)%4 == 1 {
				run = run[:len(run)-1]
			}
			out := make([]byte, base64.RawStdEncoding.DecodedLen(len(run)))
			n, _ := base64.RawStdEncoding.Decode(out, run)
			places := make([]int, n+1)
			for k := range places {
				places[k] = at[min(start+k*4/3, len(chars))]
			}
			places[n] = at[min(start+(n*4+2)/3, len(chars))]
			found(out[:n], places, "A")
		}
	}
}

// wideRuns are characters of two bytes each, one of which is zero: encodings in UTF-16.
func wideRuns(data []byte, found func([]byte, []int, string)) {
	for i := 0; i+1 < len(data); i++ {
		from := i
		for i+1 < len(data) && data[i] >= ' ' && data[i] < 0x7f && data[i+1] == 0 {
			i += 2
		}
		if i-from < 2*leastValue {
			i = from
			continue
		}
		var out []byte
		var at []int
		for k := from; k < i; k += 2 {
			out, at = append(out, data[k]), append(at, k)
		}
		found(out, append(at, i), "x\x00")
	}
}

// unescaped passes what data say around each escape of a kind. one reads an escape and returns its size, 0 if it is none.
func unescaped(data []byte, mark byte, one func(dst, data []byte) ([]byte, int), found func([]byte, []int, string)) {
	var out []byte
	var at []int
	from, to := 0, -1 // of the part around the last escapes; to is where it ends unless another one follows
	flush := func() {
		if to < 0 {
			return
		}
		out, at = out[:0], at[:0]
		for i := from; i < min(to, len(data)); {
			n := 0
			if data[i] == mark {
				out, n = one(out, data[i:])
			}
			if n == 0 {
				out, n = append(out, data[i]), 1
			}
			for len(at) < len(out) {
				at = append(at, i)
			}
			i += n
		}
		found(out, append(at, min(to, len(data))), "x")
	}
	for i := 0; i < len(data); {
		next := bytes.IndexByte(data[i:], mark)
		if next < 0 {
			break
		}
		i += next
		_, n := one(nil, data[i:])
		if n == 0 {
			i++
			continue
		}
		if i-around > to {
			flush()
			from = max(i-around, 0)
		}
		i += n
		to = i + around
	}
	flush()
}

// around is how many bytes before and after an escape are looked at with it.
const around = 512

func percent(dst, data []byte) ([]byte, int) {
	if len(data) < 3 || classes[data[1]]&classes[data[2]]&hexDigit == 0 {
		return dst, 0
	}
	return append(dst, unhex(data[1])<<4|unhex(data[2])), 3
}

// backslash reads the escapes of JSON and of programming languages. One that is not known stands for its character.
func backslash(dst, data []byte) ([]byte, int) {
	if len(data) < 2 {
		return dst, 0
	}
	switch c := data[1]; c {
	case 'u', 'x':
		size := map[byte]int{'u': 6, 'x': 4}[c]
		if len(data) < size {
			return dst, 0
		}
		n, err := strconv.ParseUint(string(data[2:size]), 16, 32)
		switch {
		case err != nil:
			return dst, 0
		case c == 'x':
			return append(dst, byte(n)), size
		}
		return append(dst, string(rune(n))...), size
	case 'n':
		return append(dst, '\n'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'r':
		return append(dst, '\r'), 2
	default:
		return append(dst, c), 2
	}
}

func entity(dst, data []byte) ([]byte, int) {
	end := bytes.IndexByte(data[:min(len(data), 12)], ';')
	if end < 0 {
		return dst, 0
	}
	text := string(data[:end+1])
	if plain := html.UnescapeString(text); plain != text {
		return append(dst, plain...), end + 1
	}
	return dst, 0
}
