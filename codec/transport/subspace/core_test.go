package subspace_test

import (
	"io/fs"
	"testing"

	"wirebench/codec"
	"wirebench/codec/transport/subspace"
	"wirebench/defs"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// definitions are the built-in ones.
func definitions(t *testing.T) *schema.Schema {
	t.Helper()
	folder, ok := library.Dialect("subspace")
	if !ok {
		t.Fatal("no definitions")
	}
	var files []*source.File
	names, err := fs.Glob(folder, "*.def")
	if err != nil || len(names) == 0 {
		t.Fatal("no definitions", err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, source.New(name, string(text)))
	}
	s, diags := defs.Load(files, "subspace", schema.Options{})
	if len(diags) > 0 {
		t.Fatal(diags.Render())
	}
	return s
}

// TestDefinitionsAgree: offsets and sizes in the code equal those of the definitions, and no field is missing.
func TestDefinitionsAgree(t *testing.T) {
	s := definitions(t)
	type path struct {
		code uint32
		path string
	}
	places := map[path]subspace.Place{}
	for _, p := range subspace.Places {
		places[path{p.Code, p.Path}] = p
	}
	seen := 0
	for _, m := range s.Messages {
		if m.Key.Group != "core" {
			continue
		}
		seen++
		program, err := codec.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		least, most := program.Size()
		if want, known := subspace.Sizes[m.Key.Code]; !known || least != want[0] || most != want[1] {
			t.Errorf("%s has %d to %d bytes, here %v", m.Name, least, most, want)
		}
		for _, row := range program.Layout() {
			at := path{m.Key.Code, row.Path}
			p, known := places[at]
			if !known {
				if row.At.Fixed() && row.At.Bits >= 16 && m.Key.Code != 0x0E && m.Key.Code != 0x0D && row.Path != "rest" {
					t.Errorf("%s: %s is not known here", m.Name, row.Path)
				}
				continue
			}
			delete(places, at)
			size := int64(p.Len) * 8
			if p.Len == 0 {
				size = -1
			}
			if row.At.Bits != int64(p.Off)*8 || row.MaxBits != size {
				t.Errorf("%s: %s stands at %d bits and has %d; here it stands at %d and has %d", m.Name, row.Path, row.At.Bits, row.MaxBits,
					p.Off*8, size)
			}
		}
	}
	if seen != len(subspace.Sizes) {
		t.Errorf("%d core packets, here %d", seen, len(subspace.Sizes))
	}
	for at := range places {
		t.Errorf("%02x: the definitions have no %s", at.code, at.path)
	}
	for group, names := range subspace.Named {
		for _, name := range names {
			found := false
			for _, m := range s.Messages {
				found = found || m.Key.Group == group && m.Name == name
			}
			if !found {
				t.Errorf("the definitions have no %s of %s", name, group)
			}
		}
	}
}
