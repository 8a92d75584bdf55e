package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"wirebench/codec"
	"wirebench/codec/paste"
	"wirebench/codec/view"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

func newDecode() *cobra.Command {
	m := &messageFlags{}
	fields, pasted := false, false
	pattern := ""
	form := ""
	cmd := &cobra.Command{
		Use:   "decode [FILE...]",
		Short: "Decode messages",
		Long: `Decode reads messages from files, or from standard input without files or for "-",
and prints their contents.

Each line is one message in hex; spaces are allowed. It may also be an object as
encode --json and frames --json print it, or a row of frames --columns with a
column hex. With --paste the whole input
is one text in any form of the paste command. Each line gives exactly one result,
in order. The code in the message selects the definition, unless --message does.

The exit status is 1 if a message, or the definition named by --message, has
errors. A message without a definition is not an error.`,
		Example: `  echo 12002b4e080039304c0061006e006e000000 | wirebench decode
  xxd packet.bin | wirebench decode --paste --json --fields`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := knownForm(form); err != nil {
				return err
			}
			own, err := parsePattern(pattern)
			if err != nil {
				return err
			}
			if own != nil && form != "" {
				return errFormAndPattern
			}
			d, err := newDecoder(cmd, m, fields)
			if err != nil {
				return err
			}
			onlyWithJSON(cmd)
			if form != "" || own != nil {
				pasted = true
			}
			err = eachInput(cmd, args, func(name string, r io.Reader) error {
				if pasted {
					return d.paste(name, r, form, own)
				}
				return d.lines(name, r)
			})
			if e := d.out.Flush(); err == nil {
				err = e
			}
			if err == nil && d.failed {
				return errInput
			}
			return err
		},
	}
	m.add(cmd)
	m.addSession(cmd)
	cmd.Flags().BoolVar(&fields, "fields", false, "with --json: print every field with its offset")
	cmd.Flags().BoolVar(&pasted, "paste", false, "the input is any form of the paste command: a dump, an array, base64 ...")
	cmd.Flags().StringVar(&form, "form", "", "with --paste: form of the text (default: recognized)")
	cmd.Flags().StringVar(&pattern, "pattern", "", "with --paste: regular expression for messages, as of the paste command")
	complete(cmd, "form", completeForm)
	return cmd
}

// decoder decodes messages in sequence to standard output.
type decoder struct {
	cmd    *cobra.Command
	snap   *workspace.Snapshot
	req    workspace.Request
	json   bool
	rec    codec.Record
	out    *bufio.Writer
	text   []byte // of the last message
	data   []byte // its bytes
	failed bool
	count  int
	hinted map[string]bool // definitions for which hint was called
}

func newDecoder(cmd *cobra.Command, m *messageFlags, fields bool) (*decoder, error) {
	snap, err := m.snapshot(cmd)
	if err != nil {
		return nil, err
	}
	d := &decoder{cmd: cmd, snap: snap, json: m.json, out: bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16), hinted: map[string]bool{}}
	d.req.Fields, d.req.Guess = fields, true
	if d.req.Dir, err = m.direction(); err != nil {
		return nil, err
	}
	if d.req.Session, err = m.session(); err != nil {
		return nil, err
	}
	d.req.Group = m.group
	d.req.Message, d.failed, err = m.chosen(cmd, snap)
	return d, err
}

// maxLine bounds a line of hex: the largest message, with a space after every digit.
const maxLine = codec.MaxMessage * 4

// lines decodes one message per line: hex, an object as frames --json and encode --json print it, or a row of frames --columns, whose first
// line names the columns.
func (d *decoder) lines(name string, r io.Reader) error {
	in := bufio.NewReaderSize(r, 1<<16)
	column, first := -1, true
	return eachLine(in, func(line []byte) error {
		if first {
			first = false
			if column = hexColumn(line); column >= 0 {
				note(d.cmd, "%s: line 1 names columns; the messages are in column hex", name)
				return nil
			}
		}
		if column >= 0 {
			cells := bytes.Split(line, []byte("\t"))
			line = cells[min(column, len(cells)-1)]
		}
		req := d.req
		data, wrong := req.AppendLine(d.data[:0], line)
		if wrong.Code != "" {
			d.wrong(wrong.Code, wrong.Message)
		} else {
			d.data = data
			d.message(data, req)
		}
		if in.Buffered() == 0 {
			return d.out.Flush() // the input may be a terminal
		}
		return nil
	})
}

