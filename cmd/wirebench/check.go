package main

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"

	"wirebench/defs"
	"wirebench/defs/diag"
	"wirebench/server/workspace"
)

func newCheck() *cobra.Command {
	l := &libraryFlags{}
	explain, asJSON := false, false
	cmd := &cobra.Command{
		Use:   "check PATH...",
		Short: "Report the mistakes in definitions",
		Long: `Check reads definitions and code maps, of files and of directories with all that is
in them, and prints every mistake as file:line:col: error|warning: text [code].

Exit status 1 if any of them is an error.`,
		Args: needs("path of definitions", true),
		RunE: func(cmd *cobra.Command, args []string) error {
			diags, err := l.check(cmd, args)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			for _, d := range diags {
				if asJSON {
					writeJSON(out, d.Info())
				} else if explain {
					fmt.Fprint(out, diag.List{d}.Render())
				} else {
					fmt.Fprintln(out, d)
				}
			}
			if err := out.Flush(); err != nil {
				return err
			}
			if diags.HasErrors() {
				return errInput
			}
			return nil
		},
	}
	l.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "JSON Lines instead of text for people")
	cmd.Flags().BoolVar(&explain, "explain", false, "show each line, the place in it and what to write instead")
	return cmd
}

// check reads the files and returns all their diagnostics. Each dialect is read by itself.
func (l *libraryFlags) check(cmd *cobra.Command, paths []string) (diag.List, error) {
	o, err := l.options()
	if err != nil {
		return nil, err
	}
	lib, err := workspace.ReadNamed(paths...)
	if err != nil {
		return nil, err
	}
	for _, s := range lib.Skipped {
		note(cmd, "note: skipped %s", s)
	}
	var all diag.List
	for _, m := range lib.Maps {
		codes, ds := defs.ParseCodeMap(m)
		all = append(all, ds...)
		if len(lib.Maps) == 1 {
			o.Codes = codes
		}
	}
	dialects := lib.Dialects()
	if l.protocol != "" {
		dialects = []string{l.protocol}
	}
	if len(dialects) == 0 && len(lib.Files) > 0 {
		_, ds := defs.Load(lib.Files, "", o)
		all = append(all, ds...)
	}
	for _, name := range dialects {
		_, ds := defs.Load(lib.Only(name), name, o)
		all = append(all, ds...)
	}
	all.Sort()
	return all, nil
}
