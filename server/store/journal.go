package store

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Journal keeps the changes of a data folder elsewhere, each before it is made in the folder: [Data.Begin].
type Journal interface {
	// Keep returns when the changes are kept, all of them or none, behind those of earlier calls, and does not use their memory any more. Without an
	// error, made must be called once they are made in the folder, or with the reason why not: the folder lacks them from then on.
	Keep(changes ...Change) (made func(error), err error)
}

// Change is a change of a data folder. Whoever makes all changes of a folder in their order, from any of them on, gets the folder as it is now, also if it
// has some of them already, unless one of these is [Change.Apart].
type Change struct {
	Kind   ChangeKind
	Name   string // of a file or folder: a slash path below the data folder
	To     string // of Moved
	At     int64  // of Spliced: bytes of the file that stay
	Data   []byte
	Secret bool // only the user of the server may read the file
}

// ChangeKind is a kind of Change.
type ChangeKind uint8

// Kinds of changes. Folders exist while there is something in them.
const (
	Stored  ChangeKind = iota + 1 // a file has Data
	Spliced                       // a file has Data behind its first At bytes, and nothing else
	Removed                       // a file, or a folder with all that is in it, is gone
	Moved                         // a file or folder is at To, in the place of what was there; if there is none, nothing changes
	Begun                         // a hidden folder is there, which is filled and then moved
)

// A change that is made again may have what it needs no more, because a later change has moved or removed it: bytes that stay, a hidden folder. Then it is
// left out, and so is the move of what it would have made; that the folder has already.

// Apart reports whether a folder that has later changes, too, would become another one by making the change again: something else may have the name of
// what was moved. A hidden name is that of one file or folder alone.
func (c *Change) Apart() bool { return c.Kind == Moved && !strings.HasPrefix(path.Base(c.Name), ".") }

// Check returns an error for what no folder has.
func (c *Change) Check() error {
	if c.Kind < Stored || c.Kind > Begun || !fs.ValidPath(c.Name) || c.Name == "." || OwnFile(c.Name) {
		return fmt.Errorf("a change of kind %d of %s", c.Kind, shown(c.Name))
	}
	if c.Kind == Moved && (!fs.ValidPath(c.To) || c.To == "." || OwnFile(c.To)) {
		return fmt.Errorf("a file that is moved to %s", shown(c.To))
	}
	return nil
}

// MarkFile is the file in which a node of a cluster remembers what its copy of the data folder has.
const MarkFile = "cluster.json"

// OwnFile reports whether a name in the data folder is that of a file or folder of the program that runs, and not of the data.
func OwnFile(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return first == lockFile || first == tryFile || first == MarkFile || first == MarkFile+".new" || first == StageFolder || first == PlaceFolder || strings.HasPrefix(first, spillStart)
}

// spillStart begins the names of the files of live.Disk.
const spillStart = ".frames-"

// pieceBytes is how many bytes of a large file one change has; a variable for tests.
var pieceBytes = 512 << 10

// Make makes the change in a folder. It is not synced.
func (c *Change) Make(root *os.Root) error {
	name := filepath.FromSlash(c.Name)
	switch c.Kind {
	case Begun:
		if err := root.RemoveAll(name); err != nil {
			return err
		}
		return root.Mkdir(name, 0o777)
	case Stored, Spliced:
		if first, _, below := strings.Cut(c.Name, "/"); below && hidden(first) {
			if _, err := root.Lstat(first); err != nil {
				return nil
			}
		}
		if c.Kind == Spliced && c.At > 0 {
			if info, err := root.Lstat(name); err != nil || info.Size() < c.At {
				return nil
			}
		}
		if err := parents(root, c.Name); err != nil {
			return err
		}
		mode := os.FileMode(0o666)
		if c.Secret {
			mode = 0o600
		}
		if c.Kind == Stored {
			temp := filepath.FromSlash(path.Join(path.Dir(c.Name), temporaryStart+strings.Repeat("0", temporaryDigits)+temporaryEnd))
			_ = root.Remove(temp) // of a crash, which others may be able to read
			if err := root.WriteFile(temp, c.Data, mode); err != nil {
				return err
			}
			return root.Rename(temp, name)
		}
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE, mode)
		if err != nil {
			return err
		}
		err = f.Truncate(c.At)
		if err == nil {
			_, err = f.WriteAt(c.Data, c.At)
		}
		if closed := f.Close(); err == nil {
			err = closed
		}
		return err
	case Removed:
		if err := root.RemoveAll(name); err != nil {
			return err
		}
		for dir := path.Dir(c.Name); strings.Count(dir, "/") > 1; dir = path.Dir(dir) { // as Dir.Remove; the folders of a project stay
			if root.Remove(filepath.FromSlash(dir)) != nil {
				break
			}
		}
		return nil
	case Moved:
		if _, err := root.Lstat(name); err != nil {
			return nil
		}
		to := filepath.FromSlash(c.To)
		if err := parents(root, c.To); err != nil {
			return err
		}
		if err := root.RemoveAll(to); err != nil {
			return err
		}
		return root.Rename(name, to)
	}
	return nil
}

// parents makes the folders of a file. A file in the place of one is of a later change, and goes.
func parents(root *os.Root, name string) error {
	dir := path.Dir(name)
	if dir == "." {
		return nil
	}
	if root.MkdirAll(filepath.FromSlash(dir), 0o777) == nil {
		return nil
	}
	for at := dir; at != "."; at = path.Dir(at) {
		if info, err := root.Lstat(filepath.FromSlash(at)); err == nil && !info.IsDir() {
			if err := root.Remove(filepath.FromSlash(at)); err != nil {
				return err
			}
		}
	}
	return root.MkdirAll(filepath.FromSlash(dir), 0o777)
}

// record is where the changes of a folder are kept, and what the folder is called there.
type record struct {
	journal Journal // nil: nowhere
	below   string  // of the data folder; "" is that itself
}

// commit makes a change, once it is kept.
func (r record) commit(do func() error, changes ...Change) error {
	if r.journal == nil {
		return do()
	}
	for i := range changes {
		changes[i].Name = path.Join(r.below, changes[i].Name)
		if changes[i].Kind == Moved {
			changes[i].To = path.Join(r.below, changes[i].To)
		}
	}
	made, err := r.journal.Keep(changes...)
	if err != nil {
		return err
	}
	err = do()
	made(err)
	return err
}

// keep keeps the present bytes of a file, in pieces, for a change that will make them visible under another name.
func (r record) keep(root *os.Root, name, as string) error {
	if r.journal == nil {
		return nil
	}
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	piece := make([]byte, pieceBytes)
	for at := int64(0); ; {
		n, err := io.ReadFull(f, piece)
		if n == 0 && at > 0 {
			return nil
		}
		if n > 0 || err == io.EOF {
			if err := r.commit(func() error { return nil }, Change{Kind: Spliced, Name: as, At: at, Data: piece[:n]}); err != nil {
				return err
			}
		}
		at += int64(n)
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return nil
		default:
			return err
		}
	}
}

// discard removes a file that is of no use.
func (r record) discard(root *os.Root, name string) error {
	if _, err := root.Lstat(name); err != nil {
		return err
	}
	return r.commit(func() error { return root.Remove(name) }, Change{Kind: Removed, Name: name})
}

// journaled is the option of folders in a data folder.
func journaled(j Journal, elements []string) Option {
	return func(d *Dir) { d.record = record{j, path.Join(elements...)} }
}