// hexColumn returns the index of column hex in the head of a table of frames --columns, -1 if a line is not one.
func hexColumn(line []byte) int {
	at := -1
	for i, name := range strings.Split(string(line), "\t") {
		switch {
		case name == "hex":
			at = i
		case !slices.Contains(columnNames, name) && !strings.Contains(name, "."):
			return -1
		}
	}
	return at
}

// paste decodes all messages of a pasted text.
func (d *decoder) paste(name string, r io.Reader, form string, own *paste.Pattern) error {
	p, err := readPaste(r, form, own)
	if errors.Is(err, errUnreadable) {
		return err
	}
	if err != nil {
		note(d.cmd, "%s: %v", name, err)
		d.wrong("not-recognised", err.Error())
		return nil
	}
	if !d.json {
		note(d.cmd, "%s: recognized as %s; %s", name, p.Title, p.Why)
	}
	for _, n := range p.Notes {
		note(d.cmd, "  %s", n)
	}
	for _, m := range p.Messages {
		req := d.req
		if req.Dir == schema.Both {
			req.Dir = m.Dir
		}
		d.message(m.Bytes, req)
	}
	return nil
}

// message decodes one message.
func (d *decoder) message(data []byte, req workspace.Request) {
	if d.json {
		var failed bool
		d.text, failed = d.snap.AppendDecoded(d.text[:0], &d.rec, data, req)
		d.failed = d.failed || failed
		d.out.Write(d.text)
		return
	}
	req.Fields, req.Brief = false, true // the transcript comes from the record
	res := d.snap.Decode(&d.rec, data, req)
	d.failed = d.failed || workspace.Failed(res.Problems)
	if d.count++; d.count > 1 {
		d.out.WriteByte('\n')
	}
	if res.Status == "error" {
		d.problems(res.Problems)
		return
	}
	text := view.Transcript(&d.rec)
	if res.Status == "unknown" {
		text = unknownTranscript(&d.rec, res)
	}
	d.out.WriteString(text)
	if m := res.Message; m != "" && workspace.Wrong(&d.rec) != "" && !d.hinted[m] {
		d.hinted[m] = true
		d.hint(data)
	}
}

// hint names the setting with which the definition of the last message explains all of it.
func (d *decoder) hint(data []byte) {
	name := d.snap.NameOf(d.rec.Program.Message)
	def, err := d.snap.Open(name, "")
	if err != nil {
		return
	}
	if option, value := def.OtherSetting(data, d.req.Session); option != "" {
		d.out.Flush()
		note(d.cmd, "%s: with %s %s all bytes are explained", name, option, value)
	}
}

// unknownTranscript is the transcript of a message without a definition.
func unknownTranscript(rec *codec.Record, res view.Result) string {
	text := view.Transcript(rec)
	lines := strings.SplitAfter(text, "\n")
	kept := []string{strings.TrimSuffix(lines[0], rec.Status().String()+"\n") + "unknown\n"}
	for _, l := range lines[1:] {
		if !strings.Contains(l, "["+codec.Unexplained.String()+"]") && !strings.Contains(l, "["+codec.LeftOver.String()+"]") {
			kept = append(kept, l)
		}
	}
	for _, p := range res.Problems {
		if p.Code == "unknown-message" {
			kept = append(kept, p.Severity+": "+p.Message+" ["+p.Code+"]\n")
		}
	}
	if res.Guess != "" {
		kept = append(kept, "\n"+res.Guess)
	}
	return strings.Join(kept, "")
}

// wrong writes the result for an input that is not a message.
func (d *decoder) wrong(code, message string) {
	d.failed = true
	res := view.Result{Problems: []view.ProblemInfo{{Severity: "error", Code: code, Message: message}}}
	if d.json {
		d.line(struct {
			Status   string             `json:"status"`
			Problems []view.ProblemInfo `json:"problems"`
		}{"error", res.Problems})
		return
	}
	if d.count++; d.count > 1 {
		d.out.WriteByte('\n')
	}
	d.problems(res.Problems)
}

func (d *decoder) problems(list []view.ProblemInfo) {
	for _, p := range list {
		fmt.Fprintf(d.out, "%s\n", p)
	}
}

func (d *decoder) line(v any) { writeJSON(d.out, v) }

// writeJSON writes a value as one line.
func writeJSON(w io.Writer, v any) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		fmt.Fprintf(w, "{\"status\":\"error\",\"problems\":[{\"severity\":\"error\",\"code\":\"bug\",\"message\":%q}]}\n", err)
	}
}
