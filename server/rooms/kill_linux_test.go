package rooms

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/server/collab"
)

const killFolders = "WIREBENCH_KILL_FOLDERS"

// TestKillChild is the process that is killed: three people type as fast as they can, and each line of the output is a confirmed text.
func TestKillChild(t *testing.T) {
	files, home, ok := strings.Cut(os.Getenv(killFolders), "\n")
	if !ok {
		t.Skip("it is started by TestKill")
	}
	l := openLibrary(t, files, home)
	s := &Set{}
	var out sync.Mutex
	for i := range 3 {
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
					panic(err)
				}
				for confirmed := false; !confirmed; {
					m, err := c.Next(t.Context())
					if err != nil {
						panic(err)
					}
					c.take(m)
					for _, u := range m.Updates {
						confirmed = confirmed || u.Client == c.name
					}
				}
				out.Lock()
				fmt.Printf("%s %d\n", c.name, n)
				out.Unlock()
			}
		}()
	}
	time.Sleep(time.Minute)
}

// Whatever was confirmed is there after kill -9, at any moment, again and again.
func TestKill(t *testing.T) {
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	l := newLibrary(t, map[string]string{name: "uint32 id\n"})
	confirmed := map[string]int{}
	for round := range rounds {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKillChild$")
		cmd.Env = append(os.Environ(), killFolders+"="+l.files+"\n"+l.home)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Duration(300+rand.IntN(900))*time.Millisecond, func() { _ = cmd.Process.Kill() })
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
		again := openLibrary(t, copyOf(t, l.files), copyOf(t, l.home))
		s := &Set{}
		bob := again.join(t, s, name, "bob")
		text := bob.text.String()
		for who, n := range confirmed {
			var got int
			i := strings.Index(text, "# "+who+" ")
			if i < 0 {
				t.Fatalf("round %d: no line of %s in\n%s", round, who, text)
			}
			if _, err := fmt.Sscanf(text[i:], "# "+who+" %d\n", &got); err != nil || got < n || got > n+1 {
				t.Fatalf("round %d: %s was confirmed up to %d, and the text has\n%s", round, who, n, text)
			}
		}
		bob.Leave()
		s.Close()
	}
	if len(confirmed) != 3 {
		t.Errorf("%v were confirmed", confirmed)
	}
	t.Log(confirmed)
}
