package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"wirebench/server/bus"
)

// fromConfig is the annotation of flags set from the file of --config.
const fromConfig = "wirebench_from_config"

// secretFlags are not printed.
var secretFlags = []string{"token", "viewer-token", "oidc-secret"}

// flagsFromFile sets the flags that are neither on the command line nor in the environment from a TOML file, whose keys are the names of
// flags.
func flagsFromFile(flags *pflag.FlagSet, name string) error {
	var values map[string]any
	if _, err := toml.DecodeFile(name, &values); err != nil {
		return fmt.Errorf("--config %s: %w", name, err)
	}
	var unknown []string
	for key := range values {
		if f := flags.Lookup(key); f == nil || key == "config" || key == "help" || key == "version" {
			unknown = append(unknown, key)
		}
	}
	if slices.Sort(unknown); len(unknown) > 0 {
		return fmt.Errorf("--config %s: unknown: %s", name, strings.Join(unknown, ", "))
	}
	for key, value := range values {
		f := flags.Lookup(key)
		if f.Changed {
			continue
		}
		texts, err := textsOf(value, strings.HasSuffix(f.Value.Type(), "Array") || strings.HasSuffix(f.Value.Type(), "Slice"))
		if err != nil {
			return fmt.Errorf("--config %s: %s: %w", name, key, err)
		}
		for _, text := range texts {
			if err := flags.Set(key, text); err != nil {
				return fmt.Errorf("--config %s: %w", name, wrongFlag(key, err))
			}
		}
		if err := flags.SetAnnotation(key, fromConfig, []string{name}); err != nil {
			return err
		}
	}
	return nil
}

// textsOf returns a value of the file as on the command line. Only flags that can be repeated have lists.
func textsOf(value any, list bool) ([]string, error) {
	switch v := value.(type) {
	case string, int64, bool, float64:
		return []string{fmt.Sprint(v)}, nil
	case []any:
		if !list {
			return nil, fmt.Errorf("must be one value, not a list")
		}
		var out []string
		for _, one := range v {
			text, err := textsOf(one, false)
			if err != nil {
				return nil, err
			}
			out = append(out, text...)
		}
		return out, nil
	}
	return nil, fmt.Errorf("must be a text, a number, true, false or a list of them")
}

// newConfig prints the settings of serve with their sources.
func newConfig(serve *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the settings of the server, each with its source",
		Long: `Config prints the settings with which serve would start, as a TOML file for --config:
from the command line, the environment, the file, or the default. Secrets are not
printed.`,
		Example:     "  wirebench config --config /etc/wirebench.toml",
		Args:        noArgs,
		Annotations: map[string]string{readsServe: "true"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			printConfig(cmd.OutOrStdout(), cmd.Flags())
			return nil
		},
	}
	cmd.Flags().AddFlagSet(serve.Flags())
	return cmd
}

func printConfig(w io.Writer, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Name == "version" || f.Name == "config" {
			return
		}
		source := "default"
		switch {
		case f.Annotations[fromEnv] != nil:
			source = f.Annotations[fromEnv][0]
		case f.Annotations[fromConfig] != nil:
			source = f.Annotations[fromConfig][0]
		case f.Changed:
			source = "command line"
		}
		text := fmt.Sprintf("%q", f.Value.String())
		switch kind := f.Value.Type(); {
		case slices.Contains(secretFlags, f.Name) && f.Value.String() != "":
			text = `"…"`
		case f.Name == "nats":
			text = fmt.Sprintf("%q", bus.Redacted(f.Value.String()))
		case kind == "bool" || strings.HasPrefix(kind, "int") && !strings.HasSuffix(kind, "Slice"):
			text = f.Value.String()
		case kind == "stringArray":
			var list []string
			if v, ok := f.Value.(pflag.SliceValue); ok {
				for _, one := range v.GetSlice() {
					list = append(list, fmt.Sprintf("%q", one))
				}
			}
			text = "[" + strings.Join(list, ", ") + "]"
		}
		fmt.Fprintf(w, "%s = %s # %s\n", f.Name, text, source)
	})
}
