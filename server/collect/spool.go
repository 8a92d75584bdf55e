package collect

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"wirebench/server/relay"
	"wirebench/server/store"
)

// Names in the folder of a spool: a folder for each part, called by its id, with its description and its segments, called by the offsets of
// their first bytes in hex.
const (
	aboutFile     = "about.json"
	segmentEnding = ".part"
)

// Bounds of a spool.
const (
	segmentBytes = 4 << 20 // about, of a segment; what is acknowledged leaves the disk by segments
	MinSpool     = 4 * segmentBytes
	maxParts     = 10_000 // that wait
	maxGone      = 1000   // whose descriptions are remembered
)

// Spool keeps the recordings of listeners in a folder until they are published. What is written to it survives the end of the program, and
// is published by the next one. It is safe for concurrent use.
type Spool struct {
	dir   string
	limit int64 // bytes of all segments

	mu    sync.Mutex
	parts []*part          // in the order of their start
	used  int64            // bytes of all segments
	gone  map[string]*part // that are published; the end of their session may still change their descriptions
	wake  chan struct{}
}

// part is a file of a recording. One goroutine writes to it and one publishes it.
type part struct {
	in   *Spool
	id   string
	dir  string
	told kept // as on disk

	// Guarded by Spool.mu.
	segments []*segment // with bytes that are not acknowledged, and the one being written
	end      int64      // of what is written
	sent     int64      // up to where it is acknowledged
	ended    bool
	untold   bool // the description has changed since it was acknowledged

	border int64 // an offset at which a block begins, at or after sent; used by the goroutine that publishes
}

// kept is the description of a part on the disk.
type kept struct {
	about
	Project string `json:"project"`
	Route   string `json:"route"` // the listener, in subjects
}

// segment is a file with bytes of a part.
type segment struct {
	file *os.File
	from int64
	size int64
}

