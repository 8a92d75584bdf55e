package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"wirebench/codec"
	"wirebench/codec/bytediff"
	"wirebench/codec/corpus"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

func newDiff() *cobra.Command {
	l, f := &libraryFlags{}, &captureFlags{}
	d := &differ{}
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two messages or two captures",
		Long: `Diff compares two messages field by field, or two captures by their messages.

A and B are two captures, two frames of captures (CAPTURE#N, by number), or two
messages in hex. The fields of messages of one definition are compared, other
messages byte by byte.

In captures, connections are paired in the order in which they appear, and in each
of their directions the messages of a type in their order: the third C_CHAT of one
with the third C_CHAT of the other. A line says how many messages of a type there
are in A and in B, or in how many pairs a field differs, with the first of them.

Exit status: 0 the same, 1 different, 2 wrong usage or an unreadable file.`,
		Example: `  wirebench diff --protocol tera monday.pcapng tuesday.pcapng
  wirebench diff --protocol tera session.pcapng#27 session.pcapng#29
  wirebench diff 1200...00 1200...01`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("diff takes two captures, frames or messages, not %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.valid(cmd); err != nil {
				return err
			}
			snap, err := l.snapshot(cmd)
			if err != nil {
				return err
			}
			d.snap, d.out = snap, bufio.NewWriter(cmd.OutOrStdout())
			same, err := d.run(cmd, f, args[0], args[1])
			if e := d.out.Flush(); err == nil {
				err = e
			}
			if err == nil && !same {
				err = errInput
			}
			return err
		},
	}
	l.add(cmd)
	l.addRemote(cmd)
	f.add(cmd)
	cmd.Flags().StringVar(&d.message, "message", "", "definition of messages in hex: NAME or NAME.VERSION (default: by their code)")
	cmd.Flags().BoolVar(&d.all, "all", false, "also print what is equal")
	cmd.Flags().BoolVar(&d.json, "json", false, "print JSON Lines instead of text")
	return cmd
}

// differ compares two inputs.
type differ struct {
	snap    *workspace.Snapshot
	out     *bufio.Writer
	message string
	all     bool
	json    bool
}

// one is a message to compare.
type one struct {
	frame *transport.Frame
	n     int // number of the frame in its capture; 0 for bytes
}

func (d *differ) run(cmd *cobra.Command, f *captureFlags, a, b string) (same bool, err error) {
	isHex := func(s string) bool {
		_, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
		return err == nil && s != ""
	}
	if isHex(a) && isHex(b) {
		return d.messages(d.bytes(a), d.bytes(b))
	}
	pathA, nA := frameOf(a)
	pathB, nB := frameOf(b)
	switch {
	case nA > 0 && nB > 0:
		x, err := d.frame(cmd, f, pathA, nA)
		if err != nil {
			return false, err
		}
		y, err := d.frame(cmd, f, pathB, nB)
		if err != nil {
			return false, err
		}
		return d.messages(x, y)
	case nA > 0 || nB > 0:
		return false, errors.New("a frame can be compared with another frame only: give both as CAPTURE#N")
	}
	return d.captures(cmd, f, a, b)
}

// frameOf splits CAPTURE#N; n is 0 for a capture.
func frameOf(s string) (path string, n int) {
	if i := strings.LastIndexByte(s, '#'); i > 0 {
		if n, err := strconv.Atoi(s[i+1:]); err == nil && n > 0 {
			return s[:i], n
		}
	}
	return s, 0
}

func (d *differ) bytes(s string) one {
	data, _ := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	x := &transport.Frame{Bytes: data}
	var m *schema.Message
	if d.message != "" {
		m, _ = d.snap.Find(d.message)
	} else {
		var rec codec.Record
		m = d.snap.ByCode(&rec, data, workspace.Request{})
	}
	if m != nil {
		x.Key, x.HasKey = m.Key, true
	}
	return one{x, 0}
}

