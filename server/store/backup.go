package store

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// manifestFile is the first file of a backup: it says what the backup has, and what not.
const manifestFile = "backup.json"

// Manifest says what a backup has beside the data folder, and what it lacks.
type Manifest struct {
	all       bool              // with what is being made
	Made      time.Time         `json:"made"`
	Libraries []BackedLibrary   `json:"libraries,omitempty"`
	Left      []string          `json:"left"` // what is not in it
	projects  map[string]string // folders of libraries by project
}

// BackedLibrary is a folder of definitions outside the data folder.
type BackedLibrary struct {
	Project string `json:"project"`
	Folder  string `json:"folder"`         // absolute
	Taken   bool   `json:"taken"`          // its files are in the folder of the project
	Here    bool   `json:"here,omitempty"` // set by Restore: the folder exists, and the project uses it
}

// StageFolder is the folder in the data folder with files on their way to a bucket.
const StageFolder = ".stage"

const (
	backedDefinitions = "definitions" // of a project, where its definitions are if they are not elsewhere
	maxLeft           = 50            // names of what was left out
)

// Plan says what Backup would write: libraries elsewhere are taken unless they are left out.
func Plan(folder string, libraries bool) (*Manifest, error) {
	if text, err := ReadRegular(filepath.Join(folder, formatFile)); err != nil || !json.Valid(text) {
		return nil, fmt.Errorf("%s is no data folder of Wirebench", folder)
	}
	m := &Manifest{Made: time.Now().UTC().Truncate(time.Second), projects: map[string]string{}, Left: []string{
		"what the configuration names outside the data folder: certificates and keys of TLS, the configuration itself",
	}}
	records, err := filepath.Glob(filepath.Join(folder, "*", "project.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range records {
		project := filepath.Base(filepath.Dir(name))
		dir := libraryOf(name)
		if dir == "" || strings.HasPrefix(project, ".") {
			continue
		}
		x := BackedLibrary{Project: project, Folder: dir}
		info, err := os.Stat(dir)
		switch {
		case !libraries:
			m.Left = append(m.Left, fmt.Sprintf("the definitions of project %s, in %s: left out as was asked", project, dir))
		case err != nil || !info.IsDir():
			m.Left = append(m.Left, fmt.Sprintf("the definitions of project %s, in %s: the folder is not there", project, dir))
		default:
			x.Taken = true
			m.projects[project] = dir
		}
		m.Libraries = append(m.Libraries, x)
	}
	odd := 0
	away := &awayCaptures{}
	err = m.walk(folder, away.see, func(name string) {
		if odd++; odd <= maxLeft {
			m.Left = append(m.Left, name)
		}
	})
	if odd > maxLeft {
		m.Left = append(m.Left, fmt.Sprintf("%d more links and special files", odd-maxLeft))
	}
	m.Left = append(m.Left, away.left()...)
	return m, err
}

// libraryOf returns the folder of definitions that project.json names.
func libraryOf(name string) string {
	var record struct{ Library string }
	text, err := ReadRegular(name)
	if err != nil || json.Unmarshal(text, &record) != nil {
		return ""
	}
	return record.Library
}

// walk calls yield with each file and folder of a backup: where it is, and its name in the backup. It calls left with what cannot be in one.
func (m *Manifest) walk(folder string, yield func(at, name string, e fs.DirEntry) error, left func(name string)) error {
	one := func(root, below string, skip func(rel string, e fs.DirEntry) bool) error {
		return filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && at != root {
				return nil // deleted meanwhile
			}
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, at)
			switch {
			case err != nil:
				return err
			case rel == ".":
				return nil
			case e.IsDir() && (e.Name() == "lost+found" || skip(rel, e)):
				return fs.SkipDir
			case e.IsDir():
			case isTemporary(e.Name()) && !m.all || skip(rel, e):
				return nil
			case !e.Type().IsRegular():
				left(fmt.Sprintf("%s, which is %s", at, kindOf(e.Type())))
				return nil
			}
			return yield(at, path.Join(below, filepath.ToSlash(rel)), e)
		})
	}
	err := one(folder, "", func(rel string, e fs.DirEntry) bool {
		if e.IsDir() {
			project, inside, _ := strings.Cut(filepath.ToSlash(rel), "/")
			return strings.HasPrefix(rel, ".removed-") || rel == StageFolder || rel == PlaceFolder || inside == backedDefinitions && m.projects[project] != ""
		}
		return OwnFile(rel) || rel == manifestFile || strings.HasPrefix(e.Name(), spillStart) || strings.HasSuffix(e.Name(), ".json.new")
	})
	for _, project := range slices.Sorted(maps.Keys(m.projects)) {
		if err == nil {
			err = one(m.projects[project], project+"/"+backedDefinitions, func(_ string, e fs.DirEntry) bool { return e.IsDir() && strings.HasPrefix(e.Name(), ".") })
		}
	}
	return err
}

