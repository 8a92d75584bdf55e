// Package objects keeps files under names, as in a bucket: a name has parts separated by slashes, and folders exist while there are names in them. No name
// is the folder of another.
// A [Store] is a folder, or a bucket of an S3 service.
package objects

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// Store is a place for objects. Its methods may be used concurrently. An error for a name that does not exist is fs.ErrNotExist.
type Store interface {
	// Stage returns a folder of this machine for files that Put is to take. What is left in it by another process is removed when a store is
	// opened.
	Stage() string

	// Put moves a file of Stage to a name, whole or not at all, in place of what was there. When it returns nil, the object survives a crash.
	Put(ctx context.Context, name, file string) error

	// Read returns a small object, of at most limit bytes, and the tag of its contents.
	Read(ctx context.Context, name string, limit int64) (data []byte, tag string, err error)

	// Write stores a small object if the present one has the tag, "" if there must be none yet; otherwise its error is ErrChanged.
	Write(ctx context.Context, name string, data []byte, tag string) (newTag string, err error)

	// Open opens an object for reading at any place. Its contents do not change while it is open: if another one replaces it, reads fail or go on.
	Open(ctx context.Context, name string) (Object, error)

	// List yields the objects whose names begin with a prefix, in any order.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]

	// Remove removes an object. One that does not exist is no error.
	Remove(ctx context.Context, name string) error

	// Alone reports whether no other process can write the store.
	Alone() bool

	// Close lets others use the store.
	Close() error

	// String returns the place, without secrets.
	String() string
}

// Object is an open object.
type Object interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// Info describes an object.
type Info struct {
	Name string
	Size int64     // bytes
	At   time.Time // when it was stored
}

// Errors of stores.
var (
	ErrChanged   = errors.New("another program has written it meanwhile")
	ErrLarge     = errors.New("it is larger than expected")
	ErrUnreached = errors.New("there is no answer")
	ErrInUse     = errors.New("another process uses this folder")
)
