package server

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"wirebench/server/servertest"
)

// tablesIn returns the rows of an archive of Parquet files, by number, each with its values.
func tablesIn(t *testing.T, archive string) map[uint64]string {
	t.Helper()
	z, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[uint64]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name == "export.json" {
			var said struct {
				Undefined int
				Files     []struct{ Rows int }
			}
			if err := json.Unmarshal(data, &said); err != nil || said.Undefined != 0 || len(said.Files) != len(z.File)-1 || said.Files[0].Rows == 0 {
				t.Errorf("%s: %v", data, err)
			}
			continue
		}
		file, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range file.RowGroups() {
			rows, buf := group.Rows(), make([]pq.Row, 16)
			for {
				n, err := rows.ReadRows(buf)
				for _, row := range buf[:n] {
					out[row[4].Uint64()] += fmt.Sprint(f.Name, " ", row[9:])
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

// TestExportParquet: an export has the frames that the same export as JSON Lines has, those with a definition; values marked @secret only if asked; and
// nothing is left in the temporary folder, also if the client goes away.
func TestExportParquet(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	t.Setenv("TMP", folder) // Windows
	s := captureServer(t, "muta", map[string]string{"game.def": strings.Replace(servertest.SayAndPing, "   text", "   # @secret\n   text", 1)})
	x := servertest.Keep(t, s, "follow.txt", []byte(servertest.Follow))
	for _, which := range []string{"", "&frames=2-4", "&filter=len+%3C+3"} {
		lines, _ := exported(t, s, x.ID, "format=jsonl"+which)
		want := map[uint64]string{}
		for line := range strings.Lines(lines) {
			var f struct {
				N       uint64
				Message string
				Version int
			}
			if err := json.Unmarshal([]byte(line), &f); err != nil {
				t.Fatal(err)
			}
			if f.Message != "" {
				want[f.N] = fmt.Sprintf("%s.%d.parquet", f.Message, f.Version)
			}
		}
		hidden, _ := exported(t, s, x.ID, "format=parquet"+which)
		open, _ := exported(t, s, x.ID, "format=parquet&secrets=true"+which)
		for secrets, archive := range map[bool]string{false: hidden, true: open} {
			got, all := tablesIn(t, archive), ""
			for n, w := range want {
				if !strings.HasPrefix(got[n], w) || strings.Count(got[n], ".parquet") != 1 {
					t.Errorf("%q, frame %d: %s, want one of %s", which, n, got[n], w)
				}
				all += got[n]
			}
			if len(got) != len(want) || len(want) == 0 {
				t.Errorf("%q: %d rows, want %d", which, len(got), len(want))
			}
			if says := strings.Contains(all, "hello"); says && !secrets || !says && secrets && which == "" {
				t.Errorf("%q: the secret is there: %v", which, says)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	out := &goingAway{ResponseRecorder: httptest.NewRecorder(), left: 10, cancel: cancel}
	func() {
		defer func() { _ = recover() }() // http.ErrAbortHandler
		s.ServeHTTP(out, httptest.NewRequestWithContext(ctx, "GET", "/api/one/captures/"+x.ID+"/export?format=parquet", nil))
	}()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}
