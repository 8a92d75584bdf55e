package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/spf13/cobra"

	"wirebench/server/publish"
	"wirebench/server/store"
)

func newUnpack() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "unpack FILE DIR",
		Short: "Take the definitions and messages out of a page that somebody has shared",
		Long: `Unpack reads a capsule, the page or its JSON, and writes its definitions to a new
or empty folder, and its messages to frames.jsonl in it, which is a capture file.
"-" is standard input.`,
		Example: `  wirebench unpack capsule-1f2e3d4c.html found
  wirebench frames --library found found/frames.jsonl`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := inputText(cmd, args[0], 16*publish.MaxCapsule)
			if err != nil {
				return err
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

// unpack writes the parts of a capsule into a folder. Its names are those of a stranger: none leaves the folder.
func unpack(cmd *cobra.Command, c *publish.Capsule, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if list, err := fs.ReadDir(root.FS(), "."); err != nil || len(list) > 0 {
		return errors.Join(err, fmt.Errorf("%s is not empty", dir))
	}
	write := func(name string, data []byte) error {
		if err := store.CheckName(name); err != nil {
			return err
		}
		if in := path.Dir(name); in != "." {
			if err := root.MkdirAll(in, 0o777); err != nil {
				return err
			}
		}
		return root.WriteFile(name, data, 0o666)
	}
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
