package workspace

import (
	"reflect"
	"sync"
	"testing"

	"wirebench/defs/emit"
)

// TestEmitSideBySide writes the same messages in all languages concurrently, as requests of a server do. Nothing may be shared.
func TestEmitSideBySide(t *testing.T) {
	snap := library(t, 20, 0)
	picked, _, err := snap.Pick(nil)
	if err != nil {
		t.Fatal(err)
	}
	write := func(target emit.Target) Emitted {
		return EmittedOf(snap.Emit(target, picked, "messages", 2))
	}
	var all sync.WaitGroup
	for _, target := range emit.Targets {
		want := write(target)
		for range 2 {
			all.Go(func() {
				if got := write(target); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: the files differ from a sequential run", target.Name)
				}
			})
		}
	}
	all.Wait()
}
