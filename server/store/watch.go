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
)

const (
	quiet     = 50 * time.Millisecond  // a change is told when nothing has followed it for this long
	patience  = 500 * time.Millisecond // or, when something always does, this long after the first
	goneEvery = 100 * time.Millisecond // how often a folder that is gone is looked for
)

// Watch calls changed when something below the folder has changed, by whatever program, and once at the start: a caller that reads
// the folder in changed misses nothing, whenever it has read it before. Calls never overlap; what changes during one leads to
// another. Watch returns nil when the context has ended and the last call has returned.
//
// Changes of attributes alone are not told. Where the system tells no changes, or no more of them, the folder is looked through
// every two seconds, and the log says why.
func (d *Dir) Watch(ctx context.Context, changed func()) error {
	calls := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range calls {
			if ctx.Err() == nil {
				changed()
			}
		}
	}()
	defer func() {
		close(calls)
		<-done
	}()
	tell := func() {
		select {
		case calls <- struct{}{}:
		default: // a call that is still to come sees this change as well
		}
	}
	for ctx.Err() == nil {
		if err := d.follow(ctx, tell); err != nil {
			d.log.Warn("the system does not tell changes of the folder, so it is looked through again and again",
				"folder", d.path, "every", d.pollEvery, "reason", err)
			d.poll(ctx, tell)
		}
	}
	return nil
}

// follow tells changes until the context ends, or until directories have been moved or removed: then all watches are made anew,
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
	every := d.pollEvery // the folder itself can be replaced without an event, by a change further up: one call of stat tells
	if f.root == nil {
		every = min(every, goneEvery)
	}
	look := time.NewTicker(every)
	defer look.Stop()
	settled := time.NewTimer(time.Hour)
	settled.Stop()
	defer settled.Stop()
	var first time.Time // of the changes that are not told yet
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
			if f.replaced() {
				return nil
			}
		case event, ok := <-f.watcher.Events:
			if !ok {
				return fsnotify.ErrClosed
			}
			if !f.matters(event) {
				continue
			}
			if first.IsZero() {
				first = time.Now()
			}
			settled.Reset(min(quiet, patience-time.Since(first)))
		case err, ok := <-f.watcher.Errors:
			switch {
			case !ok:
				return fsnotify.ErrClosed
			case !errors.Is(err, fsnotify.ErrEventOverflow):
				return err
			}
			return nil // we have missed some events, and cannot know which
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

// following is one set of watches.
type following struct {
	d       *Dir
	watcher *fsnotify.Watcher
	root    fs.FileInfo     // nil = the folder is gone
	dirs    map[string]bool // watched, by their paths
	moved   bool            // one of dirs is no longer where it was
	created bool            // something that may be a directory has come
}

// add watches the directories that are not watched yet. Each is watched before it is read, so that nothing comes unseen.
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
			return nil // gone meanwhile, which the directory above tells; or not for us, as List will find too
		case err != nil:
			return err
		}
		f.dirs[dir] = true
		return nil
	}})
}

// matters reports whether an event is of something that counts, and notes what it does to the directories.
func (f *following) matters(event fsnotify.Event) bool {
	if !f.dirs[event.Name] && hidden(filepath.Base(event.Name)) {
		return false // also our own temporary files
	}
	if f.dirs[event.Name] && (event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) || event.Has(fsnotify.Create)) {
		f.moved = true
	}
	if event.Has(fsnotify.Create) {
		f.created = true
	}
	return event.Has(fsnotify.Create) || event.Has(fsnotify.Write) || event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename)
}

// replaced reports whether the folder is another one than was watched, or has gone or come.
func (f *following) replaced() bool {
	now, err := os.Stat(f.d.path)
	if err != nil || f.root == nil {
		return (err == nil) != (f.root != nil)
	}
	return !os.SameFile(now, f.root)
}

// poll looks through the folder until the context ends.
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

// signature is another string after the names, sizes or times of files have changed.
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
