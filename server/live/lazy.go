package live

import (
	"container/list"
	"errors"
	"fmt"
	"sync"
)

// Blocks keeps blocks of logs that were made of indexes in memory, up to some bytes. It is safe for concurrent use.
type Blocks struct {
	most int64

	mu    sync.Mutex
	used  int64
	known map[blockKey]*list.Element
	order list.List // of *keptBlock, the last one used first
}

type blockKey struct {
	of         *lazy
	use, index int
}

type keptBlock struct {
	key     blockKey
	entries []Entry // or
	bytes   []byte
}

func (b *keptBlock) cost() int64 { return int64(len(b.entries))*entryBytes + int64(len(b.bytes)) }

// NewBlocks returns an empty cache.
func NewBlocks(most int64) *Blocks { return &Blocks{most: most, known: map[blockKey]*list.Element{}} }

func (c *Blocks) get(key blockKey) *keptBlock {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.known[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*keptBlock)
}

func (c *Blocks) put(b *keptBlock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[b.key] != nil {
		return
	}
	c.known[b.key] = c.order.PushFront(b)
	for c.used += b.cost(); c.used > c.most && c.order.Len() > 1; {
		c.drop(c.order.Back())
	}
}

func (c *Blocks) drop(e *list.Element) {
	b := c.order.Remove(e).(*keptBlock)
	delete(c.known, b.key)
	c.used -= b.cost()
}

// lazy is the blocks of a log that was made of an index: they are read when they are needed.
type lazy struct {
	*Directory
	fetch func(off int64, n int, sum [sumBytes]byte) ([]byte, error)
	in    *Blocks

	fetching sync.Mutex // held while a block is read
}

// Adopt makes an empty log the log of an index. read reads n bytes of it from off on, which have a sum. Frames whose blocks cannot be read are missing
// from the log as if it had discarded them, and Err says why.
func (l *Log) Adopt(d *Directory, in *Blocks, read func(off int64, n int, sum [sumBytes]byte) ([]byte, error)) {
	z := &lazy{Directory: d, fetch: read, in: in}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = d.Conns
	l.groups.all, l.names.all = append([]string{""}, d.Groups...), append([]string{""}, d.Names...)
	l.began.Store(d.Began)
	l.lazy.Store(z)
	l.n.Store(int64(d.Frames))
	l.wake()
}

// Err returns why frames are missing that the log should have, nil if none are.
func (l *Log) Err() error {
	if err := l.fault.Load(); err != nil {
		return *err
	}
	return nil
}

// failed keeps the first error.
func (l *Log) failed(err error) {
	if l.fault.CompareAndSwap(nil, &err) {
		l.Touch()
	}
}

// block returns a block of an index, nil if it cannot be read. The caller must not hold mu: reading may take long.
func (l *Log) block(z *lazy, use, index int) *keptBlock {
	key := blockKey{z, use, index}
	if b := z.in.get(key); b != nil {
		return b
	}
	z.fetching.Lock()
	defer z.fetching.Unlock()
	if b := z.in.get(key); b != nil {
		return b
	}
	if l.Err() != nil { // not each frame again
		return nil
	}
	b, err := z.load(key)
	if err != nil {
		l.failed(fmt.Errorf("frames cannot be read: %w", err))
		return nil
	}
	z.in.put(b)
	return b
}

func (z *lazy) load(key blockKey) (*keptBlock, error) {
	off, n, at := int64(key.index)*blockFrames*recordBytes, min(blockFrames, z.Frames-key.index*blockFrames)*recordBytes, key.index
	if key.use == forBytes {
		if key.index >= len(z.Bytes) {
			return nil, errors.New("there is no such block")
		}
		off, n, at = z.offsets[key.index], int(z.Bytes[key.index]), z.blocks()+key.index
	}
	data, err := z.fetch(off, n, [sumBytes]byte(z.Sums[at*sumBytes:]))
	if err != nil {
		return nil, err
	}
	if len(data) != n {
		return nil, errors.New("a block is cut off")
	}
	b := &keptBlock{key: key, bytes: data}
	if key.use == forEntries {
		b.bytes = nil
		b.entries, err = z.entries(data)
	}
	return b, err
}

// frame returns a frame of an index; ok is false if it cannot be read.
func (l *Log) frame(z *lazy, i int) (e Entry, data []byte, ok bool) {
	if i < 0 || i >= z.Frames {
		return Entry{}, nil, false
	}
	b := l.block(z, forEntries, i/blockFrames)
	if b == nil {
		return Entry{}, nil, false
	}
	e = b.entries[i%blockFrames]
	data = l.arenaOf(z, e)
	if data == nil {
		return Entry{}, nil, false
	}
	end := e.off + e.Len
	return e, data[e.off:end:end], true
}

// arenaOf returns the block with the bytes of an entry, nil if it cannot be read.
func (l *Log) arenaOf(z *lazy, e Entry) []byte {
	b := l.block(z, forBytes, int(e.block))
	if b == nil || uint64(e.off)+uint64(e.Len)+uint64(e.more) > uint64(len(b.bytes)) { // of another log
		return nil
	}
	if b.bytes == nil {
		return []byte{}
	}
	return b.bytes
}

// eachLazy calls f for some frames of an index and their blocks of bytes, until f returns false or they cannot be read.
func (l *Log) eachLazy(z *lazy, next func() (i int, ok bool), f func(i int, e Entry, block []byte) bool) {
	var entries, arena *keptBlock
	for {
		i, ok := next()
		if !ok || i < 0 || i >= z.Frames {
			return
		}
		if entries == nil || entries.key.index != i/blockFrames {
			if entries = l.block(z, forEntries, i/blockFrames); entries == nil {
				return
			}
		}
		e := entries.entries[i%blockFrames]
		if arena == nil || arena.key.index != int(e.block) {
			if arena = l.block(z, forBytes, int(e.block)); arena == nil {
				return
			}
		}
		if !f(i, e, arena.bytes) {
			return
		}
	}
}
