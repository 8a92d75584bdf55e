package store

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Some tests need a process of their own, to be killed or to run on a small disk: the test program itself, running one of these functions
// in the folder given as argument.
var children = map[string]func(d *Dir) error{
	"versions":     writeVersions,
	"lines":        appendLines,
	"limited":      limitedFiles,
	"full":         fullMount,
	"read-only":    readOnlyMount,
	"exhausted":    exhaustedWatches,
	"hold data":    holdData,
	"upgrade data": upgradeData,
}

const childVariable = "WIREBENCH_STORE_CHILD"

func TestMain(m *testing.M) {
	do, ok := children[os.Getenv(childVariable)]
	if !ok {
		os.Exit(m.Run())
	}
	d, err := Open(os.Args[1])
	if err == nil {
		err = do(d)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(t *testing.T, what, folder string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, folder)
	cmd.Env = append(os.Environ(), childVariable+"="+what)
	return cmd
}

// version returns a text that identifies its version and shows whether it is complete. Texts of successive versions differ much in length.
func version(n int) []byte {
	lines := 1 + n*7919%5000
	return []byte(strings.Repeat(fmt.Sprintf("version %d of %d lines\n", n, lines), lines))
}

// number returns the version that a complete text has.
func number(text []byte) (int, error) {
	var n int
	if _, err := fmt.Sscanf(string(text[:min(len(text), 30)]), "version %d of", &n); err != nil {
		return 0, fmt.Errorf("%d bytes that start with %q: %w", len(text), text[:min(len(text), 30)], err)
	}
	if !bytes.Equal(text, version(n)) {
		return 0, fmt.Errorf("%d bytes, which are not all of version %d", len(text), n)
	}
	return n, nil
}

// writeVersions writes one version after another, and prints the number of each once it is written.
func writeVersions(d *Dir) error {
	f, err := d.Read("a.def")
	if err != nil {
		return err
	}
	n, err := number(f.Text)
	for seen := &f.Revision; err == nil; {
		n++
		var rev Revision
		if rev, err = d.Write("a.def", version(n), seen); err == nil {
			fmt.Println(n)
		}
		seen = &rev
	}
	return err
}

// appendLines appends numbers, and prints each once it is written.
func appendLines(d *Dir) error {
	f, err := d.Read("a.def")
	n := bytes.Count(f.Text, []byte("\n"))
	for err == nil {
		n++
		if err = d.Append("a.def", []byte(strings.Repeat(strconv.Itoa(n)+" ", 1000))); err == nil {
			fmt.Println(n)
		}
	}
	return err
}

// killed starts a child process, kills it some time after its first output, and returns the last number that it printed.
func killed(t *testing.T, what string, d *Dir) int {
	t.Helper()
	cmd := child(t, what, d.path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := 0
	var kill *time.Timer
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if last, err = strconv.Atoi(lines.Text()); err != nil {
			t.Error(err)
		}
		if kill == nil {
			kill = time.AfterFunc(time.Duration(rand.IntN(int(15*time.Millisecond))), func() { _ = cmd.Process.Kill() })
		}
	}
	err = cmd.Wait()
	if kill == nil || kill.Stop() {
		t.Fatalf("the process ended before it was killed: %v %s", err, stderr.String())
	}
	return last
}

// A killed program leaves the old text or the new one. Power failures are not tested; TestAnyStepMayFail checks that all steps are taken.
func TestAKilledWriteLeavesAWholeVersion(t *testing.T) {
	d := open(t, map[string]string{"a.def": string(version(0))})
	kills, unfinished, left := 40, 0, 0
	if testing.Short() {
		kills = 5
	}
	for range kills {
		last := killed(t, "versions", d)
		f, err := d.Read("a.def")
		if err != nil {
			t.Fatal(err)
		}
		n, err := number(f.Text)
		if err != nil || n < last || n > last+1 {
			t.Fatalf("version %d was written, now there is %d: %v", last, n, err)
		}
		if n > last {
			unfinished++
		}
		left += len(tree(t, d)) - 1
	}
	t.Logf("of %d killed, %d were so between the rename and saying so, and %d left a temporary file", kills, unfinished, left)
	if _, err := Open(d.path, Alone()); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, d); len(got) != 1 {
		t.Errorf("%d files are left", len(got))
	}
}

func TestAKilledAppendLosesNoLine(t *testing.T) {
	d := open(t, map[string]string{"a.def": ""})
	for range 5 {
		last := killed(t, "lines", d)
		f, err := d.Read("a.def")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(f.Text)) {
			n++
			if want := strings.Repeat(strconv.Itoa(n)+" ", 1000) + "\n"; line != want && (n <= last || !strings.HasPrefix(want, line)) {
				t.Fatalf("line %d of %d is %.20q…, %d bytes", n, last, line, len(line))
			}
		}
		if n < last {
			t.Fatalf("%d lines were written, there are %d", last, n)
		}
		if err := os.WriteFile(d.path+"/a.def", nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
