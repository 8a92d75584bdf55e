// Package tooltest finds the programs that some tests need. Such tests are named TestTool..., by which .ci/run chooses those that a machine
// with Go alone skips. Tests with a browser (TestFlow..., TestBrowser...) and benchmarks may use other programs, too.
package tooltest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Path returns the path of a program. Without it the test is skipped.
func Path(t testing.TB, program string) string {
	t.Helper()
	path, ok := Look(t, program)
	if !ok {
		missing(t, program+" is not installed")
	}
	return path
}

// Look returns the path of a program, and whether there is one: for tests that do without.
func Look(t testing.TB, program string) (path string, ok bool) {
	t.Helper()
	named(t)
	path, err := exec.LookPath(program)
	return path, err == nil
}

// Packages returns the absolute path of a folder with npm packages. Without the file or folder of this name in its node_modules the test is
// skipped.
func Packages(t testing.TB, dir, name string) string {
	t.Helper()
	named(t)
	folder, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules", name)); err != nil {
		missing(t, filepath.Base(name)+" is not installed: npm ci in "+folder)
	}
	return folder
}

// Skip skips a test that needs something else of the machine, such as a right. What .ci/run has skipped it says at the end.
func Skip(t testing.TB, why ...any) {
	t.Helper()
	named(t)
	reason := fmt.Sprint(why...)
	if name := os.Getenv("WIREBENCH_SKIPPED"); name != "" {
		file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintln(file, reason)
			file.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Skip(reason)
}

func missing(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("WIREBENCH_BROWSER") == "required" {
		t.Fatal(reason + ", and WIREBENCH_BROWSER=required")
	}
	Skip(t, reason)
}

func named(t testing.TB) {
	t.Helper()
	for _, prefix := range []string{"TestTool", "TestFlow", "TestBrowser", "Benchmark"} {
		if strings.HasPrefix(t.Name(), prefix) {
			return
		}
	}
	t.Fatalf("%s uses other programs: name it TestTool...", t.Name())
}
