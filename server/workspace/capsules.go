package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"wirebench/server/store"
)

// Capsules of a project are files in its folder, named after the hash of their content, and a list of them.
const (
	capsulesFile  = "capsules.json"
	capsuleFolder = "capsules"

	maxCapsules     = 200
	maxCapsuleBytes = 64 << 20 // of all
)

// CapsuleInfo describes a stored capsule.
type CapsuleInfo struct {
	ID     string    `json:"id" doc:"hash of its content"`
	Title  string    `json:"title"`
	By     string    `json:"by,omitempty"`
	At     time.Time `json:"at"`
	Frames int       `json:"frames"`
	Bytes  int       `json:"bytes" doc:"as it is stored"`
}

// ErrNoCapsule reports that there is no such capsule.
var ErrNoCapsule = errors.New("there is no such capsule")

// capsules guards the list.
type capsules struct{ mu sync.Mutex }

var capsuleID = regexp.MustCompile(`^[0-9a-f]{32}$`)

func capsuleFile(id string) string { return capsuleFolder + "/" + id + ".json" }

// Capsules lists the capsules, the newest first; none if the workspace keeps none.
func (w *Workspace) Capsules() ([]CapsuleInfo, error) {
	if w.Home == nil {
		return nil, nil
	}
	w.capsules.mu.Lock()
	defer w.capsules.mu.Unlock()
	return w.listCapsules()
}

func (w *Workspace) listCapsules() ([]CapsuleInfo, error) {
	if w.Home == nil {
		return nil, &ThreadError{Reason: "this project keeps no capsules"}
	}
	list, err := w.readCapsules()
	if store.Unusable(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the list of capsules cannot be read: %w", err)
	}
	return list, nil
}

func (w *Workspace) readCapsules() (list []CapsuleInfo, err error) {
	_, err = w.Home.Load(capsulesFile, store.JSON(&list))
	return list, err
}

func (w *Workspace) writeCapsules(list []CapsuleInfo) error {
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	_, err = w.Home.Write(capsulesFile, append(text, '\n'), nil)
	return err
}

// AddCapsule stores a capsule. One that is there already keeps its place.
func (w *Workspace) AddCapsule(x CapsuleInfo, text []byte) error {
	if !capsuleID.MatchString(x.ID) {
		return ErrNoCapsule
	}
	w.capsules.mu.Lock()
	defer w.capsules.mu.Unlock()
	list, err := w.listCapsules()
	if err != nil {
		return err
	}
	sum := len(text)
	for _, y := range list {
		if sum += y.Bytes; y.ID == x.ID {
			return nil
		}
	}
	if len(list) >= maxCapsules || sum > maxCapsuleBytes {
		return &ThreadError{Reason: fmt.Sprintf("a project has at most %d capsules of %d MiB: delete old ones", maxCapsules, maxCapsuleBytes>>20), Full: true}
	}
	if _, err := w.Home.Write(capsuleFile(x.ID), text, nil); err != nil {
		return err
	}
	x.At, x.Bytes = time.Now().UTC().Truncate(time.Second), len(text)
	return w.writeCapsules(append([]CapsuleInfo{x}, list...))
}

// sweepCapsules removes capsules that are not in the list: the program ended while it stored or deleted them.
func (w *Workspace) sweepCapsules() {
	if w.Home == nil {
		return
	}
	list, err := w.readCapsules()
	if err != nil && !notThere(err) {
		return // nothing is known
	}
	w.Home.Sweep(capsuleFolder, capsulesFile, func(name string) bool {
		id, ok := strings.CutSuffix(name, ".json")
		return ok && capsuleID.MatchString(id) && !slices.ContainsFunc(list, func(x CapsuleInfo) bool { return x.ID == id })
	})
}

// Capsule returns a capsule as it was stored.
func (w *Workspace) Capsule(id string) ([]byte, error) {
	if w.Home == nil || !capsuleID.MatchString(id) {
		return nil, ErrNoCapsule
	}
	f, err := w.Home.Load(capsuleFile(id), store.JSON(&map[string]json.RawMessage{}))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNoCapsule
	case f.Text != nil: // whoever opens a damaged one says what is wrong with it
		return f.Text, nil
	}
	return nil, err
}

// DropCapsule deletes a capsule.
func (w *Workspace) DropCapsule(id string) error {
	w.capsules.mu.Lock()
	defer w.capsules.mu.Unlock()
	list, err := w.listCapsules()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(x CapsuleInfo) bool { return x.ID == id })
	if i < 0 {
		return ErrNoCapsule
	}
	if err := w.writeCapsules(slices.Delete(list, i, i+1)); err != nil {
		return err
	}
	var none *store.Revision
	if err := w.Home.Remove(capsuleFile(id), none); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
