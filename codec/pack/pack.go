// Package pack compresses and decompresses the contents of messages.
package pack

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"slices"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"wirebench/defs/schema"
)

// Codecs compresses and decompresses. The zero value is ready; its readers and writers are reused.
type Codecs struct {
	in      bytes.Reader
	flate   io.ReadCloser
	zlib    io.ReadCloser
	gzip    *gzip.Reader
	zstd    *zstd.Decoder
	lz4     *lz4.Reader
	snappy  *snappy.Reader
	toZlib  *zlib.Writer
	deflate *flate.Writer
	encoder *zstd.Encoder
}

// ErrTooLarge reports that decompression stopped at the limit.
var ErrTooLarge = errors.New("there are more bytes than the header says, or than the limit")

// Decompress appends the decompressed data: at most size bytes, or most if size is negative.
func (x *Codecs) Decompress(dst []byte, method schema.Packing, data []byte, size, most int) (out []byte, err error) {
	limit := most
	if size >= 0 {
		limit = size
	}
	x.in.Reset(data)
	defer x.in.Reset(nil)
	var r io.Reader
	switch method {
	case schema.Zlib:
		if x.zlib == nil {
			x.zlib, err = zlib.NewReader(&x.in)
		} else {
			err = x.zlib.(zlib.Resetter).Reset(&x.in, nil)
		}
		r = x.zlib
	case schema.Deflate:
		if x.flate == nil {
			x.flate = flate.NewReader(&x.in)
		} else {
			err = x.flate.(flate.Resetter).Reset(&x.in, nil)
		}
		r = x.flate
	case schema.Gzip:
		if x.gzip == nil {
			x.gzip, err = gzip.NewReader(&x.in)
		} else {
			err = x.gzip.Reset(&x.in)
		}
		r = x.gzip
	case schema.Zstd:
		if x.zstd == nil {
			x.zstd, err = zstd.NewReader(&x.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		} else {
			err = x.zstd.Reset(&x.in)
		}
		r = x.zstd
	case schema.LZ4:
		if x.lz4 == nil {
			x.lz4 = lz4.NewReader(&x.in)
		} else {
			x.lz4.Reset(&x.in)
		}
		r = x.lz4
	case schema.SnappyFrame:
		if x.snappy == nil {
			x.snappy = snappy.NewReader(&x.in)
		} else {
			x.snappy.Reset(&x.in)
		}
		r = x.snappy
	case schema.Snappy:
		n, err := snappy.DecodedLen(data)
		if err != nil || n > limit || n > maxRatio*len(data)+64 {
			return dst, cmpErr(err, ErrTooLarge)
		}
		at := len(dst)
		dst = append(dst, make([]byte, n)...)
		if _, err = snappy.Decode(dst[at:], data); err != nil {
			return dst[:at], err
		}
		return dst, nil
	case schema.LZ4Block:
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
			return dst, ErrTooLarge
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
			dst = slices.Grow(dst, max(len(dst)-at, 512)) // twice what was read
		}
		n, err := r.Read(dst[len(dst):min(cap(dst), at+limit+1)])
		dst = dst[:len(dst)+n]
		switch {
		case len(dst)-at > limit:
			return dst, ErrTooLarge
		case errors.Is(err, io.EOF):
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}

// Compress appends compressed data.
func (x *Codecs) Compress(dst []byte, method schema.Packing, body []byte) ([]byte, error) {
	var err error
	out := bytes.NewBuffer(dst)
	write := func(w io.WriteCloser) {
		if _, err = w.Write(body); err == nil {
			err = w.Close()
		}
	}
	switch method {
	case schema.Zlib:
		if x.toZlib == nil {
			x.toZlib = zlib.NewWriter(out)
		} else {
			x.toZlib.Reset(out)
		}
		write(x.toZlib)
	case schema.Deflate:
		if x.deflate == nil {
			x.deflate, _ = flate.NewWriter(out, flate.DefaultCompression)
		} else {
			x.deflate.Reset(out)
		}
		write(x.deflate)
	case schema.Gzip:
		write(gzip.NewWriter(out))
	case schema.Zstd:
		if x.encoder == nil {
			if x.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(1<<20)); err != nil {
				return dst, err
			}
		}
		return x.encoder.EncodeAll(body, dst), nil
	case schema.LZ4:
		write(lz4.NewWriter(out))
	case schema.SnappyFrame:
		write(snappy.NewBufferedWriter(out))
	case schema.Snappy:
		return append(dst, snappy.Encode(nil, body)...), nil
	case schema.LZ4Block:
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
