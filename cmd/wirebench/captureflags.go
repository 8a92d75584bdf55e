package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wirebench/codec/capture"
	"wirebench/codec/packet"
	"wirebench/codec/paste"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/defs"
	"wirebench/defs/envelope"
	"wirebench/defs/source"
	"wirebench/server/captures"
	"wirebench/server/workspace"
)

// captureFlags say how captures are read.
type captureFlags struct {
	portFlags  []int
	groupFlags []string
	framingOf  string
	patternOf  string
	keysFile   string

	idle    func() error     // called before reading from a pipe or a terminal, which may wait; nil for none
	framing *capture.Framing // nil unless --framing is given
	pattern *paste.Pattern   // nil unless --pattern is given
	ports   []uint16
	env     protocols.Env

	title string // of the protocol, after read
	file  string // that was read, "" for standard input
}

func (f *captureFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntSliceVar(&f.portFlags, "port", nil, "port of the server (repeatable; default: the end that did not open the connection)")
	flags.StringArrayVar(&f.groupFlags, "group", nil, "message group of a direction and of a server port: 13501/c2s=clmsg (repeatable)")
	flags.StringVar(&f.framingOf, "framing", "", "framing of a file of raw bytes: prefixed:2le+self, fixed:40, delimited:0d0a, envelope ...")
	flags.StringVar(&f.patternOf, "pattern", "", "regular expression for messages in a text: "+patternUsage)
	flags.StringVar(&f.keysFile, "keys", "", "file with keys of encrypted connections, or a TLS key log; - is standard input")
}

// valid reads the flags.
func (f *captureFlags) valid(cmd *cobra.Command) error {
	for _, p := range f.portFlags {
		if p < 1 || p > 65535 {
			return fmt.Errorf("--port %d: must be 1 to 65535", p)
		}
		f.ports = append(f.ports, uint16(p))
	}
	for _, g := range f.groupFlags {
		r, ok := protocols.ParseRule(g)
		if !ok {
			return fmt.Errorf("--group %s: must be [PORT/][c2s=|s2c=]GROUP", g)
		}
		f.env.Rules = append(f.env.Rules, r)
	}
	var err error
	if f.pattern, err = parsePattern(f.patternOf); err != nil {
		return err
	}
	if f.pattern != nil && f.framingOf != "" {
		return errors.New("--pattern reads a text and --framing raw bytes: give one of them")
	}
	return f.known(cmd, f.framingOf, f.keysFile)
}

// known reads --framing and --keys.
func (f *captureFlags) known(cmd *cobra.Command, framing, keys string) error {
	if framing != "" {
		x, err := capture.ParseFraming(framing)
		if err != nil {
			return fmt.Errorf("--framing: %w", err)
		}
		f.framing = &x
	}
	if keys == "" {
		return nil
	}
	text, err := inputText(cmd, keys, protocols.MaxKeysText+1)
	if err != nil {
		return fmt.Errorf("--keys: %w", err)
	}
	if f.env.Keys, err = protocols.ParseKeys(string(text)); err != nil {
		return fmt.Errorf("--keys %s: %w", keys, err)
	}
	return nil
}

// knows returns an error for a rule whose group is not in the definitions.
func (f *captureFlags) knows(snap *workspace.Snapshot) error {
	known := snap.Groups()
	for i, r := range f.env.Rules {
		if !slices.Contains(known, r.Group) {
			if known = slices.DeleteFunc(slices.Clone(known), func(g string) bool { return g == "" }); len(known) == 0 {
				return fmt.Errorf("--group %s: the messages of this protocol have no groups", f.groupFlags[i])
			}
			return fmt.Errorf("--group %s: unknown group %s; the groups are %s", f.groupFlags[i], r.Group, strings.Join(known, ", "))
		}
	}
	return nil
}

