package store

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/text/unicode/norm"
)

const onWindows = runtime.GOOS == "windows"

// Temporary files are hidden and have an ending of their own, so that no other program takes them for a definition.
const (
	temporaryStart  = ".wirebench-"
	temporaryEnd    = ".tmp"
	temporaryDigits = 16
)

func isTemporary(base string) bool {
	middle, ok := strings.CutPrefix(base, temporaryStart)
	middle, end := strings.CutSuffix(middle, temporaryEnd)
	_, err := hex.DecodeString(middle)
	return ok && end && len(middle) == temporaryDigits && err == nil
}

// Write replaces a file, or creates it and its directories. expect is the revision that the caller has seen: nil accepts any state, a
// pointer to "" requires that there is no file; any other state is a *ConflictError. A new name that differs from an existing one only in
// case is a *NameError.
//
// A revision returned with an error means that the file has the new text, but may lose it if the power fails now.
func (d *Dir) Write(name string, text []byte, expect *Revision) (Revision, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	if len(text) > MaxFileBytes {
		return "", failure("write", name, tooLarge(int64(len(text))))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	rev, err := d.write(name, text, expect)
	return rev, failure("write", name, err)
}

func (d *Dir) write(name string, text []byte, expect *Revision) (rev Revision, err error) {
	p, err := d.place(name, true)
	if err != nil {
		return "", err
	}
	defer p.close()
	defer func() {
		if rev == "" {
			p.unmake()
		}
	}()
	info, err := p.expect(name, expect)
	if err != nil {
		return "", err
	}
	if info != nil {
		if err := d.setAside(p, name); err != nil {
			return "", err
		}
	}
	temp, err := d.temporary(p.dir, text, info)
	if err != nil {
		return "", err
	}
	// Check again as late as possible: other programs do not take our lock.
	_, err = p.expect(name, expect)
	if err == nil {
		err = d.step("rename")
	}
	if err == nil {
		err = d.commit(func() error { return p.dir.Rename(temp, p.base) }, Change{Kind: Stored, Name: name, Data: text})
	}
	if err != nil {
		_ = p.dir.Remove(temp)
		return "", err
	}
	d.whole(name)
	return RevisionOf(text), d.syncDir(p.dir)
}

// temporary writes a text to a new file in the directory and syncs it. was is the file that it will replace, nil if there is none.
func (d *Dir) temporary(dir *os.Root, text []byte, was fs.FileInfo) (_ string, err error) {
	var random [temporaryDigits / 2]byte
	_, _ = rand.Read(random[:]) // never fails
	name := temporaryStart + hex.EncodeToString(random[:]) + temporaryEnd
	mode := fs.FileMode(0o666)
	if was != nil {
		mode = was.Mode().Perm()
	}
	if err := d.step("create"); err != nil {
		return "", err
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			f.Close()
			_ = dir.Remove(name)
		}
	}()
	if err := d.step("write"); err != nil {
		return "", err
	}
	if _, err := f.Write(text); err != nil {
		return "", err
	}
	if was != nil {
		keepOwner(f, was)
		if err := d.step("mode"); err != nil {
			return "", err
		}
		if err := f.Chmod(mode); err != nil { // OpenFile has applied the umask
			return "", err
		}
	}
	if err := d.step("sync"); err != nil {
		return "", err
	}
	if !d.later {
		if err := f.Sync(); err != nil {
			return "", err
		}
	}
	if err := d.step("close"); err != nil {
		return "", err
	}
	return name, f.Close()
}

