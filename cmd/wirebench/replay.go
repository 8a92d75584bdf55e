package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wirebench/codec/capture"
	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/defs/schema"
	"wirebench/server/proxy"
	"wirebench/server/replay"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

func newReplay() *cobra.Command {
	l := &libraryFlags{}
	r := &replayer{}
	var groups []string
	cmd := &cobra.Command{
		Use:   "replay CAPTURE|SCRIPT (--to ADDRESS | --listen ADDRESS | --make-script FILE)",
		Short: "Replay a recorded conversation against a server, or as the server of a client",
		Long: `Replay takes part in a conversation, as the client of a server (--to) or as the server of a client (--listen).
It follows a script, or the recording of a connection: it sends the recorded messages of its side, waits for those of
the peer, and compares them field by field. Keys, tokens and sequence numbers that the recording received before it
sent them are taken from the messages received now.

--make-script writes the script for editing. It is JSON with these steps:
  {"send": {"message": NAME, "value": {...} or "hex": ..., "after": "20ms", "set": {"field": "$name", "next": "$name+1"}}}
  {"expect": {"message": NAME, "match": FILTER, "value": {...}, "within": "2s", "optional": true, "lift": {"name": "field"}}}
  {"pause": "1s"}
  {"repeat": {"times": 10, "steps": [...]}}
and the settings "speed", "tolerance" (exact, fields, shape), "ignore": ["S_PING", "*.time"], "keepalive" and "vars".

"-" is standard input. Ctrl+C ends the replay and prints the report so far.

Exit status: 0 as recorded, 1 different or missing messages, 2 wrong usage or no connection.`,
		Example: `  wirebench replay session.pcap --protocol muta --to 127.0.0.1:13501
  wirebench replay session.pcap --protocol tera --make-script login.json
  wirebench replay login.json --to game.example:7801 --speed 10 --json
  wirebench replay session.pcap --protocol subspace --listen 127.0.0.1:5000`,
		Args: needs("capture or script", false),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, g := range groups {
				rule, ok := protocols.ParseRule(g)
				if !ok {
					return fmt.Errorf("--group %s: must be [PORT/][c2s=|s2c=]GROUP", g)
				}
				r.env.Rules = append(r.env.Rules, rule)
			}
			return r.run(cmd, l, args[0])
		},
	}
	l.add(cmd)
	l.addRemote(cmd)
	flags := cmd.Flags()
	flags.StringVar(&r.to, "to", "", "play the client of the server at this HOST:PORT")
	flags.StringVar(&r.listen, "listen", "", "play the server at this ADDRESS:PORT, for the first client")
	flags.StringVar(&r.conn, "conn", "", "connection of the capture, CLIENT-SERVER (followed by #N: session N), as in frames --json (default: the only one)")
	flags.StringVar(&r.play, "play", "", "side to play in the script that --make-script writes: client or server")
	flags.StringVar(&r.make, "make-script", "", "write the script to this file (-: standard output), and replay nothing unless --to or --listen is given")
	flags.Float64Var(&r.speed, "speed", 0, "speed factor: 2 is twice as fast, 1000 nearly without pauses (default: from the script)")
	flags.StringVar(&r.tolerance, "tolerance", "", "differences that count: exact, fields or shape (default: from the script)")
	flags.StringVar(&r.keys, "keys", "", "file with keys of encrypted connections of the capture; - is standard input")
	flags.StringArrayVar(&groups, "group", nil, "message group of a direction: c2s=clmsg (repeatable)")
	flags.StringArrayVar(&r.vars, "var", nil, "NAME=VALUE of a script variable, as JSON or text (repeatable)")
	flags.BoolVar(&r.plain, "plain", false, "do not encrypt")
	flags.BoolVar(&r.keepGoing, "keep-going", false, "continue when an expected message does not arrive")
	flags.DurationVar(&r.most, "time", time.Hour, "maximum duration")
	flags.BoolVar(&r.json, "json", false, "print the report as JSON")
	words := func(list ...string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return list, cobra.ShellCompDirectiveNoFileComp
		}
	}
	complete(cmd, "play", words("client", "server"))
	complete(cmd, "tolerance", words("exact", "fields", "shape"))
	return cmd
}