// read passes the frames of a capture to frame. "-" is standard input.
func (f *captureFlags) read(cmd *cobra.Command, snap *workspace.Snapshot, path string, frame func(*transport.Frame)) (packet.Summary, error) {
	f.env.Definitions, f.env.Options, f.env.Envelope = snap, snap.Options.Values, snap.Envelope
	protocol, ok := snap.Protocol()
	if !ok {
		return packet.Summary{}, fmt.Errorf("captures of protocol %s cannot be read", snap.Dialect.Name)
	}
	own := f.framing != nil && f.framing.Own
	bad := snap.BadEnvelope()
	enveloped := protocol.Enveloped || own && bad != nil
	if enveloped && f.env.Envelope == nil && (f.framing == nil || own) {
		if bad != nil {
			_, wrong := envelope.Parse(bad)
			return packet.Summary{}, fmt.Errorf("the envelope has mistakes:\n%s", strings.TrimSuffix(wrong.Render(), "\n"))
		}
		if err := f.findEnvelope(cmd, path); err != nil {
			return packet.Summary{}, err
		}
		protocol = protocol.With(&f.env)
	}
	f.title, f.file = snap.Dialect.Title, ""
	in := cmd.InOrStdin()
	if path == "-" && f.keysFile == "-" {
		return packet.Summary{}, errTwoInputs
	}
	if path == "-" {
		path = "standard input"
	} else {
		file, err := os.Open(path)
		if err != nil {
			return packet.Summary{}, err
		}
		defer file.Close()
		in, f.file = file, path
	}
	day, _ := paste.LogDay(path)
	proto := transport.UDP
	if protocol.Streams {
		proto = transport.TCP
	}
	sum, paste, err := capture.ReadAny(&reported{r: in, cmd: cmd, idle: f.idle}, capture.Options{
		Options: packet.Options{
			Ports: f.ports,
			TLS:   f.env.TLS(),
			New: func(c transport.Conn) transport.Transport {
				if (c.Proto == transport.TCP) != protocol.Streams {
					return nil
				}
				return protocol.New(f.env.For(c.Name(), c.Session), c.Server.Port())
			},
			Day: day,
			Key: f.env.Key(),
		},
		Proto:   proto,
		Framing: f.framing,
		Pattern: f.pattern,
	}, frame)
	if errors.Is(err, pcap.ErrFormat) && f.framing == nil {
		return sum, fmt.Errorf("%s is not a capture: %w; for raw bytes give --framing", path, err)
	}
	if err != nil {
		return sum, err
	}
	if paste != nil {
		note(cmd, "%s: recognized as %s; %s", path, paste.Title, paste.Why)
		for _, n := range paste.Notes {
			note(cmd, "  %s", n)
		}
	} else if title := capture.FormatTitle(sum.Format); title != "" {
		note(cmd, "%s: recognized as %s", path, title)
	}
	return sum, nil
}

