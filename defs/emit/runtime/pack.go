package runtime

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
)

// packing is a method of compression.
type packing uint8

const (
	unpacked packing = iota
	packedZlib
	packedDeflate
	packedGzip
)

// pack passes contents that are compressed, up to the end.
func pack(x *coder, method packing, body func()) {
	switch {
	case method == unpacked || x.err != nil:
		body()
	case x.writing:
		from, base := len(x.b), x.base
		x.base = from
		x.inside++
		body()
		x.inside--
		x.base = base
		if x.err == nil {
			x.b = append(x.b[:from], deflate(method, x.b[from:])...)
		}
		if x.inside == 0 {
			x.end()
		}
	default:
		plain, err := inflate(method, x.b[x.pos:], x.plain)
		if err != nil {
			x.illegal("compressed contents", err.Error())
			return
		}
		sent, framed, base := x.b, x.framed, x.base
		x.plain -= len(plain) + 1024
		x.bytes += 4 * len(plain)
		x.elements += 4 * len(plain)
		if x.plain < 0 {
			x.illegal("compressed contents", "are too large")
		}
		x.b, x.framed, x.pos, x.base = plain, true, 0, 0
		x.inside++
		body()
		x.inside--
		x.b, x.framed, x.pos, x.base = sent, framed, len(sent), base
	}
}

func inflate(method packing, b []byte, most int) (plain []byte, err error) {
	var r io.Reader
	switch in := bytes.NewReader(b); method {
	case packedZlib:
		r, err = zlib.NewReader(in)
	case packedGzip:
		r, err = gzip.NewReader(in)
	default:
		r = flate.NewReader(in)
	}
	if err == nil {
		plain, err = io.ReadAll(io.LimitReader(r, int64(max(most, 0))+1))
	}
	return plain, err
}

func deflate(method packing, plain []byte) []byte {
	var out bytes.Buffer
	var w io.WriteCloser
	switch method {
	case packedZlib:
		w = zlib.NewWriter(&out)
	case packedGzip:
		w = gzip.NewWriter(&out)
	default:
		w, _ = flate.NewWriter(&out, flate.DefaultCompression)
	}
	w.Write(plain) // a bytes.Buffer never fails
	w.Close()
	return out.Bytes()
}
