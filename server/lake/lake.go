// Package lake writes the messages of captures as Parquet files, one for each message and version of a definition: see codec/parquet for what is in
// them. A [Writer] writes the files of one export into a folder; a [Project] is what a lake has of a project, by days, to which a [Batch] adds.
//
// Frames are collected by message, and encoded by a goroutine of the Writer, so that reading goes on meanwhile. A file appears under its name when it is
// complete. The memory is bounded whatever the number of messages: what waits to be encoded, and the columns of open files. Where there are too
// many columns, the file used longest ago is closed, and the next rows of its message begin another part.
package lake

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/codec/parquet"
	"wirebench/defs/schema"
	"wirebench/server/supervise"
)

// limits are the bounds of a Writer.
type limits struct {
	batch   int // bytes of frames that become a row group
	rows    int // frames of one
	pending int // bytes of frames of all messages that wait
	columns int // of open files
}

var usual = limits{batch: 16 << 20, rows: 1 << 15, pending: 64 << 20, columns: 1 << 15}

// frameCost is the memory of a frame besides its bytes, in bytes.
const frameCost = 128

// File is a file that was written.
type File struct {
	Message string           `json:"message"`
	Version int              `json:"version"`
	Path    string           `json:"file"` // in the folder of the Writer, or in the lake
	Rows    int              `json:"rows"`
	Bytes   int64            `json:"bytes"`
	Renamed []parquet.Rename `json:"renamed,omitempty"` // columns with another name than their field

	day  Day
	kind string          // the name of the message for files
	of   *parquet.Schema // its columns
	caps []string        // captures that its rows are of, sorted
}

// Writer writes the files of a folder. It is for one goroutine.
type Writer struct {
	dir     string
	run     string // begins the names of files of a part of a lake; "" where they are named by their messages
	limits  limits
	tables  map[tableKey]*table
	kinds   map[*codec.Program]kind
	several map[string]int  // messages, by name and version
	names   map[string]bool // of files, in lower case, as file systems may compare them
	pending int             // bytes of the batches that are not yet handed over

	work   chan *batch
	spare  chan *batch
	closed bool // work is closed
	group  supervise.Group
	fail   atomic.Pointer[error] // what ended the goroutine

	written atomic.Int64 // bytes of the files so far

	// Of the goroutine.
	set     columns.Set
	opened  []*table // least recently used first
	columns int      // of these
	parts   int      // files so far
	files   []File
}

// tableKey is a message, and in a lake a day.
type tableKey struct {
	program *codec.Program
	day     Day
}

// kind is a message: its columns, and its name for files.
type kind struct {
	schema *parquet.Schema
	name   string
}

// table is the rows of a message.
type table struct {
	kind
	day     Day
	parts   int
	pending *batch

	path   string   // of the current file, or of the last one
	file   *os.File // under a hidden name; nil while none is open
	writer *parquet.Writer
	size   counted
	rows   int
	caps   map[string]bool // captures of the rows
}

// batch is some frames of a message.
type batch struct {
	of     *table
	data   []byte
	spans  []columns.Span
	frames []parquet.Frame
}

func (b *batch) cost() int { return len(b.data) + len(b.frames)*frameCost }

// New returns a Writer of a folder, which is made if it does not exist, and must not have Parquet files. known are the messages that there may
// be: where several have one name and version, the names of files say the group and the direction.
func New(dir string, known []*schema.Message) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	if old, err := filepath.Glob(filepath.Join(dir, "*"+extension)); err != nil || len(old) > 0 {
		return nil, fmt.Errorf("%s has %d Parquet files already: give another folder, or remove them", dir, len(old))
	}
	return newWriter(dir, "", known), nil
}

// newWriter returns a Writer of files that are named by their messages, or, if run is not empty, by that and a number.
func newWriter(dir, run string, known []*schema.Message) *Writer {
	w := &Writer{
		dir: dir, run: run, limits: usual, several: map[string]int{}, tables: map[tableKey]*table{}, kinds: map[*codec.Program]kind{}, names: map[string]bool{},
		work: make(chan *batch, 1), spare: make(chan *batch, 2),
	}
	for _, m := range known {
		w.several[messageName(m)]++
	}
	w.group.Go("export", w.failed, func() {
		if err := supervise.Do("export", w.encode); err != nil {
			w.failed(err)
		}
		for range w.work { // so that nobody waits
		}
	})
	return w
}

