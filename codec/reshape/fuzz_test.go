package reshape

import (
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/defs"
)

// No text, message or range makes an edit fail, and every accepted text is one that compiles.
func FuzzEdits(f *testing.F) {
	for i, d := range defs.Dialects {
		f.Add(uint8(i), d.Example.Text, []byte("\x1a\x00\x34\x12\x16\x00\x01\x00\x00\x00ab\x00\x00"), uint16(32), uint16(16), "name")
	}
	seeds := map[string]int{}
	for _, s := range samples(f) {
		if seeds[s.dialect.Name]++; seeds[s.dialect.Name] > 5 {
			continue
		}
		i := 0
		for defs.Dialects[i].Name != s.dialect.Name {
			i++
		}
		f.Add(uint8(i), s.text, s.data, uint16(48), uint16(32), "a b")
	}
	f.Fuzz(func(t *testing.T, dialect uint8, text string, data []byte, off, size uint16, name string) {
		began := time.Now()
		defer func() {
			if time.Since(began) > 20*time.Second {
				t.Errorf("it took %v", time.Since(began))
			}
		}()
		d := defs.Dialects[int(dialect)%len(defs.Dialects)]
		if len(text) > 4096 || len(data) > 512 {
			return
		}
		file := "S_X.1.def"
		compile := compiler(d, file)
		was := compile(text)
		for _, m := range was.Messages[:min(len(was.Messages), 3)] {
			e, err := New(d, was, m, data, codec.Session{}, compile)
			if err != nil {
				continue
			}
			at := codec.Range{Off: uint32(off), Len: uint32(size)}
			choices, err := e.Choices(at)
			if (err == nil) == (len(choices) == 0) {
				t.Fatalf("%d choices, %v", len(choices), err)
			}
			for _, c := range choices[:min(len(choices), 4)] {
				done, err := e.Define(at, c.Type, name)
				if err == nil && len(errorsOf(compile(done.Text))) > len(errorsOf(was)) {
					t.Fatalf("new errors\n%q\n%q", text, done.Text)
				}
			}
			for _, path := range []string{"", name, "a"} {
				_, _ = e.Rename(path, "b")
				_, _ = e.Remove(path)
			}
			_, _ = e.Split(at, 2)
		}
	})
}
