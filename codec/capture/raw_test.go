package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"wirebench/codec/packettest"
	"wirebench/codec/transport"
)

// zeros is a reader of n zero bytes behind some others.
func zeros(n int64) io.Reader { return io.LimitReader(zero{}, n) }

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func framing(t *testing.T, text string) *Framing {
	t.Helper()
	f, err := ParseFraming(text)
	if err != nil {
		t.Fatal(err)
	}
	return &f
}

// Raw bytes have the same messages in any form: as they are, compressed, in an archive, or in a compressed archive.
func TestRawInAnyForm(t *testing.T) {
	data := []byte("\x02ab\x00\x03cde\x01f")
	var zst, lz bytes.Buffer
	z, _ := zstd.NewWriter(&zst)
	l := lz4.NewWriter(&lz)
	for _, w := range []io.WriteCloser{z, l} {
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	files := map[string][]byte{"plain": data, "gz": packettest.Gzipped(data), "zst": zst.Bytes(), "lz4": lz.Bytes()}
	for form, file := range files {
		for _, how := range []string{"whole file", "byte by byte"} {
			var got []string
			r := io.Reader(bytes.NewReader(file))
			if how == "byte by byte" {
				r = oneByte{r}
			}
			sum, _, err := ReadAny(r, Options{Framing: framing(t, "prefixed:1")}, func(f *transport.Frame) {
				got = append(got, fmt.Sprintf("%v %d %s", f.Kind, f.Offset, f.Bytes))
			})
			if want := "message 1 ab, message 4 , message 5 cde, message 9 f"; err != nil || sum.Torn != nil || strings.Join(got, ", ") != want {
				t.Errorf("%s, %s: %q, %v, torn %v", form, how, got, err, sum.Torn)
			}
		}
	}
	cut := files["gz"][:len(files["gz"])-9]
	n := 0
	sum, _, err := ReadAny(bytes.NewReader(cut), Options{Framing: framing(t, "fixed:1")}, func(*transport.Frame) { n++ })
	if err != nil || sum.Torn == nil {
		t.Errorf("a truncated file has %d messages, %v, and no note", n, err)
	}
}

// oneByte reads a byte at a time, as a slow pipe does.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }

// A file of raw bytes may be larger than memory; only a message is bounded, and the bound is named.
func TestRawBounds(t *testing.T) {
	for _, c := range []struct {
		framing string
		head    string
		size    int64
		frames  uint32
		note    string
	}{
		{"fixed:1000000", "", 90e6, 90, ""},
		{"fixed:1000000", "", 90e6 + 7, 91, "the stream ends inside a message, after 7 of its 1000000 bytes"},
		{"whole", "", 64 << 20, 1, ""},
		{"whole", "", 64<<20 + 1, 1, "a message of 67108865 bytes: the limit is 67108864; 67,108,865 bytes not read"},
		{"delimited:ff", "ab\xff", 70 << 20, 3, "the end of a message, "},
		{"prefixed:4be", "\x05\x00\x00\x00", 1 << 20, 17, "a length of 83886080: the limit is 67108864; "},
		{"prefixed:4be", "\x00\x08\x00\x00", 1 << 18, 1, "the stream ends inside a message, after 262148 of its 524292 bytes"},
		{"prefixed:1+self", "\x02a\x00", 1 << 20, 17, "the length 0 is too small; "},
	} {
		var note string
		sum, _, err := ReadAny(io.MultiReader(strings.NewReader(c.head), zeros(c.size)), Options{Framing: framing(t, c.framing)}, func(f *transport.Frame) { note += f.Note })
		if err != nil || sum.Frames != c.frames || !strings.Contains(note, c.note) || c.note == "" && note != "" {
			t.Errorf("%s of %d bytes: %d frames, %q, %v", c.framing, c.size, sum.Frames, note, err)
		}
	}
	failed := errors.New("the disk fails")
	if _, _, err := ReadAny(io.MultiReader(strings.NewReader("abc"), broken{failed}), Options{Framing: framing(t, "fixed:1")}, func(*transport.Frame) {}); !errors.Is(err, failed) {
		t.Errorf("an error of the reader: %v", err)
	}
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// A compressed text that is damaged is read as far as it goes, and says so.
func TestTextOfADamagedFile(t *testing.T) {
	text := strings.Repeat("0800112233445566\n", 20000)
	file := packettest.Gzipped([]byte(text))
	sum, pasted, err := ReadAny(bytes.NewReader(file[:len(file)-9]), Options{}, func(*transport.Frame) {})
	if err != nil || pasted == nil || sum.Torn == nil {
		t.Errorf("%+v, %v", sum, err)
	}
}
