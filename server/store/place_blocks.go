package store

import (
	"cmp"
	"container/list"
	"encoding/hex"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// blockCache keeps blocks of objects in files that are named by their sums. A file that does not have the sum of its name is removed, so that a
// crash needs no care. It is bounded by bytes; the block used longest ago goes first. It is safe for concurrent use.
type blockCache struct {
	dir  string
	most int64
	log  *slog.Logger

	mu    sync.Mutex
	used  int64
	known map[Sum]*list.Element
	order list.List // of cachedBlock, the last one used first
	full  bool      // a write failed, and this was said
}

type cachedBlock struct {
	sum  Sum
	size int64
}

// openBlocks opens a cache of at most most bytes, and makes its folder. Files of it that are there already are used again.
func openBlocks(dir string, most int64, log *slog.Logger) (*blockCache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	c := &blockCache{dir: dir, most: most, log: log, known: map[Sum]*list.Element{}}
	var files []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.Type().IsRegular() {
			continue
		}
		if name, err := hex.DecodeString(e.Name()); err != nil || len(name) != len(Sum{}) {
			_ = os.Remove(filepath.Join(dir, e.Name())) // of a crash
			continue
		}
		files = append(files, info)
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	for _, info := range files {
		var sum Sum
		_, _ = hex.Decode(sum[:], []byte(info.Name())) // checked above
		c.add(sum, info.Size())
	}
	c.shrink()
	return c, nil
}

func (c *blockCache) path(sum Sum) string { return filepath.Join(c.dir, hex.EncodeToString(sum[:])) }

func (c *blockCache) numbers() (used, most int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used, c.most
}

// add makes a block the one used last. The caller holds mu, but for openBlocks.
func (c *blockCache) add(sum Sum, size int64) {
	c.known[sum] = c.order.PushFront(cachedBlock{sum, size})
	c.used += size
}

// drop forgets a block and removes its file. The caller holds mu.
func (c *blockCache) drop(e *list.Element) {
	b := c.order.Remove(e).(cachedBlock)
	delete(c.known, b.sum)
	c.used -= b.size
	_ = os.Remove(c.path(b.sum)) // what stays is found at the next start
}

func (c *blockCache) shrink() {
	for c.used > c.most {
		c.drop(c.order.Back())
	}
}

// get returns the block of n bytes with a sum, nil if it is not here.
func (c *blockCache) get(sum Sum, n int) []byte {
	c.mu.Lock()
	e := c.known[sum]
	if e != nil {
		c.order.MoveToFront(e)
	}
	c.mu.Unlock()
	if e == nil {
		return nil
	}
	data, err := os.ReadFile(c.path(sum))
	if err == nil && len(data) == n && SumOf(data) == sum {
		return data
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[sum] == e {
		c.drop(e)
	}
	return nil
}

// put keeps a block. A disk that is full or broken is said once, and does no harm.
func (c *blockCache) put(sum Sum, data []byte) {
	if int64(len(data)) > c.most {
		return
	}
	f, err := os.CreateTemp(c.dir, "new-*")
	if err == nil {
		_, err = f.Write(data)
		if err2 := f.Close(); err == nil {
			err = err2
		}
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && c.known[sum] == nil {
		if err = os.Rename(f.Name(), c.path(sum)); err == nil {
			c.add(sum, int64(len(data)))
			c.shrink()
		}
	} else if err == nil {
		_ = os.Remove(f.Name())
	}
	if err != nil && !c.full {
		c.log.Warn("blocks of captures cannot be kept on this machine; they are read from the place each time", "folder", c.dir, "error", err)
	}
	c.full = err != nil
}
