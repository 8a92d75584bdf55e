package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"sync"

	"wirebench/server/settings"
	"wirebench/server/store"
)

// maxVariants is the number of snapshots that a workspace caches for overriding settings.
const maxVariants = 8

// variants holds the most recent results of As, newest first.
type variants struct {
	mu   sync.Mutex
	list []*variant
}

// variant is the snapshot of the library for overriding settings.
type variant struct {
	key string
	mu  sync.Mutex // held while it is made
	of  *Snapshot  // the snapshot of the workspace that it was made for
	now *Snapshot
}

// As returns the current library with settings that override those of the workspace. The result is cached by the settings; after a change
// of the library it is rebuilt at the cost of the files that changed.
func (w *Workspace) As(over settings.Settings) (*Snapshot, error) {
	over, err := over.Checked()
	if err != nil {
		return nil, err
	}
	key := over.Key()
	if key == (settings.Settings{}).Key() {
		return w.Now(), nil
	}
	return w.variant(key, func(set *Settings, base *Snapshot) error { return apply(over.Over(base.chosen), set, base.Library) })
}

// variant returns the current library with other settings, which differ by their key. change sets them.
func (w *Workspace) variant(key string, change func(set *Settings, base *Snapshot) error) (*Snapshot, error) {
	v := w.variants.get(key)
	v.mu.Lock()
	defer v.mu.Unlock()
	base := w.Now()
	if v.of == base {
		return v.now, nil
	}
	earlier := v.now
	if earlier == nil {
		earlier = base
	}
	set := w.engine()
	if err := change(&set, base); err != nil {
		return nil, err
	}
	next, err := rebuild(base.Library, set, earlier)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(key))
	next.ID, next.chosen = base.ID+"/"+hex.EncodeToString(sum[:8]), base.chosen
	v.of, v.now = base, next
	return next, nil
}

// get returns the variant of a key, and forgets the one that was not used for longest.
func (v *variants) get(key string) *variant {
	v.mu.Lock()
	defer v.mu.Unlock()
	i := slices.IndexFunc(v.list, func(x *variant) bool { return x.key == key })
	x := &variant{key: key}
	if i >= 0 {
		x = v.list[i]
		v.list = slices.Delete(v.list, i, i+1)
	}
	v.list = slices.Insert(v.list[:min(len(v.list), maxVariants-1)], 0, x)
	return x
}

// CheckOver checks new settings that override those of the workspace. old are those that they replace.
func (w *Workspace) CheckOver(next, old settings.Settings) error {
	if next.List != nil {
		return errors.New("list: only a project has this setting")
	}
	if next.Keep != nil {
		return errors.New("keep: only a project has this setting")
	}
	if _, err := w.As(next); err != nil {
		return err
	}
	return w.Now().check(next, old)
}

// For returns the library as a capture is read with: with the settings of the capture over those of the workspace. Invalid settings, in a
// description edited by hand, are ignored.
func (w *Workspace) For(x store.Capture) *Snapshot {
	s, err := w.As(x.Settings)
	if err != nil {
		return w.Now()
	}
	return s
}

// Inherited returns the library without the settings of the workspace: with those from the start of the program.
func (w *Workspace) Inherited() (*Snapshot, error) {
	now := w.Now()
	return rebuild(now.Library, w.engine(), now)
}
