package store

import (
	"errors"
	"io/fs"
	"os"
)

// maxSecretBytes bounds a file of secrets.
const maxSecretBytes = 64 << 20

// Secret is a file in the data folder that only the user of the server may read. Write replaces it durably, and as a whole.
type Secret struct {
	data *Data
	name string
}

// Secret returns a file of secrets; it need not exist.
func (d *Data) Secret(name string) *Secret { return &Secret{d, name} }

// Read returns the content, nil if there is no file.
func (s *Secret) Read() ([]byte, error) {
	root, err := os.OpenRoot(s.data.path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, err := readUpTo(root, s.name, maxSecretBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, failure("read", s.name, err)
}

// Write replaces the content.
func (s *Secret) Write(text []byte) (err error) {
	defer func() { err = failure("write", s.name, err) }()
	root, err := os.OpenRoot(s.data.path)
	if err != nil {
		return err
	}
	defer root.Close()
	temporary := s.name + ".new"
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = s.data.commit(func() error { return root.Rename(temporary, s.name) }, Change{Kind: Stored, Name: s.name, Data: text, Secret: true})
	}
	if err != nil {
		_ = root.Remove(temporary)
		return err
	}
	return syncDir(root)
}
