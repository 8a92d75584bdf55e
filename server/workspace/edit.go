package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"path"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// With is the snapshot as it would be with one more file, which takes the place of one of the same name. The file's own message
// is returned too, nil if the file has none. Its ID is that of the snapshot and of the text.
func (s *Snapshot) With(f *source.File) (*Snapshot, *schema.Message, error) {
	lib := *s.Library
	lib.Maps = nil // the codes in use are in the options, wherever they came from
	lib.Files = make([]*source.File, 0, len(s.Library.Files)+1)
	for _, old := range s.Library.Files {
		if path.Base(old.Name) != path.Base(f.Name) {
			lib.Files = append(lib.Files, old)
		}
	}
	lib.Files = append(lib.Files, f)
	next, err := Build(&lib, Settings{Dialect: s.Dialect.Name, Options: s.Options})
	if err != nil {
		return nil, nil, err
	}
	next.CodeMap = s.CodeMap
	sum := sha256.Sum256([]byte(f.Name + "\x00" + f.Text))
	next.ID = s.ID + "+" + hex.EncodeToString(sum[:])
	for _, m := range next.Schema.Messages {
		if m.Span.File == f {
			return next, m, nil
		}
	}
	return next, nil, nil
}
