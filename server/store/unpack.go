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

	"wirebench/defs"
	"wirebench/defs/schema"
)

// Upload is an uploaded file, alone or in a zip file.
type Upload struct {
	Name string // valid for CheckName
	Text []byte
}

// Skipped is a skipped file of an upload with the reason.
type Skipped struct {
	Name   string // as in the upload
	Reason string
}

// Bounds are the limits of an upload. The zero Bounds admit no file.
type Bounds struct {
	Files     int   // at most
	FileBytes int64 // of one file; larger ones are skipped
	AllBytes  int64 // of all files, unpacked
	Ratio     int   // unpacked bytes per byte of the upload, above 1 MB
}

// DefaultBounds returns the bounds of a folder, with a ratio that no text written by people reaches.
func DefaultBounds() Bounds {
	return Bounds{Files: MaxFiles, FileBytes: MaxFileBytes, AllBytes: MaxAllBytes, Ratio: 200}
}

// ErrBomb reports that an upload would unpack to more than its limits, so none of it is used.
var ErrBomb = errors.New("unpacks to more than is allowed")

// ratioFrom is the unpacked size up to which the ratio does not matter: a small text of one repeated character is no attack.
const ratioFrom = 1 << 20

// Unpack returns the files of an upload: the members of a zip file or of a bundle of definitions, which may be in a zip file, or the upload
// itself. A folder that contains all members is removed
// from their names; hidden files and files that operating systems add are dropped silently. The names can all be written to one folder: no
// two differ only in case, and none is a folder of another.
//
// The error wraps ErrBomb or says that the zip file cannot be read; then there are no files. The text of an upload that is not a zip file
// is data itself, not a copy.
func Unpack(name string, data []byte, b Bounds) (files []Upload, skipped []Skipped, err error) {
	u := unpacking{Bounds: b, most: int64(len(data)), names: names{}}
	switch {
	case isZip(data):
		err = u.zip(data)
	case defs.IsBundle(name, data) && int64(len(data)) <= min(b.FileBytes, b.AllBytes):
		err = u.bundle(name, "", data)
	default:
		err = u.single(name, data)
	}
	if err != nil {
		return nil, append(u.skipped, Skipped{name, "rejected as a whole"}), fmt.Errorf("unpack %s: %w", shown(name), err)
	}
	return u.files, u.skipped, nil
}

// isZip recognizes a zip file by its first bytes: a member, the end of an empty zip file, or a split zip file with one part.
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
	most    int64 // size of the upload, bytes
	read    int64 // bytes unpacked, including files skipped later
}

func (u *unpacking) skip(name, reason string) { u.skipped = append(u.skipped, Skipped{name, reason}) }

// bomb returns an ErrBomb with the bound that was exceeded.
func bomb(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrBomb}, args...)...)
}

func (u *unpacking) single(name string, data []byte) error {
	clean, reason := memberName(name) // hidden files too: a single file was chosen on purpose
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

// member is a file of a zip file with a usable name.
type member struct {
	*zip.File
	name string
}

func (u *unpacking) zip(data []byte) error {
	// Headers cost memory as soon as the zip file is opened. Their number is bounded by the number of their signatures; macOS adds a hidden
	// file for each file, and there are directories.
	entries := 4*u.Files + 1000
	if bytes.Count(data, []byte("PK\x01\x02")) > entries {
		return bomb("more than %d entries", entries)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("not a readable zip file: %w", err)
	}
	if overlap(z.File) {
		return bomb("its files overlap")
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
		if defs.IsBundle(name, text) {
			if err := u.bundle(m.Name, path.Dir(name), text); err != nil {
				return err
			}
			continue
		}
		u.take(name, text)
	}
	return nil
}

func (u *unpacking) take(name string, text []byte) {
	u.names.take(name)
	u.files = append(u.files, Upload{name, text})
}

// bundle unpacks a bundle of definitions into a folder.
func (u *unpacking) bundle(name, folder string, data []byte) error {
	b, err := defs.ReadBundle(name, data, u.Files-len(u.files))
	if errors.Is(err, schema.ErrBundle) {
		return bomb("%w", err)
	}
	if err != nil {
		u.skip(name, "not a readable bundle of definitions: "+err.Error())
		return nil
	}
	for _, x := range b.Left {
		u.skip(name+defs.InBundle+x.Name, x.Reason)
	}
	for _, f := range b.Files {
		to := path.Join(folder, f.Name)
		reason := nameReason(to)
		if reason == "" {
			reason = u.names.reason(to)
		}
		if reason != "" {
			u.skip(name+defs.InBundle+f.Name, reason)
			continue
		}
		u.take(to, []byte(f.Text))
	}
	return nil
}

// members returns the files with usable names, in their order, without directories and hidden files.
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

// memberName cleans a name. A reason says why the file is skipped; with a reason, an empty name means that it is dropped silently.
func memberName(name string) (clean, reason string) {
	switch {
	case name == "":
		return "?", "the name is empty"
	case !utf8.ValidString(name):
		return name, "the name is not UTF-8"
	case strings.ContainsRune(name, 0):
		return name, "the name has a zero byte"
	case strings.Contains(name, `\`):
		return name, "the name has a backslash"
	case strings.HasPrefix(name, "/"), len(name) > 1 && name[1] == ':':
		return name, "the path is absolute"
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

// commonTop returns the folder, with its slash, that contains all members, "" if there is none.
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

// overlap reports whether two members share compressed bytes, as only malicious files do.
func overlap(files []*zip.File) bool {
	type stretch struct{ from, to int64 }
	var all []stretch
	for _, f := range files {
		from, err := f.DataOffset()
		if err != nil || f.CompressedSize64 == 0 {
			continue // unreadable, or without bytes to share
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

// Bits of the flags of a member.
const (
	encrypted         = 1 << 0
	stronglyEncrypted = 1 << 6
	maskedHeader      = 1 << 13
)

// text unpacks a member. The sizes in its headers are only used to skip it early: the unpacked bytes are counted.
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
		return nil, fmt.Sprintf("compression method %d is not supported", f.Method), nil
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
		return nil, wrongSum, nil // package zip does not check when the header says 0
	case isZip(buffer.Bytes()):
		return nil, zipInside, nil
	}
	return buffer.Bytes(), "", nil
}

const (
	damaged   = "damaged"
	wrongSum  = "damaged: the checksum does not match"
	zipInside = "a zip file in a zip file is not unpacked"
)

// names holds the names taken so far and their folders, by folded name.
type names map[string]taken

type taken struct {
	name   string
	folder bool
}

// reason returns the reason why a name cannot be written beside those taken, "" if it can.
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
		return "another file has the same name"
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
