package page

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/server/workspace"
	"wirebench/templates"
)

// whole is the last state of a message in which its definition explained all bytes without a problem. Its lengths, counts and offsets serve
// to find the contents again after some of these were changed.
type whole struct {
	message string
	show    int // its index in the input
	data    []byte
}

// noteWhole records the shown message for a later repair.
func (p *work) noteWhole() {
	if m := p.view.Shown; m != nil && m.Status == codec.OK.String() && len(m.Problems) == 0 && m.Leftover == 0 && len(m.Data) > 0 {
		p.whole = whole{m.Message, p.form.show, m.Data}
	}
}

// repair encodes the shown message again from its values, with correct lengths, counts and offsets, and reports the changes. If the message
// cannot be decoded to its end, the values are taken from their previous positions; if these are unknown, the user is asked first, since
// bytes would be lost.
func (p *work) repair() {
	if err := p.tryRepair(); err != nil {
		p.failed = err.Error()
	}
}

func (p *work) tryRepair() error {
	j, res, err := p.shownValues()
	if err != nil {
		return err
	}
	m := j.Messages[p.form.show]
	values, complete := res.Value, len(res.Problems) == 0 && res.Leftover == 0
	if !complete {
		goods := [][]byte{m.Was}
		if w := p.whole; w.message == res.Message && w.show == p.form.show {
			goods = [][]byte{w.data, m.Was}
		}
		for _, good := range goods {
			if found, ok := p.valuesAsIn(good, m.Data, res); ok {
				values, complete = found, true
				break
			}
		}
	}
	next, err := p.made(res, values, nil)
	if err != nil {
		return err
	}
	if bytes.Equal(next, m.Data) {
		p.done("Nothing to repair: all lengths, counts and offsets are correct.")
		return nil
	}
	changes := p.changesTo(res, next)
	if lost := res.Leftover; !complete && lost > 0 && p.form.arg != "anyway" {
		p.view.Ask = templates.Ask{
			Text:   fmt.Sprintf("Repair removes the bytes that no field explains (%d). %s", lost, changes),
			Action: "repair:anyway", Title: "Repair anyway",
		}
		return nil
	}
	p.done("Repaired. " + changes)
	p.setBytes(next)
	return nil
}

// valuesAsIn decodes the values of a message at their positions in an earlier valid state of it, good. ok is false if the two have too
// little in common, or if the difference spans several fields and changes the length.
func (p *work) valuesAsIn(good, now []byte, res view.Result) (values []byte, ok bool) {
	var rec codec.Record
	if rec.Session = p.job.Rec.Session; !p.fits(&rec, good) {
		return nil, false
	}
	head, tail := common(good, now)
	if len(good) != len(now) {
		if 4*(head+tail) < 3*len(good) {
			return nil, false
		}
		if good, ok = p.resized(&rec, good, now, head, len(good)-tail, res); !ok || !p.fits(&rec, good) {
			return nil, false
		}
	} else if 2*equalBytes(good, now) < len(good) {
		return nil, false
	}
	mixed := slices.Clone(now)
	for _, f := range view.Fields(&rec) {
		if f.Inner == nil && f.Role != codec.RoleValue.String() && f.Role != codec.RoleCode.String() && f.BitOffset%8 == 0 && f.BitLength%8 == 0 {
			copy(mixed[f.BitOffset/8:(f.BitOffset+f.BitLength)/8], good[f.BitOffset/8:])
		}
	}
	var out codec.Record
	out.Session = rec.Session
	p.job.Rec.Program.Decode(&out, mixed)
	if out.Status() != codec.OK || out.Unexplained() > 0 {
		return nil, false
	}
	return value.AppendJSON(nil, &out), true
}

