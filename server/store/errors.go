package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Failures of the disk, as opposed to invalid requests.
var (
	ErrFull     = errors.New("the disk is full")             // or a quota is used up, or the maximum size of a file is reached
	ErrReadOnly = errors.New("the folder cannot be written") // read-only, or owned by another user
	ErrTooLarge = errors.New("too large for a file")         // more than MaxFileBytes
	ErrGone     = errors.New("the folder is gone")           // it existed when it was opened
)

// ConflictError reports that a file has changed since the caller read it.
type ConflictError struct {
	Name string
	Have Revision // "" if the file no longer exists
	Text []byte   // of Have
}

func (e *ConflictError) Error() string {
	if e.Have == "" {
		return e.Name + " no longer exists"
	}
	return e.Name + " has been changed meanwhile"
}

// fileError is a failure for display: an operation, a file and a reason.
type fileError struct {
	op, name, reason string
	kind, cause      error // kind is one of the errors above, or nil
}

func (e *fileError) Error() string { return e.op + " " + e.name + ": " + e.reason }

func (e *fileError) Unwrap() []error {
	if e.kind == nil {
		return []error{e.cause}
	}
	return []error{e.kind, e.cause}
}

// Windows error numbers for a full disk. Package syscall has the POSIX ones on every system.
const (
	windowsHandleDiskFull = syscall.Errno(39)
	windowsDiskFull       = syscall.Errno(112)
)

// failure wraps an error of the system with the operation and the name. Errors that have an operation are returned unchanged, and a
// fileError without one is completed.
func failure(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var file *fileError
	var wrongName *NameError
	var conflict *ConflictError
	if errors.As(err, &file) && file.op == "" {
		return &fileError{op, name, file.reason, file.kind, file.cause}
	}
	if file != nil || errors.As(err, &wrongName) || errors.As(err, &conflict) {
		return err
	}
	e := &fileError{op: op, name: name, cause: err, reason: err.Error()}
	var in *fs.PathError
	var between *os.LinkError
	switch {
	case errors.Is(err, syscall.ENOSPC) || onWindows && (errors.Is(err, windowsDiskFull) || errors.Is(err, windowsHandleDiskFull)):
		e.kind, e.reason = ErrFull, "the disk is full"
	case errors.Is(err, syscall.EDQUOT):
		e.kind, e.reason = ErrFull, "the disk quota is used up"
	case errors.Is(err, syscall.EFBIG):
		e.kind, e.reason = ErrFull, "the file would be larger than the disk allows"
	case errors.Is(err, syscall.EROFS):
		e.kind, e.reason = ErrReadOnly, "the disk is read-only"
	case errors.Is(err, fs.ErrPermission):
		e.reason = "permission denied"
		if op != "read" && op != "read folder" && op != "open folder" {
			e.kind = ErrReadOnly
		}
	case errors.Is(err, fs.ErrNotExist):
		e.reason = "the file does not exist"
	case errors.As(err, &in):
		e.reason = in.Err.Error() // without its path, which may be a temporary file
	case errors.As(err, &between):
		e.reason = between.Err.Error()
	}
	return e
}

// tooLarge returns the error for a text of size bytes.
func tooLarge(size int64) error {
	return &fileError{reason: fmt.Sprintf("%d bytes, a file has at most %d", size, MaxFileBytes), cause: ErrTooLarge}
}

// why returns the reason of an error, without operation and name.
func why(err error) string {
	var e *fileError
	if errors.As(failure("read", "", err), &e) {
		return e.reason
	}
	return err.Error()
}
