package main

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"wirebench/cmd/wirebench/demo"
	"wirebench/server/proxy"
	"wirebench/server/supervise"
)

// demoPort is the default port of the first demo server.
const demoPort = 7801

// demoPlay is a game of the demo: a protocol, or a message group with its own port.
type demoPlay struct {
	protocol, group string
	port            int // offset from the first port
}

// demoPlays returns the games of protocols. The first one has the first port; games of groups come last.
func demoPlays(protocols []string) (all []demoPlay) {
	port := 0
	for _, p := range demo.Protocols() {
		if slices.Contains(protocols, p) {
			all = append(all, demoPlay{protocol: p, port: port})
			port += demo.Ports(p)
		}
	}
	for _, p := range demo.Protocols() {
		for _, g := range demo.Groups(p) {
			if slices.Contains(protocols, p) {
				all = append(all, demoPlay{protocol: p, group: g, port: port})
				port += demo.Ports(p)
			}
		}
	}
	return all
}

// name is the name of a game in flags and messages.
func (p demoPlay) name() string {
	if p.group == "" {
		return p.protocol
	}
	return p.protocol + "/" + p.group
}

func newDemo() *cobra.Command {
	protocol, base, rate, via := "", 0, 0.0, []string(nil)
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run small games over loopback, to try Wirebench without a real game",
		Long: `Demo starts a small server and an automatic client for each protocol, on this
machine only: a player walks, talks, fights, and loses and gains health. The
messages follow the built-in definitions and travel as in the real games: with key
exchange, encryption, sequence numbers and fragmentation. A message group with its
own port, such as muta/world, has its own server.

The client connects to the server, or with --via to a proxy in front of it:

  wirebench proxy --protocol tera --listen 127.0.0.1:17801 --upstream 127.0.0.1:7801
  wirebench demo --protocol tera --via 127.0.0.1:17801

Ctrl+C ends the demo; the clients disconnect. Exit status: 0, or 2 if a port is in use.
"wirebench demo regatta" is the game of the manual's page about a protocol of your own.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			names := demo.Protocols()
			if protocol != "all" {
				if !slices.Contains(names, protocol) {
					return fmt.Errorf("--protocol %s: must be %s or all", protocol, strings.Join(names, ", "))
				}
				names = []string{protocol}
			}
			to, err := demoTargets(names, via)
			if err != nil {
				return err
			}
			plays := demoPlays(demo.Protocols())
			last := plays[len(plays)-1]
			if most := 65535 - last.port - demo.Ports(last.protocol) + 1; base < 0 || base > most {
				return fmt.Errorf("--listen-base %d: must be 0 to %d", base, most)
			}
			if !(rate >= demo.MinRate && rate <= demo.MaxRate) { // nor NaN
				return fmt.Errorf("--rate %g: must be %g to %d messages per second", rate, demo.MinRate, demo.MaxRate)
			}
			if limit < 0 {
				return fmt.Errorf("--for %s: must be a duration above 0", limit)
			}
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			if limit > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, limit)
				defer cancel()
			}
			return runDemo(ctx, cmd, names, to, base, rate)
		},
	}
	f := cmd.Flags()
	f.StringVar(&protocol, "protocol", "all", "protocol of the game: "+strings.Join(demo.Protocols(), ", ")+" or all")
	f.IntVar(&base, "listen-base", demoPort, "port of the first server; the others follow, each with all ports of its protocol, those of message groups last. 0: any free ports")
	f.Float64Var(&rate, "rate", 10, "approximate number of messages per second from each end")
	f.DurationVar(&limit, "for", 0, "duration, such as 30s (default: until Ctrl+C)")
	f.StringArrayVar(&via, "via", nil, "address to which the client connects instead of the server: PROTOCOL=HOST:PORT, or with one protocol HOST:PORT (repeatable)")
	complete(cmd, "protocol", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return append(demo.Protocols(), "all"), cobra.ShellCompDirectiveNoFileComp
	})
	cmd.AddCommand(newRegatta())
	return cmd
}

// demoTargets reads --via.
func demoTargets(names, via []string) (map[string]string, error) {
	to := map[string]string{}
	var known []string
	for _, play := range demoPlays(names) {
		known = append(known, play.name())
	}
	for _, v := range via {
		name, addr, ok := strings.Cut(v, "=")
		if !ok && len(names) == 1 {
			name, addr = names[0], v
		}
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("--via %s: must be PROTOCOL=HOST:PORT with one of the running games: %s", v, strings.Join(known, ", "))
		}
		if _, _, err := splitAddress(addr); err != nil {
			return nil, fmt.Errorf("--via %s: %w", shown(v), err)
		}
		to[name] = addr
	}
	return to, nil
}

// runDemo plays until the context ends.
func runDemo(ctx context.Context, cmd *cobra.Command, names []string, to map[string]string, base int, rate float64) (err error) {
	var players supervise.Group
	var games []*demo.Game
	ctx, cancel := context.WithCancel(ctx)
	defer func() { // players disconnect before their servers close
		cancel()
		players.Wait()
		for _, g := range games {
			g.Close()
		}
	}()
	var said sync.Mutex // output comes from all players
	for _, play := range demoPlays(names) {
		name, listen := play.name(), ""
		if base != 0 {
			listen = net.JoinHostPort("127.0.0.1", strconv.Itoa(base+play.port))
		}
		g, err := demo.Start(context.WithoutCancel(ctx), demo.Options{Protocol: play.protocol, Group: play.group, Listen: listen, Rate: rate})
		if err != nil {
			return fmt.Errorf("%s: %w (--listen-base)", name, proxy.ListenProblem(err))
		}
		games = append(games, g)
		addr, way := to[name], "through "+to[name]
		if addr == "" {
			addr, way = g.Addr, "directly"
		}
		said.Lock()
		fmt.Fprintf(cmd.OutOrStdout(), "%-10s  server at %s (%s), client connects %s\n", name, g.Addr, g.Network, way)
		if to[name] == "" {
			_, port, _ := net.SplitHostPort(g.Addr)
			n, _ := strconv.Atoi(port)
			between := net.JoinHostPort("127.0.0.1", strconv.Itoa(n%50000+10000))
			group, via := "", between
			if play.group != "" {
				group, via = " --group "+play.group, name+"="+between
			}
			fmt.Fprintf(cmd.OutOrStdout(), "            to watch: wirebench proxy --protocol %s%s --listen %s --upstream %s\n", play.protocol, group, between, g.Addr)
			fmt.Fprintf(cmd.OutOrStdout(), "            and then: wirebench demo --protocol %s --via %s\n", play.protocol, via)
		}
		said.Unlock()
		players.Go("player", func(err error) { note(cmd, "%s: %v", name, err) }, func() {
			last := ""
			g.Play(ctx, addr, func(err error) {
				said.Lock()
				defer said.Unlock()
				if why := err.Error(); why != last {
					note(cmd, "%s: %s; the client retries", name, why)
					last = why
				}
			})
		})
	}
	<-ctx.Done()
	return nil
}
