// Package workspace holds a set of definitions with its protocol and settings, for decoding and encoding.
//
// A Library is a set of files. A Snapshot is their meaning under given settings; it is immutable, so readers never lock, and an edit makes
// a new one.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"wirebench/defs"
	"wirebench/defs/source"
	"wirebench/server/store"
)

// Bounds of a library, so that a wrong directory is refused instead of filling the memory.
const (
	maxFileBytes = 4 << 20
	maxFiles     = 20000
	maxAllBytes  = 256 << 20
)

// Library is a set of definition files.
type Library struct {
	Files     []*source.File    // definitions, named by their path below the library
	Maps      []*source.File    // code maps
	Envelopes []*source.File    // texts that say how messages travel
	Valid     []*source.File    // files with the versions of the game that definitions are valid for
	Skipped   []string          // other files, with the reason
	Outdated  string            // why the folder could not be read since: the files are those of before; "" if it could
	samples   map[string]string // texts of sample files by name

	dialects map[*source.File]string // results of defs.Detect for Files; "" if it found none
	bytes    int
}

// All returns the definitions and the files about them.
func (l *Library) All() []*source.File { return slices.Concat(l.Files, l.Maps, l.Envelopes, l.Valid) }

// Texts returns all files of the library with their texts as stored: definitions, the files about them, and samples.
func (l *Library) Texts() iter.Seq2[string, string] {
	return func(yield func(name, text string) bool) {
		for _, f := range l.All() {
			if !yield(f.Name, f.Text) {
				return
			}
		}
		for _, name := range slices.Sorted(maps.Keys(l.samples)) {
			if !yield(name, l.samples[name]) {
				return
			}
		}
	}
}

// Read reads definitions from files and directories, including subdirectories. Skipped lists files of other kinds.
func Read(paths ...string) (*Library, error) { return read(paths, len(paths) > 1) }

// ReadNamed is like Read, but names files by their path as given, for use in messages.
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

// ReadFS reads definitions from a file system, such as the embedded one.
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
		samples := strings.HasSuffix(name, samplesEnding)
		if !mayBeDefinition(name) && !samples || info.Size() > maxFileBytes {
			l.Skipped = append(l.Skipped, path.Join(prefix, name)+": not a definition")
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if samples {
			return l.addSamples(path.Join(prefix, name), text)
		}
		return l.add(path.Join(prefix, name), text, false)
	})
}

// mayBeDefinition reports whether a name has the ending of a definition or map, or is that of another file of a library.
func mayBeDefinition(name string) bool {
	if defs.IsValidity(name) {
		return true
	}
	return defs.MayDefine(name) || IsEnvelope(name) || strings.EqualFold(path.Ext(name), ".map")
}

// addSamples adds the samples of a definition.
func (l *Library) addSamples(name string, text []byte) error {
	if l.bytes += len(text); l.bytes > maxAllBytes || len(l.samples) >= maxFiles {
		return fmt.Errorf("more than %d files of samples or %d bytes", maxFiles, maxAllBytes)
	}
	if l.samples == nil {
		l.samples = map[string]string{}
	}
	l.samples[name] = string(text)
	return nil
}

// IsLibraryFile reports whether a file with a name can be part of a library: a definition, a code map, samples.
func IsLibraryFile(name string) bool {
	return store.CheckName(name) == nil && (mayBeDefinition(name) && path.Ext(name) != "" || strings.HasSuffix(name, samplesEnding))
}

// add adds a file according to its name and content. A file named by the user is added whatever its content.
func (l *Library) add(name string, text []byte, named bool) error {
	if len(text) > maxFileBytes {
		return fmt.Errorf("%s has %d bytes, definitions have at most %d", name, len(text), maxFileBytes)
	}
	if defs.IsBundle(name, text) {
		return l.addBundle(name, text)
	}
	f := source.New(name, string(text))
	dialect, _ := defs.Detect(f)
	return l.take(f, dialect, named)
}

