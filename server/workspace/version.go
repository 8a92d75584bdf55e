package workspace

import (
	"errors"

	"wirebench/defs/schema"
	"wirebench/server/store"
)

// maxVersionTries limits the retries of SaveVersion after another writer has taken its number.
const maxVersionTries = 1000

// SaveVersion stores a text as the next version of a message, in a new file, and returns the name of the file. The message must be
// Versioned.
func (w *Workspace) SaveVersion(m *schema.Message, text []byte) (file string, rev store.Revision, err error) {
	first, none := w.Now().Newest(m)+1, store.Revision("")
	for next := first; ; next++ {
		file = FileOfVersion(m, next)
		rev, err = w.Save(file, text, &none)
		var there *store.ConflictError
		if !errors.As(err, &there) || next-first >= maxVersionTries { // else another writer was faster
			return file, rev, err
		}
	}
}
