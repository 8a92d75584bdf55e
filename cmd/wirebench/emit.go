package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"wirebench/defs/emit"
	"wirebench/server/workspace"
)

func newEmit() *cobra.Command {
	l := &libraryFlags{}
	target, name, out, asJSON := "", "", "", false
	var messages []string
	vectors := 0
	var list []string
	for _, t := range emit.Targets {
		list = append(list, fmt.Sprintf("  %-4s %s", t.Name, t.Title))
	}
	cmd := &cobra.Command{
		Use:   "emit --target TARGET",
		Short: "Write definitions as code, as a dissector or as documentation",
		Long: `Emit writes the messages of a library in another format:

` + strings.Join(list, "\n") + `

Features that a target cannot express are listed on standard error and at the top
of its output. A single file is written to standard output; several files need
--out.

The exit status is 1 if a definition has errors; its message is omitted. It is
also 1, and nothing is written, if no message can be written: the reason is on
standard error for each.`,
		Example: `  wirebench emit --target c --message C_EDIT_PRIVATE_CHANNEL --out generated
  wirebench emit --library mine --target lua > mine.lua`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, ok := emit.Find(target)
			if target == "" {
				return fmt.Errorf("emit needs --target: %s", targetNames())
			}
			if !ok {
				return fmt.Errorf("--target %s: must be one of %s", shown(target), targetNames())
			}
			snap, err := l.snapshot(cmd)
			if err != nil {
				return err
			}
			s, left, err := snap.Pick(messages)
			if err != nil {
				return err
			}
			for _, m := range left {
				note(cmd, "note: %s is omitted: its definition has errors (wirebench check)", snap.NameOf(m))
			}
			files, losses := snap.Emit(t, s, name, vectors)
			var nothing *workspace.NothingWritten
			if errors.As(snap.Written(t, s, left, losses), &nothing) {
				for _, reason := range nothing.Reasons {
					note(cmd, "omitted: %s", reason)
				}
				note(cmd, "%s: there is no message to write, and nothing was written", t.Title)
				return errInput
			}
			if asJSON {
				writeJSON(cmd.OutOrStdout(), workspace.EmittedOf(files, losses))
			} else {
				for _, loss := range losses {
					note(cmd, "lost: %s", loss)
				}
				if err := writeEmitted(cmd, files, out); err != nil {
					return err
				}
			}
			if len(left) > 0 {
				return errInput
			}
			return nil
		},
	}
	l.add(cmd)
	l.addRemote(cmd)
	f := cmd.Flags()
	f.StringVar(&target, "target", "", "format to write: "+targetNames())
	f.StringArrayVar(&messages, "message", nil, "only this message, NAME or NAME.VERSION (repeatable; default: the highest version of each)")
	f.StringVar(&name, "name", "", "name used in files, packages and prefixes (default: messages)")
	f.IntVar(&vectors, "vectors", 0, "C, Go and TypeScript: also write a test, with at most this many messages of each type")
	f.StringVarP(&out, "out", "o", "", "directory for the files, created if missing")
	f.BoolVar(&asJSON, "json", false, "print one JSON object with the files and the losses")
	complete(cmd, "target", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return strings.Split(targetNames(), ", "), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func targetNames() string {
	var names []string
	for _, t := range emit.Targets {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// writeEmitted writes the files into dir, or a single file to standard output if dir is "".
func writeEmitted(cmd *cobra.Command, files []emit.File, dir string) error {
	if dir == "" {
		if len(files) > 1 {
			var names []string
			for _, f := range files {
				names = append(names, f.Name)
			}
			return errors.New("the output has several files (" + strings.Join(names, ", ") + "): give --out DIR")
		}
		for _, f := range files {
			fmt.Fprint(cmd.OutOrStdout(), f.Text)
		}
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o644); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		note(cmd, "wrote %s", filepath.Join(dir, f.Name))
	}
	return nil
}
