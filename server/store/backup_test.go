package store

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
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
		plan, err := Plan(folder, true)
		if err != nil {
			t.Fatal(err)
		}
		n, err := Backup(&archive, folder, plan)
		if err != nil || n < 5 {
			t.Fatal(n, err)
		}
		to := filepath.Join(t.TempDir(), "new", fmt.Sprint(i))
		if m, _, err := Restore(&archive, to); err != nil || m != n {
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
		if _, _, err := Restore(in, to); err == nil {
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
	if _, _, err := Restore(archive(format), full); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Error(err)
	}
	if _, err := Plan(full, true); err == nil {
		t.Error("backup of another folder")
	}
}

// treeOf returns the files of a folder with their texts, and its folders with "/".
func treeOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(folder, func(at string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(folder, at)
		switch {
		case err != nil:
			return err
		case e.IsDir():
			out[filepath.ToSlash(rel)+"/"] = ""
		case e.Type().IsRegular():
			text, err := os.ReadFile(at)
			info, _ := e.Info()
			out[filepath.ToSlash(rel)] = fmt.Sprintf("%v %s", info.Mode().Perm()&0o700, text)
			return err
		default:
			out[filepath.ToSlash(rel)] = "special"
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Of a data folder with files of each kind all come back, those of libraries outside too; each that does not is one of a few kinds, and links
// and sockets are named, in the plan and when the backup is restored.
func TestBackupHasAll(t *testing.T) {
	folder, library := t.TempDir(), t.TempDir()
	data, err := OpenData(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	write := func(at, text string, mode fs.FileMode) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	record, _ := json.Marshal(map[string]string{"title": "Two", "protocol": "tera", "library": library})
	files := []string{
		"accounts.json", "audit.jsonl", "projects.json", "proxies.json", "keys.txt", "one/project.json", "one/settings.json", "one/definitions/a.def", "one/definitions/sub/b.def", "one/definitions/.hidden",
		"one/definitions/.git/HEAD", "one/history/a.def.jsonl", "one/texts/a.def.jsonl", "one/changes.json", "one/changes/X.tar.gz", "one/threads.json", "one/capsules.json", "one/capsules/0.json",
		"one/captures/c.pcap", "one/captures/c.pcap.json", "one/captures/.damaged", "one/scores.json.damaged-1", "set-aside/before-2/one/a.def", "two/captures/d.pcap",
	}
	for _, name := range files {
		write(filepath.Join(folder, name), "text of "+name, 0o600)
	}
	write(filepath.Join(folder, "two/project.json"), string(record), 0o666)
	if err := os.MkdirAll(filepath.Join(folder, "one/empty"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x.def", "deep/y.def", "protocol.1.map"} {
		write(filepath.Join(library, name), "library "+name, 0o644)
	}
	write(filepath.Join(library, ".git/HEAD"), "ref", 0o644)
	left := []string{"one/captures/.frames-1", "accounts.json.new", ".removed-three/a", "one/" + temporaryStart + strings.Repeat("0", temporaryDigits) + temporaryEnd, lockFile}
	for _, name := range left[:len(left)-1] {
		write(filepath.Join(folder, name), "left", 0o600)
	}
	special := []string{"one/link.def"}
	if err := os.Symlink("definitions/a.def", filepath.Join(folder, "one/link.def")); err != nil {
		special = nil // the system has no links
	}
	if l, err := net.Listen("unix", filepath.Join(folder, "one/socket")); err == nil {
		defer l.Close()
		special = append(special, "one/socket")
	}
	want := treeOf(t, folder)
	for _, name := range append(left, special...) {
		delete(want, name)
	}
	delete(want, ".removed-three/")
	for name, text := range treeOf(t, library) {
		if !strings.HasPrefix(name, ".") {
			want["two/definitions/"+name] = text
		}
	}
	want["two/definitions/"] = ""
	for _, gone := range []bool{false, true} {
		plan, err := Plan(folder, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range special {
			if !strings.Contains(strings.Join(plan.Left, "\n"), filepath.Join(folder, name)) {
				t.Errorf("%s is not said to be left out: %q", name, plan.Left)
			}
		}
		if len(plan.Left) != len(special)+1 {
			t.Errorf("%q", plan.Left)
		}
		var archive bytes.Buffer
		n, err := Backup(&archive, folder, plan)
		if err != nil {
			t.Fatal(err)
		}
		if gone {
			if err := os.RemoveAll(library); err != nil {
				t.Fatal(err)
			}
			want["two/project.json"] = strings.Split(want["two/project.json"], " ")[0] + " {\n  \"protocol\": \"tera\",\n  \"title\": \"Two\"\n}\n"
		}
		to := filepath.Join(t.TempDir(), "new")
		files, m, err := Restore(&archive, to)
		if err != nil || files != n || m == nil || !slices.Equal(m.Left, plan.Left) || len(m.Libraries) != 1 || m.Libraries[0].Here == gone || !m.Libraries[0].Taken {
			t.Fatalf("%d of %d, %+v %v", files, n, m, err)
		}
		got := treeOf(t, to)
		for name, text := range want {
			if have, ok := got[name]; !ok || have != text {
				t.Errorf("gone %t: %s: %q, want %q", gone, name, have, text)
			}
		}
		for name := range got {
			if _, ok := want[name]; !ok {
				t.Errorf("gone %t: %s is there", gone, name)
			}
		}
	}
	// Libraries that are left out, or not there, are named.
	for _, taken := range []bool{true, false} {
		plan, err := Plan(folder, taken)
		if err != nil || !strings.Contains(strings.Join(plan.Left, "\n"), "project two, in "+library) || plan.Libraries[0].Taken {
			t.Errorf("%+v %v", plan, err)
		}
	}
}
