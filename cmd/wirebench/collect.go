package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"wirebench/server/api"
	"wirebench/server/bus"
	"wirebench/server/collect"
	"wirebench/server/proxy"
	"wirebench/server/relay"
	"wirebench/server/store"
)

const (
	defaultSpool     = "wirebench-spool"
	collectSpoolSize = 1 << 30 // bytes
)

// busFlags select the NATS servers.
type busFlags struct{ bus.Options }

func (b *busFlags) add(f *pflag.FlagSet) {
	f.StringVar(&b.URL, "nats", "", "NATS servers: nats://HOST:PORT or tls://HOST:PORT, several separated by commas; set it in the environment if it has a password")
	b.addCredentials(f)
}

// addCredentials adds the flags that say who connects.
func (b *busFlags) addCredentials(f *pflag.FlagSet) {
	f.StringVar(&b.Creds, "nats-creds", "", "file with the credentials of a NATS user")
	f.StringVar(&b.CA, "nats-ca", "", "PEM file of the authorities of NATS servers with TLS (default: those of the system)")
	f.StringVar(&b.Cert, "nats-cert", "", "PEM file with the certificate by which NATS servers know this program")
	f.StringVar(&b.Key, "nats-key", "", "PEM file with the key of --nats-cert")
}

func newCollect() *cobra.Command {
	var at busFlags
	var limit limitFlags
	var listeners, allow []string
	name, folder, protocol, password := "", "", "", ""
	size := int64(0)
	operate, hold := false, time.Duration(0)
	cmd := &cobra.Command{
		Use:   "collect --nats URL --listener [PROJECT=]LISTEN>UPSTREAM",
		Short: "Relay on this host, and show the traffic in a workbench elsewhere",
		Long: `Collect relays between clients and servers, as listeners of a workbench do, and
sends what it records to a workbench by NATS JetStream: serve with --nats. The
listeners appear there in their project. It starts and relays whether NATS is
there or not, and never delays the traffic.

What is recorded waits in --spool until NATS has stored it, also after the end of
this program: the next start goes on. When the spool is full, packets are not
recorded until there is room; they are counted, and the next capture says so.

It relays what its own command line and --allow say, and nothing that is asked by
NATS. Link-local, metadata, multicast and reserved upstreams are always refused.

Ctrl+C ends the listeners and gives what waits five seconds to be published; a
second Ctrl+C exits immediately.

Exit status: 0 ended by the user, 2 wrong usage or no listener.`,
		Example: `  wirebench collect --nats nats://bus.example:4222 --protocol tera --listener '127.0.0.1:17801>127.0.0.1:7801'
  wirebench collect --nats tls://a.example,tls://b.example --nats-creds host7.creds --listener 'mine=:4000>10.0.0.5:4000'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if at.URL == "" {
				return errors.New("collect needs --nats")
			}
			if err := at.Check(); err != nil {
				return fmt.Errorf("--nats: %w", err)
			}
			if err := collect.CheckName(name); err != nil {
				return fmt.Errorf("--name: %w", err)
			}
			if size < collect.MinSpool {
				return fmt.Errorf("--spool-bytes %d: must be %d or more", size, collect.MinSpool)
			}
			limits, err := limit.limits()
			if err != nil {
				return err
			}
			if limits.Hold = hold; hold < 0 {
				return fmt.Errorf("--hold %s: must be 0 or more", hold)
			}
			all, up, err := collected(cmd, listeners, allow, protocol, operate, password)
			if err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			data, err := store.OpenData(folder, log)
			if err != nil {
				return fmt.Errorf("%w (--spool)", err)
			}
			defer data.Close()
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			c, err := collect.Start(ctx, collect.Options{
				Name: name, Data: data, SpoolBytes: size, Protocol: protocol, Listeners: all, Upstreams: up, Limits: limits, Bus: at.Options,
				Version: version(), Log: log, Answer: api.Operate,
			})
			if err != nil {
				return err
			}
			if n := c.Waiting(); n.Bytes > 0 {
				note(cmd, "%d bytes of an earlier run wait to be published", n.Bytes)
			}
			<-ctx.Done()
			patience, cancel := context.WithTimeout(context.Background(), proxyPatience)
			defer cancel()
			if left := c.Close(patience); left.Parts > 0 {
				note(cmd, "%d bytes wait in %s until the next start", left.Bytes, folder)
			}
			return nil
		},
	}
	host, _ := os.Hostname()
	f := cmd.Flags()
	at.add(f)
	f.StringArrayVar(&listeners, "listener", nil, "what to relay: [PROJECT=]LISTEN>UPSTREAM, such as 127.0.0.1:17801>game.example:7801; UPSTREAM may be tls:HOST:PORT, socks5 or redirect (repeatable)")
	f.StringArrayVar(&allow, "allow", nil, "other allowed upstreams, for socks5 and redirect: HOST:PORTS or NETWORK:PORTS, ports * or 7000-7999 (repeatable)")
	f.StringVar(&name, "name", collect.HostName(host), "name of this collector, which no other may have: letters, digits, - and _")
	f.StringVar(&protocol, "protocol", "", "protocol of projects that are not known here yet, and the project of a listener that names none: "+dialectNames())
	f.BoolVar(&operate, "operate", false, "messages can be held, changed and sent from pages of the workbench")
	f.DurationVar(&hold, "hold", time.Minute, "time after which a held message passes, also while the workbench is away; 0 = no limit")
	f.StringVar(&folder, "spool", defaultSpool, "folder for what waits to be published, and for the definitions of the projects")
	f.Int64Var(&size, "spool-bytes", collectSpoolSize, "bytes that may wait to be published")
	f.StringVar(&password, "socks-password", "", "password of clients of socks5; needed unless a listener is on loopback")
	limit.add(cmd, "")
	return cmd
}

// collected reads the listeners of a collector and the upstreams that they may have.
func collected(cmd *cobra.Command, listeners, allow []string, protocol string, operate bool, password string) ([]relay.Config, *proxy.Upstreams, error) {
	if len(listeners) == 0 {
		return nil, nil, errors.New("collect needs --listener")
	}
	var all []relay.Config
	allow = append(append([]string{}, proxy.DefaultUpstreams...), allow...)
	for _, text := range listeners {
		if !strings.Contains(text, "=") {
			if protocol == "" {
				return nil, nil, fmt.Errorf("--listener %s: give a project, PROJECT=LISTEN>UPSTREAM, or --protocol", shown(text))
			}
			text = protocol + "=" + text
		}
		cfg, err := relay.ParseConfig(text)
		if err != nil {
			return nil, nil, fmt.Errorf("--listener: %w", err)
		}
		cfg.Operate = operate
		if cfg.Upstream == proxy.Socks5 {
			cfg.Password = password
		}
		if !proxy.IsChosen(cfg.Upstream) {
			host, port, err := splitAddress(strings.TrimPrefix(cfg.Upstream, proxy.TLS))
			if err == nil {
				_, err = strconv.ParseUint(port, 10, 16)
			}
			if err != nil {
				return nil, nil, fmt.Errorf("--listener %s: the upstream is not HOST:PORT", shown(text))
			}
			allow = append(allow, net.JoinHostPort(host, "*")) // a game may have more ports beside
		}
		all = append(all, cfg)
	}
	warnInVain(cmd, allow)
	up, err := proxy.NewUpstreams(allow, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("--allow: %w", err)
	}
	return all, up, nil
}
