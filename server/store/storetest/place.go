package storetest

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"wirebench/server/objects"
	"wirebench/server/store"
)

// Objects is a store of objects that counts what is read, and fails where it is told to.
type Objects struct {
	objects.Store

	mu    sync.Mutex
	reads []Read
	fail  func(op, name string) error
}

// Read is a range of an object that was read.
type Read struct {
	Name string
	Off  int64
	N    int
}

// Wrap returns a store of the objects of another.
func Wrap(in objects.Store) *Objects { return &Objects{Store: in} }

// Fail makes operations fail for which a function returns an error: put, remove, open and read. nil ends that.
func (o *Objects) Fail(f func(op, name string) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail = f
}

func (o *Objects) failed(op, name string) error {
	o.mu.Lock()
	f := o.fail
	o.mu.Unlock()
	if f == nil {
		return nil
	}
	return f(op, name)
}

// Reads returns the ranges that were read since the last call.
func (o *Objects) Reads() []Read {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := o.reads
	o.reads = nil
	return out
}

// Put implements objects.Store.
func (o *Objects) Put(ctx context.Context, name, file string) error {
	if err := o.failed("put", name); err != nil {
		return err
	}
	return o.Store.Put(ctx, name, file)
}

// Remove implements objects.Store.
func (o *Objects) Remove(ctx context.Context, name string) error {
	if err := o.failed("remove", name); err != nil {
		return err
	}
	return o.Store.Remove(ctx, name)
}

// Open implements objects.Store.
func (o *Objects) Open(ctx context.Context, name string) (objects.Object, error) {
	if err := o.failed("open", name); err != nil {
		return nil, err
	}
	x, err := o.Store.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return &object{x, o, name}, nil
}

type object struct {
	objects.Object
	of   *Objects
	name string
}

func (x *object) ReadAt(p []byte, off int64) (int, error) {
	if err := x.of.failed("read", x.name); err != nil {
		return 0, err
	}
	x.of.mu.Lock()
	x.of.reads = append(x.of.reads, Read{x.name, off, len(p)})
	x.of.mu.Unlock()
	return x.Object.ReadAt(p, off)
}

// Names returns the names of the objects whose names have an ending, without what makes them unique.
func (o *Objects) Names(t testing.TB, ending string) (out []string) {
	t.Helper()
	for x, err := range o.Store.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(x.Name, ending) {
			out = append(out, x.Name)
		}
	}
	slices.Sort(out)
	return out
}

// Place returns a place of captures in a folder, with most bytes for what is here, and its objects.
func Place(t testing.TB, most int64) (*store.Place, *Objects) {
	t.Helper()
	folder, err := objects.OpenFolder(filepath.Join(t.TempDir(), "place"))
	if err != nil {
		t.Fatal(err)
	}
	in := Wrap(folder)
	t.Cleanup(func() {
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
	})
	return PlaceIn(t, in, most), in
}

// PlaceIn returns a place of captures in a store.
func PlaceIn(t testing.TB, in objects.Store, most int64) *store.Place {
	t.Helper()
	p, err := store.OpenPlace(in, filepath.Join(t.TempDir(), "blocks"), most, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Away puts the bytes of a capture into its place, and removes them here.
func Away(t testing.TB, c *store.Captures, id string) {
	t.Helper()
	if err := c.Deposit(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if gone, err := c.Evict(t.Context(), id); err != nil || !gone {
		t.Fatal(fmt.Errorf("the file stays: %v %w", gone, err))
	}
}
