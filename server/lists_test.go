package server

import (
	"fmt"
	"testing"
)

// One person lists a bounded number of captures, each in any number of pages, and does not take the place of another.
func TestLists(t *testing.T) {
	l := lists{what: "captures", most: maxListed}
	var leave []func()
	for i := range 3 * maxListed {
		f, err := l.enter("a", fmt.Sprint(i%maxListed))
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, f)
	}
	if _, err := l.enter("a", "more"); err == nil {
		t.Error("one more")
	}
	b, err := l.enter("b", "more")
	if err != nil {
		t.Fatal(err)
	}
	b()
	for i, f := range leave {
		if i%maxListed == 0 {
			f()
		}
	}
	f, err := l.enter("a", "more")
	if err != nil {
		t.Fatal(err)
	}
	f()
	for i, f := range leave {
		if i%maxListed != 0 {
			f()
		}
	}
	if len(l.of) != 0 {
		t.Errorf("%v is left", l.of)
	}
}
