package workspace

import (
	"errors"

	"wirebench/defs/schema"
	"wirebench/server/store"
)

// maxVersionTries limits how often SaveVersion gives way to another writer.
const maxVersionTries = 1000

// SaveVersion stores a text as the next version of a message, in a new file, whose name it returns. The message must be one of a file with
// a version in its name; see Versioned.
func (w *Workspace) SaveVersion(m *schema.Message, text []byte) (file string, rev store.Revision, err error) {
	first, none := w.Now().Newest(m)+1, store.Revision("")
	for next := first; ; next++ {
		file = FileOfVersion(m, next)
		rev, err = w.Save(file, text, &none)
		var there *store.ConflictError
		if !errors.As(err, &there) || next-first >= maxVersionTries { // otherwise another writer was faster
			return file, rev, err
		}
	}
}
