package rooms

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirebench/server/collab"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// library is a workspace on disk, followed as by the server.
type library struct {
	*workspace.Workspace
	files, home string
}

func openLibrary(t *testing.T, files, home string) library {
	t.Helper()
	d, err := store.Open(files)
	if err != nil {
		t.Fatal(err)
	}
	h, err := store.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	w := workspacetest.Open(t, workspace.Config{Files: d, Home: h})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return library{w, files, home}
}

func newLibrary(t *testing.T, texts map[string]string) library {
	t.Helper()
	files, home := t.TempDir(), t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(files, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return openLibrary(t, files, home)
}

func (l library) text(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(l.files, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// client is a copy of the text, as a browser has it.
type client struct {
	*Member
	t       *testing.T
	name    string
	room    string
	text    collab.Text
	version int
	people  []Seen
	file    FileState
	unsaved Unsaved
	saved   *Saved
	writes  bool
}

func (l library) join(t *testing.T, s *Set, file, name string) *client {
	t.Helper()
	m, err := s.Join(t.Context(), l.Workspace, file, Person{Name: name, Writes: name != "viewer"}, Have{})
	if err != nil {
		t.Fatal(err)
	}
	c := &client{Member: m, t: t, name: name}
	c.next()
	return c
}

// next takes the next message.
func (c *client) next() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 20*time.Second)
	defer cancel()
	m, err := c.Next(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	c.take(m)
}

func (c *client) take(m Message) {
	c.t.Helper()
	if m.Start != nil {
		c.room, c.version, c.writes = m.Start.Room, m.Start.Version, m.Start.Writes
		if m.Start.Text != nil {
			c.text = collab.NewText(*m.Start.Text)
		}
	}
	for _, u := range m.Updates {
		text, err := u.Change.Apply(c.text)
		if err != nil {
			c.t.Fatal(err)
		}
		c.text = text
		c.version++
	}
	if m.People != nil || m.Nobody {
		c.people = m.People
	}
	if m.File != nil {
		c.file = *m.File
	}
	if m.Unsaved != nil {
		c.unsaved = *m.Unsaved
	}
	if m.Saved != nil {
		c.saved = m.Saved
	}
}

// until takes messages until a condition holds.
func (c *client) until(what string, ok func() bool) {
	c.t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); {
		ctx, cancel := context.WithTimeout(c.t.Context(), 100*time.Millisecond)
		m, err := c.Next(ctx)
		cancel()
		if err == nil {
			c.take(m)
		} else if !errors.Is(err, context.DeadlineExceeded) {
			c.t.Fatalf("%s: %v", what, err)
		}
		if time.Now().After(end) {
			c.t.Fatalf("%s: %q, %+v, %+v", what, c.text.String(), c.file, c.people)
		}
	}
}

// replace makes the text of the client another one, and sends that.
func (c *client) replace(old, by string) {
	c.t.Helper()
	text := c.text.String()
	if !strings.Contains(text, old) {
		c.t.Fatalf("no %q in %q", old, text)
	}
	change := collab.Between(c.text, collab.NewText(strings.Replace(text, old, by, 1)))
	if err := c.Push(c.name, c.version, []collab.Change{change}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) has(text string) {
	c.t.Helper()
	c.until("the text is "+text, func() bool { return c.text.String() == text })
}

const name = "C_A.1.def"

// Two people change one line at once: both changes are in both texts, and in the file.
func TestTogether(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\r\nstring name\r\n"})
	s := &Set{}
	ann, bob := l.join(t, s, name, "ann"), l.join(t, s, name, "bob")
	if ann.text.String() != "uint32 id\nstring name\n" || !ann.writes || ann.file.Version != 0 {
		t.Errorf("%q, %+v", ann.text.String(), ann.file)
	}
	ann.until("bob is there", func() bool { return len(ann.people) == 1 && ann.people[0].Name == "bob" })
	ann.replace("id", "account")
	bob.replace("name\n", "title # of the account\n")
	const want = "uint32 account\nstring title # of the account\n"
	ann.has(want)
	bob.has(want)
	ann.written()
	if text := l.text(t, name); text != "uint32 account\r\nstring title # of the account\r\n" {
		t.Errorf("%q", text)
	}
	if ann.file.Hash != ann.text.Hash() {
		t.Error("another hash")
	}
	if err := ann.Push("outside x", ann.version, nil); !errors.Is(err, collab.ErrChange) {
		t.Errorf("a change under the name of another program: %v", err)
	}
	ann.Point(ann.version, 3, 5)
	bob.until("the selection of ann", func() bool { return len(bob.people) == 1 && bob.people[0].Anchor == 3 && bob.people[0].Head == 5 })
	ann.LookAt(Look{"20261126-065531-68d085785eb57b29", 41})
	bob.until("the frame of ann", func() bool {
		return len(bob.people) == 1 && bob.people[0].Look != nil && bob.people[0].Look.Frame == 41
	})
	ann.LookAt(Look{strings.Repeat("x", maxCaptureID+1), 1})
	bob.until("no frame", func() bool { return len(bob.people) == 1 && bob.people[0].Look == nil })
	bob.replace("uint32", "XX uint32")
	bob.Leave()
	ann.until("bob has left", func() bool { return len(ann.people) == 0 })
	ann.Leave()
	s.Close()
	if s.Open() != 0 || strings.HasPrefix(l.text(t, name), "XX") {
		t.Errorf("%d rooms are open, %q", s.Open(), l.text(t, name))
	}
	eve := l.join(t, newSet(t), name, "eve") // what nobody has saved is there for the next one
	eve.until("whose it is", func() bool { return len(eve.unsaved.Who) > 0 })
	if !strings.HasPrefix(eve.text.String(), "XX uint32 ") || eve.unsaved.Who[0] != "bob" || eve.unsaved.Lines[0] != (UnsavedLines{1, 1, 0}) {
		t.Errorf("%q, %+v", eve.text.String(), eve.unsaved)
	}
}

// What was confirmed is there after a crash: in the log, while the file has not been written.
func TestCrash(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\n"})
	ann := l.join(t, &Set{}, name, "ann")
	ann.replace("id", "one")
	ann.has("uint32 one\n")
	ann.replace("one", "two")
	ann.has("uint32 two\n")
	if l.text(t, name) != "uint32 id\n" {
		t.Fatal("nobody has saved it")
	}
	files, home := copyOf(t, l.files), copyOf(t, l.home)
	log := filepath.Join(home, "texts", name+".jsonl")
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(`[{"v":3,"c":"ann","u":[[7,[3,"thr`) // cut off by the crash
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	again := openLibrary(t, files, home)
	s := &Set{}
	bob := again.join(t, s, name, "bob")
	if bob.text.String() != "uint32 two\n" || bob.version != 2 || bob.room != ann.room {
		t.Errorf("%q at %d", bob.text.String(), bob.version)
	}
	bob.written()
	if again.text(t, name) != "uint32 two\n" {
		t.Errorf("%q", again.text(t, name))
	}
	// Ann comes back with a change that was never confirmed.
	m, err := s.Join(t.Context(), again.Workspace, name, ann.Person, Have{Room: ann.room, Version: ann.version})
	if err != nil {
		t.Fatal(err)
	}
	ann.Member, ann.t = m, t
	ann.replace("two", "three")
	ann.has("uint32 three\n")
	bob.has("uint32 three\n")
	s.Close()
	ann.Member.Leave()
}

func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// What other programs write is merged with what is not in the file yet, also if they wrote while no server was running.
func TestOutside(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\nstring name\n"})
	s := &Set{}
	ann := l.join(t, s, name, "ann")
	ann.replace("id", "account")
	write := func(l library, text string) {
		if err := os.WriteFile(filepath.Join(l.files, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(l, "uint32 id\nstring title\nbyte level\n")
	ann.has("uint32 account\nstring title\nbyte level\n")
	ann.written()
	if got := l.text(t, name); got != ann.text.String() {
		t.Errorf("%q", got)
	}
	// A log with what the file lacks, and a file with what the log lacks.
	ann.replace("byte level", "int16 level")
	ann.has("uint32 account\nstring title\nint16 level\n")
	files, home := copyOf(t, l.files), copyOf(t, l.home)
	ann.Leave()
	s.Close()
	if err := os.WriteFile(filepath.Join(files, name), []byte("# by a script\nuint32 account\nstring title\nbyte level\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	again := openLibrary(t, files, home)
	bob := again.join(t, newSet(t), name, "bob")
	if got := bob.text.String(); got != "# by a script\nuint32 account\nstring title\nint16 level\n" {
		t.Errorf("%q", got)
	}
}

// A program that empties a file before it writes it has not deleted the lines that it keeps.
func TestOutsideInParts(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\nstring name\n"})
	ann := l.join(t, newSet(t), name, "ann")
	ann.replace("id", "account")
	for _, text := range []string{"", "uint32 id\nstring ti", "uint32 id\nstring title\nbyte level\n"} {
		if err := os.WriteFile(filepath.Join(l.files, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := l.Reload(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(steadyTime / 5) // the room sees it
	}
	ann.has("uint32 account\nstring title\nbyte level\n")
	ann.written()
	if got := l.text(t, name); got != ann.text.String() {
		t.Errorf("%q", got)
	}
}

func newSet(t *testing.T) *Set {
	s := &Set{}
	t.Cleanup(s.Close)
	return s
}

// A text that the library refuses is not in the file, and is not lost.
func TestRefusedText(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\n", "C_A.2.def": "uint32 id\n"})
	s := &Set{}
	ann := l.join(t, s, name, "ann")
	ann.replace("uint32", "uint64") // moves bytes of a definition with a newer version
	ann.has("uint64 id\n")
	if err := ann.Write(); err != nil {
		t.Fatal(err)
	}
	ann.until("the reason is known", func() bool {
		return ann.saved != nil && strings.Contains(ann.saved.Problem, "older version") && ann.file.Problem == ann.saved.Problem
	})
	if ann.file.Version != -1 || l.text(t, name) != "uint32 id\n" {
		t.Errorf("%+v, %q", ann.file, l.text(t, name))
	}
	ann.Leave()
	s.Close()
	s = newSet(t)
	bob := l.join(t, s, name, "bob")
	if bob.text.String() != "uint64 id\n" {
		t.Errorf("%q", bob.text.String())
	}
	if err := bob.Revert(); err != nil {
		t.Fatal(err)
	}
	bob.has("uint32 id\n")
	bob.until("the file has the text again", func() bool { return bob.file.Version == bob.version })
	bob.replace("id", "key")
	bob.has("uint32 key\n")
	bob.replace("key", "id")
	bob.until("the file has the text of before", func() bool { return bob.file.Version == bob.version && bob.text.String() == "uint32 id\n" })
	bob.until("the file has the text", func() bool { return bob.file.Problem == "" && bob.file.Version == bob.version })
}

// People who may only read see the text, and change nothing.
func TestReaders(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\n"})
	s := newSet(t)
	viewer := l.join(t, s, name, "viewer")
	if err := viewer.Push("v", 0, []collab.Change{{{Len: 10}}}); !errors.Is(err, ErrReading) {
		t.Error(err)
	}
	if err := viewer.Merge("v", "", "x"); !errors.Is(err, ErrReading) {
		t.Error(err)
	}
	ann := l.join(t, s, name, "ann")
	ann.replace("id", "key")
	viewer.has("uint32 key\n")
	if _, err := s.Join(t.Context(), l.Workspace, "nothing.def", Person{}, Have{}); !errors.Is(err, ErrNoFile) {
		t.Error(err)
	}
}

// A client whose versions are not known any more merges its text.
func TestMerge(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\nstring name\n"})
	s := newSet(t)
	ann := l.join(t, s, name, "ann")
	if err := ann.Push("ann", 17, nil); !errors.Is(err, collab.ErrVersion) {
		t.Error(err)
	}
	ann.replace("id", "account")
	ann.has("uint32 account\nstring name\n")
	if err := ann.Merge("ann", "uint32 id\nstring name\n", "uint32 id\nstring title\n"); err != nil {
		t.Fatal(err)
	}
	ann.has("uint32 account\nstring title\n")
	ann.Restart("")
	ann.text = nil
	ann.has("uint32 account\nstring title\n")
}

// A text of one's own that was made of a revision of the file is merged once, however often it is sent, and only if its base is known.
func TestMergeOfRevision(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\nstring name\n"})
	base := string(store.RevisionOf([]byte("uint32 id\nstring name\n")))
	if _, err := l.SaveBy([]string{"bob"}, name, []byte("uint32 id\nstring name\nbyte of_bob\n"), nil); err != nil {
		t.Fatal(err)
	}
	ann := l.join(t, newSet(t), name, "ann")
	outcome := ""
	merge := func(client, revision, text string) string {
		t.Helper()
		outcome = ""
		if err := ann.MergeOf(client, revision, text); err != nil {
			t.Fatal(err)
		}
		for outcome == "" {
			m, err := ann.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ann.take(m)
			outcome = m.Merged
		}
		return ann.text.String()
	}
	const want = "uint32 account\nstring name\nbyte of_bob\n"
	for range 2 {
		if got := merge("ann-1", base, "uint32 account\nstring name\n"); got != want || outcome != Merged {
			t.Errorf("%s: %q", outcome, got)
		}
	}
	if got := merge("ann-2", "0123456789abcdef", "gone\n"); got != want || outcome != NoCommon {
		t.Errorf("%s: %q", outcome, got)
	}
}

// Deleting the file ends the room; nothing writes it again.
func TestDeleted(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\n"})
	s := newSet(t)
	ann := l.join(t, s, name, "ann")
	if _, err := l.Delete(name, nil); err != nil {
		t.Fatal(err)
	}
	for {
		m, err := ann.Next(t.Context())
		if errors.Is(err, ErrClosed) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		ann.take(m)
	}
	if err := ann.Push("ann", 0, nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	s.Close()
	if _, err := os.Stat(filepath.Join(l.files, name)); err == nil {
		t.Error("the file is there again")
	}
	if _, err := os.Stat(filepath.Join(l.home, "texts", name+".jsonl")); err == nil {
		t.Error("its log is still there")
	}
}

// What is forgotten is not in the log any more, whether people have the text open or not; the text stays.
func TestForget(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\n"})
	s := &Set{}
	log := func() string {
		text, err := os.ReadFile(filepath.Join(l.home, "texts", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	ann := l.join(t, s, name, "ann")
	for _, open := range []bool{true, false} {
		ann.replace("id", "hunter2")
		ann.has("uint32 hunter2\n")
		ann.replace("hunter2", "id")
		ann.has("uint32 id\n")
		ann.written()
		if !open {
			ann.Leave()
			s.Close()
			s = newSet(t)
		}
		if !strings.Contains(log(), "hunter2") {
			t.Fatal("the log lacks it already")
		}
		if err := s.Forget(l.Workspace, name); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(10 * time.Second); strings.Contains(log(), "hunter2"); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("it is still there: %s", log())
			}
		}
	}
	if bob := l.join(t, s, name, "bob"); bob.text.String() != "uint32 id\n" {
		t.Errorf("%q", bob.text.String())
	}
}

// failing is a folder that cannot be written.
type failing struct{ workspace.Home }

func (failing) Append(string, []byte) error { return store.ErrFull }

func (failing) Write(string, []byte, *store.Revision) (store.Revision, error) {
	return "", store.ErrFull
}

// What cannot be stored is never confirmed.
func TestFullDisk(t *testing.T) {
	d, _ := workspacetest.Dir(t, map[string]string{name: "uint32 id\n"})
	home, _ := workspacetest.Dir(t, nil)
	w := workspacetest.Open(t, workspace.Config{Files: d, Home: failing{home}})
	s := newSet(t)
	ann := library{Workspace: w}.join(t, s, name, "ann")
	ann.replace("id", "key")
	for {
		m, err := ann.Next(t.Context())
		if errors.Is(err, store.ErrFull) {
			break
		}
		if err != nil || len(m.Updates) > 0 {
			t.Fatalf("%+v %v", m, err)
		}
	}
}

// A long log begins anew, and the text stays.
func TestLongLog(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\n"})
	s := &Set{}
	ann := l.join(t, s, name, "ann")
	long := "# " + strings.Repeat("x", 100_000) + "\n"
	for i := range 15 {
		ann.replace(ann.text.String(), "uint32 id\n"+long+strings.Repeat("y", i)+"\n")
		v := ann.version
		ann.until("confirmed", func() bool { return ann.version > v })
	}
	want := ann.text.String()
	ann.Leave()
	s.Close()
	info, err := os.Stat(filepath.Join(l.home, "texts", name+".jsonl"))
	if err != nil || info.Size() > maxLog+300_000 {
		t.Errorf("%v %v", info.Size(), err)
	}
	bob := l.join(t, newSet(t), name, "bob")
	if bob.text.String() != want {
		t.Error("another text")
	}
}

func TestMessageJSON(t *testing.T) {
	text := "a\n"
	for want, m := range map[string]Message{
		`{"start":{"room":"r","you":"1","name":"","version":3,"text":"a\n","writes":true}}`: {Start: &Start{Room: "r", You: "1", Version: 3, Text: &text, Writes: true}},
		`{"updates":[{"clientID":"c","changes":[1,[0,"x"]]}]}`:                              {Updates: []collab.Update{{Client: "c", Change: collab.Change{{Len: 1, Keep: true}, {Text: collab.NewText("x")}}}}},
		`{"nobody":true}`: {Nobody: true},
	} {
		if got, err := json.Marshal(m); err != nil || string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A text that was typed without a connection becomes a suggestion, once, where others have changed the same lines in other ways.
func TestMergeThatClashes(t *testing.T) {
	const text = "uint32 id\nstring name\n"
	l := newLibrary(t, map[string]string{name: text})
	told := 0
	s := newSet(t)
	s.Suggested = func(string) { told++ }
	ann := l.join(t, s, name, "ann")
	ann.replace("id", "identifier")
	const now = "uint32 identifier\nstring name\n"
	ann.has(now)
	mine := strings.Replace(text, "id", "account", 1) + "byte mine\n"
	for range 2 { // the connection may be lost before the outcome is told
		if err := ann.Merge("ann-1", text, mine); err != nil {
			t.Fatal(err)
		}
		for m := (Message{}); m.Merged == ""; ann.take(m) {
			var err error
			if m, err = ann.Next(t.Context()); err != nil || m.Merged != "" && m.Merged != Suggested {
				t.Fatalf("%+v, %v", m, err)
			}
		}
	}
	ann.has(now)
	all, err := l.Threads()
	if err != nil || len(all) != 1 || all[0].By != "ann" || all[0].File != name || all[0].Suggestion.Text != mine || told != 1 {
		t.Fatalf("%+v, %v, told %d times", all, err, told)
	}
	if err := ann.Merge("ann-2", text, text+"byte last\n"); err != nil {
		t.Fatal(err)
	}
	ann.has(now + "byte last\n")
}