const extension = ".parquet"

// Add adds a frame with its message, which is copied. An error ends the writing.
func (w *Writer) Add(p *codec.Program, message []byte, f parquet.Frame) error {
	return w.addOn(0, p, message, f)
}

// addOn is Add for a file of a day.
func (w *Writer) addOn(day Day, p *codec.Program, message []byte, f parquet.Frame) error {
	if err := w.fail.Load(); err != nil {
		return *err
	}
	t, ok := w.tables[tableKey{p, day}]
	if !ok {
		k, ok := w.kinds[p]
		if !ok {
			k = kind{parquet.Of(p), w.nameOf(p)}
			w.kinds[p] = k
		}
		t = &table{kind: k, day: day}
		w.tables[tableKey{p, day}] = t
	}
	b := t.pending
	if b == nil {
		b = w.newBatch(t)
		t.pending = b
	}
	b.spans = append(b.spans, columns.Span{Off: uint32(len(b.data)), Len: uint32(len(message))})
	b.data = append(b.data, message...)
	b.frames = append(b.frames, f)
	w.pending += len(message) + frameCost
	switch {
	case b.cost() > w.limits.batch, len(b.frames) == w.limits.rows:
		w.hand(t)
	case w.pending > w.limits.pending:
		w.relieve()
	}
	return nil
}

func (t *table) compare(o *table) int {
	return cmp.Or(cmp.Compare(t.name, o.name), cmp.Compare(t.day, o.day))
}

func (w *Writer) newBatch(t *table) *batch {
	select {
	case b := <-w.spare:
		b.of = t
		return b
	default:
		return &batch{of: t}
	}
}

// relieve hands over the largest batches, until half of the memory is free.
func (w *Writer) relieve() {
	var all []*table
	for _, t := range w.tables {
		if t.pending != nil {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *table) int {
		return cmp.Or(cmp.Compare(b.pending.cost(), a.pending.cost()), a.compare(b))
	})
	for _, t := range all {
		if w.pending <= w.limits.pending/2 {
			return
		}
		w.hand(t)
	}
}

// hand gives the batch of a table to the goroutine.
func (w *Writer) hand(t *table) {
	b := t.pending
	t.pending = nil
	w.pending -= b.cost()
	w.work <- b
}

