package rooms

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"wirebench/server/collab"
)

const (
	killFolders = "WIREBENCH_KILL_FOLDERS"
	killPeople  = "WIREBENCH_KILL_PEOPLE"
	killMinutes = "WIREBENCH_KILL_MINUTES" // of TestKillLong
)

// TestKillChild is the process that is killed: people type as fast as they can, and each line of the output is a confirmed text. Someone whose
// text is not confirmed any more, as on a full disk, stops.
func TestKillChild(t *testing.T) {
	files, home, ok := strings.Cut(os.Getenv(killFolders), "\n")
	if !ok {
		t.Skip("it is started by TestKill")
	}
	l := openLibrary(t, files, home)
	s := &Set{}
	var out sync.Mutex
	people := 3
	_, _ = fmt.Sscan(os.Getenv(killPeople), &people)
	for i := range people {
		c := l.join(t, s, name, fmt.Sprintf("p%d", i))
		go func() {
			for {
				// A line of its own, whose number grows.
				text, old, n := c.text.String(), "", 0
				at := len(text)
				if i := strings.Index(text, "# "+c.name+" "); i >= 0 {
					at, old = i, text[i:i+strings.IndexByte(text[i:], '\n')+1]
					_, _ = fmt.Sscanf(old, "# "+c.name+" %d\n", &n)
					n++
				}
				word := fmt.Sprintf("# %s %d\n", c.name, n)
				before := len(collab.NewText(text[:at]))
				change := collab.Between(c.text, append(append(append(collab.Text{}, c.text[:before]...), collab.NewText(word)...), c.text[before+len(collab.NewText(old)):]...))
				if err := c.Push(c.name, c.version, []collab.Change{change}); err != nil {
					return
				}
				for confirmed := false; !confirmed; {
					m, err := c.Next(t.Context())
					if err != nil {
						return
					}
					c.take(m)
					for _, u := range m.Updates {
						confirmed = confirmed || u.Client == c.name
					}
				}
				out.Lock()
				fmt.Printf("%s %d\n", c.name, n)
				out.Unlock()
				if n%7 == 0 && c.Write() != nil {
					return
				}
			}
		}()
	}
	time.Sleep(time.Minute)
}

// Whatever was confirmed is there exactly once after kill -9, at any moment, again and again. TestEveryStep tests all moments.
func TestKill(t *testing.T) {
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	l := newLibrary(t, map[string]string{name: "uint32 id\n"})
	confirmed := map[string]int{}
	for round := range rounds {
		killOnce(t, l, confirmed, fmt.Sprintf("round %d", round), time.Duration(300+rand.IntN(900))*time.Millisecond, nil)
	}
	if len(confirmed) != 3 {
		t.Errorf("%v were confirmed", confirmed)
	}
	t.Log(confirmed)
}

// TestKillLong is TestKill for minutes, with eight people, on a small disk: WIREBENCH_KILL_MINUTES=10 go test -run TestKillLong -timeout 20m
// ./server/rooms, as root. Another program writes the file in between, as a git pull does, and the disk is full for a while.
func TestKillLong(t *testing.T) {
	minutes := 0.0
	if _, err := fmt.Sscan(os.Getenv(killMinutes), &minutes); err != nil {
		t.Skip(killMinutes + " is not set")
	}
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=12m"); err != nil {
		t.Skip("mount: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	t.Setenv(killPeople, "8")
	l := library{files: filepath.Join(disk, "files"), home: filepath.Join(disk, "home")}
	for _, dir := range []string{l.files, l.home} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(l.files, name)
	if err := os.WriteFile(file, []byte("uint32 id\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	confirmed, outside, fulls := map[string]int{}, 0, 0
	end := time.Now().Add(time.Duration(minutes * float64(time.Minute)))
	rounds := 0
	for ; time.Now().Before(end); rounds++ {
		filler := filepath.Join(disk, "filler")
		killOnce(t, l, confirmed, fmt.Sprintf("round %d", rounds), 2*time.Second, func() {
			time.Sleep(500 * time.Millisecond)
			switch rounds % 3 {
			case 1: // another program replaces the file
				outside++
				for { // what it does not know of, it must not overwrite: git refuses to, too
					text, err := os.ReadFile(file)
					if err != nil {
						t.Error(err)
						return
					}
					now := strings.Replace(string(text), "uint32 id", fmt.Sprintf("# outside %d\nuint32 id", outside), 1)
					if err := os.WriteFile(file+".new", []byte(now), 0o666); err != nil {
						t.Error(err)
						return
					}
					if again, err := os.ReadFile(file); err == nil && string(again) == string(text) {
						if err := os.Rename(file+".new", file); err != nil {
							t.Error(err)
						}
						break
					}
				}
			case 2: // nothing more fits
				fulls++
				f, err := os.Create(filler)
				if err != nil {
					t.Error(err)
					return
				}
				block := make([]byte, 64<<10)
				for err == nil {
					_, err = f.Write(block)
				}
				f.Close()
				time.Sleep(500 * time.Millisecond)
			}
		})
		_ = os.Remove(filler)
	}
	sum := 0
	for _, n := range confirmed {
		sum += n
	}
	if len(confirmed) != 8 {
		t.Errorf("%v were confirmed", confirmed)
	}
	t.Logf("%d rounds, %d writes of another program, %d full disks: %d confirmed edits of %d people are there", rounds, outside, fulls, sum, len(confirmed))
}

// killOnce runs the child until it is killed, and compares the text with what it had confirmed.
func killOnce(t *testing.T, l library, confirmed map[string]int, round string, after time.Duration, meanwhile func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKillChild$")
	cmd.Env = append(os.Environ(), killFolders+"="+l.files+"\n"+l.home)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	if meanwhile != nil {
		both.Go(meanwhile)
	}
	time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		var who string
		var n int
		if _, wrong := fmt.Sscanf(line, "%s %d\n", &who, &n); wrong == nil && err == nil && strings.HasPrefix(who, "p") {
			confirmed[who] = n
		}
		if err == io.EOF || err != nil {
			break
		}
	}
	_ = cmd.Wait()
	both.Wait()
	_ = os.Remove(filepath.Join(filepath.Dir(l.files), "filler"))
	again := openLibrary(t, copyOf(t, l.files), copyOf(t, l.home))
	s := &Set{}
	bob := again.join(t, s, name, "bob")
	text := bob.text.String()
	for who, n := range confirmed {
		var got int
		i := strings.Index(text, "# "+who+" ")
		if i < 0 {
			t.Fatalf("%s: no line of %s in\n%s", round, who, text)
		}
		if _, err := fmt.Sscanf(text[i:], "# "+who+" %d\n", &got); err != nil || got < n || got > n+1 {
			t.Fatalf("%s: %s was confirmed up to %d, and the text has\n%s", round, who, n, text)
		}
		confirmed[who] = got // what was written and not confirmed is there to stay, too: the next number follows it
	}
	for line := range strings.Lines(text) { // and nothing is there twice, or in parts
		if !known.MatchString(line) {
			t.Fatalf("%s: nobody wrote the line %q in\n%s", round, line, text)
		}
		if strings.Count(text, line) != 1 {
			t.Fatalf("%s: %q is there more than once:\n%s", round, line, text)
		}
	}
	for who := range confirmed {
		if strings.Count(text, "# "+who+" ") != 1 {
			t.Fatalf("%s: %s has several lines in\n%s", round, who, text)
		}
	}
	bob.Leave()
	s.Close()
}

var known = regexp.MustCompile(`^(# (p\d|outside) \d+|uint32 id)\n$`)
