package store

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Upload is an uploaded file, alone or in a zip.
type Upload struct {
	Name string // as CheckName wants it
	Text []byte
}

// Skipped is a skipped file of an upload, and the reason.
type Skipped struct {
	Name   string // as the upload has it
	Reason string
}

// Bounds of what an upload holds. Nothing fits into a zero Bounds.
type Bounds struct {
	Files     int   // at most
	FileBytes int64 // of one file; larger ones are skipped
	AllBytes  int64 // of all files, unpacked
	Ratio     int   // unpacked bytes for one of the upload, from 1 MB on
}

// DefaultBounds are those of a folder, with a ratio that no text reaches that people write.
func DefaultBounds() Bounds {
	return Bounds{Files: MaxFiles, FileBytes: MaxFileBytes, AllBytes: MaxAllBytes, Ratio: 200}
}

// ErrBomb reports that an upload would unpack to more than its limits, so none of it is used.
var ErrBomb = errors.New("unpacks to more than is allowed")

// ratioFrom is how much any upload may unpack to, whatever its ratio: small texts of one character are no attack.
const ratioFrom = 1 << 20

// Unpack returns the files of an upload: the members of a zip, or the upload itself. A folder that all members are in is left away;
// hidden files, and what systems add for themselves, are dropped without a word. The names of the files can all be written to one
// folder: there are no two of them that differ only in case, and none is the folder of another.
//
// The error is an ErrBomb, or says that a zip cannot be read; then there are no files. The text of an upload that is no zip is data
// itself, not a copy.
func Unpack(name string, data []byte, b Bounds) (files []Upload, skipped []Skipped, err error) {
	u := unpacking{Bounds: b, most: int64(len(data)), names: names{}}
	if isZip(data) {
		err = u.zip(data)
	} else {
		err = u.single(name, data)
	}
	if err != nil {
		return nil, append(u.skipped, Skipped{name, "nothing of it is taken"}), fmt.Errorf("unpack %s: %w", shown(name), err)
	}
	return u.files, u.skipped, nil
}

// isZip tells a zip by its first bytes: a member, no member at all, or a member of a zip that was meant to be split.
func isZip(data []byte) bool {
	for _, magic := range []string{"PK\x03\x04", "PK\x05\x06", "PK\x07\x08"} {
		if bytes.HasPrefix(data, []byte(magic)) {
			return true
		}
	}
	return false
}

type unpacking struct {
	Bounds
	files   []Upload
	skipped []Skipped
	names   names
	most    int64 // bytes of the upload
	read    int64 // bytes unpacked, also of files that were then skipped
}

func (u *unpacking) skip(name, reason string) { u.skipped = append(u.skipped, Skipped{name, reason}) }

// bomb is the error of an upload that holds too much.
func bomb(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrBomb}, args...)...)
}

func (u *unpacking) single(name string, data []byte) error {
	clean, reason := memberName(name) // also of what is hidden: somebody chose this one file
	if reason == "" {
		reason = nameReason(clean)
	}
	switch {
	case reason != "":
	case int64(len(data)) > u.FileBytes || int64(len(data)) > u.AllBytes:
		reason = u.tooLarge()
	case u.Files < 1:
		return bomb("more than %d files", u.Files)
	}
	if reason != "" {
		u.skip(name, reason)
		return nil
	}
	u.files = []Upload{{clean, data}}
	return nil
}

func (u *unpacking) tooLarge() string { return fmt.Sprintf("larger than %d bytes", u.FileBytes) }

// member is a file of a zip whose name can be used.
type member struct {
	*zip.File
	name string
}

func (u *unpacking) zip(data []byte) error {
	// Headers cost memory as soon as the zip is opened. There are at most as many as there are of their first bytes; a system adds a
	// hidden file to each, and there are directories.
	entries := 4*u.Files + 1000
	if bytes.Count(data, []byte("PK\x01\x02")) > entries {
		return bomb("more than %d entries", entries)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("not a zip that can be read: %w", err)
	}
	if overlap(z.File) {
		return bomb("its files share the same bytes")
	}
	members := u.members(z.File)
	if len(members) > u.Files {
		return bomb("more than %d files", u.Files)
	}
	top := commonTop(members)
	for _, m := range members {
		name := strings.TrimPrefix(m.name, top)
		reason := nameReason(name)
		if reason == "" {
			reason = u.names.reason(name)
		}
		var text []byte
		if reason == "" {
			text, reason, err = u.text(m.File)
			if err != nil {
				return err
			}
		}
		if reason != "" {
			u.skip(m.Name, reason)
			continue
		}
		u.names.take(name)
		u.files = append(u.files, Upload{name, text})
	}
	return nil
}

// members are the files whose names lead below one folder, in their order; directories and hidden files are left away.
func (u *unpacking) members(files []*zip.File) []member {
	var out []member
	for _, f := range files {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		name, reason := memberName(f.Name)
		switch {
		case reason != "" && name == "":
		case reason != "":
			u.skip(f.Name, reason)
		default:
			out = append(out, member{f, name})
		}
	}
	return out
}

