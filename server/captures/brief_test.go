package captures

import (
	"strings"
	"testing"
	"time"

	"wirebench/server/store"
	"wirebench/server/workspace/workspacetest"
)

// A brief list is read again after its pause, when changes by other programs are seen, and not before.
func TestBriefPause(t *testing.T) {
	kept := workspacetest.Captures(t)
	x, err := kept.Add("a.txt", time.Now(), strings.NewReader("00000000  01 02\n"))
	if err != nil {
		t.Fatal(err)
	}
	c := NewSet(nil, nil)
	defer c.Close()
	brief := func() ([]store.Capture, string) {
		all, tag, err := c.Brief(kept)
		if err != nil {
			t.Fatal(err)
		}
		return all, tag
	}
	end := func(at time.Time) { // sets the end of the pause
		l := c.briefs.of[kept]
		if left := time.Until(l.until); left > mostBriefPause {
			t.Errorf("it is kept for %v", left)
		}
		l.until = at
		c.briefs.of[kept] = l
	}
	_, first := brief()
	end(time.Now().Add(time.Hour))
	if err := kept.Remove(x.ID); err != nil {
		t.Fatal(err)
	}
	if all, tag := brief(); len(all) != 1 || tag != first {
		t.Errorf("before its end: %v, %s and %s", all, tag, first)
	}
	c.briefs.of[kept] = briefList{captures: c.briefs.of[kept].captures, tag: first, until: time.Now()}
	if all, tag := brief(); len(all) != 0 || tag == first {
		t.Errorf("after its end: %v, %s", all, tag)
	}
	end(time.Now())
}