// replayer is the replay command.
type replayer struct {
	to, listen, conn, play, make, tolerance, keys string
	speed                                         float64
	vars                                          []string
	values                                        map[string]json.RawMessage
	plain, keepGoing, json                        bool
	most                                          time.Duration
	env                                           protocols.Env
	snap                                          *workspace.Snapshot
}

func (r *replayer) run(cmd *cobra.Command, l *libraryFlags, path string) error {
	if r.to != "" && r.listen != "" { // in a container the environment sets --listen of the server
		switch {
		case given(cmd, "to") && !given(cmd, "listen"):
			r.listen = ""
		case given(cmd, "listen") && !given(cmd, "to"):
			r.to = ""
		}
	}
	if given(cmd, "make-script") && !given(cmd, "listen") && !given(cmd, "to") {
		r.listen, r.to = "", ""
	}
	switch {
	case r.to != "" && r.listen != "":
		return errors.New("--to and --listen exclude each other")
	case r.to == "" && r.listen == "" && r.make == "":
		return errors.New("one of --to, --listen and --make-script is required")
	case r.play != "" && r.play != "client" && r.play != "server":
		return fmt.Errorf("--play %s: must be client or server", r.play)
	case (cmd.Flags().Changed("speed") || r.speed != 0) && !(r.speed > 0 && r.speed <= replay.MaxSpeed):
		return fmt.Errorf("--speed %g: must be above 0 and at most %d", r.speed, int64(replay.MaxSpeed))
	case r.most <= 0:
		return fmt.Errorf("--time %s: must be above 0", r.most)
	case !slices.Contains([]replay.Tolerance{"", replay.Exact, replay.Fields, replay.Shape}, replay.Tolerance(r.tolerance)):
		return fmt.Errorf("--tolerance %s: must be %s, %s or %s", shown(r.tolerance), replay.Exact, replay.Fields, replay.Shape)
	}
	vars, err := replay.ParseVars(r.vars)
	if err != nil {
		return fmt.Errorf("--var: %w", err)
	}
	r.values = vars
	if r.keys == "-" && path == "-" {
		return errTwoInputs
	}
	if r.keys != "" {
		f := captureFlags{}
		if err := f.known(cmd, "", r.keys); err != nil {
			return err
		}
		r.env.Keys = f.env.Keys
	}
	in, name := cmd.InOrStdin(), "standard input"
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		in, name = file, path
	}
	source := bufio.NewReaderSize(in, 1<<16)
	text, isScript, err := readScript(source)
	if err != nil {
		return err
	}
	var script *replay.Script
	if isScript {
		if script, err = replay.ParseScript(text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if l.protocol == "" {
			l.protocol = script.Protocol
		}
	}
	if r.snap, err = l.snapshot(cmd); err != nil {
		return err
	}
	r.env.Definitions, r.env.Options, r.env.Envelope = r.snap, r.snap.Options.Values, r.snap.Envelope
	protocol, ok := r.snap.Protocol()
	if !ok {
		return fmt.Errorf("connections of protocol %s cannot be played", r.snap.Dialect.Name)
	}
	if script == nil {
		if script, err = r.recorded(cmd, protocol, name, source); err != nil {
			return err
		}
	}
	if r.make != "" {
		if err := r.write(cmd, script); err != nil || r.to == "" && r.listen == "" {
			return err
		}
	}
	if r.to != "" && script.Sends() != schema.ToServer || r.listen != "" && script.Sends() != schema.ToClient {
		return fmt.Errorf("%s: the script is for the other side; use --%s", name, map[bool]string{true: "listen", false: "to"}[r.to != ""])
	}
	return r.play1(cmd, protocol, script)
}

// readScript reads the whole input if it is a script, and nothing otherwise.
func readScript(in *bufio.Reader) (text []byte, is bool, err error) {
	head, err := in.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	if start := bytes.TrimSpace(head); len(start) == 0 || start[0] != '{' {
		return nil, false, nil
	}
	text, err = io.ReadAll(io.LimitReader(in, replay.MaxScript+1))
	return text, true, err
}

// maxRecorded bounds the messages read from a capture, in bytes.
const maxRecorded = 64 << 20

