package objects

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Files of a folder that are no objects: a name that begins with a dot, in any part, is none.
const (
	folderLock  = ".lock"
	folderStage = ".stage"
)

// Folder is a Store in a folder, which one process has at a time.
type Folder struct {
	path string
	root *os.Root
	lock *os.File   // nil where the file system has no locks
	mu   sync.Mutex // held by Write
	tree sync.Mutex // held while folders are made and removed
}

var _ Store = (*Folder)(nil)

// OpenFolder opens a folder, and makes it if it does not exist. The error is ErrInUse if another process has it.
func OpenFolder(dir string) (_ *Folder, err error) {
	dir, err = filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{path: dir, root: root}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", dir, err)
			_ = f.Close()
		}
	}()
	if f.lock, err = root.OpenFile(folderLock, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return nil, err
	}
	if err := Lock(f.lock); errors.Is(err, ErrLocked) {
		return nil, ErrInUse
	} // else the file system has no locks
	if err := root.RemoveAll(folderStage); err != nil {
		return nil, err
	}
	return f, root.Mkdir(folderStage, 0o777)
}

// Close implements Store.
func (f *Folder) Close() error {
	err := f.root.Close()
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
}

// Alone implements Store.
func (f *Folder) Alone() bool { return true }

func (f *Folder) String() string { return f.path }

// Stage implements Store.
func (f *Folder) Stage() string { return filepath.Join(f.path, folderStage) }

// checkName returns an error for what is no name of an object.
func checkName(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return fmt.Errorf("%q: %w", name, fs.ErrInvalid)
	}
	return nil
}

// Put implements Store.
func (f *Folder) Put(_ context.Context, name, file string) error {
	if err := checkName(name); err != nil {
		return err
	}
	stage, err := filepath.Rel(f.path, file)
	if err != nil || filepath.Dir(stage) != folderStage {
		return fmt.Errorf("%s is not a file of %s", file, f.Stage())
	}
	staged, err := f.root.Open(stage)
	if err != nil {
		return err
	}
	if err := errors.Join(staged.Sync(), staged.Close()); err != nil {
		return err
	}
	return f.rename(stage, name)
}

// rename gives a synced file its name.
func (f *Folder) rename(from, name string) error {
	f.tree.Lock()
	defer f.tree.Unlock()
	dir := path.Dir(name)
	if err := f.makeDirs(dir); err != nil {
		return err
	}
	if err := f.root.Rename(from, filepath.FromSlash(name)); err != nil {
		return err
	}
	return f.syncDir(dir)
}

// makeDirs makes the folders of a path, and syncs those above new ones.
func (f *Folder) makeDirs(dir string) error {
	if _, err := f.root.Stat(filepath.FromSlash(dir)); err == nil || dir == "." { // the folder itself is not made again
		return err
	}
	if err := f.makeDirs(path.Dir(dir)); err != nil {
		return err
	}
	if err := f.root.Mkdir(filepath.FromSlash(dir), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return f.syncDir(path.Dir(dir))
}

// syncDir syncs the entries of a folder to disk.
func (f *Folder) syncDir(dir string) error {
	if runtime.GOOS == "windows" { // has no such call
		return nil
	}
	d, err := f.root.Open(filepath.FromSlash(dir))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Read implements Store.
func (f *Folder) Read(_ context.Context, name string, limit int64) (data []byte, tag string, err error) {
	if err := checkName(name); err != nil {
		return nil, "", err
	}
	file, err := f.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	data, err = readUpTo(file, name, limit)
	return data, tagOf(data), err
}

// readUpTo reads a whole file of at most limit bytes.
func readUpTo(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s: %w: %d bytes", name, ErrLarge, limit)
	}
	return data, err
}

func tagOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// Write implements Store.
func (f *Folder) Write(ctx context.Context, name string, data []byte, tag string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	const limit = 1 << 30 // of what was written here
	switch _, now, err := f.Read(ctx, name, limit); {
	case errors.Is(err, fs.ErrNotExist):
		if tag != "" {
			return "", fmt.Errorf("%s: %w", name, ErrChanged)
		}
	case err != nil:
		return "", err
	case now != tag:
		return "", fmt.Errorf("%s: %w", name, ErrChanged)
	}
	temp, err := os.CreateTemp(f.Stage(), "write-*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(temp, bytes.NewReader(data))
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = f.Put(ctx, name, temp.Name())
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return "", err
	}
	return tagOf(data), nil
}

// file is an object of a folder.
type file struct {
	*os.File
	size int64
}

func (f file) Size() int64 { return f.size }

// Open implements Store.
func (f *Folder) Open(_ context.Context, name string) (Object, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	opened, err := f.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	info, err := opened.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		opened.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return file{opened, info.Size()}, nil
}

// List implements Store.
func (f *Folder) List(_ context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		at := path.Dir(prefix + "x") // all names are below it
		err := fs.WalkDir(f.root.FS(), at, func(name string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil // the folder, or a file that was removed meanwhile
			case err != nil:
				return err
			case e.IsDir() && name != at && (strings.HasPrefix(e.Name(), ".") || !strings.HasPrefix(name, prefix) && !strings.HasPrefix(prefix, name)):
				return fs.SkipDir
			case !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") || !strings.HasPrefix(name, prefix):
				return nil
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && !yield(Info{name, info.Size(), info.ModTime()}, nil) {
				return fs.SkipAll
			}
			return err
		})
		if err != nil {
			yield(Info{}, err)
		}
	}
}

// Remove implements Store. Folders that are empty then are removed, too.
func (f *Folder) Remove(_ context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	f.tree.Lock()
	defer f.tree.Unlock()
	if err := f.root.Remove(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if f.root.Remove(filepath.FromSlash(dir)) != nil { // it is not empty
			break
		}
	}
	return nil
}
