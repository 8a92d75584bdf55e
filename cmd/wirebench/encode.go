package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"wirebench/codec"
	"wirebench/codec/scan"
	"wirebench/codec/view"
	"wirebench/server/workspace"
)

func newEncode() *cobra.Command {
	m := &messageFlags{}
	code, base := "", ""
	cmd := &cobra.Command{
		Use:   "encode [--message NAME] [FILE...]",
		Short: "Encode values as messages",
		Long: `Encode reads JSON objects with values, one per line, from files, or from standard
input without files or for "-", and prints each message as a line of hex, in
order. Missing values are zero or empty. Unknown fields, values of the wrong type
and numbers out of range are errors. Results of decode --json are read too; they
name their message, so that --message is not needed.

For a line that cannot be encoded, encode prints an empty line, reports the
reasons with the line number on standard error, and exits with status 1. Reasons
that are the same for many lines are reported once, with their numbers.

With --base HEX, or for a line {"base":"HEX","value":{...}}, the bytes are those
that the values come from: whatever has not changed keeps its bytes, also what
values do not show.`,
		Example: `  echo '{"channel_name":"Lann","password":12345}' | wirebench encode --message C_JOIN_PRIVATE_CHANNEL --code 0x1234`,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := newEncoder(cmd, m, code, base)
			if err != nil {
				return err
			}
			err = eachInput(cmd, args, func(_ string, r io.Reader) error {
				in := bufio.NewReaderSize(r, 1<<16)
				return eachLine(in, func(text []byte) error {
					line := string(text)
					e.line(line)
					if in.Buffered() == 0 {
						return e.out.Flush()
					}
					return nil
				})
			})
			e.number++
			e.repeated()
			if f := e.out.Flush(); err == nil {
				err = f
			}
			if err == nil && e.failed {
				return errInput
			}
			return err
		},
	}
	m.add(cmd)
	m.addSession(cmd)
	cmd.Flags().StringVar(&code, "code", "", "code of the message, decimal or 0x (default: from the definition or the map)")
	cmd.Flags().StringVar(&base, "base", "", "`HEX` that the values come from: what has not changed keeps its bytes")
	return cmd
}

// encoder encodes values in sequence to standard output.
type encoder struct {
	cmd     *cobra.Command
	m       *messageFlags
	snap    *workspace.Snapshot
	code    *uint32            // of --code
	base    []byte             // of --base
	session codec.Session      //
	enc     *workspace.Encoder // of --message, or of the last message that a line names
	name    string             // of the message that a line has named
	json    bool
	out     *bufio.Writer
	number  int
	failed  bool
	scratch []byte

	reason string // of the last line that could not be encoded, without its number
	again  int    // lines after it with the same reason
}

func newEncoder(cmd *cobra.Command, m *messageFlags, code, base string) (*encoder, error) {
	snap, err := m.snapshot(cmd)
	if err != nil {
		return nil, err
	}
	msg, broken, err := m.chosen(cmd, snap)
	if err != nil {
		return nil, err
	}
	e := &encoder{cmd: cmd, m: m, snap: snap, json: m.json, out: bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16), failed: broken}
	if e.session, err = m.session(); err != nil {
		return nil, err
	}
	if code != "" {
		n, err := strconv.ParseUint(code, 0, 32)
		if err != nil {
			return nil, fmt.Errorf("--code %s: must be a number, decimal or 0x", code)
		}
		v := uint32(n)
		e.code = &v
	}
	if base != "" {
		if e.base, err = scan.HexLine(base); err != nil {
			return nil, fmt.Errorf("--base: %w", err)
		}
	}
	if msg == nil {
		return e, nil
	}
	if e.code == nil && !msg.HasKey {
		e.code = snap.CodeIn(msg, e.base)
	}
	e.enc, err = snap.Encoder(msg, e.code, e.session)
	if errors.Is(err, workspace.ErrNoCode) {
		return nil, fmt.Errorf("%w: give --code N or a --map that has %s", err, msg.Name)
	}
	return e, err
}