// Close writes what waits, and closes the files. After an error of Add it removes the files that are not complete, and returns that error.
func (w *Writer) Close() ([]File, error) {
	all := make([]*table, 0, len(w.tables))
	for _, t := range w.tables {
		if t.pending != nil {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, (*table).compare)
	for _, t := range all {
		w.hand(t)
	}
	w.stop()
	for len(w.opened) > 0 && w.fail.Load() == nil {
		if err := w.closeFile(w.opened[0]); err != nil {
			w.failed(err)
		}
	}
	if err := w.fail.Load(); err != nil {
		w.abandon()
		return nil, *err
	}
	slices.SortFunc(w.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return w.files, nil
}

// Abandon ends the writing, and removes the files that are not complete. After Close it does nothing.
func (w *Writer) Abandon() {
	if !w.closed {
		w.stop()
		w.abandon()
	}
}

// stop waits for the goroutine.
func (w *Writer) stop() {
	w.closed = true
	close(w.work)
	w.group.Wait()
}

func (w *Writer) abandon() {
	for _, t := range w.opened {
		t.file.Close()
		os.Remove(t.file.Name())
	}
	w.opened = nil
}

func (w *Writer) failed(err error) { w.fail.CompareAndSwap(nil, &err) }

// encode encodes batches.
func (w *Writer) encode() error {
	for b := range w.work {
		if err := w.write(b); err != nil {
			return err
		}
		b.of, b.data, b.spans, b.frames = nil, b.data[:0], b.spans[:0], b.frames[:0]
		select {
		case w.spare <- b:
		default:
		}
	}
	return nil
}

func (w *Writer) write(b *batch) error {
	t := b.of
	if err := w.open(t); err != nil {
		return err
	}
	before := t.size.n
	if w.set.Program != t.schema.Program {
		w.set.SelectWhole(t.schema.Program)
	}
	for done := 0; done < len(b.spans); {
		w.set.Reset()
		n := w.set.Append(t.schema.Program, b.data, b.spans[done:])
		if err := t.writer.Write(&w.set, b.frames[done:done+n]); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		done += n
		t.rows += n
	}
	if last := ""; w.run != "" {
		for i := range b.frames {
			if c := b.frames[i].Capture; c != last {
				last = c
				t.caps[c] = true
			}
		}
	}
	w.written.Add(t.size.n - before)
	return nil
}

// open opens the next file of a table, unless one is open, and makes it the one used last.
func (w *Writer) open(t *table) error {
	if i := slices.Index(w.opened, t); i >= 0 {
		w.opened = append(slices.Delete(w.opened, i, i+1), t)
		return nil
	}
	for len(w.opened) > 0 && w.columns+t.schema.Columns() > w.limits.columns {
		if err := w.closeFile(w.opened[0]); err != nil {
			return err
		}
	}
	w.parts++
	if t.parts++; w.run != "" {
		t.path, t.caps = fmt.Sprintf("%s-%d%s", w.run, w.parts, extension), map[string]bool{}
	} else if t.parts > 1 {
		t.path = t.name + "." + strconv.Itoa(t.parts) + extension
	} else {
		t.path = t.name + extension
	}
	file, err := os.OpenFile(filepath.Join(w.dir, "."+t.path), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	t.file, t.size, t.rows = file, counted{w: file}, 0
	t.writer = parquet.NewWriter(&t.size, t.schema, info(t.schema))
	w.opened = append(w.opened, t)
	w.columns += t.schema.Columns()
	return nil
}

// info returns what a file says about itself.
func info(s *parquet.Schema) map[string]string {
	m := s.Program.Message
	out := map[string]string{"wirebench.message": m.Name, "wirebench.version": strconv.Itoa(m.Version), "wirebench.direction": m.Key.Dir.String(), "wirebench.group": m.Key.Group}
	if len(s.Renamed) > 0 {
		if text, err := json.Marshal(s.Renamed); err == nil {
			out["wirebench.renamed"] = string(text)
		}
	}
	return out
}

// closeFile completes a file, and gives it its name.
func (w *Writer) closeFile(t *table) error {
	err := t.writer.Close()
	if e := t.file.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(t.file.Name(), filepath.Join(w.dir, t.path))
	}
	if err != nil {
		return err
	}
	m := t.schema.Program.Message
	w.files = append(w.files, File{Message: m.Name, Version: m.Version, Path: t.path, Rows: t.rows, Bytes: t.size.n, Renamed: t.schema.Renamed, day: t.day, kind: t.name, of: t.schema, caps: slices.Sorted(maps.Keys(t.caps))})
	w.opened = slices.DeleteFunc(w.opened, func(o *table) bool { return o == t })
	w.columns -= t.schema.Columns()
	t.file, t.writer = nil, nil
	return nil
}

// counted counts the bytes that are written.
type counted struct {
	w *os.File
	n int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// nameOf returns a file name for a message that no other one has: letters, digits, "-", "_" and "." stay, other bytes are %XX. The first
// character is no "." and no "_", as such files are not part of a data set.
func (w *Writer) nameOf(p *codec.Program) string {
	m := p.Message
	base := messageName(m)
	if w.several[base] > 1 {
		for _, part := range [...]string{m.Key.Group, m.Key.Dir.String()} {
			if part != "" {
				base += "." + fileName(part)
			}
		}
	}
	if m.AlternateOf != nil {
		base += "-2"
	}
	if w.run != "" { // a folder, which does not depend on what else there is
		return base
	}
	name := base
	for k := 2; w.names[strings.ToLower(name)]; k++ {
		name = fmt.Sprintf("%s-%d", base, k)
	}
	w.names[strings.ToLower(name)] = true
	return name
}

func messageName(m *schema.Message) string { return fmt.Sprintf("%s.%d", fileName(m.Name), m.Version) }

func fileName(text string) string {
	var b strings.Builder
	for i, c := range []byte(text) {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '-', i > 0 && (c == '.' || c == '_'):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
		if b.Len() > maxName {
			sum := sha256.Sum256([]byte(text))
			return b.String() + "-" + hex.EncodeToString(sum[:4])
		}
	}
	return cmp.Or(b.String(), "%")
}

// maxName is the length of the part of a file name that is a message's.
const maxName = 120
