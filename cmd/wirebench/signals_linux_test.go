package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"wirebench/cmd/wirebench/demo"
)

// child starts this program as wirebench. It is killed at the end of the test if it has not ended.
func child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), childVariable+"=1")
	return cmd
}

// ended waits for a child and returns its status.
func ended(t *testing.T, cmd *exec.Cmd) syscall.WaitStatus {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		_ = cmd.Process.Kill()
		<-done
		t.Fatal("it does not end")
	}
	return cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// Ctrl+C ends a command that waits for its input.
func TestInterrupted(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := os.OpenFile(fifo, os.O_RDWR, 0) // others can open it, and reads block
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for _, args := range [][]string{
		{"decode"},
		{"decode", fifo},
		{"encode", "--message", "C_EDIT_PRIVATE_CHANNEL", "--code", "1"},
		{"paste"},
		{"frames", "--protocol", "muta", fifo},
		{"replay", "--protocol", "muta", "--to", "127.0.0.1:1", "-"},
	} {
		t.Run(strings.Join(args[:1], " "), func(t *testing.T) {
			cmd := child(t, args...)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			reading(t, cmd.Process.Pid, fifo)
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if status := ended(t, cmd); !status.Signaled() || status.Signal() != syscall.SIGINT {
				t.Errorf("it ended with %v", status)
			}
		})
	}
}

// reading waits until a process has opened a file or blocks reading standard input: its signal handlers are then set up.
func reading(t *testing.T, pid int, file string) {
	t.Helper()
	until(t, "it reads", func() bool {
		files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fd/*")
		for _, f := range files {
			if to, _ := os.Readlink(f); to == file {
				return true
			}
		}
		tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/syscall")
		for _, task := range tasks {
			text, _ := os.ReadFile(task)
			if number, _, ok := strings.Cut(string(text), " "); ok && number == strconv.Itoa(syscall.SYS_READ) {
				return true
			}
		}
		return false
	})
}

// A second Ctrl+C ends the program at once: here the first one would wait for an unreachable workbench.
func TestInterruptedTwice(t *testing.T) {
	g, err := demo.Start(t.Context(), demo.Options{Protocol: "tera", Rate: 400})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	listen := net.JoinHostPort("127.0.0.1", strconv.Itoa(freePorts(t, g.Network, 1)))
	cmd := child(t, "proxy", "--protocol", "tera", "--listen", listen, "--upstream", g.Addr, "--to", "http://127.0.0.1:9")
	said := &log{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the proxy listens", func() bool { return strings.Contains(said.String(), "is relayed to") })
	played := make(chan error, 1)
	go func() { played <- g.Client(t.Context(), listen) }()
	until(t, "pushing is interrupted", func() bool { return strings.Contains(said.String(), "pushing is interrupted") })
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	until(t, "it ends", func() bool {
		_ = cmd.Process.Signal(os.Interrupt)
		return len(over) > 0
	})
	<-over
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v: %s", status, said)
	}
	<-played
}

// Closing the output ends a proxy like Ctrl+C: it shuts down, and its recording is complete.
func TestProxyWithoutAReader(t *testing.T) {
	var d diary
	g, err := demo.Start(t.Context(), demo.Options{Protocol: "tera", Rate: 400, Seed: 9, Seen: d.note})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	listen := net.JoinHostPort("127.0.0.1", strconv.Itoa(freePorts(t, g.Network, 1)))
	file := filepath.Join(t.TempDir(), "session.pcapng")
	cmd := child(t, "proxy", "--protocol", "tera", "--listen", listen, "--upstream", g.Addr, "--record", file)
	said := &log{}
	cmd.Stderr = said
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	until(t, "the proxy listens", func() bool { return strings.Contains(said.String(), "is relayed to") })
	played := make(chan error, 1)
	go func() { played <- g.Client(t.Context(), listen) }()
	if _, err := io.ReadFull(bufio.NewReaderSize(out, 16), make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if status := ended(t, cmd); !status.Exited() || status.ExitStatus() != exitOK {
		t.Errorf("it ended with %v: %s", status, said)
	}
	<-played
	if !strings.Contains(said.String(), "connections: 1;") {
		t.Errorf("no orderly shutdown: %s", said)
	}
	frames, _, status := cli(t, "", "frames", "--protocol", "tera", file)
	if status != exitOK || len(lines(frames)) < 3 {
		t.Errorf("the recording: %d %s", status, frames)
	}
}
