package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirebench/codec/transport"
)

// oldNotes is a description file in format 1.
const oldNotes = `{"id":"x","name":"raid.pcapng","mine":7,"keys":"* subspace 7","notes":{"text":"of all","color":"red","marked":[3,5,9],"frames":{"3":"a","5":"b\nc","8":"by number"},` +
	`"markers":[{"n":4,"at":"2026-01-02T03:04:05Z","text":"m","by":"ann"},{"n":9,"at":"2026-01-02T03:04:06Z","text":"soon"}]},` +
	`"places":[{"n":3,"at":"12+34/5"},{"n":5,"at":"13+0","mark":true,"note":"b"},{"n":5,"at":"13+8","note":"c"},{"n":9,"at":"0+0/1"}],` +
	`"markerPlaces":{"2026-01-02T03:04:05Z":"12+0"}}`

var oldNoted = []Noted{
	{ID: transport.FrameID{Packet: 12, Off: 34, Nth: 5}, N: 3, Mark: true, Note: "a"},
	{ID: transport.FrameID{Packet: 13}, N: 5, Mark: true, Note: "b"},
	{ID: transport.FrameID{Packet: 13, Off: 8}, N: 5, Note: "c"},
	{N: 8, Note: "by number"},
	{N: 9, Mark: true},
}

// checkUpgraded checks the upgraded oldNotes.
func checkUpgraded(t *testing.T, x Capture) {
	t.Helper()
	if diff := cmp.Diff(oldNoted, x.Notes.Noted); diff != "" {
		t.Error(x.ID, diff)
	}
	if x.Notes.Text != "of all" || x.Keys != "* subspace 7" || x.Name != "raid.pcapng" || fmt.Sprint(x.Notes.Marked, x.Notes.Frames) != "[3 5 9] map[3:a 5:b\nc 8:by number]" {
		t.Errorf("%+v", x)
	}
	if m := x.Notes.Markers; len(m) != 2 || m[0].ID != (transport.FrameID{Packet: 12}) || m[0].N != 4 || m[1].ID != (transport.FrameID{}) || m[1].N != 9 {
		t.Errorf("markers: %+v", m)
	}
}

// Marks, notes and markers of a folder of format 1 keep their frames, also if the file of the capture is missing or damaged. Unreadable
// descriptions stay unchanged, and so do members that only other versions know.
func TestUpgradeNotes(t *testing.T) {
	if testing.Short() {
		t.Skip("the maximum number of notes is not tested with -short")
	}
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, "muta", "captures", name) }
	laid(t, filepath.Join(root, formatFile), `{"format":1}`)
	for name, text := range map[string]string{
		"a.capture": "bytes", "a.json": oldNotes, "damaged.capture": "\x0a\x0d\x0d\x0a\x01", "damaged.json": oldNotes, "away.json": oldNotes,
		"torn.capture": "bytes", "torn.json": `{"notes":{"marked":[3`, "odd.capture": "bytes", "odd.json": `{"notes":{"marked":"all"}}`, "none.capture": "bytes",
		"none.json": `{"name":"none","notes":{}}`,
	} {
		laid(t, at(name), text)
	}
	upgraded := func() {
		t.Helper()
		d, err := OpenData(root, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		c, err := d.Captures("muta", "captures")
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"a", "damaged"} {
			x, err := c.Get(id)
			if err != nil {
				t.Fatal(err)
			}
			checkUpgraded(t, x)
		}
	}
	upgraded()
	for _, want := range []string{`"mine":7`, `"color":"red"`, `"by":"ann"`} {
		if text := read(t, at("a.json")); !strings.Contains(text, want) || strings.Contains(text, "laces") || strings.Contains(text, `"marked"`) {
			t.Errorf("%s is missing, or what is old is not: %s", want, text)
		}
	}
	if text := read(t, at("torn.json")); text != `{"notes":{"marked":[3` {
		t.Error(text)
	}
	if text := read(t, at("odd.json")); text != `{"notes":{"marked":"all"}}` {
		t.Error(text)
	}
	// The file is restored, and the folder counts as an old one: upgraded parts stay.
	laid(t, at("away.capture"), "bytes")
	laid(t, filepath.Join(root, formatFile), `{"format":1}`)
	upgraded()
	c, err := OpenCaptures(at(""))
	if err != nil {
		t.Fatal(err)
	}
	x, err := c.Get("away")
	if err != nil {
		t.Fatal(err)
	}
	checkUpgraded(t, x)
	copies, _ := filepath.Glob(filepath.Join(root, SetAside, "*", "muta", "captures", "a.json"))
	if len(copies) != 2 || read(t, copies[0]) != oldNotes && read(t, copies[1]) != oldNotes {
		t.Errorf("set aside: %q", copies)
	}
	// The maximum that format 1 could hold is not too large.
	var most struct {
		Notes struct {
			Marked []int             `json:"marked"`
			Frames map[string]string `json:"frames"`
		} `json:"notes"`
	}
	most.Notes.Frames = map[string]string{}
	for i := range MaxMarks {
		most.Notes.Marked = append(most.Notes.Marked, 1_000_000+i)
	}
	for i := range MaxNotes {
		most.Notes.Frames[fmt.Sprint(1_000_000+i)] = strings.Repeat("n", 350)
	}
	text, _ := json.Marshal(most)
	laid(t, at("most.capture"), "bytes")
	laid(t, at("most.json"), string(text))
	laid(t, filepath.Join(root, formatFile), `{"format":1}`)
	upgraded()
	if _, err := c.Note("most", func(n *Notes) { n.Text = "more" }); err != nil {
		t.Error(err)
	}
	if x, err := c.Get("most"); err != nil || len(x.Notes.Marked) != MaxMarks || len(x.Notes.Frames) != MaxNotes || x.Notes.Text != "more" {
		t.Errorf("%v: %d bytes, %d marks, %d notes", err, len(text), len(x.Notes.Marked), len(x.Notes.Frames))
	}
}

