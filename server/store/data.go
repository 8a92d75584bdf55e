package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"wirebench/server/objects"
)

// Names of the files that belong to the data folder as a whole.
const (
	lockFile   = "wirebench.lock" // locked while a server runs; names the process
	tryFile    = "wirebench.try"  // exists while Writable tries the folder
	formatFile = "format.json"
	SetAside   = "set-aside" // a folder of copies made before upgrades
)

// Data is the data folder of a server. It holds a lock on the folder until Close, so that a second server cannot remove files that this one
// is writing; the system releases the lock of a killed process.
type Data struct {
	path string // absolute
	log  *slog.Logger
	lock *os.File // nil where the file system has no locks
	held bool     // the lock is that of another Data
	record

	quota    *Quota // of captures
	place    *Place // of captures; nil: they stay in the folder
	troubles troubles
}

// Limit bounds the captures of folders that are opened from now on.
func (d *Data) Limit(q *Quota) { d.quota = q }

// KeepIn makes the captures of folders that are opened from now on go to a place.
func (d *Data) KeepIn(p *Place) { d.place = p }

// KeptIn returns the place of captures, nil if there is none.
func (d *Data) KeptIn() *Place { return d.place }

// InUseError reports that another server has locked the data folder.
type InUseError struct {
	Folder string
	Holder Holder // zero if the lock file does not say
}

// Holder is the server that has locked a data folder.
type Holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

func (e *InUseError) Error() string {
	if e.Holder.PID == 0 {
		return fmt.Sprintf("data folder %s is in use by another server", e.Folder)
	}
	return fmt.Sprintf("data folder %s is in use by another server: process %d on host %s, since %s",
		e.Folder, e.Holder.PID, e.Holder.Host, e.Holder.Since.Format(time.RFC3339))
}

// NewerError reports that a data folder was written by a newer version of the program.
type NewerError struct {
	Folder     string
	Have, Know int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("data folder %s has format %d, and this version of Wirebench knows formats up to %d: start the newer version that wrote it, or use another folder",
		e.Folder, e.Have, e.Know)
}

// OpenData opens the folder, creates it if it does not exist, locks it and upgrades it to Format. The error is an *InUseError or a
// *NewerError where one of these is the reason.
func OpenData(root string, log *slog.Logger) (*Data, error) {
	return openData(root, log, upgrades)
}

func openData(root string, log *slog.Logger, steps []upgrade) (*Data, error) {
	d, err := Claim(root, log)
	if err != nil {
		return nil, err
	}
	if _, err = os.Lstat(d.Path(MarkFile)); err == nil { // a change here would be in this copy alone
		err = fmt.Errorf("data folder %s is that of a node of a cluster: serve it with --cluster, or take the data of the cluster into a folder of its own with \"wirebench migrate\"", d.path)
	} else {
		err = d.upgrade(steps)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Claim locks a folder, and creates it if it does not exist, without a look at what is in it. The error is an *InUseError where this is the reason.
func Claim(root string, log *slog.Logger) (*Data, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("open data folder %s: %w", root, err)
	}
	if err := os.MkdirAll(abs, 0o777); err != nil {
		return nil, failure("make folder", abs, err)
	}
	d := &Data{path: abs, log: log}
	return d, d.acquire()
}

// Begin opens a claimed folder whose changes are kept in a journal. A folder of another format is an error: nothing is upgraded. What the journal does not
// know, such as the upgrades and definitions in folders elsewhere, is not for such folders.
func (d *Data) Begin(j Journal) (*Data, error) {
	of := &Data{path: d.path, log: d.log, lock: d.lock, held: true, record: record{journal: j}, quota: d.quota}
	have, _, err := of.readFormat()
	switch {
	case err != nil:
		return nil, err
	case have.Format > Format:
		return nil, &NewerError{d.path, have.Format, Format}
	case have.Format == Format:
		return of, nil
	}
	fresh, err := of.isNew()
	if err == nil && !fresh {
		err = fmt.Errorf("data folder %s has format %d, and this version of Wirebench writes format %d", d.path, have.Format, Format)
	}
	if err == nil {
		err = of.writeFormat(format{Format: Format}, nil)
	}
	return of, err
}

// Commit makes a change of files that the package does not know, once it is kept.
func (d *Data) Commit(do func() error, changes ...Change) error { return d.commit(do, changes...) }

// Journaled reports whether the changes of the folder are kept elsewhere, too.
func (d *Data) Journaled() bool { return d.journal != nil }

// Rename gives a folder of the data folder another name, which none has.
func (d *Data) Rename(from, to string) error {
	return d.commit(func() error { return os.Rename(d.Path(from), d.Path(to)) }, Change{Kind: Moved, Name: from, To: to})
}

// RemoveAll removes a folder of the data folder with all that is in it.
func (d *Data) RemoveAll(name string) error {
	return d.commit(func() error { return os.RemoveAll(d.Path(name)) }, Change{Kind: Removed, Name: name})
}

// Place gives a folder that was made in the data folder, without the journal, its name. Crashes leave all of it or nothing under the name.
func (d *Data) Place(made, name string) error {
	if d.journal != nil {
		root, err := os.OpenRoot(d.path)
		if err != nil {
			return err
		}
		defer root.Close()
		if err := d.commit(func() error { return nil }, Change{Kind: Begun, Name: made}); err != nil {
			return err
		}
		err = fs.WalkDir(root.FS(), made, func(at string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			return d.keep(root, at, at)
		})
		if err != nil {
			return err
		}
	}
	return d.Rename(made, name)
}

// Path joins a path below the folder.
func (d *Data) Path(elements ...string) string {
	return filepath.Join(append([]string{d.path}, elements...)...)
}

// Writable returns an error if no file can be written in the folder. It tries it with a small file, which it removes.
func (d *Data) Writable() error {
	name := d.Path(tryFile)
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, 4096))
	return errors.Join(err, file.Close(), os.Remove(name))
}