// addBundle adds the files of a bundle of definitions.
func (l *Library) addBundle(name string, data []byte) error {
	b, err := defs.ReadBundle(name, data, maxFiles)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, x := range b.Left {
		l.Skipped = append(l.Skipped, name+defs.InBundle+x.Name+": "+x.Reason)
	}
	for _, f := range b.Files {
		f.Name = name + defs.InBundle + f.Name
		dialect, _ := defs.Detect(f)
		if err := l.take(f, dialect, true); err != nil {
			return err
		}
	}
	return nil
}

// addEdited is add for a file of a project. One that was a definition of its protocol remains one, whatever the mistakes in it.
func (l *Library) addEdited(name string, text []byte, protocol string, was bool) error {
	f := source.New(name, string(text))
	dialect, ok := defs.Detect(f)
	if !ok && was {
		dialect = protocol
	}
	return l.take(f, dialect, false)
}

// take is add for a parsed file with a known dialect.
func (l *Library) take(f *source.File, dialect string, named bool) error {
	l.bytes += len(f.Text)
	if len(l.Files)+len(l.Maps)+len(l.Envelopes)+len(l.Valid) >= maxFiles || l.bytes > maxAllBytes {
		return fmt.Errorf("more than %d definitions or %d bytes", maxFiles, maxAllBytes)
	}
	name := f.Name
	if defs.IsCodeMap(name) {
		l.Maps = append(l.Maps, f)
		return nil
	}
	if IsEnvelope(name) {
		l.Envelopes = append(l.Envelopes, f)
		return nil
	}
	if defs.IsValidity(name) {
		l.Valid = append(l.Valid, f)
		return nil
	}
	if strings.EqualFold(path.Ext(name), ".map") {
		l.Skipped = append(l.Skipped, name+": not a code map")
		return nil
	}
	if defs.IsBundle(name, []byte(f.Text)) {
		l.Skipped = append(l.Skipped, name+": a bundle of definitions; upload it, or take it apart with wirebench unpack")
		return nil
	}
	if dialect == "" && !named && !defs.IsDefinition(name) {
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

// IsEnvelope reports whether a file of this name says how messages travel.
func IsEnvelope(name string) bool { return strings.EqualFold(path.Ext(name), store.EnvelopeEnding) }

// EnvelopeName is the name of a new file that says how messages travel.
const EnvelopeName = "protocol" + store.EnvelopeEnding

// Dialects returns the dialects of the files, sorted.
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

// Only returns the files of one dialect, and those of unknown dialect.
func (l *Library) Only(dialect string) []*source.File {
	var out []*source.File
	for _, f := range l.Files {
		if d := l.dialects[f]; d == "" || d == dialect {
			out = append(out, f)
		}
	}
	return out
}

// LibraryOf returns a library of files that are not on a disk.
func LibraryOf(files []NewFile) (*Library, error) {
	lib := &Library{}
	for _, f := range files {
		if err := lib.add(f.Name, f.Text, true); err != nil {
			return nil, err
		}
	}
	return lib, nil
}

// ErrNoDefinitions is the error of ProtocolOf for files without definitions.
var ErrNoDefinitions = errors.New("no definitions of a known protocol among the files: name the protocol")

// ProtocolOf returns the protocol of the definitions among new files. The error lists the protocols if there are several.
func ProtocolOf(files []NewFile) (string, error) {
	lib := &Library{}
	for _, f := range files {
		if strings.HasSuffix(f.Name, samplesEnding) || defs.IsCodeMap(f.Name) {
			continue
		}
		if err := lib.add(f.Name, f.Text, false); err != nil {
			return "", err
		}
	}
	switch found := lib.Dialects(); len(found) {
	case 0:
		return "", ErrNoDefinitions
	case 1:
		return found[0], nil
	default:
		return "", fmt.Errorf("the files have definitions of several protocols (%s): name one", strings.Join(found, ", "))
	}
}
