package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wirebench/server/access"
	"wirebench/server/objects"
	"wirebench/server/store"
)

func newBackup() *cobra.Command {
	data, alone := "", false
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Save the data folder as one file",
		Long: `Backup writes the data folder (definitions, captures, settings, accounts) to FILE, a
tar archive packed with gzip; "-" is standard output, and s3://BUCKET/NAME a bucket, as
with --lake of serve; it is packed into a temporary file first. A server may use the
folder meanwhile. Copying the folder with another program works as well: every file in it is
whole at any time.

The folders of --library are in the backup too, without hidden folders such as .git,
unless --no-libraries is given. What is not in it is said first, and again by restore.`,
		Example: "  wirebench backup --data /srv/wirebench /backup/wirebench.tar.gz\n  wirebench backup --data /srv/wirebench s3://backups/wirebench.tar.gz?endpoint=https://s3.example.com",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			plan, err := store.Plan(data, !alone)
			if err != nil {
				return err
			}
			for _, x := range plan.Libraries {
				if x.Taken {
					note(cmd, "with the definitions of project %s, from %s", x.Project, x.Folder)
				}
			}
			notIn(cmd, plan)
			if args[0] == "-" {
				_, err := store.Backup(cmd.OutOrStdout(), data, plan)
				return err
			}
			temporary, place := args[0]+".new", func(temporary string) error { return os.Rename(temporary, args[0]) }
			if strings.HasPrefix(args[0], "s3:") {
				bucket, name, err := backupBucket(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				defer bucket.Close()
				temporary, place = filepath.Join(bucket.Stage(), "backup"), func(temporary string) error { return bucket.Put(cmd.Context(), name, temporary) }
			}
			f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return err
			}
			n, err := store.Backup(f, data, plan)
			if err == nil {
				err = f.Sync()
			}
			if e := f.Close(); err == nil {
				err = e
			}
			if err == nil {
				err = place(temporary)
			}
			if err != nil {
				os.Remove(temporary)
				return err
			}
			note(cmd, "%d files in %s", n, args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&data, "data", defaultData, "data folder")
	cmd.Flags().BoolVar(&alone, "no-libraries", false, "leave out definitions that are outside the data folder")
	return cmd
}

// backupBucket opens the bucket of a place such as s3://BUCKET/PREFIX/NAME, and returns the name in it.
func backupBucket(ctx context.Context, place string) (*objects.Bucket, string, error) {
	u, err := url.Parse(place)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return nil, "", fmt.Errorf("%s: must be s3://BUCKET/NAME", shown(place))
	}
	name := path.Base(u.Path)
	u.Path = path.Dir(u.Path)
	stage, err := os.MkdirTemp("", "wirebench-backup-*")
	if err != nil {
		return nil, "", err
	}
	bucket, err := objects.OpenBucket(u.String(), stage)
	if err == nil {
		err = bucket.Reach(ctx)
	}
	if err != nil {
		_ = os.RemoveAll(stage)
		return nil, "", fmt.Errorf("%s: %w", shown(place), err)
	}
	return bucket, name, nil
}

// notIn says what a backup does not have.
func notIn(cmd *cobra.Command, m *store.Manifest) {
	for _, what := range m.Left {
		note(cmd, "not in the backup: %s", what)
	}
}

func newRestore() *cobra.Command {
	data := ""
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a data folder of a backup",
		Long: `Restore unpacks a FILE of wirebench backup into the folder of --data, which must not
exist or be empty; "-" is standard input, and s3://BUCKET/NAME is in a bucket. A backup of an earlier version is upgraded
when the server starts.`,
		Example: "  wirebench restore --data /srv/wirebench /backup/wirebench.tar.gz",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := cmd.InOrStdin()
			if strings.HasPrefix(args[0], "s3:") {
				bucket, name, err := backupBucket(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				defer bucket.Close()
				o, err := bucket.Open(cmd.Context(), name)
				if err != nil {
					return err
				}
				defer o.Close()
				in = io.NewSectionReader(o, 0, o.Size())
			} else if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in = io.Reader(f)
			}
			n, m, err := store.Restore(in, data)
			if err != nil {
				return err
			}
			if m == nil {
				note(cmd, "this backup is of an earlier version: it has no folders of --library, and does not say what else it lacks")
				m = &store.Manifest{}
			}
			notIn(cmd, m)
			for _, x := range m.Libraries {
				switch {
				case x.Here && x.Taken:
					note(cmd, "project %s uses %s as it is now; its definitions of the backup are in %s", x.Project, x.Folder, filepath.Join(data, x.Project, "definitions"))
				case x.Here:
					note(cmd, "project %s uses %s as it is now", x.Project, x.Folder)
				case x.Taken:
					note(cmd, "project %s has its definitions in the data folder now: there is no %s", x.Project, x.Folder)
				default:
					note(cmd, "project %s cannot be opened until there is %s", x.Project, x.Folder)
				}
			}
			note(cmd, "%d files in %s", n, filepath.Clean(data))
			return nil
		},
	}
	cmd.Flags().StringVar(&data, "data", defaultData, "data folder")
	return cmd
}

func newToken() *cobra.Command {
	data, reset := "", false
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make a new access token of an admin",
		Long: `Token makes a new access token of an admin, in place of the one of the first start,
for a server whose token was lost. The server must not be running. Accounts stay.

A server that has had accounts does not start when accounts.json is damaged or
missing. With --reset the file is set aside and the server has no accounts, nor
their roles and tokens: the new token admits the first admin.`,
		Example: "  wirebench token --data /srv/wirebench",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			kept, err := store.OpenData(data, slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)))
			if err != nil {
				return err
			}
			defer kept.Close()
			if reset {
				if err := setAccountsAside(cmd, kept); err != nil {
					return err
				}
			}
			accounts, err := openAccounts(kept, nil)
			if err != nil {
				return err
			}
			text, err := accounts.FirstToken(true)
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&data, "data", defaultData, "data folder")
	cmd.Flags().BoolVar(&reset, "reset", false, "set accounts.json aside, whatever it is, and begin without accounts")
	return cmd
}

// setAccountsAside begins without accounts. A server that has had some still admits nobody without a token.
func setAccountsAside(cmd *cobra.Command, data *store.Data) error {
	from := data.Path("accounts.json")
	to := from + time.Now().UTC().Format(".was-20060102-150405.000")
	switch err := os.Rename(from, to); {
	case err == nil:
		note(cmd, "The accounts of before are in %s", to)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return access.Reset(data.Secret("accounts.json"), data.Secret(accountsMark))
}
