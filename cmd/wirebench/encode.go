package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"wirebench/codec/view"
	"wirebench/server/workspace"
)

func newEncode() *cobra.Command {
	m := &messageFlags{}
	code := ""
	cmd := &cobra.Command{
		Use:   "encode --message NAME [FILE...]",
		Short: "Encode values as messages",
		Long: `Encode reads JSON objects with values, one per line, from files, or from standard
input without files or for "-", and prints each message as a line of hex, in
order. Missing values are zero or empty. Unknown fields, values of the wrong type
and numbers out of range are errors.

For a line that cannot be encoded, encode prints an empty line, reports the
reasons with the line number on standard error, and exits with status 1.`,
		Example: `  echo '{"channel_name":"Lann","password":12345}' | wirebench encode --message C_JOIN_PRIVATE_CHANNEL --code 0x1234`,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := newEncoder(cmd, m, code)
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
	return cmd
}

// encoder encodes values in sequence to standard output.
type encoder struct {
	cmd     *cobra.Command
	enc     *workspace.Encoder
	json    bool
	out     *bufio.Writer
	number  int
	failed  bool
	scratch []byte
}

func newEncoder(cmd *cobra.Command, m *messageFlags, code string) (*encoder, error) {
	if m.message == "" {
		return nil, errors.New("encode needs --message NAME")
	}
	snap, err := m.snapshot(cmd)
	if err != nil {
		return nil, err
	}
	msg, broken, err := m.chosen(cmd, snap)
	if err != nil {
		return nil, err
	}
	session, err := m.session()
	if err != nil {
		return nil, err
	}
	var number *uint32
	if code != "" {
		n, err := strconv.ParseUint(code, 0, 32)
		if err != nil {
			return nil, fmt.Errorf("--code %s: must be a number, decimal or 0x", code)
		}
		v := uint32(n)
		number = &v
	}
	enc, err := snap.Encoder(msg, number, session)
	if errors.Is(err, workspace.ErrNoCode) {
		return nil, fmt.Errorf("%w: give --code N or a --map that has %s", err, msg.Name)
	}
	if err != nil {
		return nil, err
	}
	return &encoder{cmd: cmd, enc: enc, json: m.json, out: bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16), failed: broken}, nil
}

// line encodes the value of one line.
func (e *encoder) line(text string) {
	e.number++
	data, problems := e.enc.Encode([]byte(text))
	if len(problems) > 0 {
		e.failed = true
		e.out.Flush() // keep the order on a terminal
		for _, p := range problems {
			note(e.cmd, "line %d: %s", e.number, p)
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
