package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"wirebench/defs/schema"
	"wirebench/server/supervise"
)

// Bounds of hooks.
const (
	maxHooks    = 64      // connections
	maxHookLine = 4 << 20 // bytes; a message has at most half of them
)

// hooks is the local socket for programs that write their messages as JSON Lines. It yields the lines of all connections, whole and one after
// the other, until ctx ends.
type hooks struct {
	listener net.Listener
	note     func(format string, args ...any)
	out      *io.PipeWriter
	writing  sync.Mutex // a line at a time
}

// listenHooks listens at the path of a Unix socket, which only this user may open, or at a port of this machine.
func listenHooks(ctx context.Context, at string, note func(format string, args ...any)) (io.Reader, error) {
	l, err := listenLocal(at)
	if err != nil {
		return nil, err
	}
	in, out := io.Pipe()
	h := &hooks{listener: l, note: note, out: out}
	supervise.Go("listener", func(err error) { note("%v", err) }, func() { h.accept(ctx) })
	supervise.After(ctx, "listener", func() {
		_ = l.Close()
		_ = out.Close() // ends waiting writers
	})
	note("hooks connect to %s", at)
	return in, nil
}

func listenLocal(at string) (net.Listener, error) {
	if path, ok := strings.CutPrefix(at, "unix:"); ok {
		if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSocket {
			c, err := net.DialTimeout("unix", path, time.Second)
			if err == nil {
				_ = c.Close()
				return nil, fmt.Errorf("%s is in use", path)
			}
			if err := os.Remove(path); err != nil { // of a program that was killed
				return nil, err
			}
		}
		l, err := net.Listen("unix", path)
		if err == nil {
			if err = os.Chmod(path, 0o600); err != nil {
				_ = l.Close()
			}
		}
		return l, err
	}
	addr, err := netip.ParseAddrPort(at)
	if err != nil || !addr.Addr().Unmap().IsLoopback() {
		return nil, errors.New("hooks connect to unix:PATH or to a port of 127.0.0.1 or [::1]")
	}
	return net.Listen("tcp", at)
}

func (h *hooks) accept(ctx context.Context) {
	var wg supervise.Group
	defer h.out.Close()
	defer wg.Wait()
	free := make(chan struct{}, maxHooks)
	for {
		c, err := h.listener.Accept()
		if err != nil {
			if ctx.Err() == nil {
				h.note("hooks: %v", err)
			}
			return
		}
		select {
		case free <- struct{}{}:
		default:
			h.note("a hook was refused: %d are connected", maxHooks)
			_ = c.Close()
			continue
		}
		stop := supervise.After(ctx, "hook", func() { _ = c.Close() })
		wg.Go("hook", func(err error) { h.note("%v", err) }, func() {
			defer func() { <-free }()
			defer c.Close()
			defer stop()
			if err := h.take(c); err != nil && ctx.Err() == nil {
				h.note("a hook was disconnected: %v", err)
			}
		})
	}
}

// take passes on the lines of a connection. A line that is not a message ends this connection, so that it does not spoil the capture of the
// others.
func (h *hooks) take(c io.Reader) error {
	lines := bufio.NewScanner(c)
	lines.Buffer(make([]byte, 0, 64<<10), maxHookLine)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := checkHookLine(line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := h.write(line); err != nil {
			return err
		}
	}
	return lines.Err()
}

func checkHookLine(line []byte) error {
	var x struct{ Dir, Hex string }
	if err := json.Unmarshal(line, &x); err != nil {
		return err
	}
	if schema.DirNamed(x.Dir) == schema.Both {
		return errors.New(`"dir" is not c2s or s2c`)
	}
	if _, err := hex.DecodeString(x.Hex); err != nil || x.Hex == "" {
		return errors.New(`"hex" does not have the bytes of a message`)
	}
	return nil
}

func (h *hooks) write(line []byte) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	_, err := h.out.Write(append(bytes.Clone(line), '\n'))
	return err
}