// OpenSpool opens a folder, which no other process may use, and creates it if it does not exist. Parts that an earlier program has left are published; of a last block that
// it had not completely written, the part before it is removed. limit bounds the bytes on disk.
func OpenSpool(dir string, limit int64) (_ *Spool, err error) {
	if limit < MinSpool {
		return nil, fmt.Errorf("a spool needs %d bytes or more", MinSpool)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &Spool{dir: dir, limit: limit, gone: map[string]*part{}, wake: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries { // sorted by id, and so by time
		if !e.IsDir() || !store.IsCaptureID(e.Name()) {
			continue
		}
		p := &part{in: s, id: e.Name(), dir: filepath.Join(dir, e.Name()), ended: true, untold: true}
		ok, err := p.open()
		if err != nil {
			return nil, fmt.Errorf("open the spool: %w", err)
		}
		if !ok { // its start was interrupted, or its end
			if err := os.RemoveAll(p.dir); err != nil {
				return nil, err
			}
			continue
		}
		s.parts = append(s.parts, p)
	}
	return s, nil
}

// open reads what an earlier program has left of a part. It returns false if there is nothing to publish.
func (p *part) open() (bool, error) {
	text, err := os.ReadFile(filepath.Join(p.dir, aboutFile))
	if errors.Is(err, fs.ErrNotExist) || err == nil && json.Unmarshal(text, &p.told) != nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	p.told.Ended = true
	p.told.Changes++
	names, err := filepath.Glob(filepath.Join(p.dir, "*"+segmentEnding))
	if err != nil {
		return false, err
	}
	for i, name := range names { // sorted by offset
		base := filepath.Base(name)
		from, err := strconv.ParseInt(base[:len(base)-len(segmentEnding)], 16, 64)
		if err != nil {
			continue
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return false, err
		}
		seg := &segment{file: f, from: from}
		p.segments = append(p.segments, seg)
		info, err := f.Stat()
		if err != nil {
			return false, err
		}
		seg.size = info.Size()
		if i == len(names)-1 {
			data := make([]byte, seg.size)
			if _, err = f.ReadAt(data, 0); err == nil || errors.Is(err, io.EOF) {
				seg.size = wholeBlocks(data)
				err = f.Truncate(seg.size)
			}
			if err != nil {
				return false, err
			}
		}
		p.in.used += seg.size
		p.end = from + seg.size
	}
	if len(p.segments) == 0 {
		return false, nil
	}
	p.sent = p.segments[0].from
	p.release()
	return true, nil
}

// wholeBlocks returns how many bytes of data, which begin with a block, are whole blocks.
func wholeBlocks(data []byte) (n int64) {
	for len(data)-int(n) >= 12 {
		size := int64(binary.LittleEndian.Uint32(data[n+4:]))
		if size < 12 || size%4 != 0 || size > int64(len(data))-n {
			break
		}
		n += size
	}
	return n
}

// Close closes the files. What is not published stays.
func (s *Spool) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parts {
		p.closeFiles()
	}
	s.parts = nil
}

func (p *part) closeFiles() {
	for _, seg := range p.segments {
		seg.file.Close()
	}
	p.segments = nil
}

// Waiting is the state of a spool.
type Waiting struct {
	Parts int   // with something to be published
	Bytes int64 // that are not acknowledged
	Limit int64 // of the bytes on disk
}

// Waiting returns what is to be published.
func (s *Spool) Waiting() (w Waiting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Limit = s.limit
	for _, p := range s.parts {
		if w.Bytes += p.end - p.sent; p.end > p.sent || p.untold {
			w.Parts++
		}
	}
	return w
}

func (s *Spool) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// ErrSpoolFull is returned for what does not fit in a spool.
var ErrSpoolFull = errors.New("the spool is full")

func (s *Spool) full() error {
	return fmt.Errorf("%w: %d MiB wait to be published", ErrSpoolFull, s.used>>20)
}

// Of returns where the recordings of a project are kept.
func (s *Spool) Of(project string) relay.Kept { return spooled{s, project} }

// spooled implements relay.Kept.
type spooled struct {
	*Spool
	project string
}

// Record begins a part.
func (s spooled) Record(like store.Capture, now time.Time) (store.Capture, relay.File, error) {
	x := store.Capture{ID: store.NewCaptureID(now), Name: like.Name, Added: now.UTC(), Listener: like.Listener, Settings: like.Settings, Keys: like.Keys}
	p := &part{in: s.Spool, id: x.ID, dir: filepath.Join(s.dir, x.ID), untold: true}
	p.told = kept{about: about{Name: x.Name, Added: x.Added, Listener: x.Listener}, Project: s.project, Route: "listener"}
	if l := x.Listener; l != nil {
		p.told.Route = cmp.Or(l.Name, l.Listen)
	}
	s.mu.Lock()
	waiting := len(s.parts)
	s.mu.Unlock()
	if waiting >= maxParts {
		return x, nil, fmt.Errorf("%w: %d recordings wait to be published", ErrSpoolFull, waiting)
	}
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		return x, nil, err
	}
	if err := p.tell(); err != nil {
		_ = os.RemoveAll(p.dir)
		return x, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts = append(s.parts, p)
	return x, p, nil
}

// tell writes the description.
func (p *part) tell() error {
	text, err := json.Marshal(p.told)
	if err != nil {
		return err
	}
	name := filepath.Join(p.dir, aboutFile)
	if err := os.WriteFile(name+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// Room returns an error if the spool or its disk has no room for more.
func (s *Spool) Room(resume bool) error {
	s.mu.Lock()
	least := int64(1)
	if resume {
		least = s.limit / 8
	}
	full := s.limit-s.used < least
	err := s.full()
	s.mu.Unlock()
	if full {
		return err
	}
	return store.Room(s.dir, resume)
}

// part returns the part with an id, also one that is published; nil if there is none.
func (s *Spool) part(id string) *part {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.gone[id]; p != nil {
		return p
	}
	if i := slices.IndexFunc(s.parts, func(p *part) bool { return p.id == id }); i >= 0 {
		return s.parts[i]
	}
	return nil
}

// Get describes a part.
func (s spooled) Get(id string) (store.Capture, error) {
	p := s.part(id)
	if p == nil {
		return store.Capture{}, fs.ErrNotExist
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return store.Capture{ID: id, Name: p.told.Name, Added: p.told.Added, Size: p.end, Listener: p.told.Listener, Unrecorded: p.told.Unrecorded}, nil
}

// Edit changes the listener, and the number of packets that are not recorded.
func (s spooled) Edit(id string, change func(*store.Capture) error) (store.Capture, error) {
	x, err := s.Get(id)
	if err != nil {
		return x, err
	}
	if x.Listener != nil {
		l := *x.Listener
		x.Listener = &l
	}
	if err := change(&x); err != nil {
		return x, err
	}
	p := s.part(id)
	if p == nil {
		return x, fs.ErrNotExist
	}
	return x, p.change(func() { p.told.Listener, p.told.Unrecorded = x.Listener, x.Unrecorded })
}

// change changes the description, which is then published again.
func (p *part) change(do func()) error {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	do()
	p.untold = true
	p.told.Changes++
	defer p.in.poke()
	if p.in.gone[p.id] == nil {
		return p.tell()
	}
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		return err
	}
	if _, err := p.segment(p.end); err != nil { // without bytes: it says where the part ends
		return err
	}
	delete(p.in.gone, p.id)
	p.in.parts = append(p.in.parts, p)
	return p.tell()
}

// segment begins a segment.
func (p *part) segment(from int64) (*segment, error) {
	f, err := os.OpenFile(filepath.Join(p.dir, fmt.Sprintf("%016x", from)+segmentEnding), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	seg := &segment{file: f, from: from}
	p.segments = append(p.segments, seg)
	return seg, nil
}

// Remove forgets a part without data.
func (s spooled) Remove(id string) error {
	p := s.part(id)
	if p == nil {
		return fs.ErrNotExist
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.drop()
	return nil
}

// drop deletes a part. The caller holds the lock.
func (p *part) drop() {
	for _, seg := range p.segments {
		p.in.used -= seg.size
	}
	p.closeFiles()
	p.ended = true
	_ = os.RemoveAll(p.dir) // what remains without a description is removed by the next program
	p.in.parts = slices.DeleteFunc(p.in.parts, func(x *part) bool { return x == p })
}

// Changed returns a channel for changes of a description by others, of which there are none.
func (s spooled) Changed(string) (<-chan struct{}, func()) { return nil, func() {} }

// Write appends whole blocks, all or none.
func (p *part) Write(data []byte) (int, error) {
	s := p.in
	s.mu.Lock()
	if s.used+int64(len(data)) > s.limit {
		defer s.mu.Unlock()
		return 0, s.full()
	}
	var seg *segment
	if n := len(p.segments); n > 0 && p.segments[n-1].size < segmentBytes {
		seg = p.segments[n-1]
	}
	at := p.end
	s.mu.Unlock()
	if seg == nil {
		s.mu.Lock()
		next, err := p.segment(at)
		if seg = next; err == nil {
			p.release() // the one before may be acknowledged
		}
		s.mu.Unlock()
		if err != nil {
			return 0, err
		}
	}
	if n, err := seg.file.WriteAt(data, at-seg.from); err != nil {
		_ = seg.file.Truncate(at - seg.from)
		return n, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	seg.size += int64(len(data))
	p.end += int64(len(data))
	s.used += int64(len(data))
	s.poke()
	return len(data), nil
}

// Truncate does nothing: of a Write that failed, nothing is left.
func (p *part) Truncate(int64) error { return nil }

// Sync flushes what is not acknowledged to the disk.
func (p *part) Sync() error {
	p.in.mu.Lock()
	all := slices.Clone(p.segments)
	p.in.mu.Unlock()
	var errs []error
	for _, seg := range all {
		if err := seg.file.Sync(); err != nil && !errors.Is(err, os.ErrClosed) { // published meanwhile
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Gone reports false: nobody deletes parts.
func (p *part) Gone() bool { return false }

// Discard forgets a part without data.
func (p *part) Discard() {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	p.drop()
}

// Close ends the part.
func (p *part) Close() error {
	p.in.mu.Lock()
	over := p.ended
	p.in.mu.Unlock()
	if over {
		return nil
	}
	return p.change(func() { p.ended, p.told.Ended = true, true })
}

// next returns the next batch of at most about most bytes, which end with a block if they can; ok is false if there is none. It stays until
// acknowledged.
func (p *part) next(most int64) (b batch, changes int, ok bool, err error) {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	if p.end == 0 && !p.ended { // a listener without traffic may leave none
		return b, 0, false, nil
	}
	if len(p.segments) > 0 { // a crash of the machine may have cost the end of the segment before it
		p.sent = max(p.sent, p.segments[0].from)
	}
	b = batch{capture: p.id, offset: p.sent}
	changes = p.told.Changes
	if p.end > p.sent {
		seg := p.segments[0]
		b.data = make([]byte, min(most, seg.from+seg.size-p.sent))
		if _, err := seg.file.ReadAt(b.data, p.sent-seg.from); err != nil {
			return b, 0, false, err
		}
		b.data = p.whole(b.data)
	}
	if p.untold {
		told := p.told.about
		told.Ended = told.Ended && p.sent+int64(len(b.data)) == p.end
		if b.about, err = json.Marshal(told); err == nil && len(b.about) > maxAbout {
			l := *told.Listener // its rules are what is long
			l.Rules, told.Listener = nil, &l
			b.about, err = json.Marshal(told)
		}
		if err != nil {
			return b, 0, false, err
		}
	}
	return b, changes, len(b.data) > 0 || p.untold, nil
}

// whole returns the first bytes of what is next that end with a block, or all of them, if they are in the middle of a block that is longer
// than a message may be.
func (p *part) whole(data []byte) []byte {
	p.border = max(p.border, p.sent)
	at := p.border - p.sent
	if at >= int64(len(data)) {
		return data
	}
	n := wholeBlocks(data[at:])
	if p.border += n; at+n > 0 {
		return data[:at+n]
	}
	if len(data) >= 8 {
		p.border += int64(binary.LittleEndian.Uint32(data[4:]))
	}
	return data
}

// acknowledged removes what was published, of a description that had changed as often as given. A part that has ended goes when all of it
// is published.
func (p *part) acknowledged(b batch, changes int) {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	p.sent = b.offset + int64(len(b.data))
	if b.about != nil && changes == p.told.Changes && (!p.ended || p.sent == p.end) {
		p.untold = false
	}
	if p.release(); p.ended && p.sent == p.end && !p.untold {
		p.drop()
		if len(p.in.gone) >= maxGone {
			clear(p.in.gone)
		}
		p.in.gone[p.id] = p
	}
}

// release deletes the segments whose bytes are all acknowledged, but for the one being written. The caller holds the lock.
func (p *part) release() {
	for len(p.segments) > 1 && p.segments[0].from+p.segments[0].size <= p.sent {
		seg := p.segments[0]
		p.segments = p.segments[1:]
		p.in.used -= seg.size
		seg.file.Close()
		_ = os.Remove(seg.file.Name())
	}
}