// Append adds a line to a file, or creates the file; a line break is added if line has none. A last line without a line break, left by a
// crash or an editor, is ended first. On failure the file is unchanged.
func (d *Dir) Append(name string, line []byte) error {
	if err := CheckName(name); err != nil {
		return err
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	if bytes.ContainsRune(line, '\n') {
		return fmt.Errorf("append to %s: more than one line", name)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return failure("append to", name, d.append(name, line))
}

func (d *Dir) append(name string, line []byte) (err error) {
	p, err := d.place(name, true)
	if err != nil {
		return err
	}
	defer p.close()
	defer func() {
		if err != nil {
			p.unmake()
		}
	}()
	info, err := p.expect(name, nil)
	if err != nil {
		return err
	}
	var size int64
	if info != nil {
		size = info.Size()
	}
	if after := size + int64(len(line)) + 2; after > MaxFileBytes {
		return tooLarge(after)
	}
	if err := d.step("create"); err != nil {
		return err
	}
	f, err := p.dir.OpenFile(p.base, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	err = d.appendTo(f, name, size, line)
	if err == nil && info == nil {
		err = d.syncDir(p.dir)
	}
	if err != nil {
		_ = f.Truncate(size)
		_ = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil && info == nil {
		_ = p.dir.Remove(p.base)
	}
	return err
}

func (d *Dir) appendTo(f *os.File, name string, size int64, line []byte) error {
	var text []byte
	if size > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			text = append(text, '\n')
		}
	}
	text = append(append(text, line...), '\n')
	return d.commit(func() error {
		if err := d.step("write"); err != nil {
			return err
		}
		if _, err := f.Write(text); err != nil {
			return err
		}
		if err := d.step("sync"); err != nil {
			return err
		}
		return f.Sync()
	}, Change{Kind: Spliced, Name: name, At: size, Data: text})
}

// Remove removes a file, or a symbolic link to one, and the directories that become empty. expect is as in Write; if there is no file, the error is fs.ErrNotExist,
// whatever revision is expected.
func (d *Dir) Remove(name string, expect *Revision) error {
	if err := CheckName(name); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return failure("remove", name, d.remove(name, expect))
}

func (d *Dir) remove(name string, expect *Revision) error {
	of, err := d.place(name, false) // what a link leads to
	if err != nil {
		return err
	}
	defer of.close()
	if _, err := of.dir.Lstat(of.base); err != nil {
		return err
	}
	if _, err := of.expect(name, expect); err != nil {
		return err
	}
	p, err := d.placeOf(name, false)
	if err != nil {
		return err
	}
	defer p.close()
	if err := d.step("remove"); err != nil {
		return err
	}
	if err := d.commit(func() error { return p.dir.Remove(p.base) }, Change{Kind: Removed, Name: name}); err != nil {
		return err
	}
	if err := d.syncDir(p.dir); err != nil {
		return err
	}
	p.leave() // Windows cannot remove an open directory
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if p.root.Remove(dir) != nil {
			break // not empty
		}
	}
	return nil
}

// Move gives a file another name, in one step: a file of that name goes. If there is no file, the error is fs.ErrNotExist.
func (d *Dir) Move(from, to string) error {
	if err := errors.Join(CheckName(from), CheckName(to)); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return failure("move", from, d.move(from, to))
}

func (d *Dir) move(from, to string) error {
	old, err := d.placeOf(from, false)
	if err != nil {
		return err
	}
	defer old.close()
	if _, err := old.dir.Lstat(old.base); err != nil {
		return err
	}
	now, err := d.placeOf(to, true)
	if err != nil {
		return err
	}
	defer now.close()
	if err := d.step("rename"); err != nil {
		return err
	}
	var changes []Change // not Moved: see Change.Apart
	if d.journal != nil {
		text, err := readFile(old.dir, old.base)
		if err != nil {
			return err
		}
		changes = []Change{{Kind: Stored, Name: to, Data: text}, {Kind: Removed, Name: from}}
	}
	if err := d.commit(func() error { return old.root.Rename(from, to) }, changes...); err != nil {
		return err
	}
	return errors.Join(d.syncDir(now.dir), d.syncDir(old.dir))
}

// step lets a test fail the next step of a change.
func (d *Dir) step(name string) error {
	if d.before == nil {
		return nil
	}
	return d.before(name)
}

// syncDir syncs the entries of a directory to disk.
func (d *Dir) syncDir(dir *os.Root) error {
	if err := d.step("sync directory"); err != nil || d.later {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir *os.Root) error {
	if onWindows {
		return nil // Windows has no such call
	}
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return SyncFile(f)
}

// SyncFile syncs a file or a directory, where the file system has such a call.
func SyncFile(f *os.File) error {
	if onWindows {
		return nil // not for directories, nor for files that are open for reading
	}
	err := f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil // some network file systems have none
	}
	return err
}

// place is the location of a file, existing or not. Its directory stays the same one even if it is renamed meanwhile.
type place struct {
	root, dir *os.Root
	base      string
	made      []string // directories, outermost first
}

var errNotRegular = errors.New(notRegular)

// maxLinks bounds the links from one to the next.
const maxLinks = 8

// place is placeOf for the file that a symbolic link leads to, if that is in the folder: a change goes to this file, and the link stays.
func (d *Dir) place(name string, make bool) (*place, error) {
	p, err := d.placeOf(name, make)
	for range maxLinks {
		if err != nil {
			return nil, err
		}
		target, ok := p.link(name)
		if !ok {
			break
		}
		p.close()
		name = target
		p, err = d.placeOf(name, false)
	}
	return p, err
}

// link returns the name that a symbolic link leads to, ok is false if the place has none, or one that leads out of the folder.
func (p *place) link(name string) (target string, ok bool) {
	info, err := p.dir.Lstat(p.base)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", false
	}
	to, err := p.dir.Readlink(p.base)
	if err != nil || filepath.IsAbs(to) {
		return "", false
	}
	target = path.Join(path.Dir(name), filepath.ToSlash(to))
	return target, CheckName(target) == nil
}

