package projects

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"wirebench/defs"
	"wirebench/defs/library"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// seed makes the folder of a project with the definitions, samples and the capture that ship with the program. It is made under a temporary
// name, so that a crash leaves no incomplete one.
func (s *Set) seed(p *project) error {
	made, err := os.MkdirTemp(s.opts.Data.Path(), newFolder)
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	definitions := filepath.Join(made, definitionsFolder)
	if err := os.Mkdir(definitions, 0o777); err != nil {
		return err
	}
	if fsys, ok := library.Dialect(p.Protocol); ok {
		if err := copyLibrary(definitions, p.Protocol, fsys); err != nil {
			return err
		}
	}
	captures, err := store.OpenCaptures(filepath.Join(made, capturesFolder))
	if err != nil {
		return err
	}
	if err := addRecording(captures, p.Protocol); err != nil {
		return err
	}
	return s.place(made, p)
}

// addRecording adds the sample capture of a protocol, with its notes.
func addRecording(captures *store.Captures, protocol string) error {
	r, ok := library.Recorded(protocol)
	if !ok {
		return nil
	}
	var notes store.Notes
	if err := json.Unmarshal(r.Notes, &notes); err != nil {
		return fmt.Errorf("notes of the sample capture of %s: %w", protocol, err)
	}
	notes.Noted = store.ByNumber(notes.Marked, notes.Frames)
	x, err := captures.Add(r.Name, time.Now(), bytes.NewReader(r.Data))
	if err != nil {
		return err
	}
	_, err = captures.Note(x.ID, func(n *store.Notes) { *n = notes })
	return err
}

// copyLibrary writes a library, with each sample beside its definition.
func copyLibrary(dir, protocol string, fsys fs.FS) error {
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if !defs.IsDefinition(name) && !defs.IsCodeMap(name) && !workspace.IsEnvelope(name) && !defs.Recognizes(name, string(text)) {
			return nil
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o666)
	})
	if err != nil {
		return err
	}
	d, err := store.Open(dir)
	if err != nil {
		return err
	}
	w, err := workspace.Open(workspace.Config{Name: protocol, Dialect: protocol, Files: d})
	if err != nil {
		return err
	}
	for _, s := range library.Samples(protocol) {
		m, err := w.Now().Find(s.Message)
		if err != nil {
			return err
		}
		if err := w.AddSample(m.Span.File.Name, workspace.Sample{Message: s.Message, Hex: s.Hex, About: s.About}); err != nil {
			return err
		}
	}
	return nil
}