// findEnvelope looks for the envelope of a capture in a file.
func (f *captureFlags) findEnvelope(cmd *cobra.Command, path string) error {
	if path == "-" {
		return errors.New("the library has no file " + workspace.EnvelopeName + ", and an envelope can be found only in a file, not in standard input")
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	streams, datagrams, err := capture.Samples(io.LimitReader(file, maxSampled), packet.Options{Ports: f.ports, TLS: f.env.TLS()})
	if errors.Is(err, pcap.ErrFormat) {
		return nil // a text has whole messages
	}
	if err != nil {
		return err
	}
	found, ok := f.env.Find(streams, datagrams)
	if !ok {
		note(cmd, "note: the library has no file %s, and no envelope fits the traffic", workspace.EnvelopeName)
		return nil
	}
	f.env.Envelope, _ = envelope.Parse(source.New(workspace.EnvelopeName, found.Text))
	note(cmd, "%s: found an envelope: %s; to change it, store it as %s beside the definitions:", path, found.Evidence, workspace.EnvelopeName)
	for line := range strings.Lines(found.Text) {
		note(cmd, "  %s", strings.TrimRight(line, "\n"))
	}
	return nil
}

// maxSampled is the number of bytes of a file in which an envelope is looked for.
const maxSampled = 16 << 20

// summary prints notes on the parts of the capture that are not listed, and for each --port that no server in it has.
func (f *captureFlags) summary(cmd *cobra.Command, sum packet.Summary) {
	if why := sum.Incomplete(); why != "" {
		note(cmd, "note: %s", why)
	}
	if sum.Frames == 0 {
		note(cmd, "note: %s", sum.WithoutFrames(f.title))
		for _, x := range f.others() {
			note(cmd, "note: %s", x)
		}
	} else {
		for _, x := range sum.LeftOut() {
			note(cmd, "note: omitted: %s", x)
		}
	}
	if len(sum.Conns) == 0 {
		return // a text need not name any port
	}
	for _, p := range f.ports {
		if !slices.ContainsFunc(sum.Conns, func(c packet.ConnSummary) bool { return c.Server.Port() == p }) {
			note(cmd, "note: --port %d: no server in the capture has this port", p)
		}
	}
}

// fewestOfOther is the number of messages that are evidence for another protocol.
const fewestOfOther = 3

// others returns the other protocols that find messages in the capture, with their built-in definitions.
func (f *captureFlags) others() (out []string) {
	most := 0
	found := map[*defs.Dialect]captures.Found{}
	for i := range defs.Dialects {
		if d := &defs.Dialects[i]; f.file != "" && d.Title != f.title {
			found[d] = messagesAs(d.Name, f.file)
			most = max(most, found[d].Percent())
		}
	}
	for i := range defs.Dialects {
		d := &defs.Dialects[i]
		if n := found[d].Messages; n >= fewestOfOther && found[d].Percent()*2 >= most {
			out = append(out, fmt.Sprintf("read as %s, its first part has %s: give --protocol %s", d.Title, atLeast(n), d.Name))
		}
	}
	return out
}

// messagesAs says what a protocol finds in the first part of a file: nothing if it cannot read it.
func messagesAs(protocol, file string) (none captures.Found) {
	lib, err := builtIn(protocol)
	if err != nil {
		return none
	}
	snap, err := workspace.Build(lib, workspace.Settings{Dialect: protocol})
	if err != nil {
		return none
	}
	in, err := os.Open(file)
	if err != nil {
		return none
	}
	defer in.Close()
	found, _ := captures.MessagesOf(in, snap) // no context ends it
	return found
}

func atLeast(messages int) string {
	if messages >= captures.MaxMessagesOf {
		return fmt.Sprintf("%d messages or more", messages)
	}
	return fmt.Sprintf("%d messages", messages)
}

// reported reads a file and shows a progress bar on a terminal.
type reported struct {
	r    io.Reader
	cmd  *cobra.Command
	n    int64
	size int64
	last time.Time
	on   bool
	told bool
	idle func() error // called before reads that may wait
}

func (r *reported) Read(p []byte) (int, error) {
	if r.last.IsZero() {
		r.last = time.Now()
		if file, ok := r.r.(*os.File); ok {
			if info, err := file.Stat(); err == nil {
				r.size = info.Size() // 0 for pipes and devices
			}
		}
		if errs, ok := r.cmd.ErrOrStderr().(*os.File); ok && r.size > 0 {
			info, err := errs.Stat()
			r.on = err == nil && info.Mode()&os.ModeCharDevice != 0
		}
	}
	if r.idle != nil && r.size == 0 {
		if err := r.idle(); err != nil {
			return 0, err
		}
	}
	n, err := r.r.Read(p)
	r.n += int64(n)
	if !r.on {
		return n, err
	}
	if now := time.Now(); now.Sub(r.last) > 200*time.Millisecond {
		done := int(20 * r.n / r.size)
		fmt.Fprintf(r.cmd.ErrOrStderr(), "\r[%s%s] %3d%%", bytes.Repeat([]byte("="), done), strings.Repeat(" ", 20-done), 100*r.n/r.size)
		r.last, r.told = now, true
	}
	if err == io.EOF && r.told {
		fmt.Fprint(r.cmd.ErrOrStderr(), "\r\x1b[K")
	}
	return n, err
}
