package workspace

import (
	"path"
	"strings"

	"wirebench/server/store"
)

// checkHome reads the files of the folder of the workspace that are otherwise read when somebody asks for them, so that the log names the
// damaged ones after the start. It ends early when done is closed.
func (w *Workspace) checkHome(done <-chan struct{}) {
	if w.Captures != nil {
		_, _ = w.Captures.List() // problems are logged, here and below
	}
	if w.Home == nil {
		return
	}
	w.threads.mu.Lock()
	_ = w.loadThreads()
	w.threads.mu.Unlock()
	each := func(folder, ending string, read func(name string)) {
		names, err := w.Home.Below(folder)
		if err != nil && !store.Unusable(err) {
			w.Log.Error("stored files cannot be read", "project", w.Name, "folder", folder, "error", err)
		}
		for _, name := range names {
			select {
			case <-done:
				return
			default:
			}
			if of, ok := strings.CutSuffix(strings.TrimPrefix(name, folder+"/"), ending); ok {
				read(of)
			}
		}
	}
	_, _ = w.Capsules()
	each(capsuleFolder, path.Ext(capsulesFile), func(id string) { _, _ = w.Capsule(id) })
	w.History.Check(each)
}
