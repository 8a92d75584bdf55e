package value

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// powersOf10 holds the powers of 10 that fit 64 bits.
var powersOf10 = [20]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// powersOf5 holds the powers of 5 that appendFloat needs.
var powersOf5 = [23]uint64{
	1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125, 244140625, 1220703125, 6103515625, 30517578125,
	152587890625, 762939453125, 3814697265625, 19073486328125, 95367431640625, 476837158203125, 2384185791015625,
}

// zeros8 is eight characters 0.
const zeros8 = 0x3030303030303030

// digits8 returns the eight digits of v, which is below 10^8, one per byte, the first one in the lowest byte. The two halves, then the four
// quarters, then the eight digits are computed in parallel in one register.
func digits8(v uint64) uint64 {
	halves := v/10000 | v%10000<<32
	tops := halves * 10486 >> 20 & (0x7f<<32 | 0x7f) // each half divided by 100
	quarters := (halves-100*tops)<<16 + tops
	tens := quarters * 103 >> 10 & 0x000f000f000f000f
	return (quarters-10*tens)<<8 + tens
}

// digits4 is digits8 for a number below 10^4.
func digits4(v uint32) uint32 {
	top := v * 5243 >> 19
	quarters := (v-100*top)<<16 + top
	tens := quarters * 103 >> 10 & 0x000f000f
	return (quarters-10*tens)<<8 + tens
}

// Numbers are written into a buffer that has room for numberRoom bytes at n; the result is the offset of the next byte. Bytes after it may
// be overwritten: eight digits are stored at once, however many are significant.
const numberRoom = 40

// AppendUint appends a number in decimal.
func AppendUint(dst []byte, v uint64) []byte { return appendUint(dst, v) }

// AppendDigits appends the last digits of a number, with leading zeros; count is 1 to 24.
func AppendDigits(dst []byte, v uint64, count int) []byte {
	dst = slices.Grow(dst, numberRoom)
	return dst[:putDigits(dst[:cap(dst)], len(dst), v, count)]
}

// AppendRight appends a number in decimal at the right of a column of at most eight characters.
func AppendRight(dst []byte, v uint64, width int) []byte {
	if v >= powersOf10[width] {
		return appendUint(dst, v)
	}
	dst = slices.Grow(dst, numberRoom)
	n := len(dst)
	var d uint64
	if v < 10000 {
		d = uint64(digits4(uint32(v))) << 32
	} else {
		d = digits8(v)
	}
	blank := uint(min(bits.TrailingZeros64(d)&^7, 56)) // a blank is 0x10 less than a zero
	text := d + zeros8 - 0x1010101010101010&(1<<blank-1)
	binary.LittleEndian.PutUint64(dst[n : n+8 : cap(dst)][:8], text>>((8-width)*8&63))
	return dst[:n+width]
}

func appendUint(dst []byte, v uint64) []byte {
	dst = slices.Grow(dst, numberRoom)
	return dst[:putUint(dst[:cap(dst)], len(dst), v)]
}

func appendInt(dst []byte, v int64) []byte {
	dst = slices.Grow(dst, numberRoom)
	return dst[:putInt(dst[:cap(dst)], len(dst), v)]
}

// putUint writes a number in decimal.
func putUint(buf []byte, n int, v uint64) int {
	switch {
	case v < 10:
		buf[n] = byte('0' + v)
		return n + 1
	case v < 10000:
		d := digits4(uint32(v))
		skip := bits.TrailingZeros32(d) &^ 7
		binary.LittleEndian.PutUint32(buf[n:n+4], (d+zeros8&0xffffffff)>>skip)
		return n + 4 - skip/8
	case v >= 1e8:
		return putLong(buf, n, v)
	}
	d := digits8(v)
	skip := bits.TrailingZeros64(d) &^ 7
	binary.LittleEndian.PutUint64(buf[n:n+8], (d+zeros8)>>skip)
	return n + 8 - skip/8
}

// putLong writes a number of nine digits or more.
func putLong(buf []byte, n int, v uint64) int {
	top := v / 1e8
	low := digits8(v-top*1e8) + zeros8
	n = putUint(buf, n, top)
	binary.LittleEndian.PutUint64(buf[n:n+8], low)
	return n + 8
}

func putInt(buf []byte, n int, v int64) int {
	sign := v >> 63 // 0 or -1, without a branch, since signs are unpredictable
	buf[n] = '-'
	return putUint(buf, n-int(sign), uint64((v^sign)-sign))
}

// putDigits writes the last count digits of v, with leading zeros; count is 1 to 24.
func putDigits(buf []byte, n int, v uint64, count int) int {
	if count > 16 {
		top := v / 1e16
		v -= top * 1e16
		binary.LittleEndian.PutUint64(buf[n:n+8], (digits8(top)+zeros8)>>((24-count)*8&63))
		n += count - 16
		count = 16
	}
	if count > 8 {
		top := v / 1e8
		v -= top * 1e8
		binary.LittleEndian.PutUint64(buf[n:n+8], (digits8(top)+zeros8)>>((16-count)*8&63))
		n += count - 8
		count = 8
	}
	binary.LittleEndian.PutUint64(buf[n:n+8], (digits8(v)+zeros8)>>((8-count)*8&63))
	return n + count
}

