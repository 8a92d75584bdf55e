package projects_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirebench/server/objects"
	"wirebench/server/projects"
	"wirebench/server/store"
	"wirebench/server/store/storetest"
	"wirebench/server/workspace"
)

// TestCapturesInPlace: a project whose captures are only in the place of captures is renamed, copied, backed up and removed with them; what the place does
// not remove then is removed with the next start.
func TestCapturesInPlace(t *testing.T) {
	dir, blocks := t.TempDir(), t.TempDir()
	folder, err := objects.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	in := storetest.Wrap(folder)
	log := slog.New(slog.DiscardHandler)
	start := func(with bool) (*projects.Set, func()) {
		t.Helper()
		data, err := store.OpenData(dir, log)
		if err != nil {
			t.Fatal(err)
		}
		if with {
			place, err := store.OpenPlace(in, blocks, 0, log)
			if err != nil {
				t.Fatal(err)
			}
			data.KeepIn(place)
		}
		all, err := projects.OpenData(projects.Options{Data: data, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		all.Each(func(context.Context, *workspace.Workspace) {}, func() {})
		return all, func() { all.Close(); data.Close() }
	}
	text := func(all *projects.Set, project string) string {
		t.Helper()
		list, err := all.Find(project).Captures.List()
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		f, err := all.Find(project).Captures.Open(list[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		return list[0].Name + ": " + string(got)
	}
	all, stop := start(true)
	ws, err := all.Make(t.Context(), projects.New{Name: "first", Protocol: "muta"})
	if err != nil {
		t.Fatal(err)
	}
	x, err := ws.Captures.Add("one", time.Now(), strings.NewReader("some bytes"))
	if err != nil {
		t.Fatal(err)
	}
	storetest.Away(t, ws.Captures, x.ID)
	if _, err := all.Edit("first", projects.Change{Name: "second"}, nil); err != nil {
		t.Fatal(err)
	}
	if got := text(all, "second"); got != "one: some bytes" {
		t.Error(got)
	}
	if _, err := all.Make(t.Context(), projects.New{Name: "copied", From: "second", Captures: true}); err != nil {
		t.Fatal(err)
	}
	if got := text(all, "copied"); got != "one: some bytes" {
		t.Error(got)
	}
	plan, err := store.Plan(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(plan.Left, "\n"); strings.Count(said, "captures of project") != 0 || strings.Count(said, "the bytes of 1 capture of project second, ") != 1 || !strings.Contains(said, "which are only in "+in.String()) {
		t.Error(said)
	}
	if _, err := all.Edit("second", projects.Change{State: projects.Deleted}, nil); err != nil {
		t.Fatal(err)
	}
	in.Fail(func(op, _ string) error {
		if op == "remove" {
			return errors.New("503 Slow Down")
		}
		return nil
	})
	if err := all.Remove("second"); !errors.Is(err, store.ErrAway) || !strings.Contains(err.Error(), "the project is removed, but not all of its captures are") {
		t.Error(err)
	}
	if all.Find("second") != nil || len(in.Names(t, "")) != 1 {
		t.Error("it is there still")
	}
	stop()
	removed := func() int {
		left, _ := filepath.Glob(filepath.Join(dir, ".removed-*"))
		return len(left)
	}
	in.Fail(nil)
	_, stop = start(false) // without the place, what names the objects stays
	stop()
	if removed() != 1 || len(in.Names(t, "")) != 1 {
		t.Error(removed(), in.Names(t, ""))
	}
	all, stop = start(true)
	defer stop()
	if removed() != 0 || len(in.Names(t, "")) != 0 {
		t.Error(removed(), in.Names(t, ""))
	}
	if got := text(all, "copied"); got != "one: some bytes" {
		t.Error(got)
	}
	if _, err := os.Stat(filepath.Join(dir, "second")); err == nil {
		t.Error("the folder is there")
	}
}
