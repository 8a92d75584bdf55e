package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func openedData(t *testing.T, root string, steps ...upgrade) (*Data, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	d, err := openData(root, slog.New(slog.NewTextHandler(&log, nil)), steps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, &log
}

func laid(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A second server is refused with an error that names the first, and does not touch the files that the first one is writing.
func TestDataIsLocked(t *testing.T) {
	root := t.TempDir()
	first, err := OpenData(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	uploading := filepath.Join(root, "tera", "captures", temporaryStart+"0123456789abcdef"+temporaryEnd)
	laid(t, uploading, "half of an upload")
	var used *InUseError
	if _, err := OpenData(root, nil); !errors.As(err, &used) || used.Holder.PID != os.Getpid() || used.Holder.Host == "" {
		t.Fatalf("the second one: %v", err)
	}
	if _, err := os.Stat(uploading); err != nil {
		t.Error(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third, err := OpenData(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	if _, err := third.Captures("tera", "captures"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(uploading); err == nil {
		t.Error("a temporary file left by a crash stays in an exclusive folder")
	}
}

// holdData locks the data folder until the process is killed.
func holdData(d *Dir) error {
	if _, err := OpenData(d.path, nil); err != nil {
		return err
	}
	os.Stdout.WriteString("locked\n")
	time.Sleep(time.Minute)
	return nil
}

// After a server is killed, the next one can lock the folder.
func TestDataAfterKill(t *testing.T) {
	root := t.TempDir()
	cmd := child(t, "hold data", root)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var line [7]byte
	if _, err := out.Read(line[:]); err != nil {
		t.Fatal(err)
	}
	var used *InUseError
	if _, err := OpenData(root, nil); !errors.As(err, &used) || used.Holder.PID != cmd.Process.Pid {
		t.Errorf("while it runs: %v", err)
	}
	cmd.Process.Kill()
	_ = cmd.Wait()
	d, err := OpenData(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
}

// Opening a shared folder removes old temporary files, and keeps recent ones that another program may be writing.
func TestSharedFolderIsSweptOfOldFilesOnly(t *testing.T) {
	root := t.TempDir()
	young, old := filepath.Join(root, temporaryStart+"0123456789abcdef"+temporaryEnd), filepath.Join(root, temporaryStart+"fedcba9876543210"+temporaryEnd)
	laid(t, young, "being written")
	laid(t, old, "left by a crash")
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("the old one stays")
	}
}

func TestDataFormat(t *testing.T) {
	ran := 0
	step := upgrade{"count", func(*Data) error { ran++; return nil }}

	t.Run("a new folder has the newest format", func(t *testing.T) {
		root := t.TempDir()
		openedData(t, root, step, step)
		if text := read(t, filepath.Join(root, formatFile)); text != "{\"format\":2}\n" || ran != 0 {
			t.Errorf("%q, %d upgrades", text, ran)
		}
	})

	t.Run("a newer format is refused", func(t *testing.T) {
		root := t.TempDir()
		laid(t, filepath.Join(root, formatFile), `{"format":7,"since":"9.0"}`)
		var newer *NewerError
		if _, err := openData(root, nil, []upgrade{step}); !errors.As(err, &newer) || newer.Have != 7 || newer.Know != 1 {
			t.Fatal(err)
		}
		if text := read(t, filepath.Join(root, formatFile)); text != `{"format":7,"since":"9.0"}` {
			t.Errorf("%q", text)
		}
		d, err := openData(root, nil, make([]upgrade, 7)) // not locked, and without upgrades to run
		if err != nil {
			t.Fatal(err)
		}
		d.Close()
	})

	t.Run("an older folder is upgraded after a copy is set aside", func(t *testing.T) {
		root := t.TempDir()
		about := filepath.Join(root, "tera", "captures", "a"+aboutEnding)
		laid(t, about, `{"name":"one","notes":{"marked":[3]},"mine":1}`)
		laid(t, filepath.Join(root, "tera", "captures", "a"+captureEnding), "bytes")
		laid(t, filepath.Join(root, "tera", "definitions", "C_A.1.def"), "int32 x\n")
		laid(t, filepath.Join(root, "tera", "settings.json"), "{}")
		rename := upgrade{"names are titles", func(d *Data) error {
			return d.eachCapture(func(members map[string]json.RawMessage) bool {
				if members["title"] != nil {
					return false
				}
				members["title"] = members["name"]
				delete(members, "name")
				return true
			})
		}}
		fails := upgrade{"fails", func(*Data) error { return errors.New("the power is gone") }}
		if _, err := openData(root, nil, []upgrade{rename, fails}); err == nil || !strings.Contains(err.Error(), "the power is gone") {
			t.Fatal(err)
		}
		if text := read(t, about); !strings.Contains(text, `"title":"one"`) || !strings.Contains(text, `"mine":1`) {
			t.Errorf("%q", text)
		}
		openedData(t, root, rename, step) // resumes, with the existing copy
		copies, _ := filepath.Glob(filepath.Join(root, SetAside, "*"))
		if len(copies) != 1 {
			t.Fatal(copies)
		}
		if text := read(t, filepath.Join(copies[0], "tera", "captures", "a"+aboutEnding)); text != `{"name":"one","notes":{"marked":[3]},"mine":1}` {
			t.Errorf("%q", text)
		}
		read(t, filepath.Join(copies[0], "tera", "definitions", "C_A.1.def"))
		if _, err := os.Stat(filepath.Join(copies[0], "tera", "captures", "a"+captureEnding)); err == nil {
			t.Error("the bytes of captures are copied")
		}
		if text := read(t, filepath.Join(root, formatFile)); text != "{\"format\":2}\n" {
			t.Errorf("%q", text)
		}
	})

	t.Run("a damaged format is set aside", func(t *testing.T) {
		root := t.TempDir()
		name := filepath.Join(root, formatFile)
		laid(t, filepath.Join(root, "tera", "settings.json"), "{}")
		laid(t, name, `{"form`)
		_, log := openedData(t, root, step)
		if text := read(t, name); text != "{\"format\":1}\n" || !strings.Contains(log.String(), name) {
			t.Errorf("%q: %s", text, log)
		}
		if text := read(t, name+DamagedEnding+string(RevisionOf([]byte(`{"form`)))); text != `{"form` {
			t.Errorf("%q", text)
		}
	})
}

// A damaged description file costs only its own content, is logged once, and is set aside when it is overwritten.
func TestDamagedCaptureFile(t *testing.T) {
	root := t.TempDir()
	var log bytes.Buffer
	c, err := OpenCaptures(root, WithLog(slog.New(slog.NewTextHandler(&log, nil))))
	if err != nil {
		t.Fatal(err)
	}
	x, err := c.Add("session.pcap", time.Now(), strings.NewReader("bytes"))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root, x.ID+aboutEnding)
	laid(t, name, `{"name":"sess`)
	for range 2 {
		if all, err := c.List(); err != nil || len(all) != 1 || all[0].Name != x.ID || all[0].Size != 5 {
			t.Errorf("%+v, %v", all, err)
		}
	}
	if strings.Count(log.String(), name) != 1 {
		t.Errorf("the log: %s", log.String())
	}
	if _, err := c.Note(x.ID, func(n *Notes) { n.Text = "hello" }); err != nil {
		t.Fatal(err)
	}
	if text := read(t, name+DamagedEnding+string(RevisionOf([]byte(`{"name":"sess`)))); text != `{"name":"sess` {
		t.Errorf("%q", text)
	}
	if x, err := c.Get(x.ID); err != nil || x.Notes.Text != "hello" {
		t.Errorf("%+v, %v", x, err)
	}
}

// Members of a description that only another version knows survive a change.
func TestUnknownMembersSurvive(t *testing.T) {
	root := t.TempDir()
	c, err := OpenCaptures(root)
	if err != nil {
		t.Fatal(err)
	}
	x, err := c.Add("session.pcap", time.Now(), strings.NewReader("bytes"))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root, x.ID+aboutEnding)
	laid(t, name, `{"owner":{"id":7},"name":"s","notes":{"text":"old","color":"red","markers":[{"n":1,"at":"2026-01-02T03:04:05Z","text":"m","by":"ann"}]},"keys":"k"}`)
	if _, err := c.Edit(x.ID, func(x *Capture) error {
		x.Name, x.Keys, x.Notes.Text = "t", "", "new"
		x.Notes.Markers[0].Text = "moved"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	text := read(t, name)
	for _, want := range []string{`"owner":{"id":7}`, `"color":"red"`, `"by":"ann"`, `"text":"new"`, `"text":"moved"`, `"name":"t"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing: %s", want, text)
		}
	}
	if strings.Contains(text, `"keys"`) {
		t.Errorf("a known member that was taken away is there again: %s", text)
	}
}
