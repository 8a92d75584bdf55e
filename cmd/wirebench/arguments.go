package main

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// see adds a reference to the usage of a command to an error.
func see(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w\nSee \"%s --help\"", err, cmd.CommandPath())
}

// maxShown bounds an argument repeated in a message; an argument may be as long as a file.
const maxShown = 200 // bytes

// shown returns an argument for a message: one line, truncated to maxShown.
func shown(text string) string {
	cut := ""
	if len(text) > maxShown {
		text, cut = text[:maxShown], "..."
	}
	return printable(strings.ToValidUTF8(text, "")) + cut
}

// noArgs is for commands that take only flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return see(cmd, fmt.Errorf("unexpected argument %q: %s takes no arguments", shown(args[0]), cmd.Name()))
}

// atMostOne is for commands that read one input.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return see(cmd, fmt.Errorf("unexpected argument %q: %s reads one input", shown(args[1]), cmd.Name()))
}

// needs is for commands that take at least one argument, or exactly one unless many is set.
func needs(what string, many bool) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return see(cmd, fmt.Errorf("%s needs a %s", cmd.Name(), what))
		case len(args) > 1 && !many:
			return see(cmd, fmt.Errorf("unexpected argument %q: %s takes one %s", shown(args[1]), cmd.Name(), what))
		}
		return nil
	}
}

// commandOnly is for commands with subcommands: an argument is the name of an unknown subcommand.
func commandOnly(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q", shown(args[0]))
	if len(args[0]) < maxShown {
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			err = fmt.Errorf("%w; did you mean %q?", err, near[0])
		}
	}
	return see(cmd, err)
}

// wrongFlag rewords a flag error of pflag. name is --port or WIREBENCH_FRAMES_PORT; "" stands for the flag of the error.
func wrongFlag(name string, err error) error {
	var value *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &value):
		if name == "" {
			name = "--" + value.GetFlag().Name
		}
		return fmt.Errorf("%s %s: must be %s", name, shown(value.GetValue()), kindOfValue(value.GetFlag().Value.Type()))
	case errors.As(err, &missing):
		return fmt.Errorf("--%s needs %s", missing.GetFlag().Name, kindOfValue(missing.GetFlag().Value.Type()))
	}
	return errors.New(shown(err.Error()))
}

// kindOfValue describes the values of a flag type.
func kindOfValue(kind string) string {
	switch kind {
	case "bool":
		return "true or false"
	case "duration":
		return "a time such as 30s or 1h30m"
	case "intSlice":
		return "a whole number, or several separated by commas"
	case "int", "int64":
		return "a whole number"
	case "uint32":
		return "a whole number from 0 to 4294967295"
	case "float64":
		return "a number"
	}
	return "a value"
}

// helpCommand is "wirebench help COMMAND". An unknown command is an error.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show help for a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return see(cmd.Root(), err)
			}
			if len(rest) > 0 {
				return commandOnly(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, start string) (names []string, _ cobra.ShellCompDirective) {
			if len(args) == 0 {
				for _, c := range cmd.Root().Commands() {
					if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), start) {
						names = append(names, c.Name()+"\t"+c.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// onlyWithJSON prints a note for flags that select parts of the JSON output and have no effect on text.
func onlyWithJSON(cmd *cobra.Command) {
	f := cmd.Flags()
	if on, err := f.GetBool("json"); on || err != nil {
		return
	}
	for _, name := range []string{"value", "fields"} {
		if on, err := f.GetBool(name); on && err == nil {
			note(cmd, "note: --%s has no effect without --json", name)
		}
	}
}

// splitAddress is net.SplitHostPort with a readable error.
func splitAddress(text string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(text)
	var wrong *net.AddrError
	switch {
	case errors.As(err, &wrong) && wrong.Err == "missing port in address":
		err = errors.New("the port is missing: must be HOST:PORT")
	case err != nil:
		err = errors.New("must be HOST:PORT, with an IPv6 address in brackets: [::1]:PORT")
	}
	return host, port, err
}
