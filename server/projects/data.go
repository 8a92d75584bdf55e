package projects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"wirebench/defs"
	"wirebench/defs/library"
	"wirebench/defs/source"
	"wirebench/server/store"
)

// Names in the data folder and in the folder of a project.
const (
	recordFile        = "project.json"
	definitionsFolder = "definitions"
	capturesFolder    = "captures"
	samplesFolder     = "samples"   // of a library in a folder of another program
	newFolder         = ".new-"     // starts the name of a folder that is being made
	removedFolder     = ".removed-" // starts the name of a folder that is being removed
	setFile           = "projects.json"
)

// Record is the content of project.json.
type Record struct {
	Title    string    `json:"title,omitempty"`
	Protocol string    `json:"protocol"`
	Library  string    `json:"library,omitempty"` // absolute path of the definitions; "" if they are in the project's folder
	Samples  bool      `json:"samples,omitempty"`
	State    State     `json:"state,omitempty"` // "" is Open
	Formerly []string  `json:"formerly,omitempty"`
	Created  time.Time `json:"created,omitzero"`
	Lake     string    `json:"lake,omitempty"` // its name in the lake; "" is its name
}

// setRecord is the content of projects.json.
type setRecord struct {
	Samples []string `json:"samples"` // protocols whose samples have been made, so that removed samples do not come back
}

// Library is a folder given on the command line whose definitions are edited in place.
type Library struct {
	Dir      string
	Protocol string
	Codes    *source.File // code map outside the folder; nil to use those in the folder
}

// OpenData opens the projects of a data folder, makes the samples that it lacks, and a project for each library that has none.
func OpenData(o Options, libraries ...Library) (*Set, error) {
	s := newSet(o)
	if err := s.read(); err != nil {
		return nil, err
	}
	for i, l := range libraries {
		p, err := s.libraryProject(l)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			s.first = p.name
		}
	}
	if err := s.addSamples(); err != nil {
		return nil, err
	}
	for _, p := range s.all {
		if p.State != "" && p.State != Open {
			continue
		}
		if err := s.load(p); err != nil {
			if slices.ContainsFunc(libraries, func(l Library) bool { return sameFolder(l.Dir, p.Library) }) {
				s.Close()
				return nil, fmt.Errorf("open library %s: %w", p.Library, err)
			}
			s.opts.Log.Error("a project cannot be opened", "project", p.name, "error", err)
		}
	}
	return s, nil
}

// read reads the records of the data folder.
func (s *Set) read() error {
	home, err := s.opts.Data.Dir()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(s.opts.Data.Path())
	if err != nil {
		return fmt.Errorf("read the data folder: %w", err)
	}
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && s.opts.Data.Locked() && (strings.HasPrefix(name, newFolder) || strings.HasPrefix(name, removedFolder)) {
			if err := s.purge(name); err != nil {
				s.opts.Log.Error("a folder of a removed project stays", "folder", s.opts.Data.Path(name), "error", err)
			} else {
				s.opts.Log.Info("removed a folder left by a crash", "folder", s.opts.Data.Path(name))
			}
			continue
		}
		if !e.IsDir() || checkName(e.Name()) != nil {
			continue
		}
		p := &project{name: e.Name()}
		_, err := home.Load(e.Name()+"/"+recordFile, store.JSON(&p.Record))
		if errors.Is(err, fs.ErrNotExist) {
			continue // not a project: lost+found, copies
		}
		if err != nil { // not lost: the folder stays, and the name is taken
			p.Record, p.trouble = Record{Title: e.Name(), State: Archived}, fmt.Errorf("%s is damaged: %w", recordFile, err)
		}
		p.Formerly = slices.DeleteFunc(p.Formerly, func(f string) bool { return f == p.name }) // a renaming that a crash interrupted
		if d, ok := defs.Find(p.Protocol); ok && p.Title == "" {                               // of a version without titles
			p.Title = d.Title
		}
		s.all = append(s.all, p)
	}
	return nil
}

// write stores a record. The folder of the project exists.
func (s *Set) write(name string, r Record) error {
	dir, err := s.opts.Data.Dir(name)
	if err != nil {
		return err
	}
	old, _ := dir.Read(recordFile)
	text, err := store.MergeJSON(r, old.Text)
	if err == nil {
		_, err = dir.Write(recordFile, append(text, '\n'), nil)
	}
	return err
}

// libraryProject returns the project of a folder given on the command line, and makes it if there is none.
func (s *Set) libraryProject(l Library) (*project, error) {
	abs, err := filepath.Abs(l.Dir)
	if err != nil {
		return nil, err
	}
	for _, p := range s.all {
		if sameFolder(p.Library, abs) {
			p.codes = l.Codes
			if p.State != "" { // given again, so it is wanted
				p.State = ""
				err = s.write(p.name, p.Record)
			}
			return p, err
		}
	}
	// A project of a version without project.json that had its definitions in --library: its captures and settings are of this folder.
	for _, p := range s.all {
		if p.Protocol == l.Protocol && p.Library == "" && !isDir(s.opts.Data.Path(p.name, definitionsFolder)) {
			p.Library, p.codes = abs, l.Codes
			return p, s.write(p.name, p.Record)
		}
	}
	p := &project{codes: l.Codes, Record: Record{
		Title: filepath.Base(abs), Protocol: l.Protocol, Library: abs, Created: time.Now().UTC().Truncate(time.Second),
	}}
	p.name = l.Protocol // so that programs that know only protocols find it
	if s.named(p.name) != nil {
		p.name = s.freeName(filepath.Base(abs))
	}
	if err := s.write(p.name, p.Record); err != nil {
		return nil, err
	}
	s.insert(p)
	return p, nil
}

// sameFolder reports whether two paths name one folder.
func sameFolder(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// insert adds a project at its place in the list.
func (s *Set) insert(p *project) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, _ := slices.BinarySearchFunc(s.all, p.name, func(x *project, name string) int { return strings.Compare(x.name, name) })
	s.all = slices.Insert(s.all, at, p)
}

// addSamples makes the project of the samples of each protocol, once.
func (s *Set) addSamples() error {
	home, err := s.opts.Data.Dir()
	if err != nil {
		return err
	}
	var made setRecord
	was, err := home.Load(setFile, store.JSON(&made))
	switch {
	case errors.Is(err, store.ErrDamaged):
		return nil // those that were removed must not come back
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	before := len(made.Samples)
	for _, d := range defs.Dialects {
		if _, ok := library.Dialect(d.Name); !ok || slices.Contains(made.Samples, d.Name) {
			continue
		}
		p := &project{name: d.Name, Record: Record{Title: d.Title + " samples", Protocol: d.Name, Samples: true, Created: time.Now().UTC().Truncate(time.Second)}}
		if s.named(p.name) != nil {
			p.name = s.freeName(d.Name + "-samples")
		}
		if err := s.seed(p); err != nil {
			return fmt.Errorf("make the samples of %s: %w", d.Title, err)
		}
		s.insert(p)
		made.Samples = append(made.Samples, d.Name)
	}
	if len(made.Samples) == before {
		return nil
	}
	text, err := store.MergeJSON(made, was.Text)
	if err == nil {
		_, err = home.Write(setFile, append(text, '\n'), nil)
	}
	return err
}
