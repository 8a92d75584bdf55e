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
	"wirebench/server/store"
)

// maxZipCaptures is how many captures of one archive are kept.
const maxZipCaptures = 200

// archive takes in a zip or a tar: captures in it are kept one by one, files of raw bytes together as one, and what is left of a zip may be of a
// library. start is what was read of the part.
func (u *upload) archive(name, kind string, start []byte, part io.Reader) error {
	rest, err := io.ReadAll(io.LimitReader(part, MaxUpload+1-int64(len(start))))
	if err != nil {
		return err
	}
	data := slices.Concat(start, rest)
	if u.zips >= MaxZips || u.bomb {
		u.unpack(name, data) // says why it is not opened
		return nil
	}
	files, torn, err := capture.ReadArchive(bytes.NewReader(data))
	if err != nil {
		if kind == "zip" {
			u.unpack(name, data) // says what is wrong with it
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
			u.fail(name, "", fmt.Sprintf("of its captures only the first %d were kept", maxZipCaptures))
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
				u.skip(f.Name, name, "no capture; to keep files of raw bytes as one capture, say how messages are cut, as in ?framing=whole")
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

// rawEndings are those of files that hold bytes and nothing else.
var rawEndings = []string{".bin", ".dat", ".raw", ".packet", ".msg"}

// wholeArchive reports whether the files of an archive are one capture, and how they are cut: the recording of a program that packs it so,
// or nothing but files of raw bytes.
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

// couldBeOurs tells what a library may hold.
func couldBeOurs(f capture.ArchiveFile) bool {
	switch strings.ToLower(path.Ext(f.Name)) {
	case ".def", ".map":
		return true
	case ".txt", "":
		return !isRaw(f.Data[:min(len(f.Data), 512)])
	}
	return strings.HasSuffix(f.Name, store.SamplesEnding)
}

// withoutFiles is a zip without some of its files.
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
