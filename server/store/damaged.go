package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// ErrDamaged reports a file whose text is not what this program writes, or in whose place there is something else. It has been logged.
var ErrDamaged = errors.New("the file is damaged")

// Unusable reports whether an error of Load says that there is nothing to read: the file is missing or damaged.
func Unusable(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) }

// troubles are what is known of the damaged and unreadable files of a folder, or of all folders of a server.
type troubles struct {
	logged  sync.Map // folders: path and reason → struct{}
	damaged sync.Map // files: path → struct{}
}

// Load reads a file that only this program writes, and decodes it. If decode refuses its text, or the file has none, or is a folder or
// a pipe, the error is ErrDamaged: the log names the file, once, and Write keeps its text aside before it replaces it.
// The file has its text also then, if it could be read.
func (d *Dir) Load(name string, decode func(text []byte) error) (File, error) {
	f, err := d.Read(name)
	switch {
	case err == nil && len(f.Text) == 0:
		err = errors.New("it is empty")
	case err == nil:
		if err = decode(f.Text); err == nil {
			d.whole(name)
			return f, nil
		}
	case errors.Is(err, fs.ErrNotExist):
		return f, err
	}
	d.damaged(name, why(err))
	if f.Text == nil && !errors.Is(err, errNotRegular) && !errors.Is(err, ErrTooLarge) {
		return f, err // perhaps it can be read later
	}
	return f, fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
}

// JSON decodes the JSON of a file into v. A null is an error: every type would take it.
func JSON(v any) func(text []byte) error {
	return func(text []byte) error {
		if string(bytes.TrimSpace(text)) == "null" {
			return errors.New("null")
		}
		return json.Unmarshal(text, v)
	}
}

// Lines decodes the lines of a file. Those that decode refuses are left out, and are an error at the end.
func Lines(decode func(line []byte) error) func(text []byte) error {
	return func(text []byte) error {
		n, bad, first := 0, 0, error(nil)
		for line := range bytes.Lines(text) {
			n++
			if err := decode(line); err != nil {
				if bad++; bad == 1 {
					first = fmt.Errorf("line %d: %w", n, err)
				}
			}
		}
		if bad > 1 {
			return fmt.Errorf("%d lines are left out, the first is %w", bad, first)
		}
		return first
	}
}

// damaged logs a file that is damaged or unreadable, once until whole is called. Its text is kept aside before it is replaced.
func (d *Dir) damaged(name, reason string) {
	if _, known := d.troubles.damaged.LoadOrStore(d.Path(name), struct{}{}); !known {
		d.log.Error("damaged file: what cannot be read of it is left out, and it is kept aside before it is written", "file", d.Path(name), "error", reason)
	}
}

// whole says that a file is not damaged any more.
func (d *Dir) whole(name string) { d.troubles.damaged.Delete(d.Path(name)) }

func (d *Dir) logOnce(message, kind, path, reason string) {
	if _, known := d.troubles.logged.LoadOrStore(path+"\x00"+reason, struct{}{}); !known {
		d.log.Error(message, kind, path, "error", reason)
	}
}

// setAside keeps the text of a damaged file beside it, before the file is replaced. The caller holds the lock.
func (d *Dir) setAside(p *place, name string) error {
	if _, damaged := d.troubles.damaged.Load(d.Path(name)); !damaged {
		return nil
	}
	text, err := readUpTo(p.dir, p.base, maxAside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	kept := name + DamagedEnding + string(RevisionOf(text))
	if err == nil {
		_, err = d.write(kept, text, nil)
	}
	if err != nil {
		return fmt.Errorf("set aside a damaged file: %w", failure("write", kept, err))
	}
	d.log.Error("damaged file set aside", "file", d.Path(name), "as", d.Path(kept))
	return nil
}

// maxAside bounds what is kept aside of a file. A larger one is not written.
const maxAside = 64 << 20

// DamagedEnding begins the suffix for the name of a file that keeps a damaged text.
const DamagedEnding = ".damaged-"

// Below returns the names of the files in a folder and its folders, sorted, and of folders whose names have an ending. Hidden ones are left out.
func (d *Dir) Below(folder string) (out []string, err error) {
	root, err := d.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), folder, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case len(out) >= maxEntries:
			return tooMany(maxEntries, "files")
		case hidden(e.Name()) && e.IsDir():
			return fs.SkipDir
		case !hidden(e.Name()) && (!e.IsDir() || strings.Contains(e.Name(), ".")): // a folder with an ending may be in the place of a file
			out = append(out, name)
		}
		return nil
	})
	return out, failure("read folder", folder, err)
}

// Sweep removes files in a folder below that a crash has left. While a damaged list of them is kept aside, they stay: they may be of that list.
func (d *Dir) Sweep(folder, list string, stray func(name string) bool) {
	beside, err := d.Names(".")
	if err != nil || slices.ContainsFunc(beside, func(name string) bool { return strings.HasPrefix(name, list+DamagedEnding) }) {
		return
	}
	names, err := d.Names(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.log.Error("a folder of the project cannot be read", "folder", d.Path(folder), "error", err)
	}
	for _, name := range names {
		if stray(name) && d.Remove(folder+"/"+name, nil) == nil {
			d.log.Info("removed a file left by a crash", "file", d.Path(folder+"/"+name))
		}
	}
}
