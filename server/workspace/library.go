// Package workspace holds a set of definitions with its protocol and settings, ready to decode and encode with.
//
// A Library is files as they were read. A Snapshot is what they mean under given settings; it is immutable, so readers never
// lock, and an edit makes a new one.
package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"wirebench/defs"
	"wirebench/defs/source"
)

// Bounds of a library, so that a wrong directory is refused instead of filling the memory.
const (
	maxFileBytes = 4 << 20
	maxFiles     = 20000
	maxAllBytes  = 256 << 20
)

// Library is a set of definition files.
type Library struct {
	Files   []*source.File    // definitions, named by their path below the library
	Maps    []*source.File    // code maps
	Skipped []string          // other files, with the reason
	samples map[string]string // texts of the files of samples, by name

	dialects map[*source.File]string // of Files, as defs.Detect tells them; "" = none
	bytes    int
}

// all are the definitions and the maps.
func (l *Library) all() []*source.File { return slices.Concat(l.Files, l.Maps) }

// Read reads definitions from files and directories; directories with all that is below them. Files of other kinds are
// skipped, and said so in Skipped.
func Read(paths ...string) (*Library, error) { return read(paths, len(paths) > 1) }

// ReadNamed is Read with files named by their path as the user gave it, so that messages about them can be followed.
func ReadNamed(paths ...string) (*Library, error) { return read(paths, true) }

func read(paths []string, named bool) (*Library, error) {
	lib := &Library{}
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, fmt.Errorf("open library: %w", err)
		}
		if !info.IsDir() {
			text, err := os.ReadFile(p)
			if err != nil {
				return nil, fmt.Errorf("read definition: %w", err)
			}
			if err := lib.add(filepath.ToSlash(p), text, true); err != nil {
				return nil, err
			}
			continue
		}
		prefix := ""
		if named {
			prefix = filepath.ToSlash(p)
		}
		if err := lib.readFS(os.DirFS(p), prefix); err != nil {
			return nil, fmt.Errorf("read library %s: %w", p, err)
		}
	}
	return lib, nil
}

// ReadFS reads definitions from a file system, such as the one inside the program.
func ReadFS(fsys fs.FS) (*Library, error) {
	lib := &Library{}
	if err := lib.readFS(fsys, ""); err != nil {
		return nil, fmt.Errorf("read library: %w", err)
	}
	return lib, nil
}

func (l *Library) readFS(fsys fs.FS, prefix string) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != "." && (strings.HasPrefix(base, ".") || base == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			l.Skipped = append(l.Skipped, path.Join(prefix, name)+": not a regular file")
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !mayBeDefinition(name) || info.Size() > maxFileBytes {
			l.Skipped = append(l.Skipped, path.Join(prefix, name)+": not a definition")
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		return l.add(path.Join(prefix, name), text, false)
	})
}

// mayBeDefinition reports whether the ending of a name is one of definitions or maps.
func mayBeDefinition(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".def", ".map", ".txt", "":
		return true
	}
	return false
}

// add takes a file in as what its name and content say. A file that was named by the user is taken whatever it looks like.
func (l *Library) add(name string, text []byte, named bool) error {
	if len(text) > maxFileBytes {
		return fmt.Errorf("%s has %d bytes, definitions have at most %d", name, len(text), maxFileBytes)
	}
	f := source.New(name, string(text))
	dialect, _ := defs.Detect(f)
	return l.take(f, dialect, named)
}

// take is add of a file that is read already, and whose dialect is known.
func (l *Library) take(f *source.File, dialect string, named bool) error {
	l.bytes += len(f.Text)
	if len(l.Files)+len(l.Maps) >= maxFiles || l.bytes > maxAllBytes {
		return fmt.Errorf("more than %d definitions or %d bytes", maxFiles, maxAllBytes)
	}
	name := f.Name
	if defs.IsCodeMap(name) {
		l.Maps = append(l.Maps, f)
		return nil
	}
	if strings.EqualFold(path.Ext(name), ".map") {
		l.Skipped = append(l.Skipped, name+": not a code map")
		return nil
	}
	if dialect == "" && !named && !strings.EqualFold(path.Ext(name), ".def") {
		l.Skipped = append(l.Skipped, name+": not a definition")
		return nil
	}
	l.Files = append(l.Files, f)
	if l.dialects == nil {
		l.dialects = map[*source.File]string{}
	}
	l.dialects[f] = dialect
	return nil
}

// Dialects are the languages of the files, sorted.
func (l *Library) Dialects() []string {
	var out []string
	for _, f := range l.Files {
		if d := l.dialects[f]; d != "" && !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	slices.Sort(out)
	return out
}

// Only returns the files of one dialect, and those that look like none.
func (l *Library) Only(dialect string) []*source.File {
	var out []*source.File
	for _, f := range l.Files {
		if d := l.dialects[f]; d == "" || d == dialect {
			out = append(out, f)
		}
	}
	return out
}