func (d *differ) frame(cmd *cobra.Command, f *captureFlags, path string, n int) (one, error) {
	var found *transport.Frame
	_, err := f.read(cmd, d.snap, path, func(x *transport.Frame) {
		if int(x.N) == n {
			y := *x
			y.Bytes = slices.Clone(x.Bytes)
			found = &y
		}
	})
	if err == nil && found == nil {
		err = fmt.Errorf("%s has no frame %d", path, n)
	}
	return one{found, n}, err
}

// rows compares two messages: their differing fields, or bytes if they have not the same definition.
func (d *differ) rows(a, b *transport.Frame) (rows []diffLine, name string) {
	m, o := d.snap.FrameMessage(a), d.snap.FrameMessage(b)
	if m != nil && m == o {
		name = d.snap.NameOf(m)
		if p, err := d.snap.Program(m); err == nil {
			var x, y codec.Record
			p.Decode(&x, a.Bytes)
			p.Decode(&y, b.Bytes)
			if list, ok := corpus.Diff(&x, &y); ok {
				for _, r := range list {
					line := diffLine{Path: r.Path, A: r.A, B: r.B, Same: r.Same}
					if r.Role != "value" {
						line.Path = strings.TrimSpace("[" + r.Path + " " + r.Role + "]")
					}
					if !r.HasA {
						line.A = "-"
					}
					if !r.HasB {
						line.B = "-"
					}
					rows = append(rows, line)
				}
				return rows, name
			}
		}
	}
	for _, r := range bytediff.Of(a.Bytes, b.Bytes) {
		rows = append(rows, diffLine{
			Path: fmt.Sprintf("bytes 0x%04X, 0x%04X", r.A, r.B), Same: r.Kind == bytediff.Equal,
			A: shortHex(a.Bytes[r.A : r.A+r.ASize]), B: shortHex(b.Bytes[r.B : r.B+r.BSize]),
		})
	}
	return rows, name
}

func shortHex(b []byte) string {
	const most = 16
	switch {
	case len(b) == 0:
		return "-"
	case len(b) <= most:
		return fmt.Sprintf("% x", b)
	}
	return fmt.Sprintf("% x ... %d bytes", b[:most], len(b))
}

// diffLine is a field of two messages.
type diffLine struct {
	Path string `json:"path"`
	A    string `json:"a"`
	B    string `json:"b"`
	Same bool   `json:"same"`
}

func (d *differ) messages(a, b one) (same bool, err error) {
	rows, _ := d.rows(a.frame, b.frame)
	same = true
	table := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	if !d.json {
		fmt.Fprintln(table, "field\ta\tb")
	}
	for _, r := range rows {
		same = same && r.Same
		switch {
		case r.Same && !d.all:
		case d.json:
			err = encodeLine(d.out, r)
		default:
			fmt.Fprintf(table, "%s\t%s\t%s\n", printable(r.Path), printable(r.A), printable(r.B))
		}
	}
	if same && !d.json && !d.all {
		fmt.Fprintln(d.out, "the same")
		return same, err
	}
	return same, errors.Join(err, table.Flush())
}

