package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"wirebench/codec/filter"
	"wirebench/codec/packet"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/schema"
	"wirebench/server/frames"
	"wirebench/server/lake"
	"wirebench/server/workspace"
)

func newFrames() *cobra.Command {
	l := &libraryFlags{}
	f := &frameLister{}
	var kinds []string
	expression, columns, stats, parquet := "", "", "", ""
	cmd := &cobra.Command{
		Use:   "frames [CAPTURE...]",
		Short: "List the frames of captures",
		Long: `Frames reads a capture (pcap, pcapng, snoop or Network Monitor, also compressed
with gzip, zstd, lz4, xz or bzip2), reassembles its connections and lists their
frames in the order in which they were completed: messages, packets of the
transport itself (control), encrypted data without a key (opaque), and missing or
malformed data (problem). A line has the number of the frame, its time, direction,
name and length, a status other than ok, and a summary of its values.

Other inputs are texts that show a conversation (a log, Follow TCP Stream, ...),
packets exported by Wireshark or tshark (-T json -x, -T ek -x, -T pdml, -V -x),
flows of mitmproxy, websockets in a HAR, zip and tar archives (each file is a
message), and raw bytes. --framing says how messages are delimited in raw bytes, or
in the connections of a capture:
  whole                   the file is one message
  fixed:40                messages of 40 bytes
  prefixed:2le+self+keep  a length of 2 bytes (1, 2le to 8be, varint), little-endian;
                          +self: includes its own bytes, +keep: is part of the message
  delimited:0d0a          messages end with these bytes
  envelope+c2s            as the envelope or the protocol says: the bytes are those that
                          one end sent, the files of an archive parts of a connection
  fixed:40+c2s            all messages go to the server (+s2c: to the client)

--keys is a file with encryption keys, one connection per line (* matches any
connection, a suffix #1 selects the second session; comments start with #):
  10.0.0.2:4000-10.0.0.1:7801  tera      HEX         the four keys in the order of the handshake [old]
  *                            subspace  0x1234abcd  the key in the server's response

It may also be a TLS key log, as programs write it with SSLKEYLOGFILE: connections
that are TLS 1.2 or 1.3 are then read as what TLS carried. A pcapng with its own key
log needs no --keys.

Several captures are listed one after another; the numbers of their frames go on.
A truncated file is read up to the last whole record. Without a file, or for "-",
frames reads standard input; the frames of a capture that a program is still writing
to a pipe are listed as they come. (A plain TERA connection is recognized by messages
of both directions.)

Exit status: 0 success, whatever the frames; 2 wrong usage or an unknown file format.`,
		Example: `  wirebench frames --protocol subspace session.pcap
  wirebench frames --protocol tera --framing prefixed:2le+self+keep+c2s messages.bin
  wirebench frames --protocol tera --columns n,t,name,.gameId --filter "len > 200" session.pcap
  wirebench frames --protocol tera --stats problems session.pcap
  tcpdump -i any -U -w - port 7801 | wirebench frames --protocol tera -
  wirebench frames --library game.def --group c2s=clmsg --group s2c=svmsg --json --value session.pcapng`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.valid(cmd); err != nil {
				return err
			}
			for _, k := range kinds {
				if !slices.Contains(kindNames, k) {
					return fmt.Errorf("--kind %s: must be one of %s", k, strings.Join(kindNames, ", "))
				}
			}
			f.kinds = kinds
			if err := f.form(cmd, columns, stats); err != nil {
				return err
			}
			onlyWithJSON(cmd)
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
			if text := filter.Wide(); text != "" {
				if f.wide, mistakes = snap.Filter(text); len(mistakes) > 0 {
					return wrongFilter(text, mistakes)
				}
				f.wide.Until(cmd.Context())
			}
			if err := f.knows(snap); err != nil {
				return err
			}
			if len(args) == 0 {
				args = []string{"-"}
				sayTyping(cmd)
			}
			if cmd.Flags().Changed("parquet") {
				return f.export(cmd, snap, args, parquet)
			}
			return f.run(cmd, snap, args)
		},
	}
	l.add(cmd)
	l.addRemote(cmd)
	flags := cmd.Flags()
	f.add(cmd)
	flags.StringArrayVar(&kinds, "kind", nil, "list only these kinds: "+strings.Join(kindNames, ", ")+" (repeatable)")
	flags.StringVar(&expression, "filter", "", "list only matching frames: C_CHAT && .message contains \"hi\", dir == c2s, len > 200 ...")
	flags.BoolVar(&f.json, "json", false, "print JSON Lines instead of text")
	flags.BoolVarP(&f.tree, "verbose", "V", false, "print the fields of each frame, or the bytes of one without a definition")
	flags.StringVar(&columns, "columns", "", "print these columns, separated by tabs: "+strings.Join(columnNames, ", ")+", .field, MESSAGE.field")
	flags.StringVar(&parquet, "parquet", "", "write a Parquet file for each message and version to this folder, instead of printing frames")
	flags.StringVar(&stats, "stats", "", "print a summary of the matching frames: "+strings.Join(statisticsNames(), ", "))
	flags.BoolVar(&f.want.Value, "value", false, "with --json: print the values of each message")
	flags.BoolVar(&f.want.Fields, "fields", false, "with --json: print every field with its offset")
	complete(cmd, "stats", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return statisticsNames(), cobra.ShellCompDirectiveNoFileComp
	})
	complete(cmd, "kind", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return kindNames, cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// form reads the flags that choose what is printed.
func (f *frameLister) form(cmd *cobra.Command, columns, stats string) (err error) {
	given := []string{}
	for _, name := range []string{"verbose", "columns", "stats", "parquet"} {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if f.json && stats == "" {
		given = append(given, "--json")
	}
	if len(given) > 1 {
		return fmt.Errorf("%s cannot be combined", strings.Join(given, " and "))
	}
	if stats != "" {
		start, ok := statisticsOf[stats]
		if !ok {
			return fmt.Errorf("--stats %s: must be one of %s", stats, strings.Join(statisticsNames(), ", "))
		}
		f.statistics = start()
	}
	if cmd.Flags().Changed("columns") {
		f.columns, err = parseColumns(columns)
	}
	return err
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

// frameLister lists frames.
type frameLister struct {
	captureFlags
	kinds []string
	json  bool
	want  workspace.Want
	tree  bool // text: with the fields of each frame

	columns    *frameColumns   // nil unless --columns is given
	statistics frameStatistics // nil unless --stats is given
	lake       *lake.Writer    // nil unless --parquet is given
	unlaked    int             // frames without a definition, which no file has
	failed     error           // of lake

	filter  *workspace.FrameFilter
	wide    *workspace.FrameFilter // the filter with its texts as UTF-16, until it has found a frame; nil: none
	widely  int                    // frames that only wide has found
	snap    *workspace.Snapshot
	reading *workspace.Reading
	write   *workspace.FrameWriter
	out     *bufio.Writer
	text    []byte // of the last frame
	info    []byte // of the last frame, if it is not printable
	name    string // of the last frame
	column  []byte // the column of this name

	trial     *workspace.Trial // of other settings
	trying    bool
	before    uint32          // frames of the captures before
	conn      *transport.Conn // of the last frame
	connName  string
	connProto string
}

func (f *frameLister) run(cmd *cobra.Command, snap *workspace.Snapshot, paths []string) error {
	f.begin(snap)
	f.trial, f.trying = workspace.NewTrial(snap), true
	f.out = bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16)
	f.idle = func() error { return f.out.Flush() }
	if f.columns != nil {
		f.out.Write(f.columns.appendHead(nil))
	}
	var err error
	var sums []func()
	for _, path := range paths {
		var sum packet.Summary
		if sum, err = f.read(cmd, snap, path, f.frame); err != nil {
			break
		}
		f.before += sum.Frames
		file, title := f.file, f.title
		sums = append(sums, func() {
			f.file, f.title = file, title
			if len(paths) > 1 {
				note(cmd, "%s: %d frames", path, sum.Frames)
			}
			f.summary(cmd, sum)
		})
	}
	if f.statistics != nil && err == nil {
		err = printStatistics(f.out, f.statistics, f.json)
	}
	if e := f.out.Flush(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	for _, say := range sums {
		say()
	}
	for _, b := range f.trial.Better(cmd.Context()) {
		note(cmd, "note: %s: give --%s %s", b.Why, b.Option, b.Value)
	}
	if n := f.filter.Unjudged(); n > 0 {
		note(cmd, "note: %d frames are not listed: filtering them takes too long", n)
	}
	if f.wide != nil && f.widely > 0 {
		note(cmd, "note: no frame matches: a text in bytes is UTF-8; as UTF-16 it is found in %d, by %s", f.widely, f.filter.Wide())
	}
	return nil
}

// frame lists a frame.
func (f *frameLister) frame(x *transport.Frame) {
	x.N += f.before
	if x.Conn != f.conn {
		f.conn, f.connName, f.connProto = x.Conn, x.Conn.Name(), x.Conn.Proto.String()
	}
	f.list(x, workspace.Listed{Conn: f.connName, Session: x.Conn.Session}, x.Conn.Stream, f.connProto)
	f.trying = f.trying && f.trial.Take(f.reading)
}

// lineRoom is the room that most lines of text need: they are written in the place where they are put out from.
const lineRoom = 1 << 10

// list writes a frame that matches the filter and the kinds.
func (f *frameLister) list(x *transport.Frame, in workspace.Listed, stream int, proto string) {
	f.reading.Take(x)
	if f.columns != nil && f.columns.start.IsZero() {
		f.columns.start = x.At // of all frames, as a filter changes no time
	}
	asked := len(f.kinds) == 0 || slices.Contains(f.kinds, x.Kind.String())
	if !f.filter.Everything() {
		at := where(in.Conn, in.Session, stream, proto)
		if f.wide != nil && f.wide.FitsReading(at, f.reading) && asked {
			f.widely++
		}
		asked = f.filter.FitsReading(at, f.reading) && asked
	}
	if !asked {
		return
	}
	f.wide = nil
	switch {
	case f.lake != nil:
		f.addRow(x, in)
		return
	case f.statistics != nil:
		f.statistics.add(f, x, in)
		return
	case f.json:
		f.text = f.write.Append(f.text[:0], f.reading, in)
	case f.columns != nil:
		f.text = f.columns.appendLine(f.text[:0], f, x, in)
	default:
		if f.out.Available() < lineRoom {
			f.out.Flush() // an error stays, and is returned at the end
		}
		f.text = f.appendLine(f.out.AvailableBuffer(), x)
		if f.tree {
			f.text = f.appendTree(f.text, x)
		}
	}
	f.out.Write(f.text)
}

// begin prepares the reading and the writing of frames by the definitions of a snapshot.
func (f *frameLister) begin(snap *workspace.Snapshot) {
	f.snap, f.reading, f.write = snap, workspace.NewReading(snap), workspace.NewFrameWriter(f.want)
}

// where returns the context of a frame for filters.
func where(conn string, session, stream int, proto string) workspace.Where {
	return workspace.Where{Where: filter.Where{Conn: conn, Session: session, Stream: stream, Proto: proto}}
}

// appendLine appends a frame as text. The name and the note may come from the file, so control characters are replaced.
func (f *frameLister) appendLine(dst []byte, x *transport.Frame) []byte {
	rec, status := f.reading.Record(), f.status(x)
	dst = value.AppendRight(dst, uint64(x.N), 7)
	dst = append(dst, ' ', ' ')
	dst = f.appendClock(dst, x.At)
	dst = append(dst, [...]string{schema.Both: "        ", schema.ToServer: "  -> c2s  ", schema.ToClient: "  <- s2c  "}[x.Dir]...)
	if name := f.reading.Name(); name != f.name || f.column == nil {
		f.name, f.column = name, appendLeft(f.column[:0], name, 28)
	}
	dst = append(dst, f.column...)
	dst = append(dst, ' ')
	dst = value.AppendRight(dst, uint64(len(x.Bytes)), 5)
	if status != "" && status != "ok" {
		dst = append(append(dst, ' ', ' '), status...)
	} else if rec != nil {
		if n := rec.Unexplained(); n > 0 {
			dst = append(strconv.AppendInt(append(dst, ' ', ' '), int64(n), 10), " left over"...)
		}
	}
	if around := x.Around(); len(around) > 0 {
		dst = append(dst, ' ')
		for _, via := range around {
			dst = appendPrintable(append(dst, ' '), via)
		}
	}
	if x.Marks != 0 {
		if flags := x.Marks.Flags(); len(flags) > 0 {
			dst = append(append(dst, ' ', ' '), strings.Join(flags, ", ")...)
		}
	}
	from := len(dst) + len("  ")
	dst = frames.AppendInfo(append(dst, ' ', ' '), x, rec)
	noted := x.Note != "" && string(dst[from:]) != x.Note
	if len(dst) == from {
		dst = dst[:from-len("  ")]
	} else {
		dst = f.printableFrom(dst, from)
	}
	if noted {
		dst = append(appendPrintable(append(dst, "  ["...), x.Note), ']')
	}
	return append(dst, '\n')
}

// appendTree appends the fields of a frame, of one without a definition its bytes, and an empty line.
func (f *frameLister) appendTree(dst []byte, x *transport.Frame) []byte {
	text := ""
	if rec := f.reading.Shown(); rec != nil {
		_, text, _ = strings.Cut(view.Transcript(rec), "\n") // without the title
	} else {
		text = hex.Dump(x.Bytes)
	}
	for line := range strings.Lines(text) {
		dst = append(append(dst, "    "...), line...)
	}
	return append(dst, '\n')
}

// status returns the status of a frame's message, "unknown" without a definition, "" for frames that are not messages.
func (f *frameLister) status(x *transport.Frame) string {
	if rec := f.reading.Record(); rec != nil {
		return rec.Status().String()
	}
	if x.Kind == transport.Message && f.reading.Message() == nil {
		return "unknown"
	}
	return ""
}

// appendClock appends the time of day of a time, blank if it is not known.
func (f *frameLister) appendClock(dst []byte, at time.Time) []byte {
	if at.IsZero() {
		return append(dst, blanks[:len("15:04:05.000000")]...)
	}
	return f.write.AppendClock(dst, at)
}

// blanks fills columns.
const blanks = "                            "

// appendLeft appends a text at the left of a column, as printable returns it.
func appendLeft(dst []byte, text string, width int) []byte {
	from := len(dst)
	dst = appendPrintable(dst, text)
	return append(dst, blanks[:max(width-utf8.RuneCount(dst[from:]), 0)]...)
}
