package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wirebench/cmd/wirebench/demo"
	"wirebench/server"
	"wirebench/server/projects"
	"wirebench/server/proxy"
	"wirebench/server/relay"
)

// proxyFlags select the listeners of the server and its allowed upstreams.
type proxyFlags struct {
	proxies []string
	allow   []string
	file    string
	ports   string
	limitFlags
}

func (p *proxyFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&p.proxies, "proxy", nil, "relay and show traffic: WORKSPACE=LISTEN>UPSTREAM, such as tera=127.0.0.1:7801>game.example:7801 (repeatable)")
	f.StringArrayVar(&p.allow, "allow-upstream", nil, "upstreams that users may relay to, besides this machine: HOST:PORTS, NETWORK:PORTS, ports * or 7000-7999 (repeatable)")
	f.StringVar(&p.ports, "listener-ports", defaultPorts, "ports on which users may start listeners, such as 17800-17809; empty = all from 1024 on")
	p.limitFlags.add(cmd, "listener-")
	f.StringVar(&p.file, "proxies", "", `file with both: {"allow":["HOST:PORTS"],"proxies":[{"workspace":"...","listen":"...","upstream":"...","name":"...","ports":1}]}`)
}

// limitFlags are the limits of listeners, unless they have their own.
type limitFlags struct {
	prefix     string
	idle       time.Duration
	perAddress int
	conns      int
}

func (l *limitFlags) add(cmd *cobra.Command, prefix string) {
	l.prefix = prefix
	f := cmd.Flags()
	f.DurationVar(&l.idle, prefix+"idle", 0, "time without a byte after which a connection of a listener ends; 0 = 2h for TCP, 3m for UDP")
	f.IntVar(&l.perAddress, prefix+"per-address", 0, "concurrent connections of one address to a listener; 0 = 64")
	f.IntVar(&l.conns, prefix+"connections", 0, "concurrent connections to a listener in all, over UDP the addresses of clients; 0 = 1024")
}

// limits returns the limits that are set.
func (l *limitFlags) limits() (proxy.Limits, error) {
	switch {
	case l.idle != 0 && l.idle < time.Second || l.idle > relay.MostIdle:
		return proxy.Limits{}, fmt.Errorf("--%sidle %s: must be between 1s and %s", l.prefix, l.idle, relay.MostIdle)
	case l.perAddress < 0 || l.perAddress > proxy.MostConns:
		return proxy.Limits{}, fmt.Errorf("--%sper-address %d: must be between 0 and %d", l.prefix, l.perAddress, proxy.MostConns)
	case l.conns < 0 || l.conns > proxy.MostConns:
		return proxy.Limits{}, fmt.Errorf("--%sconnections %d: must be between 0 and %d", l.prefix, l.conns, proxy.MostConns)
	}
	return proxy.Limits{Idle: l.idle, PerSource: l.perAddress, Conns: l.conns}, nil
}

// proxyFile is the content of --proxies.
type proxyFile struct {
	Allow   []string       `json:"allow"`
	Proxies []relay.Config `json:"proxies"`
}

// read reads the flags and the file. The upstreams of the listeners are allowed implicitly.
func (p *proxyFlags) read() (*proxy.Upstreams, []relay.Config, error) {
	var f proxyFile
	if p.file != "" {
		file, err := os.Open(p.file)
		if err != nil {
			return nil, nil, fmt.Errorf("--proxies: %w", err)
		}
		defer file.Close()
		d := json.NewDecoder(file)
		d.DisallowUnknownFields()
		if err := d.Decode(&f); err != nil {
			return nil, nil, fmt.Errorf("--proxies %s: %w", p.file, err)
		}
	}
	for _, text := range p.proxies {
		cfg, err := relay.ParseConfig(text)
		if err != nil {
			return nil, nil, fmt.Errorf("--proxy: %w", err)
		}
		f.Proxies = append(f.Proxies, cfg)
	}
	allow := append(append([]string{}, proxy.DefaultUpstreams...), append(f.Allow, p.allow...)...)
	for _, cfg := range f.Proxies {
		host, _, err := net.SplitHostPort(cfg.Upstream)
		if err != nil {
			return nil, nil, fmt.Errorf("the upstream %q is not HOST:PORT", cfg.Upstream)
		}
		allow = append(allow, net.JoinHostPort(host, "*"))
	}
	up, err := proxy.NewUpstreams(allow, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("--allow-upstream: %w", err)
	}
	return up, f.Proxies, nil
}

