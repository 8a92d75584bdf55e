package store

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// A program that is killed in the middle of an Append leaves a part of its bytes. The caller got no response, and its retry an OffsetError
// with the size: it continues from there.

// MaxAppend is the maximum number of bytes of one Append.
const MaxAppend = 4 << 20

// OffsetError reports that the offset of an Append is not the size of the capture.
type OffsetError struct {
	Size int64 // of the capture: continue from here
}

func (e *OffsetError) Error() string {
	return fmt.Sprintf("the capture has %d bytes", e.Size)
}

// Append appends to a capture. offset must be the size of the capture; otherwise the error is an *OffsetError with the size, so that a
// caller that missed a response can retry without losing or repeating bytes. At most MaxAppend bytes are appended, all or none; when Append
// returns nil they are on disk.
//
// The error is ErrTooLarge above MaxAppend or MaxCaptureBytes, fs.ErrNotExist for an unknown id, or an error of the disk or of r.
func (c *Captures) Append(id string, offset int64, r io.Reader) (_ Capture, err error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxAppend+1)) // before the lock: r may be slow
	if err != nil {
		return Capture{}, err
	}
	defer func() {
		var moved *OffsetError
		if !errors.As(err, &moved) {
			err = failure("append to capture", id, err)
		}
	}()
	if len(data) > MaxAppend {
		return Capture{}, fmt.Errorf("%w: at most %d bytes are appended at once", ErrTooLarge, MaxAppend)
	}
	if err := c.bring(id); err != nil { // before the lock: it may take long
		return Capture{}, err
	}
	c.dir.mu.Lock()
	defer c.dir.mu.Unlock()
	root, err := c.dir.root()
	if err != nil {
		return Capture{}, err
	}
	defer root.Close()
	x, err := c.about(root, id)
	if err != nil {
		return Capture{}, err
	}
	if x.Size != offset {
		return Capture{}, &OffsetError{x.Size}
	}
	if x.Size+int64(len(data)) > MaxCaptureBytes {
		return Capture{}, fmt.Errorf("%w: a capture has at most %d bytes", ErrTooLarge, int64(MaxCaptureBytes))
	}
	if most, err := c.quota.left(c, MaxAppend); err != nil {
		return Capture{}, err
	} else if int64(len(data)) > most {
		return Capture{}, &noRoom{most}
	}
	f, err := root.OpenFile(id+captureEnding, os.O_WRONLY, 0)
	if err != nil {
		return Capture{}, err
	}
	err = c.dir.commit(func() error {
		err := c.dir.step("write")
		if err == nil {
			_, err = f.WriteAt(data, offset)
		}
		if err == nil {
			err = c.dir.step("sync")
		}
		if err == nil {
			err = f.Sync()
		}
		return err
	}, Change{Kind: Spliced, Name: id + captureEnding, At: offset, Data: data})
	if err != nil {
		_ = f.Truncate(offset) // if this fails too, the next attempt gets an OffsetError
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return Capture{}, err
	}
	x.Size += int64(len(data))
	c.forget(id)
	c.changed(id)
	return x, nil
}
