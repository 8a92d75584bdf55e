package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"iter"
	"path"
	"slices"
	"sync"

	"wirebench/codec"
	"wirebench/codec/reshape"
	"wirebench/defs"
	"wirebench/defs/source"
)

// maxDrafts is the number of drafts that a snapshot caches: several parts of a page need the same one.
const maxDrafts = 4

// drafts holds the most recent results of With, newest first.
type drafts struct {
	mu   sync.Mutex
	list []draft
}

type draft struct {
	file *source.File
	snap *Snapshot
}

// With returns the snapshot with one more file, which replaces files of the same name in any folder, and that file. The cost depends on the
// file, not on the library. The result is cached by name and text. Its ID combines the ID of the snapshot and the text.
func (s *Snapshot) With(name, text string) (*Snapshot, *source.File) {
	s.drafts.mu.Lock()
	defer s.drafts.mu.Unlock()
	for _, d := range s.drafts.list {
		if d.file.Name == name && d.file.Text == text {
			return d.snap, d.file
		}
	}
	gone := s.based(name)
	f, sum := source.New(name, text), sha256.Sum256([]byte(name+"\x00"+text))
	next := s.derive(s.ID+"+"+hex.EncodeToString(sum[:]), gone, []*source.File{f})
	s.drafts.list = append([]draft{{f, next}}, s.drafts.list[:min(len(s.drafts.list), maxDrafts-1)]...)
	return next, f
}

// Try compiles a text in the place of a file, without keeping anything: it is one of many that are tried.
func (s *Snapshot) Try(name, text string) reshape.Compiled {
	gone := s.based(name)
	f := source.New(name, text)
	set := s.set.With(gone, []*source.File{f})
	return reshape.Compiled{File: f, Messages: set.MessagesOf(f), Diagnostics: set.DiagnosticsOf(f)}
}

// based returns the files that a file of a name replaces.
func (s *Snapshot) based(name string) (gone []*source.File) {
	for _, old := range s.set.FilesBased(path.Base(name)) {
		gone = append(gone, old.Source)
	}
	return gone
}

// Editor returns an editor of the definition by a message.
func (d *Definition) Editor(data []byte, session codec.Session) (*reshape.Editor, error) {
	if d.Message == nil {
		return nil, errors.New("the text has no message")
	}
	was := reshape.Compiled{File: d.File, Messages: d.Messages(), Diagnostics: d.Snap.set.DiagnosticsOf(d.File)}
	return reshape.New(d.Snap.Dialect, was, d.Message, data, session, func(text string) reshape.Compiled { return d.Snap.Try(d.File.Name, text) })
}

// derive returns the snapshot with some files exchanged. Files of other dialects are ignored.
func (s *Snapshot) derive(id string, gone, come []*source.File) *Snapshot {
	come = slices.DeleteFunc(come, func(f *source.File) bool { d, ok := defs.Detect(f); return ok && d != s.Dialect.Name })
	return &Snapshot{
		Dialect: s.Dialect, Library: s.Library, Options: s.Options, CodeMap: s.CodeMap, Traffic: s.Traffic, ID: id,
		set: s.set.With(gone, come), others: s.others, codeNames: s.codeNames, draft: true,
		Envelope: s.Envelope, EnvelopeFile: s.EnvelopeFile, Carried: s.Carried,
	}
}

// Files yields the definitions in use: those of the library, with the draft in its place.
func (s *Snapshot) Files() iter.Seq[*source.File] {
	if !s.draft {
		return slices.Values(s.Library.Files)
	}
	return func(yield func(*source.File) bool) {
		for f := range s.set.Files() {
			if !yield(f.Source) {
				return
			}
		}
	}
}
