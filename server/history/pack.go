package history

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"wirebench/server/store"
)

const (
	beforeFolder = "before/"
	afterFolder  = "after/"
)

// pack writes the texts of a step, and describes it.
func (h *History) pack(s *Step, changes []Change) error {
	size := 0
	for _, c := range changes {
		size += len(c.Before) + len(c.After)
	}
	s.About, s.Files, s.Names = about(changes), len(changes), []string{}
	for _, c := range changes[:min(len(changes), maxStepNames)] {
		s.Names = append(s.Names, c.Name)
	}
	if size > maxStepBytes {
		return fmt.Errorf("more than %d MB", maxStepBytes>>20)
	}
	packed, err := packed(changes)
	if err == nil {
		s.Size = len(packed)
		_, err = h.Home.Write(stepFile(s.ID), packed, nil)
	}
	return err
}

// packed returns the texts of changes: a file for each text, below one of two folders.
func packed(changes []Change) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	t := tar.NewWriter(z)
	put := func(folder, name string, text []byte) error {
		if text == nil {
			return nil
		}
		if err := t.WriteHeader(&tar.Header{Name: folder + name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			return err
		}
		_, err := t.Write(text)
		return err
	}
	for _, c := range changes {
		if err := errors.Join(put(beforeFolder, c.Name, c.Before), put(afterFolder, c.Name, c.After)); err != nil {
			return nil, err
		}
	}
	err := errors.Join(t.Close(), z.Close())
	return out.Bytes(), err
}

// unpack reads what packed returns.
func unpack(packed []byte) ([]Change, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	t := tar.NewReader(io.LimitReader(z, 2*maxStepBytes))
	var out []Change
	at := map[string]int{}
	for {
		h, err := t.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(t) // never nil
		if err != nil {
			return nil, err
		}
		folder, name, _ := strings.Cut(h.Name, "/")
		if err := store.CheckName(name); err != nil {
			return nil, err
		}
		i, known := at[name]
		if !known {
			i, at[name], out = len(out), len(out), append(out, Change{Name: name})
		}
		if folder+"/" == beforeFolder {
			out[i].Before = text
		} else {
			out[i].After = text
		}
	}
}
