package rooms

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/server/collab"
	"wirebench/server/history"
	"wirebench/server/workspace"
)

const fresh = "S_NEW.1.def"

// begin begins a definition, or opens the one that somebody else has begun.
func (l library) begin(t *testing.T, s *Set, file, name, text string) *client {
	t.Helper()
	m, err := s.Join(t.Context(), l.Workspace, file, Person{Name: name, Writes: true}, Have{Begin: &text})
	if err != nil {
		t.Fatal(err)
	}
	c := &client{Member: m, t: t, name: name}
	c.until("the text", func() bool { return c.room != "" })
	return c
}

// wait waits until no room is open.
func wait(t *testing.T, s *Set) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); s.Open() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a room is still open")
		}
	}
}

// lost takes messages until the room ends.
func (c *client) lost() (moved *Moved, err error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 20*time.Second)
	defer cancel()
	for {
		m, err := c.Next(ctx)
		if err != nil {
			return moved, err
		}
		if m.Moved != nil {
			moved = m.Moved
		}
		c.take(m)
	}
}

// Two people write a definition that nobody has saved. Everybody can open it, what they type survives a crash, and the first one who saves makes
// the file, with the line ends of the others and a revision of all.
func TestBegun(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\r\n"})
	s := newSet(t)
	ann := l.begin(t, s, fresh, "ann", "# chat\n")
	ann.has("# chat\n")
	bob := l.begin(t, s, fresh, "bob", "# of bob\n") // too late: it has a text
	bob.has("# chat\n")
	bob.replace("# chat\n", "# chat\nuint32 id\n")
	ann.has("# chat\nuint32 id\n")
	if got := s.Begun(l.Workspace); !slices.Equal(got, []string{fresh}) || l.Now().File(fresh) != nil {
		t.Errorf("begun: %q", got)
	}
	ann.until("whose it is", func() bool { return slices.Equal(ann.unsaved.Who, []string{"ann", "bob"}) })

	s = newSet(t) // after a crash
	if got := s.Begun(l.Workspace); !slices.Equal(got, []string{fresh}) {
		t.Errorf("begun after a crash: %q", got)
	}
	if text, ok := s.Typed(l.Workspace, fresh); !ok || text != "# chat\nuint32 id\n" {
		t.Errorf("%q, %t", text, ok)
	}
	eve := l.join(t, s, fresh, "eve")
	if err := eve.Write(); err != nil {
		t.Fatal(err)
	}
	eve.until("it is saved", func() bool { return eve.saved != nil })
	if *eve.saved != (Saved{}) || l.text(t, fresh) != "# chat\r\nuint32 id\r\n" {
		t.Errorf("%+v, %q", *eve.saved, l.text(t, fresh))
	}
	if got := s.Begun(l.Workspace); len(got) > 0 {
		t.Errorf("still begun: %q", got)
	}
	list, err := l.History.Of(fresh)
	if err != nil || len(list) != 1 || !slices.Equal(list[0].Who, []string{"eve", "ann", "bob"}) {
		t.Fatalf("%+v, %v", list, err)
	}
	if text, err := l.History.Text(fresh, list[0].ID); err != nil || text != "# chat\nuint32 id\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// A definition that people leave without a text is gone. One with a text stays, however often it is opened.
func TestBegunWithoutText(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\n"})
	s := &Set{}
	for range 2 {
		ann := l.begin(t, s, fresh, "ann", "x")
		ann.has("x")
		ann.Leave()
		wait(t, s)
		if got := s.Begun(l.Workspace); !slices.Equal(got, []string{fresh}) {
			t.Errorf("begun: %q", got)
		}
	}
	ann := l.begin(t, s, fresh, "ann", "ignored")
	ann.has("x")
	ann.replace("x", "\n")
	ann.has("\n")
	ann.Leave()
	wait(t, s)
	if got := s.Begun(l.Workspace); len(got) > 0 {
		t.Errorf("begun: %q", got)
	}
	if all, err := filepath.Glob(filepath.Join(l.home, logFolder, "*")); err != nil || len(all) > 0 {
		t.Errorf("%q, %v", all, err)
	}
	if _, err := s.Join(t.Context(), l.Workspace, fresh, Person{Name: "ann", Writes: true}, Have{}); !errors.Is(err, ErrNoFile) {
		t.Error(err)
	}
	begin := "x"
	if _, err := s.Join(t.Context(), l.Workspace, fresh, Person{Name: "viewer"}, Have{Begin: &begin}); !errors.Is(err, ErrNoFile) {
		t.Error(err)
	}
	large := strings.Repeat("x", maxText+1)
	if m, err := s.Join(t.Context(), l.Workspace, fresh, Person{Name: "ann", Writes: true}, Have{Begin: &large}); err == nil {
		m.Leave()
		t.Error("a text that is too large was begun")
	}
	wait(t, s)
	for _, bad := range []string{"../x.def", "x.txt", ".x.def", "texts/../../x.def", ""} {
		if m, err := s.Join(t.Context(), l.Workspace, bad, Person{Name: "ann", Writes: true}, Have{Begin: &begin}); err == nil {
			m.Leave()
			t.Errorf("%q was begun", bad)
		}
	}
}

// Another program writes the file of a definition that people are writing: both texts are there, and nothing is lost.
func TestBegunElsewhere(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\n"})
	s := newSet(t)
	ann := l.begin(t, s, fresh, "ann", "uint32 mine\n")
	ann.has("uint32 mine\n")
	if err := os.WriteFile(filepath.Join(l.files, fresh), []byte("uint32 theirs\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ann.until("both", func() bool {
		text := ann.text.String()
		return strings.Count(text, "uint32 mine\n") == 1 && strings.Count(text, "uint32 theirs\n") == 1
	})
	if got := s.Begun(l.Workspace); len(got) > 0 {
		t.Errorf("still begun: %q", got)
	}
}

// A file that is deleted with all that people have typed is gone. With lines that are not saved it is a definition that is not saved, whose
// name no other file gets.
func TestBegunWhenGone(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\n", "C_B.1.def": "byte b\n"})
	s := newSet(t)
	ann, bob := l.join(t, s, name, "ann"), l.join(t, s, "C_B.1.def", "bob")
	ann.replace("id", "one")
	ann.has("uint32 one\n")
	bob.replace("b\n", "c\n")
	bob.written()
	if err := errors.Join(os.Remove(filepath.Join(l.files, name)), os.Remove(filepath.Join(l.files, "C_B.1.def"))); err != nil {
		t.Fatal(err)
	}
	if _, err := bob.lost(); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	ann.until("it is not saved", func() bool { return slices.Equal(s.Begun(l.Workspace), []string{name}) })
	ann.replace("one", "two")
	ann.has("uint32 two\n")
	if err := os.WriteFile(filepath.Join(l.files, "C_C.1.def"), []byte("byte c\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Rename(l.Workspace, []history.Renaming{{From: "C_C.1.def", To: name}}, func() error { return nil }); !errors.Is(err, ErrTaken) {
		t.Error(err)
	}
	ann = l.join(t, s, name, "ann")
	if err := ann.Write(); err != nil {
		t.Fatal(err)
	}
	ann.until("it is saved", func() bool { return ann.saved != nil })
	if got := l.text(t, name); got != "uint32 two\n" || len(s.Begun(l.Workspace)) > 0 {
		t.Errorf("%q, begun: %q", got, s.Begun(l.Workspace))
	}
}

// People who write a definition find it under its new name, with what they have not confirmed yet.
func TestMoveBegun(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\n"})
	s := newSet(t)
	ann := l.begin(t, s, fresh, "ann", "uint32 id\n")
	ann.has("uint32 id\n")
	ann.replace("id", "one") // is on its way
	to := Moved{"S_OTHER.1.def", "S_OTHER.1"}
	if err := s.MoveBegun(l.Workspace, fresh, to); err != nil {
		t.Fatal(err)
	}
	if moved, err := ann.lost(); moved == nil || *moved != to || !errors.Is(err, ErrClosed) {
		t.Fatalf("%+v, %v", moved, err)
	}
	if got := s.Begun(l.Workspace); !slices.Equal(got, []string{to.File}) {
		t.Errorf("begun: %q", got)
	}
	m, err := s.Join(t.Context(), l.Workspace, to.File, ann.Person, Have{Room: ann.room, Version: ann.version})
	if err != nil {
		t.Fatal(err)
	}
	ann.Member = m
	ann.has("uint32 one\n")

	bob := l.begin(t, s, fresh, "bob", "uint64 x\n") // the old name is free
	bob.has("uint64 x\n")
	for _, taken := range []string{name, to.File} {
		if err := s.MoveBegun(l.Workspace, fresh, Moved{taken, strings.TrimSuffix(taken, ".def")}); !errors.Is(err, ErrTaken) {
			t.Errorf("%s: %v", taken, err)
		}
	}
	var bad *workspace.NameError
	if err := s.MoveBegun(l.Workspace, fresh, Moved{"x.txt", "x"}); !errors.As(err, &bad) {
		t.Error(err)
	}
	bob.replace("x", "y") // it goes on
	bob.has("uint64 y\n")
	ann.replace("one", "two")
	ann.has("uint32 two\n")
}

// People are told where a text is once its file has another name, and not before: a renaming may fail.
func TestRenameTells(t *testing.T) {
	for _, fails := range []error{nil, errors.New("the disk is full")} {
		l := newLibrary(t, map[string]string{name: "uint32 id\n"})
		s := newSet(t)
		ann := l.join(t, s, name, "ann")
		ann.replace("id", "one") // is on its way
		const to = "C_B.1.def"
		err := s.Rename(l.Workspace, []history.Renaming{{From: name, To: to}}, func() error {
			if !ann.Member.room.isEnding() {
				t.Error("the room is open")
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if m, err := ann.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("told before it is decided: %+v, %v", m, err)
			}
			if fails != nil {
				return fails
			}
			return errors.Join(os.Rename(filepath.Join(l.files, name), filepath.Join(l.files, to)), l.Reload())
		})
		if !errors.Is(err, fails) {
			t.Error(err)
		}
		at := name
		moved, err := ann.lost()
		if fails == nil {
			at = to
		}
		if (moved != nil) != (fails == nil) || !errors.Is(err, ErrClosed) || moved != nil && moved.File != to {
			t.Errorf("%+v, %v", moved, err)
		}
		m, err := s.Join(t.Context(), l.Workspace, at, ann.Person, Have{Room: ann.room, Version: ann.version})
		if err != nil {
			t.Fatal(err)
		}
		ann.Member = m
		ann.has("uint32 one\n")
	}
}

// A page that is closed before its first change is confirmed has the updates later, when the room has been closed, too: it leaves out what has
// arrived.
func TestFirstChangeIsKnown(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\n"})
	s := &Set{}
	ann := l.join(t, s, name, "ann")
	room := ann.room
	ann.replace("id", "ide")
	ann.until("logged", func() bool { return ann.version > 0 })
	ann.Leave()
	wait(t, s)
	m, err := s.Join(t.Context(), l.Workspace, name, ann.Person, Have{Room: room, Version: 0})
	if err != nil {
		t.Fatal(err)
	}
	again := &client{Member: m, t: t, name: "ann", text: collab.NewText("uint32 id\n")}
	again.next()
	if again.room != room || again.text.String() != "uint32 ide\n" || again.version != 1 {
		t.Errorf("%q, version %d", again.text.String(), again.version)
	}
	m.Leave()
}

// A page that is closed while the first key of a definition is on its way has typed more: that is merged with what has arrived, once.
func TestBegunByACopy(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\n"})
	s := newSet(t)
	begin := "# about\n\nb"
	m, err := s.Join(t.Context(), l.Workspace, fresh, Person{Name: "ann", Writes: true}, Have{Begin: &begin, Client: "tab-1"})
	if err != nil {
		t.Fatal(err)
	}
	m.Leave()
	ann := l.begin(t, s, fresh, "ann", "# about\n\nbyte a")
	ann.has(begin)
	for range 2 {
		if err := ann.Merge("tab-1", ann.BaseOf("tab-1", "# about\n\n"), "# about\n\nbyte a"); err != nil {
			t.Fatal(err)
		}
	}
	ann.has("# about\n\nbyte a")
	if base := ann.BaseOf("tab-2", "x"); base != "x" {
		t.Errorf("%q", base)
	}
}
