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

// Most returns the number of bytes that they may take.
func (d *Disk) Most() int64 { return d.most }

// open makes a file for a log with some blocks of entries and of bytes, which stay in memory. Its error wraps ErrFull.
func (d *Disk) open(blocks, arena int) (*spill, error) {
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
	return &spill{disk: d, file: file, first: [2]int{forEntries: blocks, forBytes: arena}}, nil
}

// spill is the file of one log. A block is written when it is full, and from then on read through a mapping: writing through a mapping costs
// a fault for each page.
type spill struct {
	disk  *Disk
	file  *os.File
	first [2]int // index in the log of the first block in the file, by use
	size  int64  // used by put only, which one goroutine calls at a time, and by release

	mu   sync.Mutex  // not held while writing: readers do not wait for the disk
	maps [2][][]byte // the blocks in the file, by use
}

// A use of a block.
const (
	forEntries = iota // a block of Log.blocks
	forBytes          // a block of Log.arena
)

// put writes the next block of a use to the file, and returns it mapped and read-only. It returns the block itself if that was in memory
// before the file was made. Its error wraps ErrFull.
func (s *spill) put(use, index int, block []byte) ([]byte, error) {
	if index < s.first[use] {
		return block, nil
	}
	page := os.Getpagesize()
	n := (len(block) + page - 1) / page * page
	if s.disk.used.Add(int64(n)) > s.disk.most {
		s.disk.used.Add(int64(-n))
		return nil, fmt.Errorf("%w: open captures may take %d MiB of disk", ErrFull, s.disk.most>>20)
	}
	b, err := mapNew(s.file, s.size, block)
	if err != nil {
		s.disk.used.Add(int64(-n))
		return nil, fmt.Errorf("%w: %w", ErrFull, err)
	}
	s.size += int64(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.maps[use] = append(s.maps[use], b)
	return b, nil
}

// letGo takes a block of entries that has been read, and the blocks of bytes that it refers to, out of the memory of the program, but for
// the last: the next entries refer to it, too. Only what is in the file is taken out.
func (s *spill) letGo(index int, block []Entry) {
	first, last := int(block[0].block), int(block[len(block)-1].block)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.letGoOne(forEntries, index)
	for i := first; i < last; i++ {
		s.letGoOne(forBytes, i)
	}
}

// letGoThis takes one block out of the memory of the program.
func (s *spill) letGoThis(use, index int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.letGoOne(use, index)
}

func (s *spill) letGoOne(use, index int) {
	if i := index - s.first[use]; i >= 0 && i < len(s.maps[use]) {
		letGo(s.maps[use][i])
	}
}

// asBytes returns the memory of entries, which have no pointers.
func asBytes(block []Entry) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(block))), len(block)*int(entryBytes))
}

// asEntries undoes asBytes. b is aligned: it starts with a page.
func asEntries(b []byte) []Entry {
	return unsafe.Slice((*Entry)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(entryBytes))
}

// release unmaps the file, after a while.
func (s *spill) release() {
	supervise.Later(releaseLag, "capture", func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for use, maps := range s.maps {
			for _, b := range maps {
				unmap(b)
			}
			s.maps[use] = nil
		}
		s.file.Close()
		s.disk.used.Add(-s.size)
	})
}
