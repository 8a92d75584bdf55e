package publish

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
)

// mark is the file that lists what a folder has of an earlier site.
const mark = "wirebench-site.json"

// marked is the content of the file mark.
type marked struct {
	Files []string `json:"files"`
}

// ToFolder writes a site to a folder, which is made if necessary. A folder with other files is refused, unless an earlier site is in it: then
// the files of that site that are no longer needed are removed. Nothing is written outside the folder, whatever links it has.
func (s *Site) ToFolder(dir string) (files int, err error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	before, err := earlier(root)
	if err != nil {
		return 0, err
	}
	var now marked
	if err := s.Write(func(name string, data []byte) error {
		now.Files = append(now.Files, name)
		return write(root, name, data)
	}); err != nil {
		return 0, err
	}
	for _, name := range before.Files {
		if !slices.Contains(now.Files, name) && fs.ValidPath(name) {
			if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return 0, err
			}
		}
	}
	text, err := json.Marshal(now)
	if err != nil {
		return 0, err
	}
	return len(now.Files), write(root, mark, append(text, '\n'))
}

// earlier returns the files of the site that is in a folder.
func earlier(root *os.Root) (m marked, err error) {
	text, err := root.ReadFile(mark)
	if err == nil {
		if json.Unmarshal(text, &m) != nil {
			return m, fmt.Errorf("%s in the folder is not the list of a site", mark)
		}
		return m, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	list, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return m, err
	}
	if len(list) > 0 {
		return m, fmt.Errorf("the folder is not empty, and has no %s: it is not of an earlier site", mark)
	}
	return m, nil
}

func write(root *os.Root, name string, data []byte) error {
	if dir := path.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	return root.WriteFile(name, data, 0o666)
}
