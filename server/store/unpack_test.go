package store

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// zipped returns a zip file with the members, in order.
func zipped(t testing.TB, members ...func(t testing.TB, w *zip.Writer)) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, m := range members {
		m(t, w)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// file returns a member as ordinary programs write it.
func file(name, text string) func(testing.TB, *zip.Writer) {
	return packed(zip.FileHeader{Name: name, Method: zip.Deflate}, text)
}

func packed(h zip.FileHeader, text string) func(testing.TB, *zip.Writer) {
	return func(t testing.TB, w *zip.Writer) {
		t.Helper()
		f, err := w.CreateHeader(&h)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// raw returns a member with the given header.
func raw(h zip.FileHeader, text string) func(testing.TB, *zip.Writer) {
	return func(t testing.TB, w *zip.Writer) {
		t.Helper()
		h.CompressedSize64 = uint64(len(text))
		f, err := w.CreateRaw(&h)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func moded(name string, mode fs.FileMode, text string) func(testing.TB, *zip.Writer) {
	h := zip.FileHeader{Name: name}
	h.SetMode(mode)
	return packed(h, text)
}

// deflated returns a text compressed by package flate, for use with a header of our own.
func deflated(t testing.TB, text string) string {
	t.Helper()
	data := zipped(t, file("x", text))
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	from, err := z.File[0].DataOffset()
	if err != nil {
		t.Fatal(err)
	}
	return string(data[from : from+int64(z.File[0].CompressedSize64)])
}

var small = Bounds{Files: 5, FileBytes: 100, AllBytes: 250, Ratio: 10}

func TestUnpack(t *testing.T) {
	long := strings.Repeat("0123456789", 10)
	for _, test := range []struct {
		about   string
		name    string // "" means up.zip
		data    []byte
		files   []Upload
		skipped []Skipped
	}{
		{"a file alone", "a.def", []byte("text"), []Upload{{"a.def", []byte("text")}}, nil},
		{"a file with a byte order mark", "a.def", []byte("\ufefftext"), []Upload{{"a.def", []byte("\ufefftext")}}, nil},
		{"an empty file", "a.def", nil, []Upload{{"a.def", nil}}, nil},
		{"a file from a chosen folder", "defs/a.def", []byte("text"), []Upload{{"defs/a.def", []byte("text")}}, nil},
		{"a file with the largest size", "a.def", []byte(long), []Upload{{"a.def", []byte(long)}}, nil},
		{"a file that is too large", "a.def", []byte(long + "x"), nil, []Skipped{{"a.def", "larger than 100 bytes"}}},
		{"a file with a path of Windows", `C:\a.def`, nil, nil, []Skipped{{`C:\a.def`, "the name has a backslash"}}},
		{"a hidden file", ".a.def", nil, nil, []Skipped{{".a.def", "hidden"}}},
		{"a file with no name", "", nil, nil, []Skipped{{"", "the name is empty"}}},
		{"a file with a name of a device", "nul.def", nil, nil, []Skipped{{"nul.def", "Windows reserves this name for a device"}}},

		{"a zip of nothing", "", zipped(t), nil, nil},
		{
			"files and folders", "", zipped(t, file("a.def", "1"), file("x/", ""), file("x/b.def", "2"), file("./y//c.def", "3")),
			[]Upload{{"a.def", []byte("1")}, {"x/b.def", []byte("2")}, {"y/c.def", []byte("3")}},
			nil,
		},
		{
			"one folder around all", "", zipped(t, file("top/a.def", "\ufeff1"), file("top/x/b.def", "2")),
			[]Upload{{"a.def", []byte("\ufeff1")}, {"x/b.def", []byte("2")}},
			nil,
		},
		{
			"of two folders around all, one goes", "", zipped(t, file("top/x/a.def", "1"), file("top/x/b.def", "2")),
			[]Upload{{"x/a.def", []byte("1")}, {"x/b.def", []byte("2")}},
			nil,
		},
		{
			"two folders at the top", "", zipped(t, file("top/a.def", "1"), file("topper/b.def", "2")),
			[]Upload{{"top/a.def", []byte("1")}, {"topper/b.def", []byte("2")}},
			nil,
		},
		{
			"what systems add", "", zipped(t, file("top/a.def", "1"), file("__MACOSX/top/._a.def", "x"), file("top/.DS_Store", "x"),
				file("top/.git/config", "x"), file("top/node_modules/b.def", "x")),
			[]Upload{{"a.def", []byte("1")}},
			nil,
		},
		{
			"names that lead elsewhere", "", zipped(t, file("a.def", "1"), file("../b.def", "x"), file("x/../../c.def", "x"), file("x/../d.def", "x"),
				file("/e.def", "x"), file("C:f.def", "x"), file(`x\g.def`, "x"), file("h\x00.def", "x"), file("..", "x")),
			[]Upload{{"a.def", []byte("1")}},
			[]Skipped{
				{"../b.def", "the path leads out of the folder"},
				{"x/../../c.def", "the path leads out of the folder"},
				{"x/../d.def", "the path leads out of the folder"},
				{"/e.def", "the path is absolute"},
				{"C:f.def", "the path is absolute"},
				{`x\g.def`, "the name has a backslash"},
				{"h\x00.def", "the name has a zero byte"},
				{"..", "the path leads out of the folder"},
			},
		},
		{
			"names that no file may have", "", zipped(t, file("a.def", "1"), file("\x82.def", "x"), file("con", "x"), file("what?.def", "x"), file("", "x")),
			[]Upload{{"a.def", []byte("1")}},
			[]Skipped{
				{"\x82.def", "the name is not UTF-8"},
				{"", "the name is empty"},
				{"con", "Windows reserves this name for a device"},
				{"what?.def", "the character ? is not allowed in names"},
			},
		},
		{
			"UTF-8 that is not called so", "", zipped(t, packed(zip.FileHeader{Name: "é.def", NonUTF8: true}, "1")),
			[]Upload{{"é.def", []byte("1")}},
			nil,
		},
		{
			"links and devices", "", zipped(t, moded("a.def", 0o644, "1"), moded("l.def", fs.ModeSymlink|0o777, "/etc/passwd"), moded("d.def", fs.ModeDevice, "")),
			[]Upload{{"a.def", []byte("1")}},
			[]Skipped{{"l.def", "not a regular file"}, {"d.def", "not a regular file"}},
		},
		{
			"a zip in a zip", "", zipped(t, file("a.def", "1"), file("b.ZIP", "x"), file("c.jar", string(zipped(t)))),
			[]Upload{{"a.def", []byte("1")}},
			[]Skipped{{"b.ZIP", "a zip file in a zip file is not unpacked"}, {"c.jar", "a zip file in a zip file is not unpacked"}},
		},
		{
			"the same name again", "", zipped(t, file("a.def", "1"), file("A.def", "2"), file("a.def", "3"), file("./a.def", "4")),
			[]Upload{{"a.def", []byte("1")}},
			[]Skipped{{"A.def", `differs only in case from "a.def"`}, {"a.def", "another file has the same name"}, {"./a.def", "another file has the same name"}},
		},
		{
			"the same folder in another case", "", zipped(t, file("x/a.def", "1"), file("X/b.def", "2"), file("c.def", "3")),
			[]Upload{{"x/a.def", []byte("1")}, {"c.def", []byte("3")}},
			[]Skipped{{"X/b.def", `the folder differs only in case from "x"`}},
		},
		{
			"a file that is a folder as well", "", zipped(t, file("x", "1"), file("x/a.def", "2"), file("y/b/c.def", "3"), file("Y/b", "4"), file("y/B", "5")),
			[]Upload{{"x", []byte("1")}, {"y/b/c.def", []byte("3")}},
			[]Skipped{{"x/a.def", `"x" is a file`}, {"Y/b", `the folder differs only in case from "y"`}, {"y/B", `"y/b" is a folder`}},
		},
		{
			"a damaged one gives its name to another", "",
			zipped(t, raw(zip.FileHeader{Name: "a.def", UncompressedSize64: 1, CRC32: 7}, "x"), file("a.def", "1"), file("b.def", "2")),
			[]Upload{{"a.def", []byte("1")}, {"b.def", []byte("2")}},
			[]Skipped{{"a.def", "damaged: the checksum does not match"}},
		},
		{
			"what cannot be read", "",
			zipped(t,
				file("a.def", "1"),
				raw(zip.FileHeader{Name: "secret.def", Flags: 1, UncompressedSize64: 1}, "x"),
				raw(zip.FileHeader{Name: "lzma.def", Method: 14, UncompressedSize64: 1}, "x"),
				raw(zip.FileHeader{Name: "sum0.def", UncompressedSize64: 1}, "x"),
				raw(zip.FileHeader{Name: "noise.def", Method: zip.Deflate, UncompressedSize64: 9}, "\xff\xff\xff"),
			),
			[]Upload{{"a.def", []byte("1")}},
			[]Skipped{
				{"secret.def", "encrypted"},
				{"lzma.def", "compression method 14 is not supported"},
				{"sum0.def", "damaged: the checksum does not match"},
				{"noise.def", "damaged"},
			},
		},
		{
			"more or fewer bytes than it says", "",
			zipped(t,
				raw(zip.FileHeader{Name: "more.def", Method: zip.Deflate, UncompressedSize64: 10, CRC32: crc32.ChecksumIEEE([]byte(long))}, deflated(t, long)),
				raw(zip.FileHeader{Name: "fewer.def", Method: zip.Deflate, UncompressedSize64: 99, CRC32: crc32.ChecksumIEEE([]byte("x"))}, deflated(t, "x")),
			),
			nil,
			[]Skipped{{"more.def", "damaged"}, {"fewer.def", "damaged"}},
		},
		{
			"the largest size, and one more byte", "", zipped(t, file("a.def", long), file("b.def", long+"x")),
			[]Upload{{"a.def", []byte(long)}},
			[]Skipped{{"b.def", "larger than 100 bytes"}},
		},
		{
			"the most files and the most bytes", "", zipped(t, file("a", long), file("b", long), file("c", long[:25]), file("d", long[:25]), file("e", ""), file(".f", "x")),
			[]Upload{{"a", []byte(long)}, {"b", []byte(long)}, {"c", []byte(long[:25])}, {"d", []byte(long[:25])}, {"e", nil}},
			nil,
		},
	} {
		t.Run(test.about, func(t *testing.T) {
			if test.name == "" && isZip(test.data) {
				test.name = "up.zip"
			}
			files, skipped, err := Unpack(test.name, test.data, small)
			if err != nil {
				t.Fatal(err)
			}
			for i := range files {
				if len(files[i].Text) == 0 {
					files[i].Text = nil
				}
			}
			if diff := cmp.Diff(test.files, files); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.skipped, skipped); diff != "" {
				t.Errorf("skipped (-want +got):\n%s", diff)
			}
		})
	}
}

// twice returns a zip file whose directory lists its one member twice, so that the same bytes are unpacked for each.
func twice(t *testing.T, text string) []byte {
	t.Helper()
	data := zipped(t, packed(zip.FileHeader{Name: "a.def"}, text))
	end := bytes.LastIndex(data, []byte("PK\x05\x06"))
	start := bytes.LastIndex(data, []byte("PK\x01\x02"))
	entry, tail := data[start:end], bytes.Clone(data[end:])
	binary.LittleEndian.PutUint16(tail[8:], 2)
	binary.LittleEndian.PutUint16(tail[10:], 2)
	binary.LittleEndian.PutUint32(tail[12:], uint32(2*len(entry)))
	return bytes.Join([][]byte{data[:start], entry, bytes.Replace(entry, []byte("a.def"), []byte("b.def"), 1), tail}, nil)
}

func TestUnpackTakesNothingOfWhatIsTooMuch(t *testing.T) {
	many := func(n int, name string) []byte {
		var all []func(testing.TB, *zip.Writer)
		for i := range n {
			all = append(all, file(fmt.Sprintf(name, i), ""))
		}
		return zipped(t, all...)
	}
	zeros := strings.Repeat("0", 3<<20)
	hundred := strings.Repeat("x", 100)
	whole := zipped(t, file("a.def", "1"))
	for _, test := range []struct {
		about  string
		data   []byte
		bounds Bounds
		want   string
		bomb   bool
	}{
		{"more files", many(6, "%d.def"), small, "unpacks to more than is allowed: more than 5 files", true},
		{"more entries", many(1021, ".%d"), small, "unpacks to more than is allowed: more than 1020 entries", true},
		{
			"more bytes", zipped(t, file("a", hundred), file("b", hundred), file("c", hundred)), small,
			"unpacks to more than is allowed: more than 250 bytes", true,
		},
		{
			"more bytes, of damaged files",
			zipped(t, raw(zip.FileHeader{Name: "a", UncompressedSize64: 100}, hundred), raw(zip.FileHeader{Name: "b", UncompressedSize64: 100}, hundred), file("c", hundred)),
			small, "unpacks to more than is allowed: more than 250 bytes", true,
		},
		{
			"a higher ratio", zipped(t, file("a", zeros)),
			Bounds{5, 4 << 20, 8 << 20, 100},
			"unpacks to more than is allowed: more than 100 times its size", true,
		},
		{
			"a higher ratio, of all together", zipped(t, file("a", zeros[:1<<20]), file("b", zeros[:1<<20])),
			Bounds{5, 4 << 20, 8 << 20, 100},
			"unpacks to more than is allowed: more than 100 times its size", true,
		},
		{"the same bytes twice", twice(t, "text"), small, "unpacks to more than is allowed: its files overlap", true},
		{"anything, for no bounds", whole, Bounds{}, "unpacks to more than is allowed: more than 0 files", true},
		{"a torn zip", whole[:len(whole)-10], small, "not a readable zip file: zip: not a valid zip file", false},
		{"a zip in name only", []byte("PK\x03\x04 and other words"), small, "not a readable zip file: zip: not a valid zip file", false},
	} {
		t.Run(test.about, func(t *testing.T) {
			files, skipped, err := Unpack("up.zip", test.data, test.bounds)
			if err == nil || err.Error() != "unpack up.zip: "+test.want || errors.Is(err, ErrBomb) != test.bomb {
				t.Errorf("got %v\nwant %s", err, test.want)
			}
			if len(files) != 0 || len(skipped) == 0 || skipped[len(skipped)-1] != (Skipped{"up.zip", "rejected as a whole"}) {
				t.Errorf("%d files, skipped %v", len(files), skipped)
			}
		})
	}
	if files, skipped, err := Unpack("up.zip", zipped(t, file("a", zeros)), Bounds{5, 4 << 20, 8 << 20, 1200}); err != nil || len(files) != 1 {
		t.Errorf("a ratio that is allowed: %v, %v", skipped, err)
	}
	if files, skipped, err := Unpack("up.zip", zipped(t, file("a", zeros[:1<<20])), Bounds{5, 4 << 20, 8 << 20, 10}); err != nil || len(files) != 1 {
		t.Errorf("a high ratio of few bytes: %v, %v", skipped, err)
	}
}

// The result of any upload is within the bounds and can be written to a folder.
func FuzzUnpack(f *testing.F) {
	f.Add("a.def", []byte("text"))
	f.Add("dir/.x", []byte("PK"))
	f.Add("up.zip", zipped(f))
	f.Add("up.zip", zipped(f, file("top/a.def", "1"), file("top/x/B.def", "2"), file("../c", "3"), file("top/x/b.def", "4")))
	f.Add("up.zip", zipped(f, file("x", "1"), file("X/a", "2"), file("a/b/c", strings.Repeat("z", 99)), moded("l", fs.ModeSymlink, "x")))
	f.Add("up.zip", zipped(f, packed(zip.FileHeader{Name: "s"}, "stored"), raw(zip.FileHeader{Name: "e", Flags: 1}, "x")))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		files, skipped, err := Unpack(name, data, small)
		if err != nil && len(files) > 0 {
			t.Errorf("%d files beside %v", len(files), err)
		}
		if err == nil && !isZip(data) && len(files)+len(skipped) != 1 {
			t.Errorf("one file became %d and %d skipped", len(files), len(skipped))
		}
		all := 0
		folders, byFold := map[string]bool{}, map[string]string{}
		see := func(name string) {
			if was, ok := byFold[strings.ToLower(name)]; ok && was != name {
				t.Errorf("%q and %q differ only in case", was, name)
			}
			byFold[strings.ToLower(name)] = name
		}
		for _, f := range files {
			all += len(f.Text)
			if err := CheckName(f.Name); err != nil || len(f.Text) > int(small.FileBytes) {
				t.Errorf("%q of %d bytes: %v", f.Name, len(f.Text), err)
			}
			for dir := path.Dir(f.Name); dir != "."; dir = path.Dir(dir) {
				see(dir)
				folders[dir] = true
			}
		}
		for _, f := range files {
			if folders[f.Name] || byFold[strings.ToLower(f.Name)] == f.Name {
				t.Errorf("%q occurs twice, or is a folder too", f.Name)
			}
			see(f.Name)
		}
		if len(files) > small.Files || all > int(small.AllBytes) {
			t.Errorf("%d files of %d bytes", len(files), all)
		}
	})
}
