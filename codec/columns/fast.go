//go:build amd64 || arm64

package columns

import "unsafe"

// fillRows is fillRowsSafe for byte-aligned loads, and for bits inside eight bytes, with one check per message.
func fillRows(dst []uint64, data []byte, rows []Span, f *fillIn) {
	switch f.how {
	case load8:
		fillRowsOf[uint8](dst, data, rows, f.at)
	case load16:
		fillRowsOf[uint16](dst, data, rows, f.at)
	case load32:
		fillRowsOf[uint32](dst, data, rows, f.at)
	case load64:
		fillRowsOf[uint64](dst, data, rows, f.at)
	default:
		fillRowsSafe(dst, data, rows, f)
	}
}

func fillRowsOf[T uint8 | uint16 | uint32 | uint64](dst []uint64, data []byte, rows []Span, off uint32) {
	last := len(data) - int(off) - int(unsafe.Sizeof(T(0))) // offset of the last possible row
	base, one := unsafe.Pointer(unsafe.SliceData(data)), int(off)
	dst = dst[:len(rows)]
	for i := range rows {
		at := int(rows[i].Off)
		if at > last {
			panic("codec: no message to read")
		}
		dst[i] = uint64(*(*T)(unsafe.Add(base, at+one)))
	}
}

// fillTwo is fillRows for two columns with byte-aligned loads: each message is looked up once for both.
func fillTwo(a, b []uint64, data []byte, rows []Span, f, g *fillIn) {
	switch f.how {
	case load8:
		fillOther[uint8](a, b, data, rows, f, g)
	case load16:
		fillOther[uint16](a, b, data, rows, f, g)
	case load32:
		fillOther[uint32](a, b, data, rows, f, g)
	case load64:
		fillOther[uint64](a, b, data, rows, f, g)
	}
}

func fillOther[T uint8 | uint16 | uint32 | uint64](a, b []uint64, data []byte, rows []Span, f, g *fillIn) {
	switch g.how {
	case load8:
		fillTwoOf[T, uint8](a, b, data, rows, f.at, g.at)
	case load16:
		fillTwoOf[T, uint16](a, b, data, rows, f.at, g.at)
	case load32:
		fillTwoOf[T, uint32](a, b, data, rows, f.at, g.at)
	case load64:
		fillTwoOf[T, uint64](a, b, data, rows, f.at, g.at)
	}
}

//go:noinline
func fillTwoOf[T, U uint8 | uint16 | uint32 | uint64](a, b []uint64, data []byte, rows []Span, off, off2 uint32) {
	base := unsafe.Pointer(unsafe.SliceData(data))
	last := len(data) - int(max(uintptr(off)+unsafe.Sizeof(T(0)), uintptr(off2)+unsafe.Sizeof(U(0))))
	a, b = a[:len(rows)], b[:len(rows)]
	one, two := int(off), int(off2)
	for i := range rows {
		at := int(rows[i].Off)
		if at > last {
			panic("codec: no message to read")
		}
		a[i] = uint64(*(*T)(unsafe.Add(base, at+one)))
		b[i] = uint64(*(*U)(unsafe.Add(base, at+two)))
	}
}

// fillFour is fillRows for four columns with byte-aligned loads of the same width.
func fillFour(dst *[4][]uint64, data []byte, rows []Span, f *[4]fillIn) {
	switch f[0].how {
	case load8:
		fillFourOf[uint8](dst, data, rows, f)
	case load16:
		fillFourOf[uint16](dst, data, rows, f)
	case load32:
		fillFourOf[uint32](dst, data, rows, f)
	case load64:
		fillFourOf[uint64](dst, data, rows, f)
	}
}

