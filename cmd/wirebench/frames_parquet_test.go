package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"wirebench/defs"
	"wirebench/defs/benchtest"
)

// parquetRows returns what the files of a folder say of their frames, by number: the message, and the columns of frames.
func parquetRows(t testing.TB, dir string) map[uint64]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[uint64]string{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".parquet" || e.Name()[0] == '.' {
			t.Errorf("%s is left in the folder", e.Name())
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		file, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		name, _ := file.Lookup("wirebench.message")
		version, _ := file.Lookup("wirebench.version")
		for _, group := range file.RowGroups() {
			rows := group.Rows()
			buf := make([]pq.Row, 16)
			for {
				n, err := rows.ReadRows(buf)
				for _, row := range buf[:n] {
					v := row[:9] // of the frame, each with one value
					number := uint64(v[4].Int64())
					if old, ok := out[number]; ok {
						t.Errorf("frame %d is twice: %s", number, old)
					}
					out[number] = fmt.Sprintf("%s.%s %s %s %v %v %d %s %v", name, version, v[1], v[2], v[3].IsNull(), v[5], v[6].Int32(), v[7], v[8])
				}
				if err != nil {
					break
				}
			}
			rows.Close()
		}
	}
	return out
}

// TestParquetOfSamples exports the recordings of all languages: each frame with a definition is in one row of one file, with what the list says of it.
func TestParquetOfSamples(t *testing.T) {
	for _, d := range defs.Dialects {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			library := filepath.Join("..", "..", "defs", "library", d.Name)
			files, err := filepath.Glob(filepath.Join(library, "*.pcapng"))
			if err != nil || len(files) == 0 {
				t.Fatal("no recording", err)
			}
			args := append([]string{"--library", library}, files...)
			args = append(args, files[0]) // numbers go on
			text, errs, status := cli(t, "", append([]string{"frames", "--json"}, args...)...)
			if status != exitOK {
				t.Fatal(errs)
			}
			want, without := map[uint64]string{}, 0
			for line := range strings.Lines(text) {
				var f struct {
					N       uint64
					Time    string
					Conn    string
					Dir     string
					Code    *uint32
					Message string
					Version int
					Length  int
					Status  string
					Resumed bool
					Hex     string
				}
				if err := json.Unmarshal([]byte(line), &f); err != nil {
					t.Fatal(err)
				}
				if f.Message == "" || f.Status == "unknown" {
					without++
					continue
				}
				code := "<null>"
				if f.Code != nil {
					code = fmt.Sprint(*f.Code)
				}
				want[f.N] = fmt.Sprintf("%s.%d %s %s %v %v %d %s %v", f.Message, f.Version, f.Conn, f.Dir, f.Time == "", code, len(f.Hex)/2, f.Status, f.Resumed)
			}
			dir := filepath.Join(t.TempDir(), "lake")
			out, errs, status := cli(t, "", append([]string{"frames", "--parquet", dir}, args...)...)
			if status != exitOK || out != "" {
				t.Fatal(status, out, errs)
			}
			got := parquetRows(t, dir)
			for n, w := range want {
				if got[n] != w {
					t.Errorf("frame %d: %s\nwant %s", n, got[n], w)
				}
			}
			if len(got) != len(want) || len(want) == 0 {
				t.Errorf("%d rows, want %d", len(got), len(want))
			}
			if note := fmt.Sprintf("%d frames have no definition", without); (without > 0) != strings.Contains(errs, note) {
				t.Errorf("%d frames without a definition:\n%s", without, errs)
			}
			if !strings.Contains(errs, fmt.Sprintf("%d rows in", len(want))) {
				t.Error(errs)
			}
		})
	}
}

// TestParquetFolder: files are not mixed with those of another export, and what fails leaves none.
func TestParquetFolder(t *testing.T) {
	library, file := smallMessages(t, 100)
	dir := t.TempDir()
	if _, errs, status := cli(t, "", "frames", "--library", library, "--parquet", dir, file); status != exitOK {
		t.Fatal(errs)
	}
	if got := parquetRows(t, dir); len(got) != 100 {
		t.Errorf("%d rows", len(got))
	}
	if _, errs, status := cli(t, "", "frames", "--library", library, "--parquet", dir, file); status != exitUsage || !strings.Contains(errs, "has 1 Parquet files already") {
		t.Errorf("%d %s", status, errs)
	}
	dir = t.TempDir()
	if _, errs, status := cli(t, "", "frames", "--library", library, "--parquet", dir, file, filepath.Join(dir, "none.pcap")); status != exitUsage {
		t.Errorf("%d %s", status, errs)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if out, errs, status := cli(t, "", "frames", "--library", library, "--parquet=", file); status != exitUsage || out != "" || !strings.Contains(errs, "needs the name of a folder") {
		t.Errorf("%d %s", status, errs)
	}
	if _, errs, status := cli(t, "", "frames", "--library", library, "--parquet", dir, "--json", file); status != exitUsage || !strings.Contains(errs, "cannot be combined") {
		t.Errorf("%d %s", status, errs)
	}
	if _, errs, status := cli(t, "", "frames", "--library", library, "--parquet", dir, "--filter", ".hp < 10", file); status != exitOK || !strings.Contains(errs, "10 rows in 1 files") {
		t.Errorf("%d %s", status, errs)
	}
}

// BenchmarkMustParquet compares an export with a list of the same frames as JSON Lines with values, which has the same contents, 0.72 µs a frame. An
// export takes 1.8 to 2.2 times as much of both processors together, from the capture to the file: one reads, and the other one encodes.
func BenchmarkMustParquet(b *testing.B) {
	const n = 200_000
	library, file := smallMessages(b, n)
	export := func() {
		listed(b, library, file, "--parquet", filepath.Join(b.TempDir(), "lake"))()
	}
	took := benchtest.Least(max(b.N, 5), benchtest.Job{Name: "parquet", Run: export}, benchtest.Job{Name: "json with values", Run: listed(b, library, file, "--json", "--value")})
	benchtest.Must(b, n, took[0], took[1], 3)
}
