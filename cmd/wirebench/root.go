package main

import (
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newRoot builds the command tree. Without a subcommand it serves.
func newRoot() *cobra.Command {
	serve := newServe()
	root := &cobra.Command{
		Use:   "wirebench",
		Short: "A workbench for binary protocols",
		Long: `Wirebench decodes, encodes and lays out messages of binary protocols, which text
definitions describe.

Without a command it starts the server. Every flag can be set by an environment
variable: --listen by WIREBENCH_LISTEN, and so on; several values of one flag are
separated by commas or line breaks. --config names a TOML file with the flags of the
server; the command line overrides the environment, and that the file.

Exit status: 0 success, 1 errors in the input, 2 wrong usage or an unreadable file.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          commandOnly,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := flagsFromEnv(cmd.Flags()); err != nil {
				return err
			}
			if f := cmd.Flags().Lookup("config"); f != nil && f.Value.String() != "" {
				return flagsFromFile(cmd.Flags(), f.Value.String())
			}
			return nil
		},
		RunE: serve.RunE,
	}
	root.Flags().AddFlagSet(serve.Flags())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return see(cmd, wrongFlag("", err))
	})
	root.AddCommand(serve, newDecode(), newEncode(), newPaste(), newLayout(), newCheck(), newFmt(), newEmit(), newFrames(), newDiff(), newCompat(), newPublish(), newUnpack(), newPush(), newReplay(), newProxy(), newDemo(), newProject(), newConfig(serve), newBackup(), newRestore(), newToken(), newHealth())
	root.SetHelpCommand(helpCommand())
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil && c != root {
		c.Args, c.RunE = commandOnly, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	return root
}

// fromEnv is the annotation of flags set from the environment.
const fromEnv = "wirebench_from_env"

// given reports whether a flag is set on the command line. A variable of the environment applies to all commands, so a flag on the
// command line overrides it.
func given(cmd *cobra.Command, flag string) bool {
	f := cmd.Flags().Lookup(flag)
	return f != nil && f.Changed && f.Annotations[fromEnv] == nil
}

// flagsFromEnv sets the flags that are not on the command line from their environment variables.
func flagsFromEnv(flags *pflag.FlagSet) error {
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == "help" || f.Name == "version" || err != nil {
			return
		}
		name := "WIREBENCH_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		v, ok := os.LookupEnv(name)
		if !ok || v == "" {
			return
		}
		values := []string{v}
		if f.Value.Type() == "stringArray" { // a list, separated by commas or line breaks
			values = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' })
		}
		for _, one := range values {
			if e := flags.Set(f.Name, strings.TrimSpace(one)); e != nil {
				err = wrongFlag(name, e)
				return
			}
		}
		if e := flags.SetAnnotation(f.Name, fromEnv, []string{name}); e != nil {
			err = e
		}
	})
	return err
}

// released is the version that a build was told (-ldflags "-X main.released=1.2.3").
var released string

// version returns the version that the build was told, or that of the module or of the commit of the build.
func version() string {
	if released != "" {
		return released
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 && (v == "" || v == "(devel)") {
			v = s.Value[:12]
		}
	}
	if v == "" {
		v = "(devel)"
	}
	return v
}
