package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"wirebench/server/supervise"
)

const (
	quiet     = 50 * time.Millisecond  // a change is reported when no other has followed it for this long
	patience  = 500 * time.Millisecond // or, if changes keep coming, this long after the first
	goneEvery = 100 * time.Millisecond // how often to check for the return of a folder that is gone
)

// Watch calls changed when something below the folder has changed, by any program, and once at the start: a caller that reads the folder in
// changed misses nothing. Calls never overlap; a change during a call leads to another call. Watch returns nil when the context is done and
// the last call has returned.
//
// Changes of attributes alone are not reported. Where the system reports no changes, or stops doing so, the folder is polled every two
// seconds, and the log says why.
func (d *Dir) Watch(ctx context.Context, changed func()) error {
	calls := make(chan struct{}, 1)
	done := make(chan struct{})
	supervise.Go("folder", nil, func() {
		defer close(done)
		for range calls {
			if ctx.Err() == nil { // after a fault, further changes are still followed
				_ = supervise.Do("folder", func() error { changed(); return nil })
			}
		}
	})
	defer func() {
		close(calls)
		<-done
	}()
	tell := func() {
		select {
		case calls <- struct{}{}:
		default: // a pending call covers this change as well
		}
	}
	for ctx.Err() == nil {
		if err := d.follow(ctx, tell); err != nil {
			d.log.Warn("the system does not report changes of the folder; polling it",
				"folder", d.path, "every", d.pollEvery, "reason", err)
			d.poll(ctx, tell)
		}
	}
	return nil
}

// follow reports changes until the context is done, or until directories have been moved or removed: then all watches must be made anew,
// since they follow the directories and not their names.
func (d *Dir) follow(ctx context.Context, tell func()) error {
	f := following{d: d, dirs: map[string]bool{}}
	var err error
	if f.watcher, err = d.newWatcher(); err != nil {
		return err
	}
	defer f.watcher.Close()
	if f.root, err = os.Stat(d.path); err == nil {
		if err := f.add(); err != nil && !errors.Is(err, ErrGone) {
			return err
		}
	}
	tell()
	every := d.pollEvery // a change further up can replace the folder without an event: one stat detects it
	if f.root == nil {
		every = min(every, goneEvery)
	}
	look := time.NewTicker(every)
	defer look.Stop()
	settled := time.NewTimer(time.Hour)
	settled.Stop()
	defer settled.Stop()
	var first time.Time // time of the first unreported change
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
			if f.replaced() {
				return nil
			}
		case event := <-f.watcher.Events:
			if !f.matters(event) {
				continue
			}
			if first.IsZero() {
				first = time.Now()
			}
			settled.Reset(min(quiet, patience-time.Since(first)))
		case err := <-f.watcher.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return err
			}
			return nil // an unknown number of events was lost
		case <-settled.C:
			if f.moved {
				return nil
			}
			if f.created {
				if err := f.add(); err != nil && !errors.Is(err, ErrGone) {
					return err
				}
			}
			f.created, first = false, time.Time{}
			tell()
		}
	}
}

// following is a set of watches.
type following struct {
	d       *Dir
	watcher *watcher
	root    fs.FileInfo     // nil if the folder is gone
	dirs    map[string]bool // watched directories by path
	moved   bool            // a watched directory has moved
	created bool            // something that may be a directory has appeared
}

// add watches the directories that are not watched yet. Each is watched before it is read, so that no change is missed.
func (f *following) add() error {
	root, err := f.d.root()
	if err != nil {
		return err
	}
	defer root.Close()
	return f.d.walk(root, visitor{dir: func(name string) error {
		dir := filepath.Join(f.d.path, filepath.FromSlash(name))
		if f.dirs[dir] {
			return nil
		}
		if err := f.d.step("watch"); err != nil {
			return err
		}
		err := f.watcher.Add(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
			return nil // removed meanwhile, which the parent directory reports; or unreadable, as List will find too
		case err != nil:
			return err
		}
		f.dirs[dir] = true
		return nil
	}})
}

// matters reports whether an event changes the result of List, and records its effect on the watched directories.
func (f *following) matters(event fsnotify.Event) bool {
	if !f.dirs[event.Name] && hidden(filepath.Base(event.Name)) {
		return false // our own temporary files among them
	}
	if f.dirs[event.Name] && (event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) || event.Has(fsnotify.Create)) {
		f.moved = true
	}
	if event.Has(fsnotify.Create) {
		f.created = true
	}
	return event.Has(fsnotify.Create) || event.Has(fsnotify.Write) || event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename)
}

// replaced reports whether the folder is not the one watched: exchanged, gone or back.
func (f *following) replaced() bool {
	now, err := os.Stat(f.d.path)
	if err != nil || f.root == nil {
		return (err == nil) != (f.root != nil)
	}
	return !os.SameFile(now, f.root)
}

// poll checks the folder for changes until the context is done.
func (d *Dir) poll(ctx context.Context, tell func()) {
	last := d.signature()
	tell()
	look := time.NewTicker(d.pollEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			if now := d.signature(); now != last {
				last = now
				tell()
			}
		}
	}
}

// signature returns a text that changes when names, sizes or times of files change.
func (d *Dir) signature() string {
	root, err := d.root()
	if err != nil {
		return err.Error()
	}
	defer root.Close()
	all := sha256.New()
	note := func(parts ...any) { fmt.Fprintf(all, "%q\n", fmt.Sprint(parts...)) }
	err = d.walk(root, visitor{
		skip: func(name, reason string) { note(name, ": ", reason) },
		file: func(name string) error {
			if info, err := root.Lstat(name); err == nil {
				note(name, " ", info.Size(), " ", info.ModTime().UnixNano())
			}
			return nil
		},
	})
	return strings.TrimSpace(fmt.Sprintf("%x %v", all.Sum(nil), err))
}
