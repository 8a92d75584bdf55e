package main

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"wirebench/codec/view"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

func newCompat() *cobra.Command {
	l := &libraryFlags{}
	asJSON := false
	cmd := &cobra.Command{
		Use:   "compat OLD NEW",
		Short: "Say whether definitions keep the layout of earlier ones",
		Long: `Compat compares two definitions, or two folders of them, and prints a line for
each message: NAME.VERSION same|extended|broken, and for the last two where.

same      every field has the same bytes; names and comments may differ
extended  new fields come after all others, so that readers of before still find
          theirs; what is found by an offset in the message may move
broken    a field has other bytes or another type, or is gone; or the message has
          another code, or is gone

Messages of folders belong together by name and version. Of two files the versions
do not matter, nor do the names if each has one message. Names of values, and the
values that are allowed, are not compared.

Exit status: 0 nothing is broken, 1 something is, 2 wrong usage or unreadable.`,
		Example: `  wirebench compat C_CHAT.1.def C_CHAT.2.def
  wirebench compat --protocol muta released definitions`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("compat takes the old and the new definitions, not %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			lines, err := l.compat(cmd, args[0], args[1])
			if err != nil {
				return err
			}
			out, broken := bufio.NewWriter(cmd.OutOrStdout()), false
			for _, line := range lines {
				broken = broken || line.Compat == view.CompatBroken
				switch {
				case asJSON:
					writeJSON(out, line)
				case line.Why == "":
					fmt.Fprintln(out, line.Message, line.Compat)
				case line.Offset == "":
					fmt.Fprintf(out, "%s %s: %s\n", line.Message, line.Compat, line.Why)
				default:
					fmt.Fprintf(out, "%s %s at %s: %s\n", line.Message, line.Compat, line.Offset, line.Why)
				}
			}
			if err := out.Flush(); err != nil {
				return err
			}
			if broken {
				return errInput
			}
			return nil
		},
	}
	l.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines instead of text")
	return cmd
}

// compatLine says what has become of a message.
type compatLine struct {
	Message string      `json:"message"`
	Compat  view.Compat `json:"compat"`
	Offset  string      `json:"offset,omitempty"` // of the first part that matters
	Why     string      `json:"why,omitempty"`
}

// compatSide is one of two libraries.
type compatSide struct {
	snap *workspace.Snapshot
	of   map[string]*schema.Message // by name for comparison
}

// compat compares two libraries.
func (l *libraryFlags) compat(cmd *cobra.Command, before, after string) ([]compatLine, error) {
	files := isFile(before) && isFile(after)
	var sides [2]compatSide
	for i, p := range []string{before, after} {
		lib, err := workspace.ReadNamed(p)
		if err != nil {
			return nil, err
		}
		snap, err := l.build(cmd, lib)
		if err != nil {
			return nil, err
		}
		for _, d := range snap.Diagnostics() {
			if d.Severity == diag.Error {
				return nil, fmt.Errorf("%s has mistakes: %s", p, d)
			}
		}
		sides[i] = compatSide{snap, map[string]*schema.Message{}}
		for m := range snap.Messages() {
			name := snap.NameOf(m)
			if files && snap.Dialect.Versions {
				name = m.Name
			}
			sides[i].of[path.Join(m.Key.Group, name)] = m
		}
	}
	old, now := sides[0], sides[1]
	if files && len(old.of) == 1 && len(now.of) == 1 { // whatever their names
		for _, side := range []compatSide{old, now} {
			for name, m := range side.of {
				delete(side.of, name)
				side.of[""] = m
			}
		}
	}
	var out []compatLine
	names := maps.Clone(old.of)
	maps.Copy(names, now.of)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, b := old.of[name], now.of[name]
		switch {
		case b == nil:
			out = append(out, compatLine{Message: old.snap.NameOf(a), Compat: view.CompatBroken, Why: "the message is gone"})
		case a == nil:
			out = append(out, compatLine{Message: now.snap.NameOf(b), Compat: view.CompatExtended, Why: "a new message"})
		default:
			line, err := compatOf(old.snap, now.snap, a, b)
			if err != nil {
				return nil, err
			}
			out = append(out, line)
		}
	}
	return out, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func compatOf(old, now *workspace.Snapshot, a, b *schema.Message) (compatLine, error) {
	line := compatLine{Message: now.NameOf(b)}
	before, err := old.Program(a)
	if err != nil {
		return line, err
	}
	after, err := now.Program(b)
	if err != nil {
		return line, err
	}
	if a.HasKey && b.HasKey && a.Key.Code != b.Key.Code {
		line.Compat, line.Why = view.CompatBroken, fmt.Sprintf("the code was %d, is %d", a.Key.Code, b.Key.Code)
		return line, nil
	}
	compared := view.ComparePrograms(before, after)
	kind, where := compared.Compat()
	line.Compat = kind
	if where == nil {
		return line, nil
	}
	part := cmp.Or(where.Old, where.New)
	line.Offset = part.Offset
	name := part.Path
	if name == "" || part.Role != "value" {
		name = strings.TrimSpace(name + " " + part.Role)
	}
	switch where.Change {
	case view.ChangeRemoved:
		line.Why = name + " is gone"
	case view.ChangeRetyped:
		line.Why = fmt.Sprintf("%s was %s, is %s", name, sized(where.Old), sized(where.New))
	case view.ChangeAdded:
		line.Why = name + " is new"
	default:
		line.Why = fmt.Sprintf("%s moves %s", name, where.Shift)
	}
	return line, nil
}

// sized returns the type of a part, and its size where the type does not tell.
func sized(p *view.ComparedPart) string { return fmt.Sprintf("%s (%s)", p.Type, p.Size) }
