package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"wirebench/codec"
	"wirebench/defs"
	"wirebench/defs/diag"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/server/workspace"
)

// libraryFlags select the definitions and the options of their dialects.
type libraryFlags struct {
	dirs      []string
	protocol  string
	codeMap   string
	values    map[string]func() string // of the options of the dialects, by name
	consts    []string
	constFile string
	remote    *remoteLibrary // nil for commands that have no --server
}

func (l *libraryFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&l.dirs, "library", nil, "directory or file of definitions (repeatable; default: the built-in ones)")
	f.StringVar(&l.protocol, "protocol", "", "protocol of the definitions: "+dialectNames()+" (default: detected)")
	f.StringVar(&l.codeMap, "map", "", "file of NAME CODE lines (default: the one *.map of the library)")
	l.values = map[string]func() string{}
	for _, o := range defs.Options() {
		switch o.Kind {
		case schema.WordOption:
			v := f.String(o.Name, o.Default, o.Doc)
			l.values[o.Name] = func() string { return *v }
		case schema.NumberOption:
			v := f.Int(o.Name, 0, o.Doc)
			l.values[o.Name] = func() string { return strconv.Itoa(*v) }
		case schema.SwitchOption:
			v := f.Bool(o.Name, false, o.Doc)
			l.values[o.Name] = func() string { return strconv.FormatBool(*v) }
		}
	}
	f.StringArrayVar(&l.consts, "const", nil, "NAME=VALUE of a constant (repeatable)")
	f.StringVar(&l.constFile, "consts", "", "file of NAME=VALUE or #define lines")
	words := func(list ...string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return list, cobra.ShellCompDirectiveNoFileComp
		}
	}
	complete(cmd, "protocol", words(strings.Split(dialectNames(), ", ")...))
	for _, o := range defs.Options() {
		if len(o.Values) > 0 && o.Kind != schema.SwitchOption {
			complete(cmd, o.Name, words(o.Values...))
		}
	}
}

// addRemote adds the flags of a library on a server.
func (l *libraryFlags) addRemote(cmd *cobra.Command) {
	l.remote = &remoteLibrary{}
	l.remote.add(cmd.Flags())
}

// isRemote reports whether the library is on a server.
func (l *libraryFlags) isRemote() bool { return l.remote != nil && l.remote.to != "" }

// complete registers the completion of an existing flag.
func complete(cmd *cobra.Command, flag string, f func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // no such flag: a bug
	}
}

func dialectNames() string {
	var names []string
	for _, d := range defs.Dialects {
		names = append(names, d.Name)
	}
	return strings.Join(names, ", ")
}

// options reads the flags of schema.Options.
func (l *libraryFlags) options() (schema.Options, error) {
	o := schema.Options{Values: map[string]string{}}
	for _, option := range defs.Options() {
		given := option.Default
		if flag := l.values[option.Name]; flag != nil {
			given = flag()
		}
		value, err := option.Check(given)
		if err != nil {
			return o, fmt.Errorf("--%s %s: %w", option.Name, given, err)
		}
		if value != option.Default {
			o.Values[option.Name] = value
		}
	}
	var err error
	o.Constants, err = l.constants()
	return o, err
}

