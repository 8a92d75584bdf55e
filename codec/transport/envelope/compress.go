package envelope

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"wirebench/defs/envelope"
)

// compression is the state of the compression of a direction.
type compression struct {
	method envelope.Method
	header envelope.Header
	number envelope.Number
	on     bool
	from   int64 // least size in bytes of messages that are compressed
}

// newCompression returns a compression as stated.
func newCompression(c *envelope.Compression) compression {
	return compression{
		method: c.Method, header: c.Header, number: c.Number,
		on: c.Method != envelope.NoMethod && !c.Off && c.From >= 0, from: c.From,
	}
}

// change returns the compression after an action. from is the least size.
func (c compression) change(a *envelope.Compression, from int64) compression {
	if a.Method != envelope.NoMethod {
		c.method, c.header, c.number = a.Method, a.Header, a.Number
	}
	c.on, c.from = c.method != envelope.NoMethod && !a.Off && from >= 0, from
	return c
}

// sameForm reports whether frames of one compression can be sent unchanged under another.
func (c compression) sameForm(d compression) bool {
	return c.on == d.on && (!c.on || c.method == d.method && c.header == d.header && c.number == d.number)
}

// codecs compresses and decompresses. Its readers and writers are reused.
type codecs struct {
	read, made int64 // bytes before and after all decompressions
	in         bytes.Reader
	flate      io.ReadCloser
	zlib       io.ReadCloser
	gzip       *gzip.Reader
	zstd       *zstd.Decoder
	lz4        *lz4.Reader
	snappy     *snappy.Reader
	toZlib     *zlib.Writer
	deflate    *flate.Writer
	encoder    *zstd.Encoder
}

// unpack appends the decompressed form of body, which begins with the header. most is the limit of the size.
func (x *codecs) unpack(dst []byte, c *compression, body []byte, most int) (out []byte, err error) {
	size := -1
	if c.header != envelope.NoHeader {
		v, n := readNumber(&c.number, body)
		if n <= 0 {
			return dst, errors.New("the frame ends inside the header of the compression")
		}
		if body = body[n:]; v == 0 {
			return append(dst, body...), nil
		}
		if c.header == envelope.SizeHeader {
			if v > uint64(most) {
				return dst, fmt.Errorf("%d bytes after decompression: the limit is %d", v, most)
			}
			size = int(v)
		}
	}
	x.read += int64(len(body))
	room := maxMade + maxGrowth*x.read - x.made
	if int64(size) > room {
		return dst, errTooMuch
	}
	at := len(dst)
	dst, err = x.decompress(dst, c.method, body, size, int(min(int64(most), max(room, 0))))
	x.made += int64(len(dst) - at)
	switch n := len(dst) - at; {
	case err != nil:
		return dst[:at], fmt.Errorf("the data cannot be decompressed: %w", err)
	case size >= 0 && n != size:
		return dst[:at], fmt.Errorf("%d bytes after decompression, but the header says %d", n, size)
	}
	return dst, nil
}

// Limits of the bytes that a connection can have after decompression: so many, and so many for each byte before it. They bound the time that
// is spent on data made to expand.
const (
	maxMade   = 64 << 20
	maxGrowth = 256
)

var errTooMuch = errors.New("the data of the connection expand too much")

// errTooLarge reports that decompression was stopped.
var errTooLarge = errors.New("there are more bytes than the header says, or than the limit")

