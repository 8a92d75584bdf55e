package page

import (
	"testing"

	"wirebench/codec/view"
)

func TestWithCase(t *testing.T) {
	cases := []view.FormCase{
		{Name: "kind", Value: "1", Fields: []view.FormField{{Name: "a"}, {Name: "b"}}},
		{Name: "kind", Value: "2", Fields: []view.FormField{{Name: "b"}, {Name: "c"}}},
		{Fields: []view.FormField{{Name: "d"}}}, // by the size
	}
	const value = `{"id":7,"kind":1,"a":1,"b":2}`
	for _, c := range []struct {
		to   int
		keep bool
		want string
	}{
		{1, true, `{"b":2,"c":null,"id":7,"kind":2}`},
		{1, false, `{"b":null,"c":null,"id":7,"kind":2}`},
		{2, true, `{"d":null,"id":7,"kind":1}`},
		{-1, true, `{"id":7,"kind":1}`},
	} {
		if got, err := withCase([]byte(value), cases, c.to, c.keep); err != nil || string(got) != c.want {
			t.Errorf("%d, %v: %s, %v", c.to, c.keep, got, err)
		}
	}
	for _, c := range []struct {
		path, now string
		to        int
		changed   bool
	}{
		{"kind", `{"kind":2}`, 1, true}, {"kind", `{"kind":"2"}`, 1, true}, {"kind", `{"kind":9}`, -1, true}, {"kind", value, 0, false}, {"id", `{"id":1,"kind":2}`, -1, false},
	} {
		if to, changed := selectedBy(cases, c.path, []byte(value), []byte(c.now)); to != c.to || changed != c.changed {
			t.Errorf("%s %s: %d %v", c.path, c.now, to, changed)
		}
	}
}
