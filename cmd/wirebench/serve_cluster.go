package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/spf13/cobra"

	"wirebench/server"
	"wirebench/server/bus"
	"wirebench/server/cluster"
	"wirebench/server/store"
	"wirebench/server/supervise"
)

// clusterFlags make a server a node of a cluster.
type clusterFlags struct {
	url, advertise string
}

func (c *clusterFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.url, "cluster", "", "NATS servers with JetStream, as in --nats, by which several workbenches share one data folder: one of them serves, the others follow and take over")
	cmd.Flags().StringVar(&c.advertise, "advertise", "", "address by which other nodes of --cluster reach this one, such as http://10.0.0.1:8080 (default: that of --listen)")
}

// options returns how to connect to the cluster: with the credentials of --nats.
func (c *clusterFlags) options(at bus.Options) (bus.Options, error) {
	at.URL = c.url
	if err := at.Check(); err != nil {
		return at, fmt.Errorf("--cluster: %w", err)
	}
	return at, nil
}

// inCluster serves as a node of a cluster until the context of the command ends.
func (f *serveFlags) inCluster(cmd *cobra.Command, log *slog.Logger) error {
	ctx := cmd.Context()
	switch {
	case len(f.library.dirs) > 0 || len(f.allowed) > 0:
		return errors.New("--cluster: definitions in folders of one machine (--library, --allow-library) are not for clusters: upload them into a project")
	case f.gitRemote != "":
		return errors.New("--cluster: --git-remote is about repositories in a folder of one machine, which are not for clusters")
	}
	at, err := f.options(f.bus.Options)
	if err != nil {
		return err
	}
	claimed, err := store.Claim(f.data, log)
	if err != nil {
		return fmt.Errorf("%w (--data)", err)
	}
	defer claimed.Close()
	x, err := f.openFront(log)
	if err != nil {
		return err
	}
	defer x.close()
	address, err := f.advertised(x.ln.Addr())
	if err != nil {
		return err
	}
	trusted, err := f.team.trusted()
	if err != nil {
		return err
	}
	node, err := cluster.Join(ctx, cluster.Options{Bus: at, Data: claimed, URL: address, Version: version(), Log: log})
	if ctx.Err() != nil { // it was ended while it waited for NATS
		return nil
	}
	if err != nil {
		return fmt.Errorf("--cluster: %w", err)
	}
	defer node.Close()
	x.accept(node.Handler(x.local, server.ClusterRoutes(node, x.local)), trusted)
	tell(cmd, log, "This node of the cluster is at %s", address)
	var group supervise.Group
	defer group.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop() // before the wait
	group.Go("cluster", nil, func() {
		node.Run(ctx, func(ctx context.Context, j store.Journal) error {
			kept, err := claimed.Begin(j)
			if err != nil {
				return err
			}
			return f.work(cmd, ctx, log, kept, x, node)
		})
	})
	select {
	case err := <-x.done:
		if !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
	case <-ctx.Done():
	}
	stop()
	last, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	x.end(last)
	return nil
}

// advertised returns the address by which other nodes reach this one.
func (f *serveFlags) advertised(at net.Addr) (string, error) {
	if f.advertise != "" {
		return f.advertise, nil
	}
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		return "", fmt.Errorf("--cluster: --listen %s is no single address: give the one by which other nodes reach this one with --advertise", f.listen)
	}
	scheme := "http://"
	if f.team.cert != "" {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host, port), nil
}
