package capture

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"wirebench/codec/packet"
	"wirebench/codec/packettest"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// packedFile is a file of a test archive.
type packedFile struct{ name, text string }

func zipFile(t testing.TB, files ...packedFile) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		to, err := w.Create(f.name)
		if err != nil {
			t.Fatal(err)
		}
		to.Write([]byte(f.text))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarFile(t testing.TB, files ...packedFile) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: 0o600, Size: int64(len(f.text))}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(f.text))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadArchive(t *testing.T) {
	files := []packedFile{
		{"dir/", ""},
		{"dir/10.bin", "ten"},
		{"dir/9.bin", "nine"},
		{"dir/009.bin", "nine too"},
		{"dir/1a.bin", ""},
		{".DS_Store", "x"},
		{"__MACOSX/dir/._9.bin", "x"},
		{"dir/.hidden/x", "x"},
		{"a", "a"},
		{`b\.git\x`, "x"},
		{"Thumbs.db", "x"},
		{"./c", "c"},
	}
	want := []string{"./c=c", "a=a", "dir/1a.bin=", "dir/009.bin=nine too", "dir/9.bin=nine", "dir/10.bin=ten"}
	for kind, data := range map[string][]byte{"zip": zipFile(t, files...), "tar": tarFile(t, files...), "tar.gz": packettest.Gzipped(tarFile(t, files...))} {
		if got := SniffArchive(data[:min(len(data), 512)]); got != kind && kind != "tar.gz" {
			t.Errorf("%s: %q", kind, got)
		}
		got, torn, err := ReadArchive(iotest.HalfReader(bytes.NewReader(data)))
		var names []string
		for _, f := range got {
			names = append(names, f.Name+"="+string(f.Data))
		}
		if err != nil || torn != "" || !slices.Equal(names, want) {
			t.Errorf("%s: %q %q %v", kind, names, torn, err)
		}
		// Truncated archives yield complete files, or none.
		for n := 0; n < len(data); n += 37 {
			got, torn, err := ReadArchive(bytes.NewReader(data[:n]))
			for _, f := range got {
				if !slices.Contains(want, f.Name+"="+string(f.Data)) {
					t.Errorf("%s cut at %d: %q %q", kind, n, f, torn)
				}
			}
			if err != nil && !errors.Is(err, ErrArchive) {
				t.Errorf("%s cut at %d: %v", kind, n, err)
			}
		}
	}
	broken := errors.New("the disk is gone")
	for _, data := range [][]byte{zipFile(t, files...), tarFile(t, files...)} {
		if _, _, err := ReadArchive(io.MultiReader(bytes.NewReader(data[:600]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
			t.Error(err)
		}
	}
}

// The cost of an archive that unpacks to more than allowed is bounded by that limit.
func TestArchiveBombs(t *testing.T) {
	zeros := strings.Repeat("\x00", archiveRatioFrom/2)
	many := slices.Repeat([]packedFile{{"x", zeros}}, 3)
	for i := range many {
		many[i].name = fmt.Sprint(i)
	}
	for name, data := range map[string][]byte{"zip": zipFile(t, many...), "tar.gz": packettest.Gzipped(tarFile(t, many...))} {
		if files, _, err := ReadArchive(bytes.NewReader(data)); !errors.Is(err, ErrArchive) || files != nil {
			t.Errorf("%s of %d bytes: %d files, %v", name, len(data), len(files), err)
		}
	}
	headers := append(zipFile(t, packedFile{"x", ""}), strings.Repeat("PK\x01\x02", 2*maxArchiveFiles)...)
	if _, _, err := ReadArchive(bytes.NewReader(headers)); !errors.Is(err, ErrArchive) || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}

// An archive is one capture: each file is a message, in the order of the names, or split by a framing.
func TestArchiveAsCapture(t *testing.T) {
	one, two := packettest.WireMessage(1, "abc"), packettest.WireMessage(2, "")
	first := exportedPackets(t)[0]
	var file bytes.Buffer
	w, _ := pcap.NewWriter(&file, "test")
	w.Interface(pcap.Interface{Link: packet.LinkEthernet})
	w.Packet(&first)
	replay := "\x00\x00\x00\x05\x00\x00\x00\x03abc\x00\x00\x04\x00\x00\x00\x00\x02de"
	for _, c := range []struct {
		name   string
		data   []byte
		opts   Options
		format string
		form   string
		want   []string
		torn   string
	}{
		{"files", zipFile(t, packedFile{"10.bin", two}, packedFile{"9.bin", one}), Options{}, "zip", "files", []string{"- 1 " + one, "- 2 " + two}, ""},
		{"directions", tarFile(t, packedFile{"1_c2s.bin", one}, packedFile{"2-Server.bin", two}), Options{}, "tar", "files", []string{"c2s 1 " + one, "s2c 2 " + two}, ""},
		{"not all directions", tarFile(t, packedFile{"1_c2s.bin", one}, packedFile{"2.bin", two}), Options{}, "tar", "files", []string{"- 1 " + one, "- 2 " + two}, ""},
		{"texts", zipFile(t, packedFile{"1.hex", "0a 0b\n\n0c"}, packedFile{"2.txt", "00000000: 4142  AB\n"}), Options{}, "zip", "files", []string{"- 1 \x0a\x0b", "- 2 \x0c", "- 3 AB"}, ""},
		{"framing", packettest.Gzipped(tarFile(t, packedFile{"1", one + two}, packedFile{"2", one + "\x09"})), Options{Framing: framing(t, "prefixed:2le+self+keep")}, "tar.gz", "files", []string{"- 1 " + one, "- 2 " + two, "- 3 " + one}, "2"},
		{"texts with a framing", zipFile(t, packedFile{"1", "0a0b"}), Options{Framing: framing(t, "fixed:2+c2s")}, "zip", "files", []string{"c2s 1 0a", "c2s 2 0b"}, ""},
		{"replay", zipFile(t, packedFile{"metaData.json", `{"date":1714564800000}`}, packedFile{"recording.tmcpr", replay}), Options{}, "zip", "replaymod", []string{"s2c 1 abc 12:00:00.005", "s2c 2 de 12:00:01.024"}, ""},
		{"replay that breaks off", zipFile(t, packedFile{"recording.tmcpr", replay[:len(replay)-1]}), Options{}, "zip", "replaymod", []string{"s2c 1 abc 00:00:00.005"}, "2 bytes"},
		{"a capture", zipFile(t, packedFile{"readme.txt", "hello"}, packedFile{"a.pcapng", file.String()}), Options{}, "pcapng in a zip", "", []string{"c2s 1 hello, this is more than one line " + first.At.Format("15:04:05.000")}, ""},
		{"packets", zipFile(t, packedFile{"1.bin", string(first.Data)}), Options{}, "packets in files", "files", []string{"c2s 1 hello, this is more than one line"}, ""},
	} {
		var got []string
		c.opts.Proto = transport.TCP
		c.opts.New = func(transport.Conn) transport.Transport { return &packettest.Sink{} }
		sum, paste, err := ReadAny(bytes.NewReader(c.data), c.opts, func(f *transport.Frame) {
			dir := f.Dir.String()
			if f.Dir == schema.Both {
				dir = "-"
			}
			line := fmt.Sprintf("%s %d %s", dir, f.N, f.Bytes)
			if !f.At.IsZero() {
				line += f.At.Format(" 15:04:05.000")
			}
			got = append(got, line)
		})
		form, why := "", ""
		if paste != nil {
			form, why = paste.Form, paste.Why
		}
		torn := ""
		if sum.Torn != nil {
			torn = sum.Torn.Why
		}
		if err != nil || !slices.Equal(got, c.want) || form != c.form || sum.Format != c.format || (torn == "") != (c.torn == "") || !strings.Contains(torn, c.torn) || int(sum.Frames) != len(got) || form != "" && why == "" {
			t.Errorf("%s: %q\nwant %q\n%s %q %q %v", c.name, got, c.want, sum.Format, form, torn, err)
		}
	}
	for name, data := range map[string][]byte{
		"two captures": zipFile(t, packedFile{"a.pcapng", file.String()}, packedFile{"b.pcapng", file.String()}), "nothing": zipFile(t), "empty files": zipFile(t, packedFile{"a", ""}), "no zip": []byte("PK\x03\x04 and so on"),
	} {
		if _, _, err := ReadAny(bytes.NewReader(data), Options{Options: packet.Options{}, Proto: transport.TCP}, func(*transport.Frame) {}); !errors.Is(err, ErrArchive) && !errors.Is(err, pcap.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNaturalOrder(t *testing.T) {
	want := []string{"", "01", "1", "2", "2a", "10", "a", "a/1", "a/02", "a/10", "a1", "a1b", "b"}
	got := slices.Clone(want)
	slices.Reverse(got)
	if slices.SortFunc(got, naturalOrder); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// For any archive, reading ends, within the bounds.
func FuzzArchive(f *testing.F) {
	f.Add(zipFile(f, packedFile{"1", "0a"}, packedFile{"c2s/2", "\x00"}))
	f.Add(tarFile(f, packedFile{"1", "0a"})[:1100])
	f.Add(zipFile(f, packedFile{"recording.tmcpr", "\x00\x00\x00\x05\x00\x00\x00\x03abc"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if SniffArchive(data) == "" {
			return
		}
		n := 0
		sum, _, err := ReadAny(bytes.NewReader(data), Options{Options: packet.Options{Limit: 100}, Proto: transport.TCP}, func(*transport.Frame) { n++ })
		if err == nil && int(sum.Frames) != n || n > 100 {
			t.Errorf("%d frames, %+v", n, sum)
		}
	})
}
