package captures

import (
	"io"
	"strings"
	"testing"
	"time"

	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// A capture whose file is slow to open does not delay others.
func TestSlowFileHoldsNoLock(t *testing.T) {
	kept := workspacetest.Captures(t)
	files, _ := workspacetest.Dir(t, nil)
	ws := workspacetest.Open(t, workspace.Config{Dialect: "muta", Files: files, Captures: kept})
	var err error
	var slow, other store.Capture
	for _, x := range []*store.Capture{&slow, &other} {
		if *x, err = kept.Add("a.txt", time.Now(), strings.NewReader("00000000  01 02\n")); err != nil {
			t.Fatal(err)
		}
	}
	c := NewSet(nil, nil)
	opening, goOn := make(chan struct{}), make(chan struct{})
	c.openFile = func(in *store.Captures, id string) (io.ReadCloser, error) {
		if id == slow.ID {
			close(opening)
			<-goOn
		}
		return in.Open(id)
	}
	got := make(chan error, 2)
	go func() {
		_, err := c.Get(ws, ws.Now(), slow)
		got <- err
	}()
	<-opening
	go func() {
		_, err := c.Get(ws, ws.Now(), other)
		got <- err
	}()
	select {
	case err := <-got:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("another capture waits for the slow one")
	}
	close(goOn)
	if err := <-got; err != nil {
		t.Error(err)
	}
	c.Close()
}
