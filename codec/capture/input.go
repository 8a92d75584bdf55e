package capture

import (
	"errors"
	"io"
)

// input reads a file from front to back and lets its user look ahead. What it keeps grows with what has come, never with what the
// file says will come.
type input struct {
	r        io.Reader
	buf      []byte
	from, to int   // buf[from:to] is read and not yet skipped
	pos      int64 // of buf[from] in the file
	err      error // why nothing more comes: io.EOF, or what went wrong
}

const (
	inputBuffer   = 64 << 10
	emptyReadsMax = 100 // so many reads that give nothing, one after another, are an error
)

// peek returns the next n bytes, or as many as there are. They are valid until the next call.
func (in *input) peek(n int) []byte {
	if in.to-in.from < n {
		in.fill(n)
	}
	return in.buf[in.from:min(in.from+n, in.to)]
}

func (in *input) fill(n int) {
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

// skip passes over n bytes and returns how many there were.
func (in *input) skip(n int64) int64 {
	done := int64(0)
	for {
		step := min(n-done, int64(in.to-in.from))
		in.from += int(step)
		in.pos += step
		done += step
		if done == n || len(in.peek(1)) == 0 {
			return done
		}
	}
}

// failure is the error that ended the input, nil if it was its end.
func (in *input) failure() error {
	if in.err == nil || errors.Is(in.err, io.EOF) {
		return nil
	}
	return in.err
}
