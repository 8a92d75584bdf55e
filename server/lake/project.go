package lake

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"wirebench/codec"
	"wirebench/codec/parquet"
	"wirebench/defs/schema"
	"wirebench/server/objects"
)

const messageFolder = "/_message="

// Project is a project in a lake. One process may write it at a time. After an error of a method, the lake may have more than the Project says: it is
// opened again.
//
//	_project=NAME/_message=NAME.VERSION/_day=2026-11-29/….parquet
//	_project=NAME/_days/2026-11-29.json
//
// The second is the manifest of a day. What a Batch adds to a day, changes and removes becomes a part of the lake with one replacement of it. A program
// that reads all files without the manifests may see, for a moment, a file that is not listed yet, or one that is replaced.
type Project struct {
	store  objects.Store
	name   string
	prefix string

	writing sync.Mutex        // held while manifests are written, which may take long
	mu      sync.Mutex        // of days; never held while the store is used
	days    map[Day]*manifest // they do not change: others take their places
}

// Open opens a project in a lake, and removes what an earlier process has not completed.
func Open(ctx context.Context, store objects.Store, project string) (*Project, error) {
	p := &Project{store: store, name: project, prefix: "_project=" + fileName(project), days: map[Day]*manifest{}}
	if err := p.load(ctx); err != nil {
		return nil, fmt.Errorf("the lake %s: %w", store, err)
	}
	return p, nil
}

// Captures returns what the lake has of each capture, by day.
func (p *Project) Captures() map[string]map[Day]Taken {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]map[Day]Taken{}
	for d, m := range p.days {
		for id, t := range m.Captures {
			if out[id] == nil {
				out[id] = map[Day]Taken{}
			}
			out[id][d] = t
		}
	}
	return out
}

// day returns the manifest of a day, nil if there is none.
func (p *Project) day(d Day) *manifest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.days[d]
}

// Has reports whether the lake has a capture of so many bytes, to its end.
func (p *Project) Has(capture string, size int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.days {
		if t, ok := m.Captures[capture]; ok && t.Size == size {
			return true
		}
	}
	return false
}

// Files calls f for each file of the lake.
func (p *Project) Files(f func(d Day, l *Listed)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for d, m := range p.days {
		for i := range m.Files {
			f(d, &m.Files[i])
		}
	}
}

// Batch is what is added to a project as a whole, or day by day if a crash comes between: each day has all of it or nothing. It is for one
// goroutine. It ends with Commit or Abandon.
type Batch struct {
	p        *Project
	w        *Writer
	run      string
	replaced map[string]bool // captures whose rows are removed
	taken    map[string]map[Day]*Taken
	days     map[Day]bool // to be changed
	last     struct {     // frame
		capture *Capture
		day     Day
		taken   *Taken
	}
	defined map[*parquet.Schema]string // hashes of definitions
}

// Begin begins a batch. known are the messages that there may be, as for New. The rows of the captures in replaced are removed when it is committed.
func (p *Project) Begin(known []*schema.Message, replaced map[string]bool) *Batch {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	b := &Batch{p: p, run: time.Now().UTC().Format("20060102T150405-") + hex.EncodeToString(random[:]), replaced: replaced, taken: map[string]map[Day]*Taken{}, days: map[Day]bool{}, defined: map[*parquet.Schema]string{}}
	b.w = newWriter(p.store.Stage(), b.run, known)
	if len(replaced) > 0 {
		p.mu.Lock()
		defer p.mu.Unlock()
		for d, m := range p.days {
			for id := range m.Captures {
				if replaced[id] {
					b.days[d] = true
				}
			}
		}
	}
	return b
}

// Bytes returns the size of the files so far, without what is in memory.
func (b *Batch) Bytes() int64 { return b.w.written.Load() }

// Capture is a capture from which frames are taken.
type Capture struct {
	ID   string
	Name string
	Cut  string // a hash of what the numbers of its frames depend on
}

// Take adds a frame, unless the lake has it, and reports whether it was new. p is nil for a frame without a definition. Of a capture, frames are taken in the
// order of their numbers.
func (b *Batch) Take(c *Capture, d Day, p *codec.Program, message []byte, f parquet.Frame) (isNew bool, err error) {
	if b.last.capture != c || b.last.day != d {
		b.last.capture, b.last.day, b.last.taken = c, d, b.at(c, d)
	}
	t := b.last.taken
	if f.N < t.Next {
		return false, nil
	}
	if !t.changed {
		b.days[d], t.changed = true, true
	}
	if p == nil {
		t.Undefined++
	} else {
		if err := b.w.addOn(d, p, message, f); err != nil {
			return false, err
		}
	}
	t.Next = f.N + 1
	return true, nil
}