func fillFourOf[T uint8 | uint16 | uint32 | uint64](dst *[4][]uint64, data []byte, rows []Span, f *[4]fillIn) {
	base := unsafe.Pointer(unsafe.SliceData(data))
	w, x, y, z := int(f[0].at), int(f[1].at), int(f[2].at), int(f[3].at)
	last := len(data) - max(w, x, y, z) - int(unsafe.Sizeof(T(0)))
	a, b, c, d := dst[0][:len(rows)], dst[1][:len(rows)], dst[2][:len(rows)], dst[3][:len(rows)]
	for i := range rows {
		at := int(rows[i].Off)
		if at > last {
			panic("codec: no message to read")
		}
		a[i] = uint64(*(*T)(unsafe.Add(base, at+w)))
		b[i] = uint64(*(*T)(unsafe.Add(base, at+x)))
		c[i] = uint64(*(*T)(unsafe.Add(base, at+y)))
		d[i] = uint64(*(*T)(unsafe.Add(base, at+z)))
	}
}

// heads16 is heads16Safe.
func heads16(ends []uint32, data []byte, rows []Span, head uint32) (n int) {
	if head < 2 {
		panic("codec: no length in front")
	}
	base, have, total := unsafe.Pointer(unsafe.SliceData(data)), uint64(len(data)), uint32(0)
	ends = ends[:len(rows)]
	for i := range rows {
		at, room := rows[i].Off, rows[i].Len
		if uint64(at)+uint64(room) > have || room < head || total >= maxRunBytes {
			return i
		}
		size := uint32(*(*uint16)(unsafe.Add(base, at)))
		if size < head || size > room {
			return i
		}
		ends[i] = at + size
		total += size
	}
	return len(rows)
}

// chained is chainedSafe.
func chained(data []byte, at uint32, each, next int) bool {
	if each <= 0 || next < 0 || next+2 > each {
		panic("codec: no place of the next element")
	}
	base := unsafe.Pointer(unsafe.SliceData(data))
	var wrong uint32
	to, step, last := at, uint32(each), len(data)-each
	for ; next+3*each < last; next += 4 * each {
		wrong |= uint32(*(*uint16)(unsafe.Add(base, next))) ^ (to + step)
		wrong |= uint32(*(*uint16)(unsafe.Add(base, next+each))) ^ (to + 2*step)
		wrong |= uint32(*(*uint16)(unsafe.Add(base, next+2*each))) ^ (to + 3*step)
		to += 4 * step
		wrong |= uint32(*(*uint16)(unsafe.Add(base, next+3*each))) ^ to
	}
	for ; next < last; next += each {
		to += step
		wrong |= uint32(*(*uint16)(unsafe.Add(base, next))) ^ to
	}
	return wrong == 0
}

// fillElems is fillElemsSafe for the same loads, with one check for all elements of a message.
func fillElems(dst []uint64, data []byte, found []located, stride uint32, f *fillIn) {
	switch f.how {
	case load8:
		fillElemsOf[uint8](dst, data, found, stride, f.at)
	case load16:
		fillElemsOf[uint16](dst, data, found, stride, f.at)
	case load32:
		fillElemsOf[uint32](dst, data, found, stride, f.at)
	case load64:
		fillElemsOf[uint64](dst, data, found, stride, f.at)
	default:
		fillElemsSafe(dst, data, found, stride, f)
	}
}

func fillElemsOf[T uint8 | uint16 | uint32 | uint64](dst []uint64, data []byte, found []located, stride, off uint32) {
	s, base := int(stride), unsafe.Pointer(unsafe.SliceData(data))
	for _, p := range found {
		if p.Units == 0 {
			continue
		}
		one := dst[:p.Units]
		dst = dst[p.Units:]
		at := int(p.Off) + int(off)
		if len(data) < at+(len(one)-1)*s+int(unsafe.Sizeof(T(0))) {
			panic("codec: no elements to read")
		}
		for len(one) >= 4 {
			one[0] = uint64(*(*T)(unsafe.Add(base, at)))
			one[1] = uint64(*(*T)(unsafe.Add(base, at+s)))
			one[2] = uint64(*(*T)(unsafe.Add(base, at+2*s)))
			one[3] = uint64(*(*T)(unsafe.Add(base, at+3*s)))
			at += 4 * s
			one = one[4:]
		}
		for i := range one {
			one[i] = uint64(*(*T)(unsafe.Add(base, at)))
			at += s
		}
	}
}
