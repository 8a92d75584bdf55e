package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// upgrade converts a data folder from one format to the next. A previous run may have been interrupted, so parts that are converted already
// must stay unchanged. It changes only the files beside captures, never captures: only these files are in the copy made before.
type upgrade struct {
	about string // description, for the log
	run   func(d *Data) error
}

// upgrades holds at index n the upgrade from format n to n+1.
var upgrades = []upgrade{
	{"the folder has a format version", func(*Data) error { return nil }},
	{"marks and notes name their frames by identity", func(d *Data) error { return d.eachCapture(identifyNotes) }},
	{"workspaces are projects", (*Data).describeProjects},
}

// Format is the format of data folders that the program writes. Folders of versions that did not write one have format 0.
var Format = len(upgrades)

// format is the content of formatFile.
type format struct {
	Format int    `json:"format"`
	Copy   string `json:"copy,omitempty"` // made by an unfinished upgrade
}

// upgrade converts the folder to the newest format.
func (d *Data) upgrade(steps []upgrade) error {
	fresh, err := d.isNew()
	if err != nil {
		return err
	}
	have, old, err := d.readFormat()
	if err != nil {
		return err
	}
	switch {
	case have.Format > len(steps):
		return &NewerError{d.path, have.Format, len(steps)}
	case fresh:
		return d.writeFormat(format{Format: len(steps)}, nil)
	case have.Format == len(steps) && have.Copy == "":
		return nil
	}
	if have.Copy == "" || !isDir(d.Path(filepath.FromSlash(have.Copy))) {
		if have.Copy, err = d.copyAside(have.Format); err != nil {
			return fmt.Errorf("copy %s before the upgrade: %w", d.path, err)
		}
		if err := d.writeFormat(have, old); err != nil {
			return err
		}
	}
	d.log.Info("upgrading the data folder", "folder", d.path, "from", have.Format, "to", len(steps), "copy", d.Path(filepath.FromSlash(have.Copy)))
	for at := have.Format; at < len(steps); at++ {
		if err := steps[at].run(d); err != nil {
			return fmt.Errorf("upgrade data folder %s from format %d to %d (%s; a copy is in %s): %w",
				d.path, at, at+1, steps[at].about, d.Path(filepath.FromSlash(have.Copy)), err)
		}
		have.Format = at + 1
		if have.Format == len(steps) {
			have.Copy = ""
		}
		if err := d.writeFormat(have, old); err != nil {
			return err
		}
	}
	return nil
}

// readFormat reads the format of the folder, and the text of its file. A damaged file is set aside and counts as format 0: upgrades leave
// converted parts unchanged.
func (d *Data) readFormat() (format, []byte, error) {
	name := d.Path(formatFile)
	text, err := ReadRegular(name)
	if errors.Is(err, fs.ErrNotExist) {
		return format{}, nil, nil
	}
	if err != nil {
		return format{}, nil, failure("read", name, err)
	}
	var f format
	if err := JSON(&f)(text); err == nil && f.Format >= 0 {
		return f, text, nil
	}
	kept := name + DamagedEnding + string(RevisionOf(text))
	d.log.Error("damaged file set aside; the upgrades of the data folder run again", "file", name, "as", kept)
	return format{}, nil, failure("set aside", name, os.Rename(name, kept))
}

func (d *Data) writeFormat(f format, old []byte) error {
	text, err := MergeJSON(f, old)
	if err == nil {
		_, err = (&Dir{path: d.path, log: d.log, troubles: &d.troubles, record: d.record}).Write(formatFile, append(text, '\n'), nil)
	}
	if errors.Is(err, ErrReadOnly) && d.lock == nil { // nothing can be stored there anyway
		d.log.Warn("the format of the data folder is not written", "folder", d.path, "error", err)
		return nil
	}
	return err
}

// copyAside copies all files except captures, which no upgrade changes. It returns the path of the copy, a slash path below the folder. The
// copy gets its name only when it is complete and synced.
func (d *Data) copyAside(have int) (string, error) {
	name := fmt.Sprintf("%s-format-%d", time.Now().UTC().Format("20060102-150405.000"), have)
	if err := os.MkdirAll(d.Path(SetAside), 0o777); err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp(d.Path(SetAside), ".new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	err = filepath.WalkDir(d.path, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(d.path, at)
		to := filepath.Join(temp, rel)
		switch {
		case err != nil:
			return err
		case rel == ".":
			return nil
		case rel == SetAside || e.IsDir() && e.Name() == "lost+found":
			return fs.SkipDir
		case e.IsDir():
			return os.Mkdir(to, 0o777)
		case !e.Type().IsRegular() || rel == lockFile || isTemporary(e.Name()) || strings.HasSuffix(rel, captureEnding):
			return nil
		}
		text, err := ReadRegular(at)
		if errors.Is(err, fs.ErrPermission) { // an unreadable file cannot be changed either
			d.log.Error("not copied", "file", at, "error", why(err))
			return nil
		}
		if err != nil {
			return err
		}
		return writeSynced(to, text)
	})
	if err != nil {
		return "", err
	}
	if err := os.Chmod(temp, 0o777&^0o022); err != nil {
		return "", err
	}
	if err := os.Rename(temp, d.Path(SetAside, name)); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(d.Path(SetAside))
	if err != nil {
		return "", err
	}
	defer root.Close()
	return SetAside + "/" + name, syncDir(root)
}

// writeSynced writes a new file and syncs it.
func writeSynced(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// eachCapture calls edit with the members of each description file of the folder, and writes them back when edit returns true. Damaged
// files are left unchanged: they are reported when they are read.
func (d *Data) eachCapture(edit func(members map[string]json.RawMessage) bool) error {
	names, err := filepath.Glob(filepath.Join(globbed(d.path), "*", "captures", "*"+aboutEnding))
	if err != nil {
		return err
	}
	for _, name := range names {
		dir := &Dir{path: filepath.Dir(name), log: d.log, troubles: &d.troubles}
		var members map[string]json.RawMessage
		text, err := ReadRegular(name)
		if err == nil {
			err = JSON(&members)(text)
		}
		if err != nil {
			dir.damaged(filepath.Base(name), "not upgraded: "+why(err))
			continue
		}
		if !edit(members) {
			continue
		}
		if text, err = json.Marshal(members); err != nil {
			return failure("upgrade", name, err)
		}
		if _, err := dir.write(filepath.Base(name), append(text, '\n'), nil); err != nil {
			return failure("upgrade", name, err)
		}
	}
	return nil
}

// globbed escapes a path for filepath.Glob.
func globbed(name string) string {
	if onWindows {
		return name // Windows has no escapes
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(name)
}