// End says that the frames of a capture of so many bytes are complete, of which the last was of a day.
func (b *Batch) End(c *Capture, last Day, size int64) {
	b.at(c, last).Size = size
	b.days[last] = true
}

// at returns what the lake will have of a capture in a day.
func (b *Batch) at(c *Capture, d Day) *Taken {
	of := b.taken[c.ID]
	if of == nil {
		of = map[Day]*Taken{}
		b.taken[c.ID] = of
	}
	t := of[d]
	if t == nil {
		t = &Taken{}
		if !b.replaced[c.ID] {
			b.p.mu.Lock()
			if m := b.p.days[d]; m != nil {
				*t = m.Captures[c.ID]
			}
			b.p.mu.Unlock()
		}
		t.Name, t.Cut, t.changed = c.Name, c.Cut, false
		of[d] = t
	}
	return t
}

// Abandon ends a batch without adding anything.
func (b *Batch) Abandon() {
	b.w.Abandon()
	files, _ := filepath.Glob(filepath.Join(b.p.store.Stage(), b.run+"*"))
	for _, f := range files {
		_ = os.Remove(f)
	}
}

// Commit adds the batch. When it returns nil, all is on disk. After an error some days may have what they were to have, and the others have what they had.
func (b *Batch) Commit(ctx context.Context) error {
	defer b.Abandon()
	files, err := b.w.Close()
	if err != nil {
		return err
	}
	byDay := map[Day][]File{}
	for _, f := range files {
		byDay[f.day] = append(byDay[f.day], f)
	}
	b.p.writing.Lock()
	defer b.p.writing.Unlock()
	for _, d := range slices.Sorted(maps.Keys(b.days)) {
		if err := b.commitDay(ctx, d, byDay[d]); err != nil {
			return fmt.Errorf("the lake %s: %w", b.p.store, err)
		}
	}
	return nil
}

// commitDay replaces the manifest of a day.
func (b *Batch) commitDay(ctx context.Context, d Day, files []File) error {
	old := b.p.day(d)
	if old == nil {
		old = &manifest{Project: b.p.name, Day: d.String()}
	}
	next := &manifest{Project: old.Project, Day: old.Day, tag: old.tag, Captures: map[string]Taken{}}
	var gone []string
	for i := range old.Files {
		switch l, err := b.without(ctx, d, &old.Files[i], i); {
		case err != nil:
			return err
		case l == nil:
			gone = append(gone, old.Files[i].Path)
		default:
			if next.Files = append(next.Files, *l); l.Path != old.Files[i].Path {
				gone = append(gone, old.Files[i].Path)
			}
		}
	}
	for _, f := range files {
		m := f.of.Program.Message
		l := Listed{File: f, Direction: m.Key.Dir.String(), Group: m.Key.Group, Definition: b.definition(f.of), Columns: hash(f.of.String()), Captures: f.caps}
		l.Path = b.p.prefix + messageFolder + f.kind + "/_day=" + d.String() + "/" + f.Path
		if err := b.p.store.Put(ctx, l.Path, filepath.Join(b.p.store.Stage(), f.Path)); err != nil {
			return err
		}
		next.Files = append(next.Files, l)
	}
	for id, t := range old.Captures {
		if !b.replaced[id] {
			next.Captures[id] = t
		}
	}
	for id, of := range b.taken {
		if t := of[d]; t != nil {
			next.Captures[id] = *t
		}
	}
	return b.p.replace(ctx, d, next, gone)
}

