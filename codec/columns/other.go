//go:build !amd64 && !arm64

package columns

// fillRows is fillRowsSafe.
func fillRows(dst []uint64, data []byte, rows []Span, f *fillIn) { fillRowsSafe(dst, data, rows, f) }

// fillTwo is fillRowsSafe twice.
func fillTwo(a, b []uint64, data []byte, rows []Span, f, g *fillIn) {
	fillRowsSafe(a, data, rows, f)
	fillRowsSafe(b, data, rows, g)
}

// fillFour is fillRowsSafe four times.
func fillFour(dst *[4][]uint64, data []byte, rows []Span, f *[4]fillIn) {
	for i := range dst {
		fillRowsSafe(dst[i], data, rows, &f[i])
	}
}

// heads16 is heads16Safe.
func heads16(ends []uint32, data []byte, rows []Span, head uint32) (n int) {
	return heads16Safe(ends, data, rows, head)
}

// fillElems is fillElemsSafe.
func fillElems(dst []uint64, data []byte, found []located, stride uint32, f *fillIn) {
	fillElemsSafe(dst, data, found, stride, f)
}

// chained is chainedSafe.
func chained(data []byte, at uint32, each, next int) bool { return chainedSafe(data, at, each, next) }
