package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// variablePrefix begins the name of each environment variable of the program.
const variablePrefix = "WIREBENCH_"

// fromEnv is the annotation of flags set from the environment: the name of the variable.
const fromEnv = "wirebench_from_env"

// readsServe is the annotation of the commands that have the settings of serve: config prints them, and health asks the server that has them.
const readsServe = "wirebench_reads_serve"

// given reports whether a flag is set on the command line, which overrides the environment.
func given(cmd *cobra.Command, flag string) bool {
	f := cmd.Flags().Lookup(flag)
	return f != nil && f.Changed && f.Annotations[fromEnv] == nil
}

// variable returns the environment variable of a flag of a command, such as WIREBENCH_FRAMES_FILTER. It belongs to that command alone; a
// flag that a command has for all its subcommands has one variable for all of them.
func variable(cmd *cobra.Command, flag string) string {
	for cmd.HasParent() && cmd.Parent().PersistentFlags().Lookup(flag) != nil {
		cmd = cmd.Parent()
	}
	return variablesOf(cmd) + inUpper(flag)
}

// variablesOf returns how the variables of a command begin.
func variablesOf(cmd *cobra.Command) string {
	words := strings.Fields(cmd.CommandPath())[1:]
	if len(words) == 0 || cmd.Annotations[readsServe] != "" {
		words = []string{"serve"}
	}
	return variablePrefix + inUpper(strings.Join(words, "_")) + "_"
}

func inUpper(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }

// olderVariable is the name of a variable of serve before variables belonged to commands.
func olderVariable(flag string) string { return variablePrefix + inUpper(flag) }

// settable reports whether a flag can be set by the environment and by --config.
func settable(f *pflag.Flag) bool { return f.Name != "help" && f.Name != "version" }

// variables returns the names of all variables that commands read.
func variables(root *cobra.Command) map[string]bool {
	all := map[string]bool{}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				if settable(f) {
					all[variable(cmd, f.Name)] = true
				}
			})
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
	root.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if settable(f) {
			all[olderVariable(f.Name)] = true
		}
	})
	return all
}

// flagsFromEnv sets the flags that are not on the command line from the variables of the command. tell is called with what a person should
// know about other variables. A variable without text counts as not set.
func flagsFromEnv(cmd *cobra.Command, flags *pflag.FlagSet, tell func(format string, args ...any)) error {
	prefix := variablesOf(cmd)
	server := prefix == variablePrefix+"SERVE_"
	var older []string
	read := map[string]string{} // what each variable is called now
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		if !settable(f) || err != nil {
			return
		}
		name, before := variable(cmd, f.Name), olderVariable(f.Name)
		read[name] = name
		value, old := os.Getenv(name), os.Getenv(before)
		switch {
		case old == "" || f.Changed:
		case !server && value == "":
			tell("note: %s has no effect: the variable of --%s is %s", before, f.Name, name)
		case server && value == "":
			older = append(older, fmt.Sprintf("%s (now %s)", before, name))
			name, value = before, old
		case server && value != old:
			err = fmt.Errorf("%s and %s differ: the first is the older name of the second; remove one", before, name)
		}
		if server {
			read[before] = name
		}
		if err == nil && value != "" && !f.Changed {
			err = setFromEnv(flags, f, name, value)
		}
	})
	if err != nil {
		return err
	}
	if len(older) > 0 {
		tell("note: older names of environment variables: %s", strings.Join(older, ", "))
	}
	return strangeVariables(cmd, prefix, read, server, tell)
}

// setFromEnv sets a flag to the value of a variable. A list is separated by commas or line breaks.
func setFromEnv(flags *pflag.FlagSet, f *pflag.Flag, name, value string) error {
	values := []string{value}
	if f.Value.Type() == "stringArray" {
		values = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' })
	}
	for _, one := range values {
		if err := flags.Set(f.Name, strings.TrimSpace(one)); err != nil {
			return wrongFlag(name, err)
		}
	}
	return flags.SetAnnotation(f.Name, fromEnv, []string{name})
}

// strangeVariables judges the variables that no command reads: those that begin as the variables of the command, or are an edit away from
// one of them, are mistakes. The server names all others.
func strangeVariables(cmd *cobra.Command, prefix string, read map[string]string, server bool, tell func(format string, args ...any)) error {
	known := variables(cmd.Root())
	var others []string
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, variablePrefix) || known[name] || value == "" {
			continue
		}
		near := ""
		for _, r := range slices.Sorted(maps.Keys(read)) {
			if near == "" && oneEdit(name, r) {
				near = read[r]
			}
		}
		below := slices.ContainsFunc(cmd.Commands(), func(sub *cobra.Command) bool {
			return variablesOf(sub) != prefix && strings.HasPrefix(name, variablesOf(sub))
		})
		switch {
		case near != "":
			return fmt.Errorf("unknown environment variable %s; did you mean %s?", shown(name), near)
		case strings.HasPrefix(name, prefix) && !below:
			return fmt.Errorf("unknown environment variable %s: %s has no such flag", shown(name), cmd.CommandPath())
		}
		others = append(others, shown(name))
	}
	if slices.Sort(others); server && len(others) > 0 {
		tell("note: environment variables that no command reads: %s", strings.Join(others, ", "))
	}
	return nil
}

// oneEdit reports whether one letter too many, too few, another or exchanged with the next one makes a word of the other.
func oneEdit(a, b string) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}
