package main

import (
	"context"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"wirebench/server/agents"
)

func newMCP() *cobra.Command {
	s := &serverFlags{}
	suggest := false
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Offer the workbench to agents by the Model Context Protocol",
		Long: `Mcp speaks the Model Context Protocol on standard input and output, as programs with
language models start it: tools to look at projects and captures, to decode, and to try
definitions. They call the server at --server, with the role of its token, or use the
data in --data while no server does. A running server offers the same tools at /mcp.

The tools only read. With --suggest there is one that suggests texts of definitions, new
ones among them, and codes of messages; it changes nothing until a person accepts the
suggestion.`,
		Example: `  wirebench mcp
  wirebench mcp --server https://wirebench.example --suggest`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, end, err := s.connect()
			if err != nil {
				return err
			}
			defer end()
			server := agents.New(c, agents.Options{Version: version(), Suggest: suggest})
			err = server.Run(cmd.Context(), &mcp.IOTransport{Reader: io.NopCloser(cmd.InOrStdin()), Writer: nopWriteCloser{cmd.OutOrStdout()}})
			if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
				return nil // the program that has started it ends it so
			}
			return err
		},
	}
	s.add(cmd.Flags())
	cmd.Flags().BoolVar(&suggest, "suggest", false, "offer a tool that suggests texts of definitions to people")
	return cmd
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }
