package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"wirebench/codec/capture"
	"wirebench/codec/filter"
	"wirebench/codec/packet"
	"wirebench/codec/paste"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/server/workspace"
)

func newFrames() *cobra.Command {
	l := &libraryFlags{}
	f := &frameLister{}
	var ports []int
	var groups, kinds []string
	expression, framing, keys := "", "", ""
	cmd := &cobra.Command{
		Use:   "frames [CAPTURE]",
		Short: "List the frames of a capture",
		Long: `Frames reads a capture (pcap or pcapng, also compressed with gzip), reassembles its
connections and lists their frames in the order in which they were completed:
messages, packets of the transport itself (control), encrypted data without a key
(opaque), and missing or malformed data (problem).

Other inputs are texts that show a conversation (a log, Follow TCP Stream, ...),
packets exported by Wireshark or tshark (-T json -x, -T ek -x, -T pdml, -V -x),
flows of mitmproxy, websockets in a HAR, zip and tar archives (each file is a
message), and raw bytes, for which --framing selects the framing:
  whole                   the file is one message
  fixed:40                messages of 40 bytes
  prefixed:2le+self+keep  a length of 2 bytes (1, 2le, 2be, 4le, 4be), little-endian;
                          +self: includes its own bytes, +keep: is part of the message
  delimited:0d0a          messages end with these bytes
  fixed:40+c2s            all messages go to the server (+s2c: to the client)

--keys is a file with encryption keys, one connection per line (* matches any
connection, a suffix #1 selects the second session; comments start with #):
  10.0.0.2:4000-10.0.0.1:7801  tera      HEX         the four keys in the order of the handshake [old]
  *                            subspace  0x1234abcd  the key in the server's response

A truncated file is read up to the last whole record. Without a file, or for "-",
frames reads standard input.

Exit status: 0 success, whatever the frames; 2 wrong usage or an unknown file format.`,
		Example: `  wirebench frames --protocol subspace session.pcap
  wirebench frames --protocol tera --framing prefixed:2le+self+keep+c2s messages.bin
  wirebench frames --library game.def --group c2s=clmsg --group s2c=svmsg --json --value session.pcapng`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, p := range ports {
				if p < 1 || p > 65535 {
					return fmt.Errorf("--port %d: must be 1 to 65535", p)
				}
				f.ports = append(f.ports, uint16(p))
			}
			for _, g := range groups {
				r, ok := protocols.ParseRule(g)
				if !ok {
					return fmt.Errorf("--group %s: must be [PORT/][c2s=|s2c=]GROUP", g)
				}
				f.env.Rules = append(f.env.Rules, r)
			}
			for _, k := range kinds {
				if !slices.Contains(kindNames, k) {
					return fmt.Errorf("--kind %s: must be one of %s", k, strings.Join(kindNames, ", "))
				}
			}
			f.kinds = kinds
			onlyWithJSON(cmd)
			if err := f.known(framing, keys); err != nil {
				return err
			}
			snap, err := l.snapshot(cmd)
			if err != nil {
				return err
			}
			filter, mistakes := snap.Filter(expression)
			if len(mistakes) > 0 {
				return wrongFilter(expression, mistakes)
			}
			if text := filter.Rewritten(); text != "" {
				note(cmd, "note: the filter is equivalent to %s", text)
			}
			f.filter = filter.Until(cmd.Context())
			if err := f.groups(snap, groups); err != nil {
				return err
			}
			path := "-"
			if len(args) == 1 {
				path = args[0]
			} else {
				sayTyping(cmd)
			}
			return f.run(cmd, snap, path)
		},
	}
	l.add(cmd)
	flags := cmd.Flags()
	flags.IntSliceVar(&ports, "port", nil, "port of the server (repeatable; default: the end that did not open the connection)")
	flags.StringArrayVar(&groups, "group", nil, "message group of a direction and of a server port: 13501/c2s=clmsg (repeatable)")
	flags.StringArrayVar(&kinds, "kind", nil, "list only these kinds: "+strings.Join(kindNames, ", ")+" (repeatable)")
	flags.StringVar(&expression, "filter", "", "list only matching frames: C_CHAT && .message contains \"hi\", dir == c2s, len > 200 ...")
	flags.StringVar(&framing, "framing", "", "framing of a file of raw bytes: prefixed:2le+self, fixed:40, delimited:0d0a ...")
	flags.StringVar(&keys, "keys", "", "file with keys of encrypted connections")
	flags.BoolVar(&f.json, "json", false, "print JSON Lines instead of text")
	flags.BoolVar(&f.want.Value, "value", false, "with --json: print the values of each message")
	flags.BoolVar(&f.want.Fields, "fields", false, "with --json: print every field with its offset")
	complete(cmd, "kind", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return kindNames, cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

var kindNames = []string{"message", "control", "opaque", "problem"}

// wrongFilter is the error for an invalid filter: the first mistake, with a mark below its position.
func wrongFilter(text string, mistakes []filter.Mistake) error {
	m := mistakes[0]
	start := max(0, min(m.Start, len(text)))
	before, after := oneLine(text[:start]), oneLine(text[start:])
	if cut := len(before) - maxBeside; cut > 0 {
		before = append([]rune("..."), before[cut:]...)
	}
	if len(after) > maxBeside {
		after = append(after[:maxBeside:maxBeside], []rune("...")...)
	}
	err := fmt.Sprintf("--filter: %s\n  %s%s\n  %s^", m.Message, string(before), string(after), strings.Repeat(" ", len(before)))
	if m.Help != "" {
		err += "\n  " + m.Help
	}
	return errors.New(err)
}

// maxBeside bounds the text shown on each side of a mistake, in characters.
const maxBeside = 60

// oneLine replaces line breaks and other control characters by spaces.
func oneLine(text string) []rune {
	return []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7F && r < 0xA0 {
			return ' '
		}
		return r
	}, text))
}