func encodeLine(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

var listIndex = regexp.MustCompile(`\[\d+\]`)

// pairKey identifies messages that are paired in their order.
type pairKey struct {
	stream int
	dir    schema.Dir
	name   string
}

// diffCount sums up the pairs of a type, or those whose field differs.
type diffCount struct {
	Name   string `json:"name"`
	Path   string `json:"path,omitempty"` // of a field that differs
	A      int    `json:"a"`              // messages in A
	B      int    `json:"b"`
	Differ int    `json:"differ,omitempty"` // pairs whose field differs
	FirstA int    `json:"first_a,omitempty"`
	FirstB int    `json:"first_b,omitempty"`
	WasA   string `json:"value_a,omitempty"` // of the first
	WasB   string `json:"value_b,omitempty"`

	last int // the last pair counted, by its frame in A
}

// maxCompared bounds the memory for the messages of A, in bytes of messages.
const maxCompared = 1 << 30

// captures compares two captures.
func (d *differ) captures(cmd *cobra.Command, f *captureFlags, a, b string) (same bool, err error) {
	type kept struct {
		frame transport.Frame
		n     int
	}
	waiting := map[pairKey][]kept{}
	types := map[string]*diffCount{}
	of := func(name string) *diffCount {
		c := types[name]
		if c == nil {
			c = &diffCount{Name: name}
			types[name] = c
		}
		return c
	}
	read := workspace.NewReading(d.snap)
	streams := map[int]int{} // of a capture, in the order of their first messages
	keyOf := func(x *transport.Frame) (pairKey, bool) {
		if x.Kind != transport.Message {
			return pairKey{}, false
		}
		read.Take(x)
		stream, ok := streams[x.Conn.ID]
		if !ok {
			stream = len(streams)
			streams[x.Conn.ID] = stream
		}
		return pairKey{stream, x.Dir, read.Name()}, true
	}
	held := 0
	_, err = f.read(cmd, d.snap, a, func(x *transport.Frame) {
		if key, ok := keyOf(x); ok {
			of(key.name).A++
			if held += len(x.Bytes); held <= maxCompared {
				y := *x
				y.Bytes = slices.Clone(x.Bytes)
				waiting[key] = append(waiting[key], kept{y, int(x.N)})
			}
		}
	})
	if err != nil {
		return false, err
	}
	if held > maxCompared {
		note(cmd, "note: only the first %d MiB of messages of %s are compared by field", maxCompared>>20, a)
	}
	clear(streams)
	fields := map[[2]string]*diffCount{}
	_, err = f.read(cmd, d.snap, b, func(x *transport.Frame) {
		key, ok := keyOf(x)
		if !ok {
			return
		}
		of(key.name).B++
		list := waiting[key]
		if len(list) == 0 {
			return
		}
		other := &list[0]
		waiting[key] = list[1:]
		if string(other.frame.Bytes) == string(x.Bytes) {
			return
		}
		rows, _ := d.rows(&other.frame, x)
		for _, r := range rows {
			if r.Same {
				continue
			}
			path := r.Path
			if strings.HasPrefix(path, "bytes ") {
				path = "bytes"
			}
			at := [2]string{key.name, listIndex.ReplaceAllString(path, "[]")}
			c := fields[at]
			if c == nil {
				c = &diffCount{Name: key.name, Path: at[1], FirstA: other.n, FirstB: int(x.N), WasA: r.A, WasB: r.B}
				fields[at] = c
			}
			if c.last != other.n { // once a pair
				c.last = other.n
				c.Differ++
			}
		}
	})
	if err != nil {
		return false, err
	}
	return d.print(types, fields)
}

func (d *differ) print(types map[string]*diffCount, fields map[[2]string]*diffCount) (same bool, err error) {
	same = true
	table := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	for _, name := range slices.Sorted(maps.Keys(types)) {
		c := types[name]
		var changed []*diffCount
		for at, field := range fields {
			if at[0] == name {
				field.A, field.B = c.A, c.B
				changed = append(changed, field)
			}
		}
		slices.SortFunc(changed, func(x, y *diffCount) int { return strings.Compare(x.Path, y.Path) })
		if c.A != c.B || d.all {
			same = same && c.A == c.B
			if d.json {
				err = errors.Join(err, encodeLine(d.out, c))
			} else {
				fmt.Fprintf(table, "%s\t%d and %d messages\n", printable(name), c.A, c.B)
			}
		}
		for _, field := range changed {
			same = false
			if d.json {
				err = errors.Join(err, encodeLine(d.out, field))
			} else {
				fmt.Fprintf(table, "%s.%s\tdiffers %d times, first in frames %d and %d: %s and %s\n", printable(name), printable(field.Path), field.Differ, field.FirstA, field.FirstB, printable(field.WasA), printable(field.WasB))
			}
		}
	}
	if same && !d.json && !d.all {
		fmt.Fprintln(d.out, "the same")
	}
	return same, errors.Join(err, table.Flush())
}
