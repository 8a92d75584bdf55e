package store

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A backup made while files are written has each of them whole, and a recording up to some moment; restored, it is a data folder again. The
// same holds for a copy of the folder.
func TestBackup(t *testing.T) {
	folder := t.TempDir()
	data, err := OpenData(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	dir, err := data.Dir("one", "definitions")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := data.Captures("one", "captures")
	if err != nil {
		t.Fatal(err)
	}
	x, recording, err := kept.Record(Capture{Name: "live"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	secret := data.Secret("accounts.json")
	stop := make(chan struct{})
	var writers sync.WaitGroup
	text := func(i int) []byte {
		return []byte(fmt.Sprintf("%d\n", i) + strings.Repeat("x", 5000+i%100) + fmt.Sprintf("\n%d", i))
	}
	writers.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := dir.Write("a.def", text(i), nil); err != nil {
				t.Error(err)
			}
			if err := secret.Write(text(i)); err != nil {
				t.Error(err)
			}
			if _, err := recording.Write([]byte("block ")); err != nil {
				t.Error(err)
			}
		}
	})
	check := func(folder string) {
		t.Helper()
		for _, name := range []string{"one/definitions/a.def", "accounts.json"} {
			got, err := os.ReadFile(filepath.Join(folder, name))
			var first, last int
			lines := strings.Split(string(got), "\n")
			fmt.Sscan(lines[0], &first)
			fmt.Sscan(lines[len(lines)-1], &last)
			if err != nil || !bytes.Equal(got, text(first)) || first != last {
				t.Fatalf("%s: %v, %d bytes of %d, %d", name, err, len(got), first, last)
			}
		}
		got, err := os.ReadFile(filepath.Join(folder, "one/captures", x.ID+captureEnding))
		if err != nil || len(got)%6 != 0 || len(got) == 0 {
			t.Errorf("%v, %d bytes of the recording", err, len(got))
		}
		again, err := OpenData(folder, nil)
		if err != nil {
			t.Fatal(err)
		}
		again.Close()
	}
	time.Sleep(50 * time.Millisecond)
	for i := range 5 {
		var archive bytes.Buffer
		n, err := Backup(&archive, folder)
		if err != nil || n < 5 {
			t.Fatal(n, err)
		}
		to := filepath.Join(t.TempDir(), "new", fmt.Sprint(i))
		if m, err := Restore(&archive, to); err != nil || m != n {
			t.Fatal(m, err)
		}
		check(to)
		if info, err := os.Stat(filepath.Join(to, "accounts.json")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
	}
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(folder)); err != nil && !strings.Contains(err.Error(), ".new") && !strings.Contains(err.Error(), temporaryStart) {
		t.Fatal(err)
	} else if err == nil {
		check(copied)
	}
	close(stop)
	writers.Wait()
	if err := recording.Close(); err != nil {
		t.Error(err)
	}
}

// Archives that are none, or would write elsewhere, change nothing.
func TestRestoreRefuses(t *testing.T) {
	archive := func(headers ...tar.Header) io.Reader {
		var b bytes.Buffer
		zip := gzip.NewWriter(&b)
		out := tar.NewWriter(zip)
		for _, h := range headers {
			h.Mode = 0o644
			if h.Typeflag == tar.TypeReg {
				h.Size = 2
			}
			_ = out.WriteHeader(&h)
			if h.Typeflag == tar.TypeReg {
				_, _ = out.Write([]byte("{}"))
			}
		}
		out.Close()
		zip.Close()
		return &b
	}
	format := tar.Header{Name: formatFile, Typeflag: tar.TypeReg}
	for name, in := range map[string]io.Reader{
		"no archive": strings.NewReader("hello"), "no backup": archive(tar.Header{Name: "a", Typeflag: tar.TypeReg}),
		"outside": archive(format, tar.Header{Name: "../evil", Typeflag: tar.TypeReg}), "absolute": archive(format, tar.Header{Name: "/evil", Typeflag: tar.TypeReg}),
		"a link": archive(format, tar.Header{Name: "l", Linkname: "/etc", Typeflag: tar.TypeSymlink}), "twice": archive(format, format),
		"cut off": io.LimitReader(archive(format, tar.Header{Name: "a", Typeflag: tar.TypeReg}), 60),
	} {
		to := filepath.Join(t.TempDir(), "new")
		if _, err := Restore(in, to); err == nil {
			t.Errorf("%s: restored", name)
		}
		if left, _ := os.ReadDir(to); len(left) > 0 {
			t.Errorf("%s: %v is left", name, left)
		}
	}
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(archive(format), full); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Error(err)
	}
	if _, err := Backup(io.Discard, full); err == nil {
		t.Error("backup of another folder")
	}
}