// memberName cleans a name. A reason says why it is not taken; the name is "" beside it when nothing has to be said of that.
func memberName(name string) (clean, reason string) {
	switch {
	case name == "":
		return "?", "a file has a name"
	case !utf8.ValidString(name):
		return name, "the name is not UTF-8"
	case strings.ContainsRune(name, 0):
		return name, "the name has a zero byte"
	case strings.Contains(name, `\`):
		return name, "the name has a backslash"
	case strings.HasPrefix(name, "/"), len(name) > 1 && name[1] == ':':
		return name, "the path does not start at the folder"
	}
	elements := strings.Split(name, "/")
	if slices.Contains(elements, "..") {
		return name, "the path leads out of the folder"
	}
	clean = path.Clean(name)
	for element := range strings.SplitSeq(clean, "/") {
		if hidden(element) || element == "__MACOSX" {
			return "", "hidden"
		}
	}
	return clean, ""
}

// commonTop is the folder, with its slash, that all members are in; "" = there is none.
func commonTop(members []member) string {
	var top string
	for i, m := range members {
		first, _, below := strings.Cut(m.name, "/")
		if !below || i > 0 && first+"/" != top {
			return ""
		}
		top = first + "/"
	}
	return top
}

// overlap reports whether two members are made of the same bytes, which no program does that means well.
func overlap(files []*zip.File) bool {
	type stretch struct{ from, to int64 }
	var all []stretch
	for _, f := range files {
		from, err := f.DataOffset()
		if err != nil || f.CompressedSize64 == 0 {
			continue // it cannot be read, or has no bytes to share
		}
		if to := from + int64(f.CompressedSize64); to > from {
			all = append(all, stretch{from, to})
		}
	}
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(all); i++ {
		if all[i].from < all[i-1].to {
			return true
		}
	}
	return false
}

// Bits of a member's flags.
const (
	encrypted         = 1 << 0
	stronglyEncrypted = 1 << 6
	maskedHeader      = 1 << 13
)

// text unpacks a member. What its headers say of sizes only ever makes it skipped: the bytes are counted as they come.
func (u *unpacking) text(f *zip.File) (text []byte, reason string, err error) {
	switch {
	case f.Mode()&fs.ModeType != 0:
		return nil, notRegular, nil
	case f.Flags&(encrypted|stronglyEncrypted|maskedHeader) != 0:
		return nil, "encrypted", nil
	case strings.EqualFold(path.Ext(f.Name), ".zip"):
		return nil, zipInside, nil
	case f.UncompressedSize64 > uint64(max(u.FileBytes, 0)):
		return nil, u.tooLarge(), nil
	}
	r, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return nil, fmt.Sprintf("packed by method %d, which is not supported", f.Method), nil
	}
	if err != nil {
		return nil, damaged, nil
	}
	defer r.Close()
	left := min(u.AllBytes, max(ratioFrom, int64(u.Ratio)*u.most)) - u.read
	var buffer bytes.Buffer
	n, err := io.Copy(&buffer, io.LimitReader(r, min(left, u.FileBytes)+1))
	u.read += n
	switch {
	case n > left && u.read > u.AllBytes:
		return nil, "", bomb("more than %d bytes", u.AllBytes)
	case n > left:
		return nil, "", bomb("more than %d times its size", u.Ratio)
	case n > u.FileBytes:
		return nil, u.tooLarge(), nil
	case err != nil && !errors.Is(err, zip.ErrChecksum):
		return nil, damaged, nil
	case err != nil, crc32.ChecksumIEEE(buffer.Bytes()) != f.CRC32:
		return nil, wrongSum, nil // package zip does not look when the header says 0
	case isZip(buffer.Bytes()):
		return nil, zipInside, nil
	}
	return buffer.Bytes(), "", nil
}

const (
	damaged   = "damaged"
	wrongSum  = "damaged: its checksum is another"
	zipInside = "a zip in a zip is not opened"
)

// names are those taken so far and the folders they are in, by what they are regardless of case.
type names map[string]taken

type taken struct {
	name   string
	folder bool
}

// reason says why a name cannot be written beside those that are taken; "" = it can.
func (n names) reason(name string) string {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		switch t, ok := n[fold(dir)]; {
		case ok && !t.folder:
			return fmt.Sprintf("%q is a file", t.name)
		case ok && t.name != dir:
			return fmt.Sprintf("the folder differs only in case from %q", t.name)
		}
	}
	switch t, ok := n[fold(name)]; {
	case ok && t.name == name && !t.folder:
		return "there are two of this name"
	case ok && t.folder:
		return fmt.Sprintf("%q is a folder", t.name)
	case ok:
		return fmt.Sprintf("differs only in case from %q", t.name)
	}
	return ""
}

func (n names) take(name string) {
	n[fold(name)] = taken{name, false}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		n[fold(dir)] = taken{dir, true}
	}
}