// decompress appends the decompressed data: at most size bytes, or most if size is negative.
func (x *codecs) decompress(dst []byte, method envelope.Method, data []byte, size, most int) (out []byte, err error) {
	limit := most
	if size >= 0 {
		limit = size
	}
	x.in.Reset(data)
	defer x.in.Reset(nil)
	var r io.Reader
	switch method {
	case envelope.Zlib:
		if x.zlib == nil {
			x.zlib, err = zlib.NewReader(&x.in)
		} else {
			err = x.zlib.(zlib.Resetter).Reset(&x.in, nil)
		}
		r = x.zlib
	case envelope.Deflate:
		if x.flate == nil {
			x.flate = flate.NewReader(&x.in)
		} else {
			err = x.flate.(flate.Resetter).Reset(&x.in, nil)
		}
		r = x.flate
	case envelope.Gzip:
		if x.gzip == nil {
			x.gzip, err = gzip.NewReader(&x.in)
		} else {
			err = x.gzip.Reset(&x.in)
		}
		r = x.gzip
	case envelope.Zstd:
		if x.zstd == nil {
			x.zstd, err = zstd.NewReader(&x.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		} else {
			err = x.zstd.Reset(&x.in)
		}
		r = x.zstd
	case envelope.LZ4:
		if x.lz4 == nil {
			x.lz4 = lz4.NewReader(&x.in)
		} else {
			x.lz4.Reset(&x.in)
		}
		r = x.lz4
	case envelope.SnappyFrame:
		if x.snappy == nil {
			x.snappy = snappy.NewReader(&x.in)
		} else {
			x.snappy.Reset(&x.in)
		}
		r = x.snappy
	case envelope.Snappy:
		n, err := snappy.DecodedLen(data)
		if err != nil || n > limit || n > maxRatio*len(data)+64 {
			return dst, cmpErr(err, errTooLarge)
		}
		at := len(dst)
		dst = append(dst, make([]byte, n)...)
		if _, err = snappy.Decode(dst[at:], data); err != nil {
			return dst[:at], err
		}
		return dst, nil
	case envelope.LZ4Block:
		return lz4Block(dst, data, size, most)
	default:
		return dst, errors.New("there is no method of compression")
	}
	if err != nil {
		return dst, err
	}
	return readAll(dst, r, limit)
}

// maxWindow bounds the memory that compressed data can demand for their dictionary: bytes.
const maxWindow = 8 << 20

// maxRatio is more than what a byte of LZ4 or Snappy can become: it bounds the memory for data that claim more.
const maxRatio = 256

func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// lz4Block decompresses a block, whose size is only known if it is stated.
func lz4Block(dst, data []byte, size, most int) ([]byte, error) {
	room := size
	if size < 0 {
		room = min(most, 4*len(data)+64)
	}
	for at := len(dst); ; room = min(most, 4*room) {
		if room > maxRatio*len(data)+64 {
			return dst, errTooLarge
		}
		dst = append(dst[:at], make([]byte, room)...)
		n, err := lz4.UncompressBlock(data, dst[at:])
		if err == nil {
			return dst[:at+n], nil
		}
		if size >= 0 || room == most || room == maxRatio*len(data)+64 {
			return dst[:at], err
		}
		if 4*room > maxRatio*len(data)+64 && maxRatio*len(data)+64 < most {
			room = (maxRatio*len(data) + 64) / 4
		}
	}
}

// readAll appends what r has, at most limit bytes. Memory grows with the data, not with the limit.
func readAll(dst []byte, r io.Reader, limit int) ([]byte, error) {
	at := len(dst)
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):min(cap(dst), at+limit+1)])
		dst = dst[:len(dst)+n]
		switch {
		case len(dst)-at > limit:
			return dst, errTooLarge
		case errors.Is(err, io.EOF):
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}

// pack appends a body with its header, compressed if it has at least the size for that.
func (x *codecs) pack(dst []byte, c *compression, body []byte, size int) ([]byte, error) {
	if !c.on {
		return append(dst, body...), nil
	}
	plain := c.header != envelope.NoHeader && (int64(size) < c.from || len(body) == 0)
	if c.header != envelope.NoHeader {
		v := uint64(len(body))
		switch {
		case plain:
			v = 0
		case c.header == envelope.FlagHeader:
			v = 1
		}
		var ok bool
		if dst, ok = appendNumber(dst, &c.number, v); !ok {
			return dst, fmt.Errorf("%d bytes do not fit the header of the compression", v)
		}
	}
	if plain {
		return append(dst, body...), nil
	}
	return x.compress(dst, c.method, body)
}

// compress appends compressed data.
func (x *codecs) compress(dst []byte, method envelope.Method, body []byte) ([]byte, error) {
	var err error
	out := bytes.NewBuffer(dst)
	write := func(w io.WriteCloser) {
		if _, err = w.Write(body); err == nil {
			err = w.Close()
		}
	}
	switch method {
	case envelope.Zlib:
		if x.toZlib == nil {
			x.toZlib = zlib.NewWriter(out)
		} else {
			x.toZlib.Reset(out)
		}
		write(x.toZlib)
	case envelope.Deflate:
		if x.deflate == nil {
			x.deflate, _ = flate.NewWriter(out, flate.DefaultCompression)
		} else {
			x.deflate.Reset(out)
		}
		write(x.deflate)
	case envelope.Gzip:
		write(gzip.NewWriter(out))
	case envelope.Zstd:
		if x.encoder == nil {
			if x.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(1<<20)); err != nil {
				return dst, err
			}
		}
		return x.encoder.EncodeAll(body, dst), nil
	case envelope.LZ4:
		write(lz4.NewWriter(out))
	case envelope.SnappyFrame:
		write(snappy.NewBufferedWriter(out))
	case envelope.Snappy:
		return append(dst, snappy.Encode(nil, body)...), nil
	case envelope.LZ4Block:
		room := make([]byte, lz4.CompressBlockBound(len(body))+16)
		n, err := lz4.CompressBlock(body, room, nil)
		if err == nil && n == 0 { // it does not get smaller: one run of literals
			return appendLiterals(dst, body), nil
		}
		return append(dst, room[:n]...), err
	default:
		return dst, errors.New("there is no method of compression")
	}
	return out.Bytes(), err
}

// appendLiterals appends an LZ4 block of literals. Source: the LZ4 block format, in which the last sequence has literals only.
func appendLiterals(dst, body []byte) []byte {
	n := len(body)
	dst = append(dst, byte(min(n, 15))<<4)
	for n -= 15; n >= 0; n -= 255 {
		dst = append(dst, byte(min(n, 255)))
		if n < 255 {
			break
		}
	}
	return append(dst, body...)
}
