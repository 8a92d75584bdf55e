package stream

import (
	"errors"
	"fmt"

	"wirebench/codec/pack"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// compression is the state of the compression of a direction.
type compression struct {
	method schema.Packing
	header envelope.PackHeader
	number envelope.Number
	on     bool
	from   int64 // least size in bytes of messages that are compressed
}

// newCompression returns a compression as stated.
func newCompression(c *envelope.Compression) compression {
	return compression{
		method: c.Method, header: c.Header, number: c.Number,
		on: c.Method != schema.Unpacked && !c.Off && c.From >= 0, from: c.From,
	}
}

// change returns the compression after an action. from is the least size.
func (c compression) change(a *envelope.Compression, from int64) compression {
	if a.Method != schema.Unpacked {
		c.method, c.header, c.number = a.Method, a.Header, a.Number
	}
	c.on, c.from = c.method != schema.Unpacked && !a.Off && from >= 0, from
	return c
}

// sameForm reports whether frames of one compression can be sent unchanged under another.
func (c compression) sameForm(d compression) bool {
	return c.on == d.on && (!c.on || c.method == d.method && c.header == d.header && c.number == d.number)
}

// codecs compresses and decompresses.
type codecs struct {
	read, made int64 // bytes before and after all decompressions
	pack.Codecs
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
	dst, err = x.Decompress(dst, c.method, body, size, int(min(int64(most), max(room, 0))))
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
	return x.Compress(dst, c.method, body)
}
