package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"wirebench/defs/diag"
	"wirebench/web/docs"
)

// newDeploy prints files for the programs around a server.
func newDeploy() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "deploy [NAME]",
		Short: "Print files for systemd, Prometheus, Grafana and a reverse proxy",
		Long: `Deploy prints a file for a program around the server, as it is in this version of
Wirebench: its metrics and flags are those that the file names. Without a name it lists
the files.`,
		Example: `  wirebench deploy
  wirebench deploy systemd >/etc/systemd/system/wirebench.service`,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: deployments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if len(args) == 0 {
				return listDeployments(out, asJSON)
			}
			for _, d := range docs.Deployments {
				switch {
				case d.Name != args[0] && d.File != args[0]:
				case asJSON:
					return json.NewEncoder(out).Encode(map[string]string{"name": d.Name, "file": d.File, "text": d.Text()})
				default:
					_, err := io.WriteString(out, d.Text())
					return err
				}
			}
			near := ""
			if name := diag.Nearest(args[0], deployments()); name != "" {
				near = fmt.Sprintf("; did you mean %q?", name)
			}
			return fmt.Errorf("no file %q: %s%s", args[0], strings.Join(deployments(), ", "), near)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines instead of text")
	return cmd
}

func deployments() (names []string) {
	for _, d := range docs.Deployments {
		names = append(names, d.Name)
	}
	return names
}

func listDeployments(out io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		for _, d := range docs.Deployments {
			if err := e.Encode(map[string]string{"name": d.Name, "file": d.File, "about": d.About}); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, d := range docs.Deployments {
		fmt.Fprintf(w, "%s\t%s\t%s\n", d.Name, d.File, d.About)
	}
	return w.Flush()
}