// resized returns good with one value lengthened or shortened, so that its structure is that of now. The two differ only within bytes
// [from, to) of good.
func (p *work) resized(rec *codec.Record, good, now []byte, from, to int, res view.Result) ([]byte, bool) {
	values := value.AppendJSON(nil, rec)
	if same, err := p.made(res, values, nil); err != nil || !bytes.Equal(same, good) {
		return nil, false // the contents are not in the order in which encode writes them
	}
	for _, f := range view.Fields(rec) {
		if f.Inner != nil || f.Role != codec.RoleValue.String() || int(f.BitOffset) > from*8 || int(f.BitOffset+f.BitLength) < to*8 || f.BitLength == 0 {
			continue
		}
		at, err := value.FindJSON(values, f.Path)
		if err != nil || values[at.From] != '"' {
			continue
		}
		more := len(now) - len(good)
		for _, text := range []int{at.To - at.From - 2 + more, at.To - at.From - 2 + more/2, at.To - at.From - 2 + 2*more} { // bytes, UTF-16, hex
			if text < 0 {
				continue
			}
			next, err := p.made(res, splice(values, at.From+1, at.To-1, bytes.Repeat([]byte{'0'}, text)), nil)
			if err == nil && len(next) == len(now) {
				return next, true
			}
		}
	}
	return nil, false
}

// fits decodes a message and reports whether the definition explains all of it without a problem.
func (p *work) fits(rec *codec.Record, data []byte) bool {
	if len(data) == 0 {
		return false
	}
	p.job.Rec.Program.Decode(rec, data)
	return rec.Status() == codec.OK && rec.Used == len(data) && len(view.Problems(rec)) == 0 && rec.Unexplained() == 0
}

// mostChanges is the number of changes listed for a repair.
const mostChanges = 4

// changesTo lists the lengths, counts and offsets, and the values, that a repair changes.
func (p *work) changesTo(res view.Result, next []byte) string {
	type place struct{ path, role string }
	had := map[place]string{}
	for _, f := range res.Fields {
		had[place{f.Path, f.Role}] = string(f.Value)
	}
	var rec codec.Record
	rec.Session = p.job.Rec.Session
	p.job.Rec.Program.Decode(&rec, next)
	var changes []string
	n := 0
	for _, f := range view.Fields(&rec) {
		was, ok := had[place{f.Path, f.Role}]
		if !ok || was == string(f.Value) {
			continue
		}
		if n++; n > mostChanges {
			continue
		}
		name := f.Path
		if f.Role != codec.RoleValue.String() && f.Role != f.Path {
			name = strings.TrimSpace(name + " " + f.Role)
		}
		changes = append(changes, fmt.Sprintf("%s: %s → %s", name, brief(was), brief(string(f.Value))))
	}
	if n > mostChanges {
		changes = append(changes, fmt.Sprintf("%d more", n-mostChanges))
	}
	if len(changes) == 0 {
		return fmt.Sprintf("%d bytes instead of %d.", len(next), len(p.job.Messages[p.form.show].Data))
	}
	return strings.Join(changes, "; ") + "."
}

// brief truncates the JSON of a value.
func brief(text string) string {
	if r := []rune(text); len(r) > 30 {
		return string(r[:29]) + "…"
	}
	return text
}

// common returns the number of equal bytes at the start and at the end of two messages.
func common(a, b []byte) (head, tail int) {
	n := min(len(a), len(b))
	for head < n && a[head] == b[head] {
		head++
	}
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

// equalBytes returns the number of equal bytes in two messages of the same length.
func equalBytes(a, b []byte) (n int) {
	for i := range a {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}

// shownValues decodes the shown message for a change of its values.
func (p *work) shownValues() (*workspace.Input, view.Result, error) {
	j := p.read()
	if j == nil || p.form.show >= len(j.Messages) {
		return nil, view.Result{}, errors.New("no message")
	}
	p.job, j.Request.Fields = j, true
	res := j.Decode(p.form.show)
	if res.Status == "error" || j.Rec.Program == nil {
		return nil, view.Result{}, errors.New("the values of this message cannot be changed")
	}
	return j, res, nil
}