// encode encodes a value, or the value of a result of decode --json.
func (e *encoder) encode(text []byte) ([]byte, []view.ProblemInfo) {
	wrong := func(code, message string) ([]byte, []view.ProblemInfo) {
		return nil, []view.ProblemInfo{{Severity: "error", Code: code, Message: message}}
	}
	base := e.base
	if bytes.Contains(text, []byte(`"base"`)) {
		if value, own, err := baseOf(text); err != nil {
			return wrong("bad-base", err.Error())
		} else if own != nil {
			text, base = value, own
		}
	}
	var res view.Result
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	switch {
	case !bytes.Contains(text, []byte(`"status"`)) || d.Decode(&res) != nil || res.Status == "" || res.Problems == nil:
		if e.m.message == "" {
			return wrong("no-message", "a value does not name its message: give --message NAME, or results of decode --json")
		}
		return e.enc.EncodeOver(text, base)
	case res.Status != "ok":
		return wrong("not-whole", fmt.Sprintf("the result has status %q, so its value is not that of a whole message", res.Status))
	}
	name := res.Message
	if e.snap.Dialect.Versions {
		name += "." + strconv.Itoa(res.Version)
	}
	code := e.code
	if code == nil {
		code = res.Code
	}
	key := name
	if code != nil {
		key += fmt.Sprint(" ", *code)
	}
	if e.name != key {
		dir, err := e.m.direction()
		if err != nil {
			return wrong("no-message", err.Error())
		}
		msg, err := e.snap.FindIn(name, e.m.group, dir)
		if err != nil {
			return wrong("no-message", err.Error())
		}
		if chosen, err := e.snap.FindIn(e.m.message, e.m.group, dir); e.m.message != "" && (err != nil || chosen != msg) {
			return wrong("other-message", fmt.Sprintf("the result is of %s, not of %s", name, e.m.message))
		}
		if e.enc, err = e.snap.Encoder(msg, code, e.session); err != nil {
			e.name = ""
			return wrong("no-message", err.Error())
		}
		e.name = key
	}
	return e.enc.EncodeOver(res.Value, base)
}

// baseOf returns the value of a line with the bytes that it comes from; nil for a line of another form, which may have a field "base".
func baseOf(text []byte) (value, base []byte, err error) {
	var line struct {
		Base  *string         `json:"base"`
		Value json.RawMessage `json:"value"`
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if d.Decode(&line) != nil || line.Base == nil || line.Value == nil {
		return nil, nil, nil
	}
	if base, err = scan.HexLine(*line.Base); err != nil {
		return nil, nil, fmt.Errorf("base: %w", err)
	}
	return line.Value, append([]byte{}, base...), nil
}

// line encodes the value of one line.
func (e *encoder) line(text string) {
	e.number++
	data, problems := e.encode([]byte(text))
	if len(problems) > 0 {
		e.failed = true
		if reason := fmt.Sprint(problems); reason == e.reason {
			e.again++
		} else {
			e.repeated()
			e.reason = reason
			e.out.Flush() // keep the order on a terminal
			for _, p := range problems {
				note(e.cmd, "line %d: %s", e.number, p)
			}
		}
		if e.json {
			writeJSON(e.out, struct {
				Problems []view.ProblemInfo `json:"problems"`
			}{problems})
		} else {
			e.out.WriteByte('\n')
		}
		return
	}
	e.repeated()
	e.scratch = hex.AppendEncode(e.scratch[:0], data)
	if e.json {
		writeJSON(e.out, struct {
			Hex string `json:"hex"`
		}{string(e.scratch)})
		return
	}
	e.out.Write(e.scratch)
	e.out.WriteByte('\n')
}

// repeated reports the lines with the same reason as the one before them.
func (e *encoder) repeated() {
	switch {
	case e.again == 1:
		note(e.cmd, "line %d: the same", e.number-1)
	case e.again > 1:
		note(e.cmd, "lines %d to %d: the same, %d lines", e.number-e.again, e.number-1, e.again)
	}
	e.reason, e.again = "", 0
}
