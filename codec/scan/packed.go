package scan

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/therootcompany/xz"
)

// maxWindow bounds the memory that a compressed file can demand for its dictionary: bytes.
const maxWindow = 64 << 20

// packing is a format of compressed files.
type packing struct {
	id   string // as the usual ending of file names, without its dot
	is   func(head []byte) bool
	open func(io.Reader) (io.Reader, error)
}

func magic(text string) func([]byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(text)) }
}

var packings = []packing{
	{"gz", magic("\x1f\x8b"), func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"zst", isZstd, func(r io.Reader) (io.Reader, error) {
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	}},
	{"lz4", magic("\x04\x22\x4d\x18"), func(r io.Reader) (io.Reader, error) { return lz4.NewReader(r), nil }},
	{"xz", magic("\xfd7zXZ\x00"), func(r io.Reader) (io.Reader, error) { return xz.NewReader(r, maxWindow) }},
	{"bz2", isBzip2, func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
}

// isZstd accepts a frame of data or one to skip (RFC 8878, 3.1).
func isZstd(head []byte) bool {
	return magic("\x28\xb5\x2f\xfd")(head) || len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18"
}

// isBzip2 accepts "BZh", the block size as a digit, and the mark of a block or of the end.
func isBzip2(head []byte) bool {
	return len(head) >= 10 && string(head[:3]) == "BZh" && head[3] >= '1' && head[3] <= '9' &&
		(string(head[4:10]) == "1AY&SY" || string(head[4:10]) == "\x17\x72\x45\x38\x50\x90")
}

// Packed returns the compression format of a file from its first bytes (10 are enough): "gz", "zst", "lz4", "xz" or "bz2"; "" if it has none.
func Packed(head []byte) string {
	if i := slices.IndexFunc(packings, func(p packing) bool { return p.is(head) }); i >= 0 {
		return packings[i].id
	}
	return ""
}

// CutPacked removes the ending of a compression format, as the result of Packed behind a dot, from a name.
func CutPacked(name string) (rest string, packed bool) {
	for _, p := range packings {
		if n := len(name) - len(p.id) - 1; n >= 0 && name[n:] == "."+p.id {
			return name[:n], true
		}
	}
	return name, false
}

// ErrPacked is the error for compressed data that are damaged or demand too much memory.
var ErrPacked = errors.New("the compressed data cannot be read")

// Unpack decompresses a file of a format that Packed returned. Errors of the data wrap ErrPacked; other errors come from r.
func Unpack(format string, r io.Reader) (io.Reader, error) {
	i := slices.IndexFunc(packings, func(p packing) bool { return p.id == format })
	from := &source{r: r}
	out, err := packings[i].open(from)
	if err != nil {
		return nil, from.blame(err)
	}
	return &unpacking{out, from}, nil
}

// PackedHead is how many bytes of a compressed file suffice to decompress its start in any format: some have blocks of megabytes.
const PackedHead = 5 << 20

// UnpackHead decompresses the start of a file, at most size bytes, as far as head reaches. whole reports whether that is all of it, if
// head is. It returns nil if the file is not compressed. Damage is an error of reading.
func UnpackHead(head []byte, size int, all bool) (inner []byte, whole bool) {
	format := Packed(head)
	if format == "" {
		return nil, false
	}
	z, err := Unpack(format, bytes.NewReader(head))
	if err != nil {
		return nil, false
	}
	inner = make([]byte, size)
	n, err := io.ReadFull(z, inner)
	return inner[:n], all && errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrPacked)
}

// source remembers the error of the compressed file itself, which is not the fault of its contents.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(to []byte) (int, error) {
	n, err := s.r.Read(to)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// blame returns the error of the file, or err as one of its contents.
func (s *source) blame(err error) error {
	if s.err != nil {
		return s.err
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %w", ErrPacked, err)
}

type unpacking struct {
	out  io.Reader
	from *source
}

func (u *unpacking) Read(to []byte) (int, error) {
	n, err := u.out.Read(to)
	if err != nil && err != io.EOF { //nolint:errorlint // io.EOF is the end of the contents only as itself
		err = u.from.blame(err)
	}
	return n, err
}
