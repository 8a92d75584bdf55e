package main

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// see says where the usage of a command is told.
func see(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w\nSee \"%s --help\"", err, cmd.CommandPath())
}

// maxShown bounds what a message repeats of the command line: an argument may be as long as a file.
const maxShown = 200 // bytes

// shown is an argument as a message repeats it: one line, and not all of a long one.
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
	return see(cmd, fmt.Errorf("%q is too much: %s takes no arguments", shown(args[0]), cmd.Name()))
}

// atMostOne is for commands that read one input.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return see(cmd, fmt.Errorf("%q is too much: %s reads one at a time", shown(args[1]), cmd.Name()))
}

// needs is for commands that take something: one, or as many as there are.
func needs(what string, many bool) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return see(cmd, fmt.Errorf("%s needs a %s", cmd.Name(), what))
		case len(args) > 1 && !many:
			return see(cmd, fmt.Errorf("%q is too much: %s takes one %s", shown(args[1]), cmd.Name(), what))
		}
		return nil
	}
}

// commandOnly is for the command above others: what is left are no arguments, but a name that none of them has.
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

// wrongFlag says in plain words what is wrong with a flag. name is how it was given: --port, or WIREBENCH_PORT.
func wrongFlag(name string, err error) error {
	var value *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &value):
		if name == "" {
			name = "--" + value.GetFlag().Name
		}
		return fmt.Errorf("%s %s: %s is expected", name, shown(value.GetValue()), kindOfValue(value.GetFlag().Value.Type()))
	case errors.As(err, &missing):
		return fmt.Errorf("--%s: %s is expected behind it", missing.GetFlag().Name, kindOfValue(missing.GetFlag().Value.Type()))
	}
	return errors.New(shown(err.Error()))
}

// kindOfValue says what the values of flags look like.
func kindOfValue(kind string) string {
	switch kind {
	case "bool":
		return "true or false"
	case "duration":
		return "a time such as 30s or 1h30m"
	case "intSlice":
		return "a whole number, or several with commas between them,"
	case "int", "int64":
		return "a whole number"
	case "uint32":
		return "a whole number from 0 to 4294967295"
	case "float64":
		return "a number"
	}
	return "a value"
}

// helpCommand is "wirebench help COMMAND", which says so if there is no such command.
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

// onlyWithJSON says that flags which choose what JSON has do nothing in a list for people.
func onlyWithJSON(cmd *cobra.Command) {
	f := cmd.Flags()
	if on, err := f.GetBool("json"); on || err != nil {
		return
	}
	for _, name := range []string{"value", "fields"} {
		if on, err := f.GetBool(name); on && err == nil {
			note(cmd, "note: --%s changes nothing without --json", name)
		}
	}
}

// splitAddress is net.SplitHostPort with an error for people.
func splitAddress(text string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(text)
	var wrong *net.AddrError
	switch {
	case errors.As(err, &wrong) && wrong.Err == "missing port in address":
		err = errors.New("the port is missing: HOST:PORT is expected")
	case err != nil:
		err = errors.New("HOST:PORT is expected, and an address with colons in brackets: [::1]:PORT")
	}
	return host, port, err
}