// appendFloat appends the shortest text that reads back as the same float64. JSON has no representation of NaN and the infinities, so these
// are strings.
func appendFloat(dst []byte, f float64) []byte {
	dst = slices.Grow(dst, numberRoom)
	n, ok := putFloat(dst[:cap(dst)], len(dst), f)
	if !ok {
		return appendAnyFloat(dst, f)
	}
	return dst[:n]
}

// putFloat writes a float as appendFloat does. It returns false if the float is very small, very large, a power of two or not a number.
func putFloat(buf []byte, n int, f float64) (int, bool) {
	b := math.Float64bits(f)
	fraction, exp := b&(1<<52-1), int(b>>52&0x7ff)-1023
	if exp < -19 || exp > 52 || fraction == 0 {
		return n, false
	}
	buf[n] = '-'
	n += int(b >> 63)
	return putFraction(buf, n, fraction|1<<52, uint(52-exp)), true
}

// appendFloat32 appends the shortest text that reads back as the same float32, as strconv does for the format 'g'.
func appendFloat32(dst []byte, raw uint32) []byte {
	dst = slices.Grow(dst, numberRoom)
	n, ok := putFloat32(dst[:cap(dst)], len(dst), raw)
	if !ok {
		return strconv.AppendFloat(dst, float64(math.Float32frombits(raw)), 'g', -1, 32)
	}
	return dst[:n]
}

// putFloat32 writes a float as appendFloat32 does. It returns false if the text has an exponent, or the float is a fraction and a power of
// two, or not a number.
func putFloat32(buf []byte, n int, raw uint32) (int, bool) {
	fraction, exp := raw&(1<<23-1), int(raw>>23&0xff)-127
	m := uint64(fraction | 1<<23)
	switch {
	case raw == 0:
		buf[n] = '0'
		return n + 1, true
	case exp < -13 || exp > 18 || fraction == 0 && exp < 0:
		return n, false
	}
	buf[n] = '-'
	n += int(raw >> 31)
	return putFraction(buf, n, m, uint(23-exp)), true
}

// putFraction writes the shortest number that is nearer to m / 2^s than to its neighbours, which are one m apart. m has at most 53 bits, of
// which the first is set, and s is at most 71; it is not a power of two, unless it is an integer.
func putFraction(buf []byte, n int, m uint64, s uint) int {
	if s <= 52 && m&(1<<(s&63)-1) == 0 {
		return putUint(buf, n, m>>(s&63))
	}
	// Every number between (2m-1) / 2^(s+1) and (2m+1) / 2^(s+1) reads back as f. With p decimals, where 10^p is just above 2^s, this interval
	// has one to ten numbers. The computation is exact: 2m·5^p has at most 54+52 bits.
	p := s*78913>>18 + 1
	shift := (s + 1 - p) & 63 // 1 to 51
	five := powersOf5[p]
	hi, lo := bits.Mul64(2*m, five)
	below := uint64(1)<<shift - 1 // the bits after the point
	d, rest := hi<<((64-shift)&63)|lo>>shift, lo&below
	// The bounds are odd multiples of five and therefore not integers of 10^-p.
	least := d - five>>shift + uint64(int64(rest-five&below)>>shift) + 1
	most := d + five>>shift + (rest+five&below)>>shift
	d += (rest + d&1 + below>>1) >> shift // rounded to the nearest, ties to even
	// A multiple of ten needs one decimal less. There is one about half of the time, so it is selected without a branch.
	shorter := most / 10
	ten := 1 - uint((shorter*10-least)>>63)
	d ^= (d ^ shorter) & -uint64(ten)
	p -= ten
	for d%10 == 0 { // several decimals less
		d /= 10
		p--
	}
	whole := uint64(0)
	if s <= 52 { // the interval has no integer, which would be a float itself
		whole = m >> (s & 63)
		d -= whole * powersOf10[p]
	}
	n = putUint(buf, n, whole)
	buf[n] = '.'
	return putDigits(buf, n+1, d, int(p))
}

// appendAnyFloat is appendFloat for floats that are very small, very large, powers of two or not numbers.
func appendAnyFloat(dst []byte, f float64) []byte {
	switch {
	case f != f:
		return append(dst, `"NaN"`...)
	case f > math.MaxFloat64:
		return append(dst, `"Infinity"`...)
	case f < -math.MaxFloat64:
		return append(dst, `"-Infinity"`...)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	if i := int64(f); float64(i) == f && i > -1<<53 && i < 1<<53 && (i != 0 || !math.Signbit(f)) {
		return appendInt(dst, i)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}
