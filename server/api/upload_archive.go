package api

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"wirebench/codec/capture"
	"wirebench/defs"
	"wirebench/server/store"
)

// maxZipCaptures limits the captures stored from one archive.
const maxZipCaptures = 200

// archive reads a zip or tar: captures are stored separately, files of raw bytes together as one, and the rest of a zip is treated as files of
// a library. start is the part of the file already read.
func (u *upload) archive(name, kind string, start []byte, part io.Reader) error {
	rest, err := io.ReadAll(io.LimitReader(part, MaxUpload+1-int64(len(start))))
	if err != nil {
		return err
	}
	data := slices.Concat(start, rest)
	if u.zips >= MaxZips || u.bomb {
		u.unpack(name, data) // reports why it is not opened
		return nil
	}
	files, torn, err := capture.ReadArchive(bytes.NewReader(data))
	if err != nil {
		if kind == "zip" {
			u.unpack(name, data) // reports the error
			return nil
		}
		u.zips++
		u.fail(name, "", err.Error())
		return nil
	}
	if framing, whole := u.wholeArchive(files); whole {
		u.zips++
		return u.keep(name, framing, bytes.NewReader(data), bytes.NewReader(nil))
	}
	taken := map[string]bool{}
	for _, f := range files {
		if !capture.IsCapture(f.Data) && (couldBeOurs(f) || !isConversation(f.Data)) {
			continue
		}
		if len(taken) == maxZipCaptures {
			u.fail(name, "", fmt.Sprintf("only its first %d captures were stored", maxZipCaptures))
			break
		}
		taken[f.Name] = true
		if err := u.keep(f.Name, "", bytes.NewReader(f.Data), bytes.NewReader(nil)); err != nil {
			return err
		}
		u.all[len(u.all)-1].From = name
	}
	if torn != "" {
		u.fail(name, "", torn)
	}
	switch {
	case len(taken) == len(files) && len(files) > 0:
		u.zips++
	case kind != "zip":
		u.zips++
		for _, f := range files {
			if !taken[f.Name] {
				u.skip(f.Name, name, "not a capture; to store files of raw bytes as one capture, set a framing, such as ?framing=whole")
			}
		}
	default:
		if left, err := withoutFiles(data, taken); err == nil {
			data = left
		}
		u.unpack(name, data)
	}
	return nil
}

// rawEndings lists the extensions of files of raw bytes.
var rawEndings = []string{".bin", ".dat", ".raw", ".packet", ".msg"}

// wholeArchive reports whether the files of an archive form one capture, and its framing: an archive written by a recording program, or one of
// raw bytes only.
func (u *upload) wholeArchive(files []capture.ArchiveFile) (framing string, whole bool) {
	raw := 0
	for _, f := range files {
		switch {
		case capture.IsReplay(f.Name):
			return "", true
		case capture.IsCapture(f.Data) || couldBeOurs(f):
			return "", false
		case slices.Contains(rawEndings, strings.ToLower(path.Ext(f.Name))):
			raw++
		}
	}
	return u.framing, len(files) > 0 && (u.framing != "" || raw == len(files))
}

// couldBeOurs reports whether a library can contain a file of this name.
func couldBeOurs(f capture.ArchiveFile) bool {
	switch strings.ToLower(path.Ext(f.Name)) {
	case ".def", ".map", store.EnvelopeEnding:
		return true
	case ".txt", "":
		return !isRaw(f.Data[:min(len(f.Data), 512)])
	}
	return strings.HasSuffix(f.Name, store.SamplesEnding) || defs.Recognizes(f.Name, string(f.Data)) || defs.IsBundle(f.Name, f.Data) || path.Base(f.Name) == store.ValidityName
}

// withoutFiles returns a copy of a zip without some of its files.
func withoutFiles(data []byte, left map[string]bool) ([]byte, error) {
	if len(left) == 0 {
		return data, nil
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("read a zip again: %w", err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range z.File {
		if left[f.Name] {
			continue
		}
		if err := w.Copy(f); err != nil {
			return nil, fmt.Errorf("copy a file of a zip: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("write a zip: %w", err)
	}
	return out.Bytes(), nil
}