// known reads --framing and --keys.
func (f *frameLister) known(framing, keys string) error {
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
	file, err := os.Open(keys)
	if err != nil {
		return fmt.Errorf("--keys: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, protocols.MaxKeysText+1))
	if err != nil {
		return fmt.Errorf("--keys: %w", err)
	}
	if f.env.Keys, err = protocols.ParseKeys(string(text)); err != nil {
		return fmt.Errorf("--keys %s: %w", keys, err)
	}
	return nil
}

// groups returns an error for a rule whose group is not in the definitions. rules are the flags, for the message.
func (f *frameLister) groups(snap *workspace.Snapshot, rules []string) error {
	known := snap.Groups()
	for i, r := range f.env.Rules {
		if !slices.Contains(known, r.Group) {
			if known = slices.DeleteFunc(slices.Clone(known), func(g string) bool { return g == "" }); len(known) == 0 {
				return fmt.Errorf("--group %s: the messages of this protocol have no groups", rules[i])
			}
			return fmt.Errorf("--group %s: unknown group %s; the groups are %s", rules[i], r.Group, strings.Join(known, ", "))
		}
	}
	return nil
}

// frameLister lists frames.
type frameLister struct {
	framing *capture.Framing // nil unless --framing is given
	ports   []uint16
	kinds   []string
	json    bool
	want    workspace.Want
	env     protocols.Env

	filter *workspace.FrameFilter
	snap   *workspace.Snapshot
	read   *workspace.Reading
	write  *workspace.FrameWriter
	out    *bufio.Writer
	text   []byte // of the last frame
	at     []byte // its time

	conn     *transport.Conn // of the last frame
	connName string
}

func (f *frameLister) run(cmd *cobra.Command, snap *workspace.Snapshot, path string) error {
	f.begin(snap)
	f.env.Definitions, f.env.Options = snap, snap.Options.Values
	f.out = bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16)
	protocol, ok := protocols.Of(snap.Dialect.Name)
	if !ok {
		return fmt.Errorf("captures of protocol %s cannot be read", snap.Dialect.Name)
	}
	in := cmd.InOrStdin()
	if path == "-" {
		path = "standard input"
	} else {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	day, _ := paste.LogDay(path)
	proto := transport.UDP
	if protocol.Streams {
		proto = transport.TCP
	}
	sum, paste, err := capture.ReadAny(&reported{r: in, cmd: cmd}, capture.Options{
		Options: packet.Options{
			Ports: f.ports,
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
	}, f.frame)
	if e := f.out.Flush(); err == nil {
		err = e
	}
	if errors.Is(err, pcap.ErrFormat) {
		return fmt.Errorf("%s is not a capture: %w; for raw bytes give --framing", path, err)
	}
	if err != nil {
		return err
	}
	if paste != nil {
		note(cmd, "%s: recognized as %s; %s", path, paste.Title, paste.Why)
	} else if title := capture.FormatTitle(sum.Format); title != "" {
		note(cmd, "%s: recognized as %s", path, title)
	}
	f.summary(cmd, sum)
	f.unmet(cmd, sum)
	return nil
}

// unmet prints a note for each --port that no server in the capture has.
func (f *frameLister) unmet(cmd *cobra.Command, sum packet.Summary) {
	if len(sum.Conns) == 0 {
		return // a text need not name any
	}
	for _, p := range f.ports {
		if !slices.ContainsFunc(sum.Conns, func(c packet.ConnSummary) bool { return c.Server.Port() == p }) {
			note(cmd, "note: --port %d: no server in the capture has this port", p)
		}
	}
}

// summary prints notes on the parts of the capture that are not listed.
func (f *frameLister) summary(cmd *cobra.Command, sum packet.Summary) {
	if why := sum.Incomplete(); why != "" {
		note(cmd, "note: %s", why)
	}
	for _, x := range sum.LeftOut() {
		note(cmd, "note: omitted: %s", x)
	}
	if n := f.filter.Unjudged(); n > 0 {
		note(cmd, "note: %d frames are not listed: filtering them takes too long", n)
	}
	if sum.Frames == 0 {
		note(cmd, "note: %d packets without a frame of the protocol", sum.Packets)
	}
}

// frame lists a frame.
func (f *frameLister) frame(x *transport.Frame) {
	if x.Conn != f.conn {
		f.conn, f.connName = x.Conn, x.Conn.Name()
	}
	f.list(where(f.connName, x.Conn.Session, x.Conn.Proto.String()), x, workspace.Listed{Conn: f.connName, Session: x.Conn.Session})
}

// list writes a frame that matches the filter and the kinds.
func (f *frameLister) list(where workspace.Where, x *transport.Frame, in workspace.Listed) {
	f.read.Take(x)
	if !f.filter.FitsReading(where, f.read) || len(f.kinds) > 0 && !slices.Contains(f.kinds, x.Kind.String()) {
		return
	}
	if f.json {
		f.text = f.write.Append(f.text[:0], f.read, in)
	} else {
		f.text = f.appendLine(f.text[:0], x)
	}
	f.out.Write(f.text)
}

// begin prepares the reading and the writing of frames by the definitions of a snapshot.
func (f *frameLister) begin(snap *workspace.Snapshot) {
	f.snap, f.read, f.write = snap, workspace.NewReading(snap), workspace.NewFrameWriter(f.want)
}

// where returns the context of a frame for filters.
func where(conn string, session int, proto string) workspace.Where {
	return workspace.Where{Where: filter.Where{Conn: conn, Session: session, Proto: proto}}
}

// appendLine appends a frame as text. The name and the note may come from the file, so control characters are replaced.
func (f *frameLister) appendLine(dst []byte, x *transport.Frame) []byte {
	name, status := "", ""
	m, rec := f.read.Message(), f.read.Record()
	switch {
	case rec != nil:
		name, status = m.Name, rec.Status().String()
	case m == nil:
		if name = x.Name; x.Kind == transport.Message {
			status = "unknown"
		}
	}
	switch {
	case name == "" && x.HasKey:
		name = fmt.Sprintf("? 0x%02X", x.Key.Code)
	case name == "":
		name = x.Kind.String()
	}
	dst = appendRight(dst, uint64(x.N), 7)
	dst = append(dst, ' ', ' ')
	dst = f.appendClock(dst, x.At)
	dir := x.Dir.String()
	switch dir {
	case "c2s":
		dst = append(dst, "  -> "...)
	case "s2c":
		dst = append(dst, "  <- "...)
	default:
		dst = append(dst, "   "...)
	}
	dst = appendLeft(dst, dir, 3)
	dst = append(dst, ' ', ' ')
	dst = appendLeft(dst, printable(name), 28)
	dst = append(dst, ' ')
	dst = appendRight(dst, uint64(len(x.Bytes)), 5)
	if status != "" && status != "ok" {
		dst = append(append(dst, ' ', ' '), status...)
	}
	if len(x.Via) > 0 {
		dst = append(append(dst, ' ', ' '), printable(strings.Join(x.Via, " "))...)
	}
	if flags := x.Marks.Flags(); len(flags) > 0 {
		dst = append(append(dst, ' ', ' '), strings.Join(flags, ", ")...)
	}
	if x.Note != "" {
		dst = append(append(dst, ' ', ' '), printable(x.Note)...)
	}
	return append(dst, '\n')
}

// appendClock appends the time of day of a time, blank if it is not known.
func (f *frameLister) appendClock(dst []byte, at time.Time) []byte {
	const blank = "               "
	if at.IsZero() {
		return append(dst, blank...)
	}
	f.at = f.write.AppendTime(f.at[:0], at)
	return append(dst, f.at[11:11+len(blank)]...)
}

// appendRight appends a number at the right of a column.
func appendRight(dst []byte, n uint64, width int) []byte {
	var digits [20]byte
	text := strconv.AppendUint(digits[:0], n, 10)
	for range width - len(text) {
		dst = append(dst, ' ')
	}
	return append(dst, text...)
}

// appendLeft appends a text at the left of a column.
func appendLeft(dst []byte, text string, width int) []byte {
	dst = append(dst, text...)
	for range width - utf8.RuneCountInString(text) {
		dst = append(dst, ' ')
	}
	return dst
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
