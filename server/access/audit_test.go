package access

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Nobody pushes the entries of others out of the audit log, whatever he sends: refusals and wrong sign-ins of any size, and changes that he
// may do. Lines and files are bounded.
func TestAuditKeepsTheChangesOfOthers(t *testing.T) {
	const most = 64 << 10
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 1))
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		a, err := OpenAudit(path, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		a.changes.most, a.refusals.most = most, most
		now := time.Now()
		a.now = func() time.Time { return now }
		want := map[string]bool{}
		kept := func(who string, i int) {
			on := fmt.Sprintf("kept %s %d", who, i)
			want[on] = true
			a.Add(Event{Who: who, ID: "id " + who, What: "PUT /api/v1/projects/{project}/definitions/{file}", On: on})
		}
		for i := range 40 {
			kept("ann", i)
		}
		long := strings.Repeat("\x00\"ü", 20_000)
		for i := range 8000 {
			if i%1000 == 0 {
				kept("bo", i)
			}
			e := Event{Who: "mallory", ID: "id mallory", From: "192.0.2.1", What: "POST /x", On: fmt.Sprint(i)}
			switch r.IntN(6) {
			case 0:
				e.Result, e.What, e.On = "refused", "GET /"+long, long
			case 1:
				e = Event{Who: "somebody", From: "192.0.2.1", What: "sign in", On: long, Result: "refused"}
			case 2:
				e = Event{Who: fmt.Sprintf("somebody %d", i), From: fmt.Sprintf("2001:db8:%x::/64", i), What: "sign in", On: fmt.Sprint("login", i), Result: "refused"}
			case 3:
				e.Result = "422"
			case 4:
				e.On = long
			}
			a.Add(e)
			now = now.Add(time.Duration(r.IntN(1000)) * time.Millisecond)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(path + "*")
		if err != nil || len(files) != 4 {
			t.Fatalf("%v %v", files, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if len(text) > most+4<<10 {
				t.Errorf("%s has %d bytes", name, len(text))
			}
			for line := range bytes.Lines(text) {
				if len(line) > 4<<10 {
					t.Errorf("a line of %d bytes", len(line))
				}
			}
			eachEvent(name, func(e Event, _ []byte) { delete(want, e.On) })
		}
		if len(want) > 0 {
			t.Errorf("seed %d: %d entries are gone, such as %v", seed, len(want), want)
		}
	}
}

// Refusals of a person or an address are counted by the minute, with what was tried; changes are written one by one.
func TestAuditCounts(t *testing.T) {
	a, err := OpenAudit(filepath.Join(t.TempDir(), "audit.jsonl"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	now := time.Now()
	a.now = func() time.Time { return now }
	for i := range 1000 {
		a.Add(Event{Who: "somebody", From: "192.0.2.1", What: "sign in", On: fmt.Sprint("login", i%3), Result: "refused"})
	}
	a.Add(Event{Who: "ann", ID: "ann", What: "sign in"})
	now = now.Add(time.Minute)
	got := a.Latest(10)
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	n := 0
	for _, e := range got {
		if n += e.Count; e.Count > 0 && e.On != "login1, login2, login0" {
			t.Errorf("%+v", e)
		}
	}
	if n != 999 {
		t.Errorf("%d are counted: %+v", n, got)
	}
}
