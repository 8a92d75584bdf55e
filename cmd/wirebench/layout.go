package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"wirebench/codec/view"
)

func newLayout() *cobra.Command {
	m := &messageFlags{}
	var field string
	cmd := &cobra.Command{
		Use:     "layout --message NAME",
		Short:   "Show the byte layout of a message, without data",
		Example: "  wirebench layout --message C_EDIT_PRIVATE_CHANNEL",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if m.message == "" {
				return errors.New("layout needs --message NAME")
			}
			snap, err := m.snapshot(cmd)
			if err != nil {
				return err
			}
			msg, broken, err := m.chosen(cmd, snap)
			if err != nil {
				return err
			}
			p, err := snap.Program(msg)
			if err != nil {
				return err
			}
			info := view.Layout(p)
			if field != "" {
				if info = view.FieldLayout(p, field); len(info.Rows) == 0 {
					return fmt.Errorf("%s has no field %q", msg.Name, field)
				}
			}
			if m.json {
				writeJSON(cmd.OutOrStdout(), info)
			} else if field != "" {
				fmt.Fprint(cmd.OutOrStdout(), info.Text())
			} else {
				fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s", info.Text(), info.Diagram())
			}
			if broken {
				return errInput
			}
			return nil
		},
	}
	m.add(cmd)
	cmd.Flags().StringVar(&field, "field", "", "print only the field with this path, with all its offsets")
	return cmd
}
