package scan

import (
	"compress/flate"
	"errors"
	"io"
)

// Input reads a file sequentially, with look-ahead. Its buffer grows with the bytes received, never with a length stated in the file.
type Input struct {
	r        io.Reader
	buf      []byte
	from, to int   // buf[from:to] is read and not yet skipped
	pos      int64 // of buf[from] in the file
	err      error // the error that ended the input, or io.EOF
}

// NewInput returns an Input that reads r.
func NewInput(r io.Reader) *Input { return &Input{r: r} }

// Offset returns the offset of the next byte in the file.
func (in *Input) Offset() int64 { return in.pos }

// Moved discards the buffer after the underlying reader was moved to pos.
func (in *Input) Moved(pos int64) { *in = Input{r: in.r, buf: in.buf, pos: pos} }

const (
	inputBuffer   = 64 << 10
	emptyReadsMax = 100 // maximum number of consecutive reads without data or error
)

// Peek returns the next n bytes without consuming them, or fewer at the end of the file. They are valid until the next call.
func (in *Input) Peek(n int) []byte {
	if in.to-in.from < n {
		in.fill(n)
	}
	return in.buf[in.from:min(in.from+n, in.to)]
}

// Buffered returns the next bytes as far as they have been read, without waiting for more. They are valid until the next call.
func (in *Input) Buffered() []byte { return in.buf[in.from:in.to] }

func (in *Input) fill(n int) {
	if in.from > 0 {
		in.to = copy(in.buf, in.buf[in.from:in.to])
		in.from = 0
	}
	for empty := 0; in.to < n && in.err == nil; {
		if in.to == len(in.buf) {
			larger := make([]byte, max(inputBuffer, 2*len(in.buf)))
			copy(larger, in.buf)
			in.buf = larger
		}
		read, err := in.r.Read(in.buf[in.to:])
		in.to += read
		in.err = err
		if read > 0 {
			empty = 0
		} else if empty++; empty == emptyReadsMax && err == nil {
			in.err = io.ErrNoProgress
		}
	}
}

// Skip consumes up to n bytes and returns their number.
func (in *Input) Skip(n int64) int64 {
	done := int64(0)
	for {
		step := min(n-done, int64(in.to-in.from))
		in.from += int(step)
		in.pos += step
		done += step
		if done == n || len(in.Peek(1)) == 0 {
			return done
		}
	}
}

// Failure returns the error that ended the input, nil for io.EOF.
func (in *Input) Failure() error {
	if in.err == nil || errors.Is(in.err, io.EOF) {
		return nil
	}
	return in.err
}

// Read implements io.Reader. It returns buffered bytes first.
func (in *Input) Read(to []byte) (int, error) {
	have := in.Peek(1)
	if len(have) == 0 {
		if in.err == nil {
			return 0, io.ErrNoProgress
		}
		return 0, in.err
	}
	n := copy(to, in.buf[in.from:in.to])
	in.from += n
	in.pos += int64(n)
	return n, nil
}

// IsDamage reports whether err means a damaged file rather than a failing reader.
func IsDamage(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, ErrPacked) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt)
}

// SkipSeen consumes n bytes that Peek returned; they stay valid until the next Peek.
func (in *Input) SkipSeen(n int) {
	in.from += n
	in.pos += int64(n)
}