// placeOf opens the directory of a file. With make it creates missing directories, and refuses a new name that differs from an existing one
// only in case: on other systems the two would be one file.
func (d *Dir) placeOf(name string, make bool) (_ *place, err error) {
	root, err := d.root()
	if err != nil {
		return nil, err
	}
	p := &place{root: root, dir: root, base: path.Base(name)}
	defer func() {
		if err != nil {
			p.unmake()
			p.close()
		}
	}()
	elements := strings.Split(name, "/")
	for i, element := range elements {
		if make {
			if err := p.distinct(name, element, path.Join(elements[:i]...)); err != nil {
				return nil, err
			}
		}
		if i == len(elements)-1 {
			break
		}
		dir := path.Join(elements[:i+1]...)
		info, err := p.dir.Lstat(element)
		switch {
		case err == nil && !info.IsDir():
			return nil, &NameError{name, shown(dir) + " is not a folder"}
		case errors.Is(err, fs.ErrNotExist) && make:
			if err := d.step("make"); err != nil {
				return nil, err
			}
			if err := p.dir.Mkdir(element, 0o777); err != nil {
				return nil, err
			}
			p.made = append(p.made, dir)
			if err := d.syncDir(p.dir); err != nil {
				return nil, err
			}
		case err != nil:
			return nil, err
		}
		next, err := p.dir.OpenRoot(element)
		if err != nil {
			return nil, err
		}
		p.leave()
		p.dir = next
	}
	return p, nil
}

// distinct refuses an element that does not exist in the directory and differs only in case from one that does.
func (p *place) distinct(name, element, dir string) error {
	f, err := p.dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	there, err := f.Readdirnames(-1)
	if err != nil || slices.Contains(there, element) {
		return err
	}
	for _, other := range there {
		if strings.EqualFold(other, element) {
			return &NameError{name, fmt.Sprintf("%q exists and differs only in case", path.Join(dir, other))}
		}
		if strings.EqualFold(norm.NFC.String(other), norm.NFC.String(element)) { // some systems take them for one file
			return &NameError{name, fmt.Sprintf("%q exists and looks the same, with its accents encoded differently", path.Join(dir, other))}
		}
	}
	return nil
}

// expect returns the info of the file, nil if there is none. It is an error if the file does not have the revision or may not be changed.
func (p *place) expect(name string, revision *Revision) (fs.FileInfo, error) {
	info, err := p.dir.Lstat(p.base)
	if errors.Is(err, fs.ErrNotExist) {
		if revision != nil && *revision != "" {
			return nil, &ConflictError{Name: name}
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, &NameError{name, "this is a folder"}
	case !info.Mode().IsRegular():
		return nil, &NameError{name, notRegular}
	}
	if revision != nil {
		text, err := readFile(p.dir, p.base)
		if err != nil {
			return nil, err
		}
		if have := RevisionOf(text); have != *revision {
			return nil, &ConflictError{name, have, text}
		}
	}
	if info.Mode().Perm()&0o222 == 0 {
		// The system would allow it: only the directory has to be writable.
		return nil, &fileError{reason: "the file is read-only", kind: ErrReadOnly, cause: fs.ErrPermission}
	}
	return info, nil
}

// unmake removes the directories that were created for a file that could not be written.
func (p *place) unmake() {
	p.leave()
	for _, dir := range slices.Backward(p.made) {
		_ = p.root.Remove(dir)
	}
	p.made = nil
}

// leave closes the directory of the file, but not the folder.
func (p *place) leave() {
	if p.dir != p.root {
		p.dir.Close()
		p.dir = p.root
	}
}

func (p *place) close() {
	p.leave()
	p.root.Close()
}
