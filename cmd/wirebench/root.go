package main

import (
	"github.com/spf13/cobra"
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
variable, which belongs to its command: --listen of serve by WIREBENCH_SERVE_LISTEN,
--filter of frames by WIREBENCH_FRAMES_FILTER; several values of one flag are
separated by commas or line breaks. --config names a TOML file with the flags of the
server; the command line overrides the environment, and that the file.

Exit status: 0 success, 1 errors in the input, 2 wrong usage or an unreadable file.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          commandOnly,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			flags, tell := cmd.Flags(), func(format string, args ...any) { note(cmd, format, args...) }
			if cmd.Annotations[readsServe] != "" {
				flags = serve.Flags()
			}
			if cmd.Name() == "health" { // a container asks twice a minute; serve has said it
				tell = func(string, ...any) {}
			}
			if err := flagsFromEnv(cmd, flags, tell); err != nil {
				return err
			}
			if f := flags.Lookup("config"); f != nil && f.Value.String() != "" {
				return flagsFromFile(flags, f.Value.String())
			}
			return nil
		},
		RunE: serve.RunE,
	}
	root.Flags().AddFlagSet(serve.Flags())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return see(cmd, wrongFlag("", err))
	})
	root.AddCommand(serve, newDecode(), newEncode(), newPaste(), newLayout(), newCheck(), newFmt(), newEmit(), newFrames(), newDiff(), newCompat(), newPublish(), newUnpack(), newPush(), newReplay(), newProxy(), newCollect(), newDemo(), newProject(), newCall(), newMCP(), newConfig(serve), newBackup(), newRestore(), newMigrate(), newToken(), newHealth(serve), newDeploy(), newVersion())
	root.SetHelpCommand(helpCommand())
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil && c != root {
		c.Args, c.RunE = commandOnly, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	return root
}
