package live

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"wirebench/server/supervise"
)

// Disk holds the frames of logs that exceed their memory: in files below a directory, mapped into memory. The files have no names once they
// are open, so nothing is left behind when the program ends in any way.
type Disk struct {
	dir  string
	most int64
	used atomic.Int64 // bytes of all files
}

// Bounds of a Disk.
const (
	leaveFree  = 1 << 30         // bytes of the file system that a Disk leaves free
	releaseLag = 2 * time.Minute // from the time a log is unreachable until its blocks are unmapped: slices of them may be in use that long
)

// NewDisk returns a Disk whose files take at most most bytes together.
func NewDisk(dir string, most int64) *Disk { return &Disk{dir: dir, most: most} }

// Used returns the number of bytes that the files take.
func (d *Disk) Used() int64 { return d.used.Load() }

// open makes a file. Its error wraps ErrFull.
func (d *Disk) open() (*spill, error) {
	if !canMap {
		return nil, fmt.Errorf("%w in memory, and files are not used for frames on this system", ErrFull)
	}
	file, err := os.CreateTemp(d.dir, ".frames-*")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFull, err)
	}
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, fmt.Errorf("%w: %w", ErrFull, err)
	}
	return &spill{disk: d, file: file}, nil
}

// spill is the file of one log.
type spill struct {
	disk *Disk
	file *os.File
	mu   sync.Mutex
	size int64
	maps [][]byte
	last [2][]byte // by use

	// Those of Log.blocks and Log.arena that are in the file: the others are in memory, and must not be let go.
	firstBlock, firstArena int
	endBlock, endArena     atomic.Int64
}

// has reports whether a block of entries is in the file.
func (s *spill) has(block int) bool { return block >= s.firstBlock && int64(block) < s.endBlock.Load() }

// letGo takes a block of entries that has been read, and the blocks of bytes that it refers to, out of the memory of the program, but for
// the last: the next entries refer to it, too.
func (s *spill) letGo(block []Entry, arena [][]byte) {
	first, last := int(block[0].block), int(block[len(block)-1].block)
	letGo(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(block))), len(block)*int(entryBytes)))
	for i := max(first, s.firstArena); i < last && int64(i) < s.endArena.Load(); i++ {
		letGo(arena[i])
	}
}

// A use of a block.
const (
	forEntries = iota
	forBytes
)

// alloc returns n new bytes of the file, page-aligned, for a use whose last block is complete. Its error wraps ErrFull.
func (s *spill) alloc(use, n int) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	page := os.Getpagesize()
	n = (n + page - 1) / page * page
	if s.disk.used.Add(int64(n)) > s.disk.most {
		s.disk.used.Add(int64(-n))
		return nil, fmt.Errorf("%w: open captures may take %d MiB of disk", ErrFull, s.disk.most>>20)
	}
	b, err := mapNew(s.file, s.size, n)
	if err != nil {
		s.disk.used.Add(int64(-n))
		return nil, fmt.Errorf("%w: %w", ErrFull, err)
	}
	s.size += int64(n)
	if last := s.last[use]; last != nil {
		letGo(last)
	}
	s.last[use] = b
	s.maps = append(s.maps, b)
	return b, nil
}

// release unmaps the file, after a while.
func (s *spill) release() {
	supervise.Later(releaseLag, "capture", func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, b := range s.maps {
			unmap(b)
		}
		s.maps = nil
		s.file.Close()
		s.disk.used.Add(-s.size)
	})
}
