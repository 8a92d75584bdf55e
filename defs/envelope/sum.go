package envelope

import (
	"fmt"
	"hash/crc32"
	"math/bits"
	"strconv"
	"strings"
)

// Sum is a checksum over a part of a message.
type Sum struct {
	Kind      SumKind
	Bits      int    // 8, 16 or 32
	Poly      uint64 // CRC: the polynomial without its highest bit, the highest of the others first
	Start     uint64 // initial value, as in the catalogues of CRCs: before it is reflected
	Final     uint64 // CRC: combined with the result by exclusive or
	Reflected bool   // CRC: the lowest bit of a byte is first, in the data and in the result

	// The bytes from From to To, of the message; negative: from its end. ToEnd: up to the end. Those of the checksum itself count as 0.
	Over     bool // stated; otherwise what follows a checksum of the header, or precedes one of the tail
	From, To int
	ToEnd    bool
	Extra    bool // then the bytes that the definition of the message adds, see schema.Message.Extra

	name  string       // as in the text
	table *[256]uint64 // CRC: see makeTable; nil: made when it is needed
}

// SumKind is a kind of checksum.
type SumKind uint8

// The kinds of checksums.
const (
	NoSum    SumKind = iota
	CRC              // of polynomials over two elements
	Adler            // RFC 1950, 32 bits
	Fletcher         // two sums modulo 2^n-1: of 8 bits over bytes, or of 16 over little-endian words
	Total            // the sum of the bytes
	Xor              // exclusive or of the bytes
)

// sums are the checksums by name, with the parameters of the CRC RevEng catalogue.
var sums = []Sum{
	{name: "crc8", Kind: CRC, Bits: 8, Poly: 0x07},
	{name: "crc8-maxim", Kind: CRC, Bits: 8, Poly: 0x31, Reflected: true},
	{name: "crc16", Kind: CRC, Bits: 16, Poly: 0x8005, Reflected: true},
	{name: "crc16-modbus", Kind: CRC, Bits: 16, Poly: 0x8005, Start: 0xFFFF, Reflected: true},
	{name: "crc16-ccitt", Kind: CRC, Bits: 16, Poly: 0x1021, Start: 0xFFFF},
	{name: "crc16-xmodem", Kind: CRC, Bits: 16, Poly: 0x1021},
	{name: "crc16-kermit", Kind: CRC, Bits: 16, Poly: 0x1021, Reflected: true},
	{name: "crc16-mcrf4xx", Kind: CRC, Bits: 16, Poly: 0x1021, Start: 0xFFFF, Reflected: true},
	{name: "crc16-x25", Kind: CRC, Bits: 16, Poly: 0x1021, Start: 0xFFFF, Final: 0xFFFF, Reflected: true},
	{name: "crc32", Kind: CRC, Bits: 32, Poly: 0x04C11DB7, Start: 0xFFFFFFFF, Final: 0xFFFFFFFF, Reflected: true},
	{name: "crc32c", Kind: CRC, Bits: 32, Poly: 0x1EDC6F41, Start: 0xFFFFFFFF, Final: 0xFFFFFFFF, Reflected: true},
	{name: "crc32-bzip2", Kind: CRC, Bits: 32, Poly: 0x04C11DB7, Start: 0xFFFFFFFF, Final: 0xFFFFFFFF},
	{name: "crc32-mpeg2", Kind: CRC, Bits: 32, Poly: 0x04C11DB7, Start: 0xFFFFFFFF},
	{name: "adler32", Kind: Adler, Bits: 32, Start: 1},
	{name: "fletcher16", Kind: Fletcher, Bits: 16},
	{name: "fletcher32", Kind: Fletcher, Bits: 32},
	{name: "sum8", Kind: Total, Bits: 8},
	{name: "sum16", Kind: Total, Bits: 16},
	{name: "sum32", Kind: Total, Bits: 32},
	{name: "xor8", Kind: Xor, Bits: 8},
}

// sumKeywords are the names of checksums.
var sumKeywords = func() (out []keyword) {
	for _, s := range sums {
		out = append(out, keyword{name: s.name, doc: fmt.Sprintf("A checksum of %d bits.", s.Bits)})
	}
	return out
}()

// named returns the checksum of a name as the catalogue has it.
func (s *Sum) named() *Sum {
	for i := range sums {
		if sums[i].name == s.name {
			return &sums[i]
		}
	}
	return &Sum{}
}

// Bounds returns the bytes that the checksum covers in a message of n bytes, of which those from at to end are its own.
func (s *Sum) Bounds(n, at, end int, tail bool) (from, to int) {
	switch {
	case !s.Over && tail:
		return 0, at
	case !s.Over:
		return min(end, n), n
	}
	place := func(p int) int {
		if p < 0 {
			p += n
		}
		return min(max(p, 0), n)
	}
	from, to = place(s.From), place(s.To)
	if s.ToEnd {
		to = n
	}
	return from, max(from, to)
}

