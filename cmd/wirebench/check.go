package main

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"

	"wirebench/defs"
	"wirebench/defs/diag"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

func newCheck() *cobra.Command {
	l := &libraryFlags{}
	x := &scoring{library: l}
	explain, asJSON := false, false
	cmd := &cobra.Command{
		Use:   "check [--against CAPTURE...] PATH...",
		Short: "Report the mistakes in definitions, or score them on captures",
		Long: `Check reads definitions and code maps from files and, recursively, from
directories. It prints each mistake as file:line:col: error|warning: text [code],
where the text ends with the repair, if there is one.

With --against it scores the definitions on the messages of captures, in the
formats that frames reads, and prints a line for each that had one:
NAME.VERSION frames clean leftover over differ doubtful
A frame is counted once: over if fields extend past the end of the message,
differ if values are not allowed or are encoded as other bytes, leftover if bytes
belong to no field, doubtful if fields share bytes or there is another warning,
else clean. The first frame that is not is named on standard error. The option is
repeatable, and captures among the paths are captures, too.

With --server the definitions are those of a project, and there are no paths.

The exit status is 1 if there is an error, or a definition that is not clean.`,
		Example: `  wirebench check definitions
  wirebench check --against monday.pcapng tuesday.pcapng definitions
  wirebench check --against session.pcap --junit scores.xml --protocol subspace game.def`,
		Args: func(cmd *cobra.Command, args []string) error {
			if l.isRemote() {
				return nil
			}
			return needs("path of definitions", true)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(x.against) > 0 {
				x.json = asJSON
				return x.run(cmd, args)
			}
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
					if d.Fix != nil && d.Help != "" {
						d.Message += ": " + d.Help
					}
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
	l.addRemote(cmd)
	x.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines instead of text")
	cmd.Flags().BoolVar(&explain, "explain", false, "also print each source line, the position and the suggested fix")
	return cmd
}

// checkEnvelopes returns the mistakes of the envelopes, also about the definitions of the dialect that uses them.
func checkEnvelopes(lib *workspace.Library, dialects []string, o schema.Options) (all diag.List) {
	if len(lib.Envelopes) == 0 {
		return nil
	}
	var with *workspace.Snapshot
	for _, name := range dialects {
		if snap, err := workspace.Build(lib, workspace.Settings{Dialect: name, Options: o}); err == nil && (with == nil || snap.EnvelopeFile != nil) {
			with = snap
		}
	}
	for _, f := range lib.Envelopes {
		if with != nil {
			all = append(all, with.CheckEnvelope(f)...)
			continue
		}
		_, wrong := envelope.Parse(f)
		all = append(all, wrong...)
	}
	return all
}

// named reads the definitions of paths, or of the project of --server.
func (l *libraryFlags) named(cmd *cobra.Command, paths []string) (*workspace.Library, error) {
	switch {
	case l.isRemote() && len(paths) > 0:
		return nil, fmt.Errorf("%s and --server: the definitions are of one of them", shown(paths[0]))
	case l.isRemote():
		return l.remote.read(cmd)
	}
	return workspace.ReadNamed(paths...)
}

// check reads the files and returns all their diagnostics. Each dialect is loaded separately.
func (l *libraryFlags) check(cmd *cobra.Command, paths []string) (diag.List, error) {
	o, err := l.options()
	if err != nil {
		return nil, err
	}
	lib, err := l.named(cmd, paths)
	if err != nil {
		return nil, err
	}
	if l.isRemote() {
		l.remote.options(cmd, &o)
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
	validity, ds := defs.ParseValidity(lib.Valid)
	o.Validity, all = validity, append(all, ds...)
	dialects := lib.Dialects()
	if l.protocol != "" {
		dialects = []string{l.protocol}
	}
	all = append(all, checkEnvelopes(lib, dialects, o)...)
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
