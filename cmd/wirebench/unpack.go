package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"wirebench/defs"
	"wirebench/server/publish"
	"wirebench/server/store"
)

func newUnpack() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "unpack FILE DIR",
		Short: "Take apart a page that somebody has shared, or a bundle of definitions",
		Long: `Unpack reads a capsule, the page or its JSON, and writes its definitions to a new
or empty folder, and its messages to frames.jsonl in it, which is a capture file.
Of data.json, the bundle of tera-toolbox, it writes the definitions, the code map
of each build, and deprecated.json, and says what it leaves out.
"-" is standard input.`,
		Example: `  wirebench unpack capsule-1f2e3d4c.html found
  wirebench unpack data.json definitions
  wirebench frames --library found found/frames.jsonl`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := inputText(cmd, args[0], 16*publish.MaxCapsule)
			if err != nil {
				return err
			}
			if defs.IsBundle(bundleName, text) {
				return unpackBundle(cmd, args[0], text, args[1])
			}
			c, err := publish.ReadCapsule(text)
			if err != nil {
				return err
			}
			return unpack(cmd, c, args[1])
		},
	}
	return cmd
}

// bundleName is a name of bundles of definitions.
const bundleName = "data.json"

// unpackBundle writes the files of a bundle of definitions into a folder.
func unpackBundle(cmd *cobra.Command, name string, text []byte, dir string) error {
	files, skipped, err := store.Unpack(bundleName, text, store.DefaultBounds())
	if err != nil {
		return err
	}
	for _, x := range skipped {
		note(cmd, "%s: %s: %s", shown(name), printable(strings.TrimPrefix(x.Name, bundleName+defs.InBundle)), x.Reason)
	}
	write, end, err := newFolder(dir)
	if err != nil {
		return err
	}
	defer end()
	for _, f := range files {
		if err := write(f.Name, f.Text); err != nil {
			return err
		}
	}
	note(cmd, "%d files in %s", len(files), dir)
	if len(skipped) > 0 {
		return errInput
	}
	return nil
}

// newFolder returns a function that writes files into a new or empty folder. Their names are those of a stranger: none leaves the folder.
func newFolder(dir string) (write func(name string, data []byte) error, end func() error, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	if list, err := fs.ReadDir(root.FS(), "."); err != nil || len(list) > 0 {
		root.Close()
		return nil, nil, errors.Join(err, fmt.Errorf("%s is not empty", dir))
	}
	return func(name string, data []byte) error {
		if err := store.CheckName(name); err != nil {
			return err
		}
		if in := path.Dir(name); in != "." {
			if err := root.MkdirAll(in, 0o777); err != nil {
				return err
			}
		}
		return root.WriteFile(name, data, 0o666)
	}, root.Close, nil
}

// unpack writes the parts of a capsule into a folder.
func unpack(cmd *cobra.Command, c *publish.Capsule, dir string) error {
	write, end, err := newFolder(dir)
	if err != nil {
		return err
	}
	defer end()
	for _, f := range c.Files {
		if err := write(f.Name, []byte(f.Text)); err != nil {
			return err
		}
	}
	if codes := c.CodeMap(); codes != nil {
		if err := write(publish.CodeMapFile, codes); err != nil {
			return err
		}
	}
	log, err := c.Log()
	if err != nil {
		return err
	}
	if err := write("frames.jsonl", log); err != nil {
		return err
	}
	note(cmd, "%d definitions and %d messages in %s", len(c.Files), len(c.Frames), dir)
	return nil
}