// recorded makes a script from a connection of a capture.
func (r *replayer) recorded(cmd *cobra.Command, protocol protocols.Protocol, path string, in io.Reader) (*replay.Script, error) {
	conns := map[string][]replay.Message{}
	var names []string
	size, over := 0, false
	proto := transport.UDP
	if protocol.Streams {
		proto = transport.TCP
	}
	_, _, err := capture.ReadAny(in, capture.Options{Proto: proto, Options: packet.Options{
		TLS: r.env.TLS(),
		New: func(c transport.Conn) transport.Transport {
			if (c.Proto == transport.TCP) != protocol.Streams {
				return nil
			}
			return protocol.New(r.env.For(c.Name(), c.Session), c.Server.Port())
		},
		Key: r.env.Key(),
	}}, func(f *transport.Frame) {
		name := f.Conn.Name()
		if f.Conn.Session > 0 {
			name += "#" + strconv.Itoa(f.Conn.Session)
		}
		if f.Kind != transport.Message || r.conn != "" && name != r.conn || over {
			return
		}
		if size += len(f.Bytes); size > maxRecorded {
			over = true
			return
		}
		if conns[name] == nil {
			names = append(names, name)
		}
		conns[name] = append(conns[name], replay.Copy(f))
	})
	if errors.Is(err, pcap.ErrFormat) {
		return nil, fmt.Errorf("%s is neither a script nor a capture: %w", path, err)
	}
	if err != nil {
		return nil, err
	}
	if over {
		note(cmd, "note: only the first %d MiB of messages are read", maxRecorded>>20)
	}
	switch {
	case len(names) == 0 && r.conn != "":
		return nil, fmt.Errorf("%s: connection %s does not exist or has no messages", path, r.conn)
	case len(names) == 0:
		return nil, fmt.Errorf("%s: no messages of protocol %s", path, r.snap.Dialect.Name)
	case len(names) > 1:
		slices.SortStableFunc(names, func(a, b string) int { return len(conns[b]) - len(conns[a]) })
		return nil, fmt.Errorf("%s has %d connections; choose one with --conn: %s", path, len(names), strings.Join(names[:min(len(names), 10)], ", "))
	}
	part := schema.ToServer
	if r.listen != "" || r.to == "" && r.play == "server" {
		part = schema.ToClient
	}
	s, err := replay.FromFrames(conns[names[0]], replay.FromOptions{Definitions: r.snap, Protocol: r.snap.Dialect.Name, Play: part})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// write writes the script.
func (r *replayer) write(cmd *cobra.Command, s *replay.Script) error {
	text, err := s.Encode()
	if err != nil {
		return err
	}
	if r.make == "-" {
		_, err = cmd.OutOrStdout().Write(text)
		return err
	}
	return os.WriteFile(r.make, text, 0o600) // it may contain passwords
}

// play1 replays a script once.
func (r *replayer) play1(cmd *cobra.Command, protocol protocols.Protocol, s *replay.Script) error {
	ctx, told := untilSignal(cmd.Context())
	defer told()
	link, port, err := r.connect(ctx, cmd, protocol)
	if err != nil {
		return err
	}
	end, err := protocol.End(&r.env, s.Sends(), port, protocols.Ends{Plain: r.plain, Random: rand.Reader})
	if err != nil {
		link.Close()
		return err
	}
	o := replay.Options{
		Definitions: r.snap, Schema: r.snap.Schema(), Layers: protocol.Layers, Speed: r.speed, Tolerance: replay.Tolerance(r.tolerance),
		MaxTime: r.most, KeepGoing: r.keepGoing, Vars: r.values,
	}
	if !r.json {
		o.Progress = func(x replay.Result) { progress(cmd.OutOrStdout(), x) }
	}
	wire := replay.NewWire(link, end, !protocol.Streams)
	// A server waits for its client up to the maximum duration; a client's server either accepts or fails soon.
	patience := r.most
	if r.to != "" {
		patience = min(patience, 30*time.Second)
	}
	waiting, stop := context.WithTimeout(ctx, patience)
	err = wire.Wait(waiting)
	stop()
	if err != nil {
		_ = wire.Close()
		return fmt.Errorf("no connection: %w", err)
	}
	report, err := replay.Run(ctx, s, wire, o)
	_ = wire.Close() // the report says what came and went
	if err != nil {
		return err
	}
	if r.json {
		writeJSON(cmd.OutOrStdout(), report)
	} else {
		summary(cmd.OutOrStdout(), report)
	}
	if !report.OK {
		return errInput
	}
	return nil
}

// connect makes the connection and returns the port of the server.
func (r *replayer) connect(ctx context.Context, cmd *cobra.Command, protocol protocols.Protocol) (replay.Link, uint16, error) {
	if r.to != "" {
		return dialServer(ctx, r.to, protocol.Streams)
	}
	var lc net.ListenConfig
	if !protocol.Streams {
		c, err := lc.ListenPacket(ctx, "udp", r.listen)
		if err != nil {
			return nil, 0, proxy.ListenProblem(err)
		}
		note(cmd, "listening on %s", c.LocalAddr())
		return &replay.Server{PacketConn: c}, portOf(c.LocalAddr()), nil
	}
	ln, err := lc.Listen(ctx, "tcp", r.listen)
	if err != nil {
		return nil, 0, proxy.ListenProblem(err)
	}
	defer ln.Close()
	note(cmd, "listening on %s", ln.Addr())
	defer supervise.After(ctx, "replay", func() { ln.Close() })()
	c, err := ln.Accept()
	if err != nil {
		return nil, 0, err
	}
	note(cmd, "client: %s", c.RemoteAddr())
	return c, portOf(ln.Addr()), nil
}

func portOf(a net.Addr) uint16 {
	p, _ := netip.ParseAddrPort(a.String())
	return p.Port()
}

// dialServer connects to a server. A name is resolved once, and none of its addresses may be a refused one.
func dialServer(ctx context.Context, to string, stream bool) (replay.Link, uint16, error) {
	host, portText, err := splitAddress(to)
	if err != nil {
		return nil, 0, fmt.Errorf("--to %s: %w", shown(to), err)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || port == 0 {
		return nil, 0, fmt.Errorf("--to %s: the port must be 1 to 65535", to)
	}
	ctx, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, 0, err
	}
	for i, a := range addrs {
		a = a.Unmap() // the usual notation
		addrs[i] = a
		if why := proxy.Refused(a); why != "" {
			return nil, 0, fmt.Errorf("--to %s: %s is refused: %s address", to, a, why)
		}
	}
	network := "udp"
	if stream {
		network = "tcp"
	}
	var d net.Dialer
	for _, a := range addrs {
		var c net.Conn
		if c, err = d.DialContext(ctx, network, netip.AddrPortFrom(a, uint16(port)).String()); err == nil {
			return c, uint16(port), nil
		}
	}
	if err == nil {
		err = fmt.Errorf("--to %s: the name has no address", to)
	}
	return nil, 0, err
}

// progress prints a step.
func progress(w io.Writer, x replay.Result) {
	arrow := map[string]string{"send": "->", "expect": "<-"}[x.Kind]
	fmt.Fprintf(w, "%9.3f  %-8s %s %-32s %s", time.Duration(x.At).Seconds(), x.Step, arrow, printable(x.Message), x.Status)
	if x.Error != "" {
		fmt.Fprintf(w, ": %s", printable(x.Error))
	}
	fmt.Fprintln(w)
	for _, d := range x.Diffs {
		fmt.Fprintf(w, "%24s %s: expected %s, got %s\n", "", printable(d.Path), printable(d.Expected), printable(d.Got))
	}
	if x.More > 0 {
		fmt.Fprintf(w, "%24s and %d more\n", "", x.More)
	}
}

// printable replaces control characters, for output to a terminal.
func printable(s string) string {
	return string(appendPrintable(nil, s))
}

// summary prints the notes and totals of a report.
func summary(w io.Writer, x *replay.Report) {
	for _, n := range x.Notes {
		fmt.Fprintf(w, "note: %s\n", printable(n))
	}
	for _, e := range x.Extra {
		fmt.Fprintf(w, "unexpected: %s, %d bytes, at %.3f s\n", printable(e.Message), e.Bytes, time.Duration(e.At).Seconds())
	}
	if x.Stopped != "" {
		fmt.Fprintf(w, "stopped: %s\n", printable(x.Stopped))
	}
	beside, answered := "", ""
	if x.Keepalive > 0 {
		beside = fmt.Sprintf(" and %d keepalives", x.Keepalive)
	}
	if x.Answered > 0 {
		answered = fmt.Sprintf(", %d keepalives", x.Answered)
	}
	fmt.Fprintf(w, "%d%s sent; %d received: %d expected%s, %d ignored, %d unexpected; %d different, %d missing\n",
		x.Sent, beside, x.Received, x.Matched, answered, x.Ignored, x.Unexpected, x.Different, x.Missing)
}
