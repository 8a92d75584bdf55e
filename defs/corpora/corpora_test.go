package corpora

import (
	"bytes"
	"testing"
	"testing/fstest"
	"time"
)

// The own data is the same each time, and small.
func TestCorporaOwnDataIsTheSame(t *testing.T) {
	build := func() fstest.MapFS {
		m := &maker{files: fstest.MapFS{}}
		m.all()
		return m.files
	}
	begin := time.Now()
	a, b := build(), build()
	t.Logf("%d files in %v", len(a), time.Since(begin)/2)
	size := 0
	for name, file := range a {
		size += len(file.Data)
		if b[name] == nil || !bytes.Equal(file.Data, b[name].Data) {
			t.Errorf("%s is different the second time", name)
		}
	}
	if size > 4<<20 || len(a) != len(b) {
		t.Errorf("%d files of %d bytes", len(a), size)
	}
	for i, c := range All(t) {
		if c.Own != (i == 0) || len(c.Glob(t, "tera/toolbox/definitions/*.def")) < librarySize {
			t.Errorf("corpus %d", i)
		}
	}
}