// Locked reports whether no other server can use the folder.
func (d *Data) Locked() bool { return d.lock != nil }

// Dir opens a folder of text files in the data folder. Temporary files in it are left over from a crash, whatever their age: no other
// program writes there.
func (d *Data) Dir(elements ...string) (*Dir, error) {
	return Open(d.Path(elements...), d.options(elements)...)
}

// Captures opens a folder of captures in the data folder.
func (d *Data) Captures(elements ...string) (*Captures, error) {
	c, err := OpenCaptures(d.Path(elements...), d.options(elements)...)
	if err != nil {
		return nil, err
	}
	c.In(d.place)
	if _, n := c.Stored(); n > 0 && d.place == nil {
		d.log.Warn("captures cannot be read, as their bytes are in a place of captures: give --captures", "folder", c.dir.path, "captures", n)
	}
	if d.quota != nil {
		d.quota.join(c)
	}
	return c, nil
}

func (d *Data) options(elements []string) []Option {
	options := []Option{WithLog(d.log), journaled(d.journal, elements), func(of *Dir) { of.troubles = &d.troubles }}
	if d.lock != nil {
		options = append(options, Alone())
	}
	return options
}

// Close releases the lock.
func (d *Data) Close() error {
	if d.lock == nil || d.held {
		return nil
	}
	_ = d.lock.Truncate(0)
	return d.lock.Close()
}

// acquire locks the folder. Where it cannot be locked, because it is read-only or the file system has no locks, acquire logs a warning and
// succeeds.
func (d *Data) acquire() error {
	name := d.Path(lockFile)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		if f, err = os.Open(name); err != nil { // owned by another user, or on a read-only disk
			d.log.Warn("the data folder is not locked: no other server must use it", "folder", d.path, "error", why(err))
			return nil
		}
	}
	switch err := objects.Lock(f); {
	case errors.Is(err, objects.ErrLocked):
		e := &InUseError{Folder: d.path}
		if text, err := ReadRegular(name); err == nil {
			_ = json.Unmarshal(text, &e.Holder) // the other server may be writing it
		}
		f.Close()
		return e
	case err != nil:
		d.log.Warn("the data folder is not locked: no other server must use it", "folder", d.path, "error", err)
		return f.Close()
	}
	d.lock = f
	host, _ := os.Hostname()
	text, err := json.Marshal(Holder{os.Getpid(), host, time.Now().UTC().Truncate(time.Second)})
	if err == nil {
		if err = f.Truncate(0); err == nil {
			_, err = f.WriteAt(append(text, '\n'), 0)
		}
	}
	if err != nil {
		d.log.Warn("cannot write the process into the lock file of the data folder", "folder", d.path, "error", err)
	}
	return nil
}

// isNew reports whether nothing has been stored in the folder yet.
func (d *Data) isNew() (bool, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return false, failure("read folder", d.path, err)
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "lost+found" { // the root of a file system has this
			return false, nil
		}
	}
	_, err = os.Lstat(d.Path(formatFile))
	return errors.Is(err, fs.ErrNotExist), nil
}
