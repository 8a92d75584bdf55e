package capture

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"wirebench/codec/logs"
	"wirebench/codec/scan"
)

// Bounds of archives.
const (
	maxArchive       = 64 << 20  // bytes of a zip, which is read into memory
	maxArchiveFiles  = 100_000   // files, and likewise headers
	maxArchiveData   = 256 << 20 // uncompressed bytes of all files
	maxArchiveRatio  = 200       // uncompressed bytes per byte of the archive, from 16 MiB on
	archiveRatioFrom = 16 << 20
)

// ErrArchive is the error for an archive that is too large, invalid, or holds several captures.
var ErrArchive = errors.New("cannot read the archive")

// ArchiveFile is a file of an archive.
type ArchiveFile struct {
	Name string // path inside the archive
	Data []byte
}

// SniffArchive detects from the first bytes of a file (512 are enough) whether it is an archive: "zip", "tar" or "". For a compressed tar,
// "tar.gz" and the like (scan.Packed), it needs scan.PackedHead.
func SniffArchive(head []byte) string {
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")) {
		return "zip"
	}
	if isTar(head) {
		return "tar"
	}
	if inner, _ := scan.UnpackHead(head, logs.Head, false); isTar(inner) {
		return "tar." + scan.Packed(head)
	}
	return ""
}

// peekHead returns the bytes of a file from which its format is detected.
func peekHead(in *scan.Input) []byte {
	if head := in.Peek(logs.Head); scan.Packed(head) == "" {
		return head
	}
	return in.Peek(scan.PackedHead)
}

func isTar(head []byte) bool { return len(head) >= 262 && string(head[257:262]) == "ustar" }

// ReadArchive reads the files of a zip or a tar, compressed or not, in natural order: "2.bin" precedes "10.bin". Files that operating systems and
// programs create for themselves are omitted. If the archive is truncated, torn is the reason, and the files before that position are
// returned. The error wraps ErrArchive, or is an error of r.
func ReadArchive(r io.Reader) (files []ArchiveFile, torn string, err error) {
	in := scan.NewInput(r)
	a := archive{}
	switch kind := SniffArchive(peekHead(in)); kind {
	case "zip":
		err = a.zip(in)
	case "tar":
		err = a.tar(in, in)
	case "":
		return nil, "", fmt.Errorf("%w: it is neither zip nor tar", ErrArchive)
	default:
		z, e := scan.Unpack(strings.TrimPrefix(kind, "tar."), in)
		if e != nil {
			return nil, "", fmt.Errorf("%w: %w", ErrArchive, e)
		}
		err = a.tar(z, in)
	}
	if err != nil {
		return nil, "", err
	}
	slices.SortStableFunc(a.files, func(a, b ArchiveFile) int { return naturalOrder(a.Name, b.Name) })
	return a.files, a.torn, nil
}

// archive is the state of reading an archive.
type archive struct {
	files []ArchiveFile
	size  int64 // bytes of the archive read so far
	data  int64
	torn  string
}

func (a *archive) tooMuch(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrArchive}, args...)...)
}

// add reads a file.
func (a *archive) add(name string, r io.Reader) error {
	if len(a.files) == maxArchiveFiles {
		return a.tooMuch("it holds more than %d files", maxArchiveFiles)
	}
	most := int64(maxArchiveData)
	if byRatio := max(archiveRatioFrom, a.size*maxArchiveRatio); byRatio < most {
		most = byRatio
	}
	most -= a.data
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if int64(len(data)) > most {
		return a.tooMuch("it unpacks to more than is allowed")
	}
	a.data += int64(len(data))
	if err != nil {
		a.torn = fmt.Sprintf("%s cannot be read: %v", scan.Quote(name), err)
		return nil
	}
	a.files = append(a.files, ArchiveFile{Name: name, Data: data})
	return nil
}

func (a *archive) zip(in *scan.Input) error {
	data, err := io.ReadAll(io.LimitReader(in, maxArchive+1))
	if err != nil {
		return err
	}
	if len(data) > maxArchive {
		return a.tooMuch("it is a zip of more than %d MiB", maxArchive>>20)
	}
	// Opening a zip allocates memory for each header, so count their signatures first.
	if bytes.Count(data, []byte("PK\x01\x02")) > 2*maxArchiveFiles {
		return a.tooMuch("it holds more than %d files", maxArchiveFiles)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrArchive, err)
	}
	a.size = int64(len(data))
	for _, f := range z.File {
		if !wantedMember(f.Name) {
			continue
		}
		r, err := f.Open()
		if err != nil {
			a.torn = fmt.Sprintf("%s cannot be read: %v", scan.Quote(f.Name), err)
			continue
		}
		err = a.add(f.Name, r)
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *archive) tar(r io.Reader, below *scan.Input) error {
	t := tar.NewReader(r)
	for n := 0; ; n++ {
		if n > 2*maxArchiveFiles {
			return a.tooMuch("it holds more than %d files", maxArchiveFiles)
		}
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			if e := below.Failure(); e != nil && !scan.IsDamage(e) {
				return e
			}
			a.torn = err.Error()
			return nil
		}
		a.size = below.Offset()
		if h.Typeflag != tar.TypeReg || !wantedMember(h.Name) {
			continue
		}
		if err := a.add(h.Name, t); err != nil {
			return err
		}
		if a.torn != "" {
			return nil
		}
	}
}

// wantedMember reports whether a member of an archive is a file that a user added.
func wantedMember(name string) bool {
	name = strings.ReplaceAll(name, `\`, "/")
	if name == "" || strings.HasSuffix(name, "/") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "__MACOSX" || strings.HasPrefix(part, ".") && part != "." && part != ".." {
			return false
		}
	}
	return !strings.EqualFold(path.Base(name), "thumbs.db") && !strings.EqualFold(path.Base(name), "desktop.ini")
}

// naturalOrder compares names, runs of digits as numbers.
func naturalOrder(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if scan.IsDigit(x[0]) && scan.IsDigit(y[0]) {
			var m, n string
			m, x = cutDigits(x)
			n, y = cutDigits(y)
			if c := cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n)); c != 0 {
				return c
			}
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// cutDigits returns the number at the start of s, without leading zeros, and the rest.
func cutDigits(s string) (digits, rest string) {
	n := 0
	for n < len(s) && scan.IsDigit(s[n]) {
		n++
	}
	return strings.TrimLeft(s[:n], "0"), s[n:]
}
