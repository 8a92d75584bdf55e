package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec"
	"wirebench/codec/view"
	"wirebench/defs/schema"
)

// Criteria for keys, sequence numbers and tokens.
const (
	leastNumber   = 1 << 16 // smaller ones are counts, kinds and the like
	leastText     = 4       // characters, or bytes
	mostText      = 1024    // bytes of JSON
	maxCandidates = 1 << 17 // remembered values
	maxLooked     = 1 << 20 // fields
	maxLifts      = 1000
)

// source is the first occurrence of a received value.
type source struct {
	message int // index of r.all
	path    string
	kind    string // for display
	name    string // of the value, once it is lifted
	note    int    // index of its note
}

// lifts finds values that were received before they were sent, and makes the steps take them from received messages.
func (r *recorder) lifts() {
	known := map[string]*source{} // by value; nil: it was sent before it was received
	names := map[string]bool{}
	looked := 0
	for i := range r.all {
		m := &r.all[i]
		if m.step < 0 || m.def == nil {
			continue
		}
		rec := r.decode(m, &r.rec)
		if rec == nil {
			continue
		}
		values := view.Fields(rec)
		if looked += len(values); looked > maxLooked {
			return
		}
		for _, v := range values {
			key, kind := candidate(rec.Program, &v)
			if key == "" {
				continue
			}
			from, seen := known[key]
			switch {
			case !r.sent(m):
				if !seen && len(known) < maxCandidates {
					known[key] = &source{message: i, path: v.Path, kind: kind}
				}
				continue
			case !seen:
				if next := known[before(key)]; next != nil && r.liftInto(m, &v, next, 1, names) {
					continue
				}
				if len(known) < maxCandidates {
					known[key] = nil
				}
			case from != nil:
				r.liftInto(m, &v, from, 0, names)
			}
		}
	}
}

// candidate reports whether the other end may have generated a value. Equal values have equal keys.
func candidate(p *codec.Program, v *view.FieldValue) (key, kind string) {
	if v.Role != codec.RoleValue.String() || int(v.Field) >= len(p.Fields) || len(v.Value) > mostText || !isValue(v.Value) {
		return "", ""
	}
	switch t := p.Fields[v.Field].Schema.Type.(type) {
	case *schema.Number:
		if t.Bits < 32 || t.Kind == schema.Float || t.Kind == schema.Bool || t.Scale != 0 || t.Enum != nil {
			return "", ""
		}
		text := strings.Trim(string(v.Value), `"`)
		n, ok := new(big.Int).SetString(text, 10)
		if !ok || n.CmpAbs(big.NewInt(leastNumber)) < 0 || repeated(n, t.Bits) {
			return "", ""
		}
		return "n" + n.String(), fmt.Sprintf("a number of %d bits", t.Bits)
	case *schema.Text:
		text, ok := unquoted(v.Value)
		if !ok || len([]rune(text)) < leastText {
			return "", ""
		}
		return "t" + text, fmt.Sprintf("a text of %d characters", len([]rune(text)))
	case *schema.Blob:
		text, ok := unquoted(v.Value)
		if ok && t.UUID {
			return "u" + text, "a UUID"
		}
		if !ok || len(text) < 2*leastText || strings.Count(text, text[:2])*2 == len(text) {
			return "", ""
		}
		return "b" + text, fmt.Sprintf("%d bytes", len(text)/2)
	}
	return "", ""
}

// repeated reports whether all bytes of a number are equal, as in many placeholders for "none".
func repeated(n *big.Int, bits int) bool {
	b := n.Bytes()
	for _, x := range b {
		if x != b[0] {
			return false
		}
	}
	return len(b)*8 >= bits
}

// before returns the key of the number decremented by one.
func before(key string) string {
	digits, ok := strings.CutPrefix(key, "n")
	n, is := new(big.Int).SetString(digits, 10)
	if !ok || !is {
		return ""
	}
	return "n" + n.Sub(n, big.NewInt(1)).String()
}

// liftInto sets a field of a sent message to a received value, if the step then still sends the same bytes.
func (r *recorder) liftInto(m *recorded, v *view.FieldValue, from *source, add int64, names map[string]bool) bool {
	send, expect := r.script.Steps[m.step].Send, r.script.Steps[r.all[from.message].step].Expect
	to, err := parsePath(v.Path)
	if _, bad := parsePath(from.path); err != nil || bad != nil || send == nil || expect == nil || send.Value == nil || expect.Message == "" {
		return false
	}
	if from.name == "" && len(r.script.Lifts) >= maxLifts {
		return false
	}
	name := from.name
	if name == "" {
		name = nameFor(from.path, names)
	}
	live := json.RawMessage(slices.Clone(v.Value))
	if add != 0 {
		one, err := expr{name: "x", add: -add}.value(map[string]json.RawMessage{"x": live})
		if err != nil {
			return false
		}
		live = one
	}
	value, err := substituted(send.Value, []setting{{to, expr{name, add}}}, map[string]json.RawMessage{name: live})
	if err != nil {
		return false
	}
	p, err := r.o.Definitions.Program(m.def)
	if err != nil {
		return false
	}
	was, err := r.enc.encode(m.def, p, send.Value)
	if err != nil {
		return false
	}
	if now, err := r.enc.encode(m.def, p, value); err != nil || !bytes.Equal(was, now) {
		return false
	}
	if from.name == "" {
		from.name, from.note = name, len(r.script.Lifts)
		names[name] = true
		if expect.Lift == nil {
			expect.Lift = map[string]string{}
		}
		origin := r.all[from.message].def.Name + "." + from.path
		expect.Lift[name] = origin
		r.script.Lifts = append(r.script.Lifts, LiftNote{
			Name: name, From: fmt.Sprintf("step %d, %s", r.all[from.message].step+1, origin),
			Why: from.kind + " that was received before it was sent",
		})
	}
	text := "$" + name
	if add != 0 {
		text += fmt.Sprintf("%+d", add)
		r.script.Lifts[from.note].Why = from.kind + " that was received before it was sent with 1 added"
	}
	if send.Set == nil {
		send.Set = map[string]string{}
	}
	send.Set[v.Path] = text
	note := &r.script.Lifts[from.note]
	note.To = append(note.To, fmt.Sprintf("step %d, %s.%s", m.step+1, m.def.Name, v.Path))
	return true
}

// nameFor returns a new name for a value, derived from its field.
func nameFor(path string, names map[string]bool) string {
	base := path[strings.LastIndexByte(path, '.')+1:]
	base, _, _ = strings.Cut(base, "[")
	var b strings.Builder
	for i, c := range []byte(base) {
		switch {
		case i >= 40:
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9':
			b.WriteByte(c)
		default:
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		b.WriteString("value")
	}
	name := b.String()
	for n := 2; names[name]; n++ {
		name = b.String() + strconv.Itoa(n)
	}
	return name
}
