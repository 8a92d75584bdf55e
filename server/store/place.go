package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"wirebench/server/objects"
)

// PlaceFolder is the folder in the data folder with what belongs to the place of captures: files on their way there, and blocks read from there.
const PlaceFolder = ".place"

// placeBlock is how many bytes of a capture in the place are read and checked at once.
const placeBlock = 1 << 20

// ErrAway reports that the place of captures does not do what was asked, such as to give bytes of a capture.
var ErrAway = errors.New("place of captures")

// errGone is instead of fs.ErrNotExist, which callers take for a deleted capture.
var errGone = errors.New("there is no such object: another program has removed it")

// Lost reports whether an ErrAway says that the place does not have what was stored there, and has something else or nothing.
func Lost(err error) bool { return errors.Is(err, errGone) || errors.Is(err, objects.ErrChanged) }

// Place is where complete captures are kept beside the data folder. What is read from there is checked by the sums that are kept here: other
// bytes are never taken for those of a capture. It is safe for concurrent use.
type Place struct {
	store  objects.Store
	most   int64 // bytes that captures of the place may take here
	blocks *blockCache
	ctx    context.Context // of reading
	stop   context.CancelFunc
	woken  chan struct{}

	uploads, failures, removals, fetched atomic.Int64
}

// PlaceNumbers are counts since the start, but for Cached.
type PlaceNumbers struct {
	Uploads, Failures, Removals int64 // objects stored, requests that failed, objects removed
	Read                        int64 // bytes
	Cached, Most                int64 // bytes of blocks, and what they may take
}

// OpenPlace returns a place in a store of objects, with a folder of this machine for blocks that were read. Captures that are in the place take at most
// most bytes in the data folder, an eighth of them those blocks.
func OpenPlace(in objects.Store, folder string, most int64, log *slog.Logger) (*Place, error) {
	blocks, err := openBlocks(folder, most/8, log)
	if err != nil {
		return nil, err
	}
	p := &Place{store: in, most: most, blocks: blocks, woken: make(chan struct{}, 1)}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p, nil
}

// Close ends reading from the place. The store stays open.
func (p *Place) Close() { p.stop() }

// String returns the place, without secrets.
func (p *Place) String() string { return p.store.String() }

// Local returns the bytes that captures which are in the place may take in the data folder as a whole.
func (p *Place) Local() int64 { return p.most - p.most/8 }

// Woken receives a value when there is something to do in the place: objects that are not needed any more.
func (p *Place) Woken() <-chan struct{} { return p.woken }

func (p *Place) wake() {
	if p == nil {
		return
	}
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

// Numbers returns the counts.
func (p *Place) Numbers() PlaceNumbers {
	used, most := p.blocks.numbers()
	return PlaceNumbers{
		Uploads: p.uploads.Load(), Failures: p.failures.Load(), Removals: p.removals.Load(), Read: p.fetched.Load(), Cached: used, Most: most,
	}
}

// failed counts an error of a request, and returns it.
func (p *Place) failed(err error) error {
	if err != nil && p.ctx.Err() == nil {
		p.failures.Add(1)
	}
	return err
}

// put stores what write writes, and returns its size.
func (p *Place) put(ctx context.Context, name string, write func(io.Writer) error) (size int64, err error) {
	f, err := os.CreateTemp(p.store.Stage(), "capture-*")
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	counts := &countingWriter{w: f, ctx: ctx}
	if err := errors.Join(write(counts), f.Close()); err != nil {
		return 0, err
	}
	if err := p.failed(p.store.Put(ctx, name, f.Name())); err != nil {
		return 0, fmt.Errorf("%w: store %s in %s: %w", ErrAway, name, p, err)
	}
	p.uploads.Add(1)
	return counts.n, nil
}

func (p *Place) remove(ctx context.Context, name string) error {
	if err := p.failed(p.store.Remove(ctx, name)); err != nil {
		return fmt.Errorf("%w: remove %s from %s: %w", ErrAway, name, p, err)
	}
	p.removals.Add(1)
	return nil
}

// countingWriter counts bytes. It fails once a context is done.
type countingWriter struct {
	w   io.Writer
	n   int64
	ctx context.Context
}

func (w *countingWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.w.Write(p)
	w.n += int64(n)
	return n, err
}

// Sum is a checksum of bytes in the place.
type Sum [16]byte

// SumOf returns the checksum of bytes.
func SumOf(data []byte) (out Sum) {
	sum := sha256.Sum256(data)
	copy(out[:], sum[:])
	return out
}

// placed is an object of the place that is read by parts. It is opened with the first one.
type placed struct {
	in   *Place
	name string
	size int64 // that it must have

	mu   sync.Mutex // held while it is opened
	open objects.Object
}

// read returns n bytes from off on, which have a sum. Its error is an ErrAway.
func (o *placed) read(off int64, n int, sum Sum) ([]byte, error) {
	if data := o.in.blocks.get(sum, n); data != nil {
		return data, nil
	}
	data, err := o.fetch(off, n)
	if err == nil && SumOf(data) != sum {
		err = fmt.Errorf("%w: its bytes are not those that were stored", objects.ErrChanged)
	}
	if err := o.in.failed(err); err != nil {
		return nil, fmt.Errorf("%w: %s in %s: %w", ErrAway, o.name, o.in, gone(err))
	}
	o.in.blocks.put(sum, data)
	return data, nil
}

// gone returns errGone for an object that does not exist, else the error itself.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errGone
	}
	return err
}

func (o *placed) fetch(off int64, n int) ([]byte, error) {
	from, err := o.opened()
	if err != nil {
		return nil, err
	}
	data := make([]byte, n)
	if k, err := from.ReadAt(data, off); k < n {
		o.in.fetched.Add(int64(k))
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	o.in.fetched.Add(int64(n))
	return data, nil
}

// opened returns the open object, which has the size that it must have.
func (o *placed) opened() (objects.Object, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open != nil {
		return o.open, nil
	}
	open, err := o.in.store.Open(o.in.ctx, o.name)
	if err != nil {
		return nil, err
	}
	if open.Size() != o.size {
		open.Close()
		return nil, fmt.Errorf("%w: it has %d bytes instead of %d", objects.ErrChanged, open.Size(), o.size)
	}
	o.open = open
	return open, nil
}

func (o *placed) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open == nil {
		return nil
	}
	err := o.open.Close()
	o.open = nil
	return err
}

// Purge removes the objects of the captures in a folder of a project that is being removed. An object that cannot be removed is an error; it is
// named in a file of the folder still, and Purge may be called again.
func (p *Place) Purge(ctx context.Context, folder string) error {
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	for id, r := range remotesIn(root) {
		if r == nil {
			return fmt.Errorf("%s is damaged: it names an object in the place of captures", filepath.Join(folder, id+remoteEnding))
		}
		if p == nil {
			return fmt.Errorf("%s is in %s, and the server has no place of captures (--captures)", r.Object, r.Place)
		}
		for _, name := range r.names() {
			if err := p.remove(ctx, name); err != nil {
				return err
			}
		}
		if err := root.Remove(id + remoteEnding); err != nil {
			return err
		}
	}
	return nil
}