// checkProxies returns an error for a listener that can never start: an unknown project, or an address that is always refused.
func checkProxies(all []relay.Config, set *projects.Set) error {
	var names []string
	for _, w := range set.All() {
		names = append(names, w.Name)
	}
	for _, cfg := range all {
		if set.Find(cfg.Workspace) == nil {
			return fmt.Errorf("relay %s to %s: unknown project %q; the projects are %s (--proxy, --proxies)", cfg.Listen, cfg.Upstream, cfg.Workspace, strings.Join(names, ", "))
		}
		host, _, _ := net.SplitHostPort(cfg.Upstream)
		if addr, err := netip.ParseAddr(host); err == nil {
			if why := proxy.Refused(addr.Unmap()); why != "" {
				return fmt.Errorf("relay %s to %s: the upstream is %s, which is always refused (--proxy, --proxies)", cfg.Listen, cfg.Upstream, why)
			}
		}
	}
	return nil
}

// inVain returns why an entry of the allowed upstreams has no effect: the kind of its addresses, all of which are always refused. It
// returns "" for other entries.
func inVain(entry string) string {
	host := strings.Trim(entry[:max(strings.LastIndexByte(entry, ':'), 0)], "[]")
	p, err := netip.ParsePrefix(host)
	if err != nil {
		addr, err := netip.ParseAddr(host)
		if err != nil {
			return ""
		}
		p = netip.PrefixFrom(addr, addr.BitLen())
	}
	p = p.Masked()
	last := p.Addr().AsSlice()
	for i := p.Bits(); i < len(last)*8; i++ {
		last[i/8] |= 0x80 >> (i % 8)
	}
	to, _ := netip.AddrFromSlice(last)
	why := proxy.Refused(p.Addr().Unmap())
	if p.Bits() == 0 || why != proxy.Refused(to.Unmap()) { // if the first and the last address are of one kind, the network is, too
		return ""
	}
	return why
}

// warnInVain prints a note for each entry without effect.
func warnInVain(cmd *cobra.Command, entries []string) {
	for _, entry := range entries {
		if why := inVain(entry); why != "" {
			note(cmd, "note: allowing %s has no effect: %s is always refused", entry, why)
		}
	}
}

// own returns the address of a listener, which the proxy must not connect to.
func own(ln net.Listener) func() []netip.AddrPort {
	return func() []netip.AddrPort {
		if a, ok := ln.Addr().(*net.TCPAddr); ok {
			return []netip.AddrPort{a.AddrPort()}
		}
		return nil
	}
}

// startProxies starts the listeners of the flags. A failure does not end the server.
func startProxies(cmd *cobra.Command, pages *server.Server, all []relay.Config) error {
	var failed error
	for _, cfg := range all {
		if err := pages.StartProxy(cmd.Context(), cfg); err != nil {
			failed = errors.Join(failed, fmt.Errorf("relay %s to %s: %w", cfg.Listen, cfg.Upstream, err))
			continue
		}
		note(cmd, "%s: %s is relayed to %s", cfg.Workspace, cfg.Listen, cfg.Upstream)
	}
	return failed
}

// demoGame starts the demo game of a protocol for the page.
func demoGame(ctx context.Context, dialect string) (*relay.Game, error) {
	g, err := demo.Start(ctx, demo.Options{Protocol: dialect})
	if err != nil {
		return nil, err
	}
	return &relay.Game{
		Server: g.Addr, Close: g.Close,
		Play: func(ctx context.Context, addr string) { g.Play(ctx, addr, nil) },
	}, nil
}
