package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"wirebench/defs"
	"wirebench/defs/source"
	"wirebench/server/workspace"
)

func newFmt() *cobra.Command {
	f := &formatter{}
	cmd := &cobra.Command{
		Use:   "fmt [-l] [-w] PATH...",
		Short: "Write definitions in their canonical form",
		Long: `Fmt prints definitions in their canonical form; comments and meaning are kept. With
-w it rewrites the files; with -l it only lists files that are not in canonical
form. PATH is a file, a directory, or "-" for standard input.

Malformed lines are kept and reported; the exit status is then 1.`,
		Args: needs("path of definitions", true),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	cmd.Flags().BoolVarP(&f.list, "list", "l", false, "list files that are not in canonical form")
	cmd.Flags().BoolVarP(&f.write, "write", "w", false, "rewrite the files")
	cmd.Flags().StringVar(&f.protocol, "protocol", "", "protocol of the definitions (default: detected for each file)")
	return cmd
}

type formatter struct {
	list, write bool
	protocol    string
	failed      bool
}

func (f *formatter) run(cmd *cobra.Command, args []string) error {
	var files []*source.File
	for _, arg := range args {
		if arg == "-" {
			text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxPaste))
			if err != nil {
				return err
			}
			if f.write {
				return errors.New("-w and standard input do not go together")
			}
			files = append(files, source.New("<standard input>", string(text)))
			continue
		}
		lib, err := workspace.ReadNamed(arg)
		if err != nil {
			return err
		}
		files = append(files, lib.Files...)
	}
	for _, file := range files {
		if err := f.file(cmd, file); err != nil {
			return err
		}
	}
	if f.failed {
		return errInput
	}
	return nil
}

func (f *formatter) file(cmd *cobra.Command, file *source.File) error {
	name := f.protocol
	if name == "" {
		name, _ = defs.Detect(file)
	}
	d, ok := defs.Find(name)
	if !ok {
		note(cmd, "%s: not a definition of a protocol that can be read (%s)", file.Name, dialectNames())
		f.failed = true
		return nil
	}
	text, diags := d.Format(file)
	for _, dg := range diags {
		note(cmd, "%s", dg)
	}
	f.failed = f.failed || diags.HasErrors()
	changed := text != file.Text
	if f.list && changed {
		fmt.Fprintln(cmd.OutOrStdout(), source.Visible(file.Name))
	}
	if f.write && changed {
		return replaceFile(file.Name, text)
	}
	if !f.list && !f.write {
		fmt.Fprint(cmd.OutOrStdout(), text)
	}
	return nil
}

// replaceFile writes a file so that a crash leaves the old or the new text, never half of one.
func replaceFile(name, text string) (err error) {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".wirebench-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name())
		}
	}()
	_, err = tmp.WriteString(text)
	if e := tmp.Chmod(info.Mode().Perm()); err == nil {
		err = e
	}
	if e := tmp.Sync(); err == nil {
		err = e
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", name, err)
	}
	return nil
}
