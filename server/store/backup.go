package store

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Backup writes the data folder as a gzipped tar archive, also while a server uses it: every file in it is whole, since servers replace
// files as a whole and only append to recordings, of which it has what was there when it came to them. A file that is deleted meanwhile is
// left out.
func Backup(w io.Writer, folder string) (files int, err error) {
	zip := gzip.NewWriter(w)
	out := tar.NewWriter(zip)
	if text, err := os.ReadFile(filepath.Join(folder, formatFile)); err != nil || !json.Valid(text) {
		return 0, fmt.Errorf("%s is no data folder of Wirebench", folder)
	}
	err = filepath.WalkDir(folder, func(at string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && at != folder {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(folder, at)
		switch {
		case err != nil:
			return err
		case rel == ".":
			return nil
		case e.IsDir() && (e.Name() == "lost+found" || strings.HasPrefix(rel, ".removed-")):
			return fs.SkipDir
		case e.IsDir():
			return out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: filepath.ToSlash(rel) + "/", Mode: 0o755})
		case !e.Type().IsRegular() || rel == lockFile || isTemporary(e.Name()) || strings.HasPrefix(e.Name(), ".frames-") || strings.HasSuffix(e.Name(), ".json.new"):
			return nil
		}
		added, err := backUp(out, at, filepath.ToSlash(rel))
		if added {
			files++
		}
		return err
	})
	return files, errors.Join(err, out.Close(), zip.Close())
}

// backUp adds a file as it is now.
func backUp(out *tar.Writer, at, name string) (added bool, err error) {
	f, err := os.Open(at)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(info.Mode().Perm()), Size: info.Size(), ModTime: info.ModTime()}
	if err := out.WriteHeader(h); err != nil {
		return false, err
	}
	n, err := io.Copy(out, io.LimitReader(f, info.Size()))
	if err == nil && n < info.Size() { // a recording whose last block did not fit the disk was cut
		_, err = io.CopyN(out, zeros{}, info.Size()-n)
	}
	return true, err
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Restore unpacks an archive of Backup into a folder that does not exist or is empty. If it fails, the folder is as before.
func Restore(r io.Reader, folder string) (files int, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if len(entries) > 0 {
		return 0, fmt.Errorf("%s is not empty: restore into a new folder, and name it with --data", folder)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return 0, err
	}
	temp := filepath.Join(folder, ".restoring")
	if err := os.Mkdir(temp, 0o777); err != nil {
		return 0, err
	}
	defer os.RemoveAll(temp)
	root, err := os.OpenRoot(temp)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	if files, err = unpackBackup(r, root); err != nil {
		return 0, fmt.Errorf("the backup cannot be restored: %w", err)
	}
	var f format
	text, err := root.ReadFile(formatFile)
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		return 0, errors.New("this is no backup of a data folder of Wirebench")
	}
	made, err := os.ReadDir(temp)
	if err != nil {
		return 0, err
	}
	for _, e := range made { // the format last: without it the folder is not one
		if e.Name() != formatFile {
			if err := os.Rename(filepath.Join(temp, e.Name()), filepath.Join(folder, e.Name())); err != nil {
				return 0, err
			}
		}
	}
	return files, os.Rename(filepath.Join(temp, formatFile), filepath.Join(folder, formatFile))
}

func unpackBackup(r io.Reader, root *os.Root) (files int, err error) {
	zip, err := gzip.NewReader(r)
	if err != nil {
		return 0, err
	}
	in := tar.NewReader(zip)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return files, err
		}
		name := path.Clean(h.Name)
		if !fs.ValidPath(name) || name == "." {
			return files, fmt.Errorf("%q is no path below the folder", h.Name)
		}
		switch h.Typeflag {
		case tar.TypeDir:
			if err := root.MkdirAll(name, 0o777); err != nil {
				return files, err
			}
		case tar.TypeReg:
			if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
				return files, err
			}
			f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fs.FileMode(h.Mode)&0o666|0o600)
			if err != nil {
				return files, err
			}
			_, err = io.Copy(f, in)
			if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
				return files, err
			}
			if !h.ModTime.IsZero() {
				_ = root.Chtimes(name, h.ModTime, h.ModTime)
			}
			files++
		default:
			return files, fmt.Errorf("%q is neither a file nor a folder", h.Name)
		}
	}
}