// replace writes a manifest, and removes files that it does not list any more.
func (p *Project) replace(ctx context.Context, d Day, m *manifest, gone []string) error {
	if err := p.write(ctx, d, m); err != nil {
		return err
	}
	for _, name := range gone {
		if err := p.store.Remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// without returns a file without the rows of the replaced captures: itself, a copy, which is put, or nil if there are no others.
func (b *Batch) without(ctx context.Context, d Day, l *Listed, n int) (*Listed, error) {
	left := slices.DeleteFunc(slices.Clone(l.Captures), func(id string) bool { return b.replaced[id] })
	switch len(left) {
	case len(l.Captures):
		return l, nil
	case 0:
		return nil, nil
	}
	return b.p.merged(ctx, fmt.Sprintf("%s-kept%d", b.run, n), d, func(id string) bool { return !b.replaced[id] }, l)
}

// definition returns a hash of the definition of a message: of its text, and of its columns, which other texts may decide.
func (b *Batch) definition(s *parquet.Schema) string {
	if _, ok := b.defined[s]; !ok {
		b.defined[s] = Definition(s)
	}
	return b.defined[s]
}

// Definition returns the hash of a definition that files are listed with.
func Definition(s *parquet.Schema) string {
	m := s.Program.Message
	text := m.Text.Text()
	if text == "" && m.Span.File != nil {
		text = m.Span.File.Text
	}
	return hash(text, s.String())
}

func hash(texts ...string) string {
	sum := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(sum, "%d %s", len(t), t)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// merged puts the rows of files with the same columns, of the captures for which keep is true, as one file, whose name begins with run.
func (p *Project) merged(ctx context.Context, run string, d Day, keep func(capture string) bool, from ...*Listed) (_ *Listed, err error) {
	var sources []parquet.Source
	for _, l := range from {
		o, err := p.store.Open(ctx, l.Path)
		if err != nil {
			return nil, err
		}
		defer o.Close()
		sources = append(sources, o)
	}
	name := filepath.Join(p.store.Stage(), run+extension)
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	defer os.Remove(name) // unless it was put
	to := counted{w: file}
	rows, captures, err := parquet.Copy(&to, keep, sources...)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	out := *from[0]
	out.Rows, out.Bytes, out.Captures = rows, to.n, captures
	out.Path = p.prefix + messageFolder + from[0].kind() + "/_day=" + d.String() + "/" + run + extension
	return &out, p.store.Put(ctx, out.Path, name)
}

// Bounds of merging files.
const (
	mostMerged = 256 << 20 // bytes of a file that was merged
	fewFiles   = 16        // of a message and day that is not over
)

// Compact merges small files of a message, a definition and a day: of days that are over, and of others where there are many. It merges those of one
// day, and reports whether there may be more.
func (p *Project) Compact(ctx context.Context, now time.Time) (more bool, err error) {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.mu.Lock()
	days := slices.Sorted(maps.Keys(p.days))
	p.mu.Unlock()
	for _, d := range days {
		few := fewFiles
		if d < DayOf(now.Add(-time.Hour)) {
			few = 1
		}
		if groups := p.day(d).small(few); len(groups) > 0 {
			return true, p.compact(ctx, d, groups)
		}
	}
	return false, nil
}

// small returns the groups of more than few files that can be merged.
func (m *manifest) small(few int) (out [][]*Listed) {
	type key struct{ kind, definition, columns string }
	groups := map[key][]*Listed{}
	for i := range m.Files {
		l := &m.Files[i]
		if l.Bytes > mostMerged/4 {
			continue // or it would be written again with each small one
		}
		k := key{l.kind(), l.Definition, l.Columns}
		groups[k] = append(groups[k], l)
	}
	for _, k := range slices.SortedFunc(maps.Keys(groups), func(a, b key) int {
		return slices.Compare([]string{a.kind, a.definition, a.columns}, []string{b.kind, b.definition, b.columns})
	}) {
		var group []*Listed
		size := int64(0)
		for _, l := range groups[k] {
			if size+l.Bytes > mostMerged {
				if len(group) > few {
					out = append(out, group)
				}
				group, size = nil, 0
			}
			group, size = append(group, l), size+l.Bytes
		}
		if len(group) > few {
			out = append(out, group)
		}
	}
	return out
}

// compact merges each group of files of a day.
func (p *Project) compact(ctx context.Context, d Day, groups [][]*Listed) error {
	var random [4]byte
	_, _ = rand.Read(random[:])
	run := "merged-" + hex.EncodeToString(random[:])
	next := *p.day(d)
	next.Files = slices.Clone(next.Files)
	var gone []string
	for n, group := range groups {
		out, err := p.merged(ctx, fmt.Sprintf("%s-%d", run, n), d, nil, group...)
		if err != nil {
			return err
		}
		for _, l := range group {
			gone = append(gone, l.Path)
		}
		next.Files = append(next.Files, *out)
	}
	next.Files = slices.DeleteFunc(next.Files, func(l Listed) bool { return slices.Contains(gone, l.Path) })
	return p.replace(ctx, d, &next, gone)
}
