package projects

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wirebench/server/store"
)

// A set is healthy as long as files can be written in its data folder, and leaves none there.
func TestHealthy(t *testing.T) {
	dir := t.TempDir()
	data, err := store.OpenData(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	before, _ := os.ReadDir(dir)
	healthy := func() error { return (&Set{opts: Options{Data: data}}).Healthy() }
	if err := healthy(); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.ReadDir(dir); len(after) != len(before) {
		t.Errorf("files are left: %v", after)
	}
	blocked := filepath.Join(dir, "wirebench.try") // also for users whom permissions do not stop
	if err := os.Mkdir(blocked, 0o777); err != nil {
		t.Fatal(err)
	}
	if healthy() == nil {
		t.Error("healthy, and nothing can be written")
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		if healthy() == nil {
			t.Error("healthy, and the folder is read-only")
		}
		os.Chmod(dir, 0o777)
	}
	if err := healthy(); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if healthy() == nil {
		t.Error("healthy, and the folder is gone")
	}
}

// Many questions are one try, and one that hangs holds up nobody.
func TestHealthIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h health
		var tries atomic.Int32
		full := errors.New("full")
		try := func() error { tries.Add(1); time.Sleep(time.Second); return full }
		ask := func(try func() error, want error) {
			t.Helper()
			var all sync.WaitGroup
			for range 100 {
				all.Go(func() {
					if err := h.check(try); !errors.Is(err, want) {
						t.Errorf("%v, want %v", err, want)
					}
				})
			}
			all.Wait()
		}
		ask(try, full)
		ask(try, full)
		if tries.Load() != 1 {
			t.Errorf("%d tries", tries.Load())
		}
		time.Sleep(healthAge)
		hangs := func() error { tries.Add(1); time.Sleep(time.Hour); return nil }
		ask(hangs, errHangs)
		time.Sleep(time.Minute)
		ask(hangs, errHangs)
		if tries.Load() != 2 {
			t.Errorf("%d tries", tries.Load())
		}
		time.Sleep(time.Hour)
		ask(try, full)
	})
}
