package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of a folder, so that a wrong one is refused instead of filling the memory. Write enforces the first; List enforces the others, so
// callers that add many files count them before.
const (
	MaxFileBytes = 4 << 20
	MaxFiles     = 20000
	MaxAllBytes  = 256 << 20
)

// maxEntries bounds the files and directories of all kinds that a walk visits.
const maxEntries = 200_000

// Revision identifies a content: the first 16 hex digits of its SHA-256. "" stands for a missing file.
type Revision string

// RevisionOf returns the revision of a text. The revision of an empty text is not "".
func RevisionOf(text []byte) Revision {
	sum := sha256.Sum256(text)
	return Revision(hex.EncodeToString(sum[:8]))
}

// File is a file and its text.
type File struct {
	Name     string // slash path below the folder
	Text     []byte
	Revision Revision
}

// Dir is a folder of text files. It is safe for concurrent use; several programs may use one folder.
type Dir struct {
	path string // absolute; opened for each call, as the folder may be deleted and created anew
	log  *slog.Logger
	mu   sync.Mutex // held while files change

	record        // of changes
	alone    bool // no other program writes here
	later    bool // changes are synced by Sync
	troubles *troubles

	swept func(d *Dir, root *os.Root, temporary string) // called before a temporary file of a crash is removed; nil: nothing

	// Set by tests.
	before     func(step string) error // fails a step of a change; see the calls of step
	newWatcher func() (*watcher, error)
	maxFiles   int
	maxBytes   int           // of all files
	pollEvery  time.Duration // how often Watch polls for changes that cause no event
}

// Option is an option of Open.
type Option func(*Dir)

// WithLog sets the log for problems that no call returns, such as the reason why Watch polls.
func WithLog(log *slog.Logger) Option { return func(d *Dir) { d.log = log } }

// Alone declares that no other program writes to the folder, so that temporary files of any age are left over from a crash.
func Alone() Option { return func(d *Dir) { d.alone = true } }

// SyncLater leaves changes in the memory of the system until Sync is called: for a new folder that is of no use unless it is complete.
func SyncLater() Option { return func(d *Dir) { d.later = true } }

// BeforeSteps calls a function before each step of a change that reaches the disk, such as "write", "sync" or "rename": for tests that fail a
// step, or look at what a program that ends there leaves behind. An error fails the step.
func BeforeSteps(f func(step string) error) Option { return func(d *Dir) { d.before = f } }

// Sync syncs the files that List reads, and their directories.
func (d *Dir) Sync() error {
	root, err := d.root()
	if err != nil {
		return err
	}
	defer root.Close()
	sync := func(name string) error {
		f, err := root.Open(name)
		if err != nil {
			return failure("sync", name, err)
		}
		defer f.Close()
		return failure("sync", name, f.Sync())
	}
	dirs := sync
	if onWindows {
		dirs = nil
	}
	return d.walk(root, visitor{file: sync, dir: dirs})
}

// crashed is the age from which a temporary file counts as left over from a crash where other programs may be writing. Writing one takes
// seconds.
const crashed = 10 * time.Minute

// Open opens the folder, creates it if it does not exist, and removes temporary files left by a crash.
func Open(root string, options ...Option) (*Dir, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("open folder %s: %w", root, err)
	}
	d := &Dir{
		path: abs, log: slog.New(slog.DiscardHandler), troubles: &troubles{}, maxFiles: MaxFiles, maxBytes: MaxAllBytes,
		newWatcher: newWatcher, pollEvery: 2 * time.Second,
	}
	for _, option := range options {
		option(d)
	}
	if _, err := os.Stat(abs); err != nil {
		if err := os.MkdirAll(abs, 0o777); err != nil {
			return nil, failure("make folder", abs, err)
		}
		if parent, err := os.OpenRoot(filepath.Dir(abs)); err == nil {
			_ = syncDir(parent) // not ours: no error if not permitted
			parent.Close()
		}
	}
	if err := d.sweep(); err != nil {
		return nil, failure("open folder", abs, err)
	}
	return d, nil
}

// root opens the folder. Neither names nor symbolic links lead out of it.
func (d *Dir) root() (*os.Root, error) {
	root, err := os.OpenRoot(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		// Not fs.ErrNotExist, which callers take for a deleted file.
		return nil, &fileError{op: "open folder", name: d.Name(), reason: ErrGone.Error(), cause: ErrGone}
	}
	return root, d.unreadable("open folder", err)
}

// Name returns the last element of the path, for errors that people see who need not know where on the machine the folder is.
func (d *Dir) Name() string { return filepath.Base(d.path) }

// unreadable wraps an error about the whole folder, and logs it with the path, once for each reason.
func (d *Dir) unreadable(op string, err error) error {
	if err != nil {
		d.logOnce("a folder cannot be read", "folder", d.path, why(err))
	}
	return failure(op, d.Name(), err)
}

// sweep removes the temporary files left by a crash.
func (d *Dir) sweep() error {
	root, err := d.root()
	if err != nil {
		return err
	}
	defer root.Close()
	return d.walk(root, visitor{other: func(name string, e fs.DirEntry) {
		if !isTemporary(e.Name()) || !e.Type().IsRegular() {
			return
		}
		if info, err := e.Info(); err != nil || !d.alone && time.Since(info.ModTime()) < crashed {
			return
		}
		if d.swept != nil {
			d.swept(d, root, name)
		}
		if d.discard(root, name) == nil {
			d.log.Info("removed a temporary file left by a crash", "file", d.Path(name))
		}
	}})
}

