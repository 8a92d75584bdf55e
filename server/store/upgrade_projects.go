package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

// describeProjects writes project.json in each folder of a workspace, whose name was that of its protocol, and projects.json, which lists
// the workspaces that have been filled with samples.
func (d *Data) describeProjects() error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return failure("read folder", d.path, err)
	}
	type project struct {
		Protocol string `json:"protocol"`
	}
	var set struct {
		Samples []string `json:"samples"`
	}
	for _, e := range entries {
		name := e.Name()
		definitions := isDir(d.Path(name, "definitions"))
		if !e.IsDir() || name == SetAside || !definitions && !isDir(d.Path(name, "captures")) {
			continue
		}
		if definitions {
			set.Samples = append(set.Samples, name)
		}
		if err := d.writeNew(project{name}, name, "project.json"); err != nil {
			return err
		}
	}
	return d.writeNew(set, "projects.json")
}

// writeNew writes a value as JSON to a new file; it does not change an existing one.
func (d *Data) writeNew(v any, elements ...string) error {
	name := d.Path(elements...)
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	dir := &Dir{path: d.Path(elements[:len(elements)-1]...), log: d.log, troubles: &d.troubles}
	_, err = dir.write(elements[len(elements)-1], append(text, '\n'), nil)
	return failure("write", name, err)
}
