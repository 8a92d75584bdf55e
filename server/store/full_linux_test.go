package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

var errNotAllowed = errors.New("not allowed here")

func limitedFiles(d *Dir) error {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	return fullDisk(d)
}

func fullMount(d *Dir) error {
	if err := syscall.Mount("store", d.path, "tmpfs", 0, "size=64k"); err != nil {
		return errors.Join(errNotAllowed, err)
	}
	return fullDisk(d)
}

// fullDisk checks a disk that is full after 64 kB: failing operations report it, and leave the files unchanged.
func fullDisk(d *Dir) error {
	small, large := bytes.Repeat([]byte("small\n"), 1000), bytes.Repeat([]byte("large\n"), 100_000)
	if _, err := d.Write("a.def", small, nil); err != nil {
		return fmt.Errorf("while there is room: %w", err)
	}
	_, over := d.Write("a.def", large, nil)
	_, anew := d.Write("x/y/z.def", large, nil)
	for what, err := range map[string]error{"over a file": over, "a new file": anew} {
		if !errors.Is(err, ErrFull) {
			return fmt.Errorf("%s: %v", what, err)
		}
	}
	line := bytes.Repeat([]byte("x"), 600_000)
	for _, name := range []string{"a.def", "x/new.txt"} {
		if err := d.Append(name, line); !errors.Is(err, ErrFull) {
			return fmt.Errorf("append to %s: %v", name, err)
		}
	}
	f, err := d.Read("a.def")
	if err != nil || !bytes.Equal(f.Text, small) {
		return fmt.Errorf("now %d bytes are there: %v", len(f.Text), err)
	}
	entries, err := os.ReadDir(d.path)
	if err != nil || len(entries) != 1 {
		return fmt.Errorf("%v are left: %v", entries, err)
	}
	if _, err := d.Write("a.def", []byte("smaller"), &f.Revision); err != nil {
		return fmt.Errorf("what still fits: %w", err)
	}
	fmt.Println(over)
	return nil
}

// readOnlyMount checks a disk mounted read-only: files can be read, and all other operations report the reason why they fail.
func readOnlyMount(d *Dir) error {
	if err := syscall.Mount("store", d.path, "tmpfs", 0, "size=64k"); err != nil {
		return errors.Join(errNotAllowed, err)
	}
	if _, err := d.Write("a.def", []byte("x"), nil); err != nil {
		return err
	}
	if err := syscall.Mount("store", d.path, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=64k"); err != nil {
		return errors.Join(errNotAllowed, err)
	}
	if _, err := Open(d.path); err != nil {
		return err
	}
	if files, _, err := d.List(); err != nil || len(files) != 1 {
		return fmt.Errorf("%d files: %v", len(files), err)
	}
	_, over := d.Write("a.def", []byte("y"), nil)
	_, anew := d.Write("x/a.def", []byte("y"), nil)
	for what, err := range map[string]error{"over": over, "anew": anew, "append": d.Append("a.def", []byte("y")), "remove": d.Remove("a.def", nil)} {
		if !errors.Is(err, ErrReadOnly) {
			return fmt.Errorf("%s: %v", what, err)
		}
	}
	fmt.Println(over)
	return nil
}

func TestAFullDisk(t *testing.T) {
	for _, test := range []struct {
		what  string
		mount bool
		want  string
	}{
		{"limited", false, "write a.def: the file would be larger than the disk allows"},
		{"full", true, "write a.def: the disk is full"},
		{"read-only", true, "write a.def: the disk is read-only"},
	} {
		t.Run(test.what, func(t *testing.T) {
			d := open(t, nil)
			cmd := child(t, test.what, d.path)
			if test.mount {
				cmd.SysProcAttr = apart()
			}
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			if test.mount && (errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || strings.Contains(stderr.String(), errNotAllowed.Error())) {
				t.Skipf("this system lets no test mount a disk, so a full one is not tested: %v %s", err, stderr.String())
			}
			if err != nil {
				t.Fatalf("%v: %s", err, stderr.String())
			}
			if got := strings.TrimSpace(stdout.String()); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// apart starts a process in namespaces of its own, where it may mount disks and set limits that other processes do not see.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
}

// exhaustedWatches checks a user without watches left, and then without watchers: changes are reported all the same.
func exhaustedWatches(d *Dir) error {
	d.pollEvery = 5 * time.Millisecond
	for _, limit := range []struct{ name, value string }{{"max_inotify_watches", "1"}, {"max_inotify_instances", "0"}} {
		if err := os.WriteFile("/proc/sys/user/"+limit.name, []byte(limit.value), 0o666); err != nil {
			return errors.Join(errNotAllowed, err)
		}
		var log bytes.Buffer
		d.log = slog.New(slog.NewTextHandler(&log, nil))
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		calls := 0
		if err := d.Watch(ctx, func() {
			calls++
			switch f, _ := d.Read("x/a.def"); {
			case string(f.Text) == limit.name:
				cancel()
			case calls == 1:
				if _, err := d.Write("x/a.def", []byte(limit.name), nil); err != nil {
					panic(err)
				}
			}
		}); err != nil {
			return err
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) || calls < 2 || strings.Count(log.String(), "level=WARN") != 1 {
			return fmt.Errorf("%s: %d calls, log %q", limit.name, calls, log.String())
		}
		fmt.Print(log.String())
	}
	return nil
}

func TestWatchesThatAreUsedUp(t *testing.T) {
	d := open(t, map[string]string{"x/a.def": "old"})
	cmd := child(t, "exhausted", d.path)
	cmd.SysProcAttr = apart()
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || bytes.Contains(out, []byte(errNotAllowed.Error())) {
		t.Skipf("this system lets no test set limits, so exhausted ones are not tested: %v %s", err, out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, reason := range []string{"no space left on device", "too many open files"} {
		if !bytes.Contains(out, []byte(reason)) {
			t.Errorf("the log does not say %q:\n%s", reason, out)
		}
	}
}
