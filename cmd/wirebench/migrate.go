package main

import (
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wirebench/server/cluster"
	"wirebench/server/store"
)

func newMigrate() *cobra.Command {
	var at busFlags
	from, to := "", ""
	cmd := &cobra.Command{
		Use:   "migrate --from DIR --to URL | --from URL --to DIR",
		Short: "Move the data of a server into a cluster, or back",
		Long: `Migrate puts a data folder into a cluster that has no data yet, or the data of a
cluster into an empty folder. URL is that of NATS servers, as in serve --cluster.

From a folder: no server may use it. It stays as it is, and is not a part of the
cluster: nodes have empty folders of their own at their first start.

From a cluster: its nodes may go on. The folder has what was acknowledged until
then, and is a data folder of its own. Captures that are only in a bucket stay
there: the server needs the same --captures.

Exit status: 0 done, 1 refused or failed, 2 wrong usage.`,
		Example: `  wirebench migrate --from /srv/wirebench --to nats://n1.example,nats://n2.example,nats://n3.example
  wirebench migrate --from nats://n1.example --to /srv/alone`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			into := isBus(to)
			if into == isBus(from) || from == "" || to == "" {
				return errors.New("give a folder and the URL of NATS servers: --from DIR --to URL, or --from URL --to DIR")
			}
			dir := to
			if at.URL = from; into {
				dir, at.URL = from, to
			}
			if err := at.Check(); err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			claim := store.Claim
			if into { // with its upgrades
				claim = store.OpenData
				if _, err := store.Plan(dir, false); err != nil { // before one is made there
					return err
				}
			}
			data, err := claim(dir, log)
			if err != nil {
				return err
			}
			defer data.Close()
			o := cluster.Options{Bus: at.Options, Data: data, URL: "http://migrate", Version: version(), Log: log, Patience: 10 * time.Second}
			if into {
				n, err := cluster.Import(ctx, o)
				if err != nil {
					note(cmd, "wirebench: not moved: %v", err)
					return errInput
				}
				note(cmd, "%s is in the cluster: %d bytes, compressed. Start nodes with empty folders.", dir, n)
				return nil
			}
			if err := cluster.Export(ctx, o); err != nil {
				note(cmd, "wirebench: not moved: %v", err)
				return errInput
			}
			note(cmd, "%s has the data of the cluster: start a server with --data %s.", dir, dir)
			return nil
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "data folder, or NATS servers of a cluster")
	cmd.Flags().StringVar(&to, "to", "", "NATS servers of a cluster without data, or an empty folder")
	at.addCredentials(cmd.Flags())
	return cmd
}

// isBus reports whether a place is NATS servers, and not a folder.
func isBus(place string) bool { return strings.Contains(place, "://") }