// upgradeData upgrades a data folder and is killed at the file whose number is in the environment.
func upgradeData(d *Dir) error {
	n := 0
	steps := append(upgrades[:1:1], upgrade{"is killed", func(data *Data) error {
		return data.eachCapture(func(members map[string]json.RawMessage) bool {
			if n++; os.Getenv(killedAt) == fmt.Sprint(n) {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			return identifyNotes(members)
		})
	}})
	_, err := openData(d.path, nil, steps)
	return err
}

const killedAt = "WIREBENCH_STORE_KILLED_AT"

// An interrupted upgrade resumes at the next start, with the copy made before it.
func TestUpgradeKilled(t *testing.T) {
	const many = 40
	for _, round := range []int{1, 2, many / 2, many} {
		root := t.TempDir()
		laid(t, filepath.Join(root, formatFile), `{"format":1}`)
		for i := range many {
			laid(t, filepath.Join(root, "muta", "captures", fmt.Sprintf("%03d.json", i)), oldNotes)
			laid(t, filepath.Join(root, "muta", "captures", fmt.Sprintf("%03d.capture", i)), "bytes")
		}
		cmd := child(t, "upgrade data", root)
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", killedAt, round))
		if err := cmd.Run(); err == nil || cmd.ProcessState.Exited() {
			t.Fatalf("it was not killed: %v", err)
		}
		if got := strings.Count(read(t, filepath.Join(root, "muta", "captures", "000.json")), "noted"); got != min(round-1, 1) {
			t.Errorf("killed at file %d, and the first is upgraded %d times", round, got)
		}
		d, err := OpenData(root, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.Captures("muta", "captures")
		if err != nil {
			t.Fatal(err)
		}
		all, err := c.List()
		if err != nil || len(all) != many {
			t.Fatal(len(all), err)
		}
		for _, x := range all {
			checkUpgraded(t, x)
		}
		copies, _ := filepath.Glob(filepath.Join(root, SetAside, "*", "muta", "captures", "*.json"))
		for _, name := range copies {
			if text := read(t, name); text != oldNotes {
				t.Errorf("round %d: set aside is %s", round, text)
			}
		}
		if len(copies) != many {
			t.Errorf("round %d: %d files are set aside", round, len(copies))
		}
		d.Close()
	}
}
