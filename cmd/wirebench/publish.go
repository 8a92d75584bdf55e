package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wirebench/server/publish"
)

func newPublish() *cobra.Command {
	l := &libraryFlags{}
	title, secrets := "", false
	cmd := &cobra.Command{
		Use:   "publish DIR",
		Short: "Write a reference of definitions as pages that need no server",
		Long: `Publish writes pages about all messages of a library to a folder: an index with
search, and for each message its diagram, its fields, the differences between its
versions, its samples decoded, and its definition. The pages have relative links
and open from a file.

The folder must be new, empty, or of an earlier site, whose files are then
replaced. Values of fields marked @secret are replaced in the samples.`,
		Example: `  wirebench publish --library mine --title "My game" site`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			snap, err := l.snapshot(cmd)
			if err != nil {
				return err
			}
			if title == "" {
				title = snap.Dialect.Title
			}
			site := publish.Site{Title: title, Snap: snap, At: time.Now(), Secrets: secrets}
			n, err := site.ToFolder(args[0])
			if err != nil {
				return err
			}
			note(cmd, "%d files in %s", n, args[0])
			if list := site.Suspects(); len(list) > 0 {
				note(cmd, "fields that look like secrets, whose values are in samples as they are: %s; mark those that are with @secret", strings.Join(list, ", "))
			}
			return nil
		},
	}
	l.add(cmd)
	l.addRemote(cmd)
	cmd.Flags().StringVar(&title, "title", "", "title of the pages (default: the protocol)")
	cmd.Flags().BoolVar(&secrets, "secrets", false, "leave the values of fields marked @secret in the samples")
	return cmd
}