// constants reads --consts and --const; --const overrides.
func (l *libraryFlags) constants() (map[string]string, error) {
	out := map[string]string{}
	if l.constFile != "" {
		text, err := os.ReadFile(l.constFile)
		if err != nil {
			return nil, fmt.Errorf("--consts: %w", err)
		}
		if err := readConstants(out, l.constFile, string(text)); err != nil {
			return nil, err
		}
	}
	for _, c := range l.consts {
		if err := readConstants(out, "--const", c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readConstants adds the constants of a text to into. The error is the first mistake.
func readConstants(into map[string]string, name, text string) error {
	found, diags := defs.ParseConstants(source.New(name, text))
	for _, d := range diags {
		if d.Severity == diag.Error {
			return errors.New(d.String())
		}
	}
	maps.Copy(into, found)
	return nil
}

// snapshot loads the definitions. It prints notes on skipped files and on mistakes in the code map to standard error.
func (l *libraryFlags) snapshot(cmd *cobra.Command) (*workspace.Snapshot, error) {
	if _, known := defs.Find(l.protocol); !known && l.protocol != "" {
		return nil, fmt.Errorf("--protocol %s: must be one of %s", shown(l.protocol), dialectNames())
	}
	var lib *workspace.Library
	var err error
	switch {
	case l.isRemote() && len(l.dirs) > 0:
		return nil, errors.New("--library and --server: the definitions are of one of them")
	case l.isRemote():
		lib, err = l.remote.read(cmd)
	case len(l.dirs) > 0:
		lib, err = workspace.Read(l.dirs...)
	default:
		lib, err = builtIn(l.protocol)
	}
	if err != nil {
		return nil, err
	}
	snap, err := l.build(cmd, lib)
	if n := len(lib.Skipped); err == nil && n > 0 && len(l.dirs) > 0 {
		note(cmd, "note: %d other %s skipped, such as %s", n, map[bool]string{true: "file", false: "files"}[n == 1], lib.Skipped[0])
	}
	return snap, err
}

// build compiles a library with the settings of the flags. It prints notes on mistakes in the code map of --map to standard error.
func (l *libraryFlags) build(cmd *cobra.Command, lib *workspace.Library) (*workspace.Snapshot, error) {
	o, err := l.options()
	if err != nil {
		return nil, err
	}
	set := workspace.Settings{Dialect: l.protocol, Options: o}
	if l.codeMap != "" {
		text, err := os.ReadFile(l.codeMap)
		if err != nil {
			return nil, fmt.Errorf("--map: %w", err)
		}
		set.Codes = source.New(l.codeMap, string(text))
	}
	if l.isRemote() {
		l.remote.apply(cmd, lib, &set)
	}
	snap, err := workspace.Build(lib, set)
	if err != nil {
		return nil, fmt.Errorf("%w (--protocol)", err)
	}
	for _, d := range snap.Diagnostics() {
		if l.codeMap != "" && d.Span.File == set.Codes {
			note(cmd, "%s", d)
		}
	}
	return snap, nil
}

// builtIn returns the built-in library of a protocol.
func builtIn(protocol string) (*workspace.Library, error) {
	if protocol == "" {
		protocol = defs.Dialects[0].Name
	}
	fsys, ok := library.Dialect(protocol)
	if !ok {
		return nil, fmt.Errorf("protocol %q has no built-in definitions: give --library", protocol)
	}
	return workspace.ReadFS(fsys)
}

// note prints a line to standard error.
func note(cmd *cobra.Command, format string, args ...any) {
	fmt.Fprintf(cmd.ErrOrStderr(), format+"\n", args...)
}

// messageFlags select a message.
type messageFlags struct {
	libraryFlags
	message string
	group   string
	dir     string
	iv      string
	count   uint32
	json    bool
}

func (m *messageFlags) add(cmd *cobra.Command) {
	m.libraryFlags.add(cmd)
	m.addRemote(cmd)
	f := cmd.Flags()
	f.StringVar(&m.message, "message", "", "definition to use, NAME or NAME.VERSION (default: the highest version)")
	f.StringVar(&m.group, "group", "", "message group whose codes are used")
	f.StringVar(&m.dir, "dir", "", "direction of the messages, c2s or s2c, where codes depend on it")
	f.BoolVar(&m.json, "json", false, "print JSON Lines instead of text")
	complete(cmd, "dir", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"c2s", "s2c"}, cobra.ShellCompDirectiveNoFileComp
	})
	complete(cmd, "message", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		snap, err := m.snapshot(cmd)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return snap.Names(), cobra.ShellCompDirectiveNoFileComp
	})
}

// addSession adds the flags of the integrity header.
func (m *messageFlags) addSession(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.iv, "integrity-iv", "", "key of the integrity checksum (decode: checked if given; encode: default 0)")
	cmd.Flags().Uint32Var(&m.count, "integrity-count", 1, "counter of the integrity header when encoding")
}

func (m *messageFlags) session() (codec.Session, error) {
	s := codec.Session{Counter: m.count}
	if m.iv == "" {
		return s, nil
	}
	iv, err := strconv.ParseUint(m.iv, 0, 32)
	if err != nil {
		return s, fmt.Errorf("--integrity-iv %s: must be a 32-bit number, decimal or 0x", m.iv)
	}
	s.Key, s.KeyKnown = uint32(iv), true
	return s, nil
}

// direction reads --dir.
func (m *messageFlags) direction() (schema.Dir, error) {
	switch m.dir {
	case "":
		return schema.Both, nil
	case "c2s":
		return schema.ToServer, nil
	case "s2c":
		return schema.ToClient, nil
	}
	return schema.Both, fmt.Errorf("--dir %s: must be c2s or s2c", m.dir)
}

// chosen returns the message of --message, nil without the flag. It prints the mistakes in its definition; broken reports whether the
// definition has errors.
func (m *messageFlags) chosen(cmd *cobra.Command, snap *workspace.Snapshot) (msg *schema.Message, broken bool, err error) {
	if m.message == "" {
		return nil, false, nil
	}
	dir, err := m.direction()
	if err != nil {
		return nil, false, err
	}
	msg, err = snap.FindIn(m.message, m.group, dir)
	if err != nil {
		return nil, false, err
	}
	if msg.Broken {
		fmt.Fprint(cmd.ErrOrStderr(), snap.DiagnosticsOf(msg.Span.File).Render())
	}
	for _, d := range snap.DiagnosticsOf(msg.Span.File) {
		if d.Code == workspace.Deprecated && !msg.Broken {
			note(cmd, "warning: %s", d.Message)
		}
	}
	return msg, msg.Broken, nil
}