// Of returns the checksum of a part of a message, and of bytes behind it. Bytes from own to ownEnd of the message count as 0.
func (s *Sum) Of(message []byte, from, to, own, ownEnd int, extra []byte) uint64 {
	r := newRegister(s)
	a, b := min(max(own, from), to), min(max(ownEnd, from), to)
	r.add(message[from:a])
	for range b - a {
		r.add([]byte{0})
	}
	r.add(message[b:to])
	r.add(extra)
	return r.value()
}

// register is a checksum that is being computed.
type register struct {
	s      *Sum
	v      uint64 // CRC: reflected if the checksum is, else aligned to the highest of Bits
	lo, hi uint64 // Adler, Fletcher
	odd    bool   // Fletcher of 32 bits: half of a word has been added
	half   uint64
	table  *crc32.Table // of the CRCs that the standard library has
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func newRegister(s *Sum) register {
	r := register{s: s, v: s.Start}
	switch s.Kind {
	case Adler:
		r.lo, r.hi = s.Start&0xFFFF, s.Start>>16&0xFFFF
	case Fletcher:
		half := s.Bits / 2
		r.lo, r.hi = s.Start&(1<<half-1), s.Start>>half&(1<<half-1)
	case CRC:
		if s.Reflected {
			r.v = reflect(s.Start, s.Bits)
		}
		if s.Bits == 32 && s.Reflected && s.Start == 0xFFFFFFFF && s.Final == 0xFFFFFFFF {
			switch s.Poly {
			case 0x04C11DB7:
				r.table = crc32.IEEETable
			case 0x1EDC6F41:
				r.table = castagnoli
			}
		}
		if r.table != nil {
			r.v = 0
		}
	}
	return r
}

func reflect(v uint64, n int) uint64 { return bits.Reverse64(v) >> (64 - n) }

func (r *register) add(data []byte) {
	switch s := r.s; s.Kind {
	case CRC:
		r.crc(data)
	case Adler:
		for _, c := range data {
			r.lo = (r.lo + uint64(c)) % 65521
			r.hi = (r.hi + r.lo) % 65521
		}
	case Fletcher:
		r.fletcher(data)
	case Total:
		for _, c := range data {
			r.v += uint64(c)
		}
	case Xor:
		for _, c := range data {
			r.v ^= uint64(c)
		}
	}
}

func (r *register) crc(data []byte) {
	s := r.s
	if r.table != nil {
		r.v = uint64(crc32.Update(uint32(r.v), r.table, data))
		return
	}
	table := s.table
	if table == nil {
		table = s.makeTable()
	}
	v := r.v
	if s.Reflected {
		for _, c := range data {
			v = v>>8 ^ table[byte(v)^c]
		}
	} else {
		for _, c := range data {
			v = v<<8 ^ table[byte(v>>(s.Bits-8))^c]
		}
	}
	r.v = v & (1<<s.Bits - 1)
}

// makeTable returns what each byte adds to a CRC.
func (s *Sum) makeTable() *[256]uint64 {
	table := new([256]uint64)
	for i := range table {
		v := uint64(i)
		if s.Reflected {
			poly := reflect(s.Poly, s.Bits)
			for range 8 {
				v = v>>1 ^ poly&-(v&1)
			}
		} else {
			v <<= s.Bits - 8
			for range 8 {
				v = v<<1 ^ s.Poly&-(v>>(s.Bits-1)&1)
			}
		}
		table[i] = v & (1<<s.Bits - 1)
	}
	return table
}

func (r *register) fletcher(data []byte) {
	half := r.s.Bits / 2
	mod := uint64(1)<<half - 1
	for _, c := range data {
		v := uint64(c)
		if half == 16 {
			if r.odd = !r.odd; r.odd {
				r.half = v
				continue
			}
			v = r.half | v<<8
		}
		r.lo = (r.lo + v) % mod
		r.hi = (r.hi + r.lo) % mod
	}
}

func (r *register) value() uint64 {
	s := r.s
	switch s.Kind {
	case Adler:
		return r.hi<<16 | r.lo
	case Fletcher:
		if r.odd { // the last byte is the low one of a word
			r.add([]byte{0})
		}
		return r.hi<<(s.Bits/2) | r.lo
	case CRC:
		if r.table != nil {
			return r.v
		}
		return (r.v ^ s.Final) & (1<<s.Bits - 1)
	}
	return r.v & (1<<s.Bits - 1)
}

// words returns the checksum as in a text, without its place.
func (s *Sum) words() string {
	usual := s.named()
	words := []string{s.name}
	number := func(name string, v, usual uint64) {
		if v != usual {
			words = append(words, name, "0x"+strconv.FormatUint(v, 16))
		}
	}
	number("poly", s.Poly, usual.Poly)
	number("start", s.Start, usual.Start)
	number("final", s.Final, usual.Final)
	if s.Reflected && !usual.Reflected {
		words = append(words, "reflected")
	}
	return strings.Join(words, " ")
}

// over returns the range as in a text, "" if it is not stated.
func (s *Sum) over() string {
	if !s.Over {
		return ""
	}
	to := strconv.Itoa(s.To)
	if s.ToEnd {
		to = "end"
	}
	return "over " + strconv.Itoa(s.From) + " to " + to
}