// kindOf is a kind of file that a backup does not take.
func kindOf(t fs.FileMode) string {
	switch {
	case t&fs.ModeSymlink != 0:
		return "a link"
	case t&fs.ModeSocket != 0:
		return "a socket"
	case t&fs.ModeNamedPipe != 0:
		return "a pipe"
	}
	return "a device"
}

// Backup writes the data folder, and the libraries of a plan, as a gzipped tar archive, also while a server uses it: every file in it is
// whole, since servers replace files as a whole and only append to recordings, of which it has what was there when it came to them. A file
// that is deleted meanwhile is left out.
func Backup(w io.Writer, folder string, m *Manifest) (files int, err error) {
	zip := gzip.NewWriter(w)
	out := tar.NewWriter(zip)
	text, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: manifestFile, Mode: 0o644, Size: int64(len(text))})
	}
	if err == nil {
		_, err = out.Write(text)
	}
	if err == nil {
		files, err = m.write(out, folder)
	}
	return files, errors.Join(err, out.Close(), zip.Close())
}

// Copy writes the data folder of a journal as Backup does, with what is being made in it, for Fill: who makes the changes of the journal from its beginning
// on in that has the folder.
func Copy(w io.Writer, folder string) error {
	zip, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	out := tar.NewWriter(zip)
	_, err = (&Manifest{all: true}).write(out, folder)
	return errors.Join(err, out.Close(), zip.Close())
}

// Fill unpacks an archive of Copy.
func Fill(r io.Reader, root *os.Root) error {
	_, err := unpackBackup(r, root)
	return err
}

// write writes the files.
func (m *Manifest) write(out *tar.Writer, folder string) (files int, err error) {
	err = m.walk(folder, func(at, name string, e fs.DirEntry) error {
		if e.IsDir() {
			return out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755})
		}
		added, err := backUp(out, at, name)
		if added {
			files++
		}
		return err
	}, func(string) {})
	return files, err
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

// Restore unpacks an archive of Backup into a folder that does not exist or is empty. If it fails, the folder is as before. A project whose
// definitions were in a folder that does not exist here has them in its own from now on. The manifest is nil for a backup of an earlier version.
func Restore(r io.Reader, folder string) (files int, m *Manifest, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, nil, err
	}
	if len(entries) > 0 {
		return 0, nil, fmt.Errorf("%s is not empty: restore into a new folder, and name it with --data", folder)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return 0, nil, err
	}
	temp := filepath.Join(folder, ".restoring")
	if err := os.Mkdir(temp, 0o777); err != nil {
		return 0, nil, err
	}
	defer os.RemoveAll(temp)
	root, err := os.OpenRoot(temp)
	if err != nil {
		return 0, nil, err
	}
	defer root.Close()
	if files, err = unpackBackup(r, root); err != nil {
		return 0, nil, fmt.Errorf("the backup cannot be restored: %w", err)
	}
	if m, err = settleLibraries(root); err != nil {
		return 0, nil, err
	}
	var f format
	text, err := root.ReadFile(formatFile)
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		return 0, nil, errors.New("this is no backup of a data folder of Wirebench")
	}
	made, err := os.ReadDir(temp)
	if err != nil {
		return 0, nil, err
	}
	for _, e := range made { // the format last: without it the folder is not one
		if e.Name() != formatFile {
			if err := os.Rename(filepath.Join(temp, e.Name()), filepath.Join(folder, e.Name())); err != nil {
				return 0, nil, err
			}
		}
	}
	return files, m, os.Rename(filepath.Join(temp, formatFile), filepath.Join(folder, formatFile))
}

// settleLibraries reads the manifest and removes it. It makes the projects use the definitions of the backup whose folders do not exist.
func settleLibraries(root *os.Root) (*Manifest, error) {
	text, err := root.ReadFile(manifestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	m := &Manifest{}
	if err == nil {
		err = json.Unmarshal(text, m)
	}
	if err != nil {
		return nil, fmt.Errorf("the backup cannot be restored: %s: %w", manifestFile, err)
	}
	for i := range m.Libraries {
		x := &m.Libraries[i]
		info, err := os.Stat(x.Folder)
		if x.Here = err == nil && info.IsDir(); x.Here || !x.Taken {
			continue
		}
		name := path.Join(x.Project, "project.json")
		if !fs.ValidPath(name) {
			return nil, fmt.Errorf("the backup cannot be restored: %q is no project", x.Project)
		}
		record := map[string]json.RawMessage{}
		text, err := root.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(text, &record)
		}
		if err != nil {
			return nil, fmt.Errorf("the backup cannot be restored: %s: %w", name, err)
		}
		delete(record, "library")
		if text, err = json.MarshalIndent(record, "", "  "); err == nil {
			err = root.WriteFile(name, append(text, '\n'), 0o666)
		}
		if err != nil {
			return nil, err
		}
	}
	return m, root.Remove(manifestFile)
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
			if name != manifestFile {
				files++
			}
		default:
			return files, fmt.Errorf("%q is neither a file nor a folder", h.Name)
		}
	}
}