// Path returns the path of a file of the folder, for display.
func (d *Dir) Path(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

// List reads the definitions, maps and samples, sorted by name. skipped lists other files, each as "name: reason", except hidden ones. It
// is an error if the folder exceeds the bounds.
func (d *Dir) List() (files []File, skipped []string, err error) {
	root, err := d.root()
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	all := 0
	skip := func(name, reason string) { skipped = append(skipped, shown(name)+": "+reason) }
	err = d.walk(root, visitor{skip: skip, file: func(name string) error {
		text, err := readFile(root, name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile
			return nil
		case err != nil:
			d.damaged(name, why(err))
			skip(name, why(err))
			return nil
		}
		d.whole(name)
		all += len(text)
		switch {
		case len(files) == d.maxFiles:
			return tooMany(d.maxFiles, "files")
		case all > d.maxBytes:
			return tooMany(d.maxBytes, "bytes")
		}
		files = append(files, File{name, text, RevisionOf(text)})
		return nil
	}})
	if err != nil {
		return nil, nil, d.unreadable("read folder", err)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(skipped)
	return files, skipped, nil
}

// Read reads a file with any ending. The error is fs.ErrNotExist if there is none.
func (d *Dir) Read(name string) (File, error) {
	if err := CheckName(name); err != nil {
		return File{}, err
	}
	p, err := d.place(name, false)
	if err != nil {
		return File{}, failure("read", name, err)
	}
	defer p.close()
	text, err := readFile(p.dir, p.base)
	if err != nil {
		return File{}, failure("read", name, err)
	}
	return File{name, text, RevisionOf(text)}, nil
}

// Stat describes a file. The error is fs.ErrNotExist if there is none.
func (d *Dir) Stat(name string) (fs.FileInfo, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	p, err := d.place(name, false)
	if err != nil {
		return nil, failure("stat", name, err)
	}
	defer p.close()
	x, err := p.dir.Lstat(p.base)
	return x, failure("stat", name, err)
}

// Names returns the names of the regular files in a folder below, without hidden ones. The error is fs.ErrNotExist if there is none.
func (d *Dir) Names(folder string) ([]string, error) {
	root, err := d.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), folder)
	var out []string
	for _, e := range entries {
		if e.Type().IsRegular() && !hidden(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out, failure("read folder", folder, err)
}

// visitor holds the callbacks of walk; each may be nil.
type visitor struct {
	dir   func(name string) error          // a directory, before it is read
	file  func(name string) error          // a regular file that List reads
	other func(name string, e fs.DirEntry) // a hidden file
	skip  func(name string, reason string) // any other entry
}

// walk visits the entries below the folder.
func (d *Dir) walk(root *os.Root, v visitor) error {
	skip := func(name, reason string) {
		if v.skip != nil {
			v.skip(name, reason)
		}
	}
	entries := 0
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if entries++; entries > maxEntries {
			return tooMany(maxEntries, "files and folders")
		}
		switch {
		case err != nil && name == ".":
			return err
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile
			return nil
		case err != nil:
			d.damaged(name, why(err))
			skip(name, why(err))
			return nil
		case name == ".":
			return v.enter(name)
		case hidden(e.Name()):
			if e.IsDir() {
				return fs.SkipDir
			}
			if v.other != nil {
				v.other(name, e)
			}
			return nil
		}
		if reason := nameReason(name); reason != "" {
			skip(name, reason)
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		switch {
		case e.IsDir():
			return v.enter(name)
		case !e.Type().IsRegular() && !linked(root, name, e):
			skip(name, notRegular)
		case !counts(name):
			skip(name, "not a definition")
		case v.file != nil:
			return v.file(name)
		}
		return nil
	})
}

// linked reports whether an entry is a symbolic link to a regular file of the folder.
func linked(root *os.Root, name string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := root.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func (v visitor) enter(name string) error {
	if v.dir == nil {
		return nil
	}
	return v.dir(name)
}

func tooMany(bound int, things string) error { return fmt.Errorf("more than %d %s", bound, things) }

const notRegular = "not a regular file"

// readFile reads a regular file of at most MaxFileBytes. Links are followed within the root only: other users may be able to write to the
// folder.
func readFile(root *os.Root, name string) ([]byte, error) { return readUpTo(root, name, MaxFileBytes) }

// readUpTo is readFile with another bound.
func readUpTo(root *os.Root, name string, most int64) ([]byte, error) {
	info, err := root.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if info, err = root.Stat(name); err != nil {
			return nil, &fs.PathError{Op: "read", Path: name, Err: errNotRegular}
		}
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errNotRegular}
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var text bytes.Buffer
	text.Grow(int(min(info.Size(), most)) + bytes.MinRead)
	if _, err := io.Copy(&text, io.LimitReader(f, most+1)); err != nil {
		return nil, err
	}
	if int64(text.Len()) > most {
		return nil, tooLarge(max(info.Size(), most+1))
	}
	return text.Bytes(), nil
}

// shown returns a name as it can appear in a line of text.
func shown(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}
