package page

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// changeValue changes a value of the shown message, or its lists. On failure p.failed has the reason and the message is unchanged.
func (p *work) changeValue() {
	if err := p.change(); err != nil {
		p.failed = err.Error()
	}
}

func (p *work) change() error {
	f := &p.form
	j, res, err := p.shownValues()
	if err != nil {
		return err
	}
	was := j.Messages[f.show].Data
	f.typed = namedValue(&j.Rec, res.Fields, f)
	var next []byte
	switch {
	case f.action == "set" && (f.exactly || f.role != codec.RoleValue.String() || j.Rec.Program.Message.Open): // what has no definition is not encoded
		next, err = p.patched(res, was)
	case f.action == "case":
		next, err = p.alternated(res, res.Value, f.number())
	default:
		var value []byte
		if value, err = changedValue(res.Value, f); err != nil {
			break
		}
		if to, changed := selectedBy(view.FormOf(p.job.Rec.Program).Cases, f.path, res.Value, value); changed && f.action == "set" {
			next, err = p.alternated(res, value, to)
		} else {
			next, err = p.encoded(res, value)
		}
	}
	if err != nil {
		return err
	}
	p.setBytes(next)
	return nil
}

// namedValue returns what is typed for a value. The name of a number is in quotes where values have the name, too; elsewhere it is its number.
func namedValue(rec *codec.Record, fields []view.FieldValue, f *form) string {
	if f.action != "set" {
		return f.typed
	}
	for _, x := range fields {
		if x.Path != f.path || x.Role != codec.RoleValue.String() || int(x.Field) >= len(rec.Program.Fields) {
			continue
		}
		n, ok := rec.Program.Fields[x.Field].Schema.Type.(*schema.Number)
		word := strings.TrimSpace(f.typed)
		if !ok || n.Enum == nil {
			break
		}
		for _, v := range n.Enum.Values {
			switch {
			case v.Name != word:
			case n.Enum.Shown && !f.exactly && !rec.Program.Message.Open:
				return strconv.Quote(word)
			default:
				return n.Decimal(v.Value)
			}
		}
		break
	}
	return f.typed
}

// setBytes changes the bytes of the shown message.
func (p *work) setBytes(data []byte) {
	f := &p.form
	if strings.TrimSpace(f.input) == "" {
		f.input, f.form, f.byCode, f.edits = spaced(data), "", false, nil
		return
	}
	if p.job != nil && f.show < len(p.job.Messages) {
		m := p.job.Messages[f.show]
		was := m.Data
		if m.Edited {
			was = m.Was
		}
		if bytes.Equal(was, data) { // as it was before all changes
			delete(f.edits, f.show)
			return
		}
	}
	if f.edits == nil {
		f.edits = map[int][]byte{}
	}
	f.edits[f.show] = data
}

// encoded makes a message of values over the one they are from, with its code; of one with errors anew.
func (p *work) encoded(res view.Result, value []byte) ([]byte, error) {
	var base []byte
	if p.job.Rec.Status() == codec.OK {
		base = p.job.Rec.Message()
	}
	return p.made(res, value, base)
}

// made makes a message of values over others, or anew.
func (p *work) made(res view.Result, value, base []byte) ([]byte, error) {
	m, snap := p.job.Rec.Program.Message, p.job.Snap
	data, _, problems, err := snap.EncodeValueOver(m, res.Code, value, base)
	switch {
	case errors.Is(err, workspace.ErrNoCode):
		return nil, errors.New("the code of this message is unknown")
	case err != nil:
		return nil, err
	case len(problems) > 0:
		return nil, problemError(problems[0])
	}
	return slices.Clone(data), nil
}

// problemError returns a problem as an error, with its path.
func problemError(p view.ProblemInfo) error {
	if p.Path != "" {
		return fmt.Errorf("%s: %s", p.Path, p.Message)
	}
	return errors.New(p.Message)
}

// patched overwrites the bytes of one value and leaves all others unchanged, even if they become inconsistent.
func (p *work) patched(res view.Result, was []byte) ([]byte, error) {
	f, rec := &p.form, &p.job.Rec
	i := slices.IndexFunc(res.Fields, func(x view.FieldValue) bool {
		return x.Path == f.path && x.Role == f.role && (f.arg == "" || f.arg == strconv.Itoa(int(x.BitOffset)))
	})
	if i < 0 {
		return nil, fmt.Errorf("no %s %s in this message", f.role, f.path)
	}
	field := res.Fields[i]
	if field.Inner != nil && f.role != codec.RoleValue.String() {
		return nil, fmt.Errorf("%s is compressed: its bytes follow from the values", f.path)
	}
	role, _ := codec.RoleNamed(f.role)
	open, blob := rec.Program.Message.Open, false
	if open && int(field.Field) < len(rec.Program.Fields) {
		_, blob = rec.Program.Fields[field.Field].Schema.Type.(*schema.Blob)
	}
	switch {
	case role == codec.RoleGap, role == codec.RoleConst, role == codec.RolePad, blob:
		data, err := hex.DecodeString(strings.Join(strings.Fields(f.typed), ""))
		if err != nil || field.BitOffset%8 != 0 || field.BitLength%8 != 0 {
			return nil, errors.New("whole bytes in hex are expected")
		}
		return slices.Replace(slices.Clone(was), int(field.BitOffset/8), int((field.BitOffset+field.BitLength)/8), data...), nil
	case role == codec.RoleValue && !open:
		return p.patchedValue(res, was, field)
	}
	units, err := parseUnits(strings.TrimSpace(f.typed))
	leaf, ok := rec.FindLeaf(f.path, role, field.BitOffset)
	if err != nil || !ok {
		return nil, fmt.Errorf("a number is expected, decimal or 0x, not %q", f.typed)
	}
	out, ok := rec.Written(slices.Clone(was), leaf, units)
	if !ok {
		return nil, fmt.Errorf("%s does not fit %s", strings.TrimSpace(f.typed), field.Type)
	}
	return out, nil
}

// parseUnits parses a number of at most 64 bits, in two's complement.
func parseUnits(text string) (int64, error) {
	switch text {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	if n, err := strconv.ParseUint(text, 0, 64); err == nil {
		return int64(n), nil
	}
	return strconv.ParseInt(text, 0, 64)
}

// patchedValue takes the bytes of one value from the re-encoded message.
func (p *work) patchedValue(res view.Result, was []byte, field view.FieldValue) ([]byte, error) {
	value, err := changedValue(res.Value, &p.form)
	if err != nil {
		return nil, err
	}
	right, err := p.encoded(res, value)
	if err != nil || field.Inner != nil { // compressed again, contents have no bytes that could be replaced by others
		return right, err
	}
	var rec codec.Record
	p.job.Rec.Program.Decode(&rec, right)
	for _, x := range view.Fields(&rec) {
		if x.Path != field.Path || x.Role != field.Role {
			continue
		}
		if x.BitOffset%8 == 0 && field.BitOffset%8 == 0 && x.BitLength%8 == 0 && field.BitLength%8 == 0 {
			return slices.Replace(slices.Clone(was), int(field.BitOffset/8), int((field.BitOffset+field.BitLength)/8), right[x.BitOffset/8:(x.BitOffset+x.BitLength)/8]...), nil
		}
		leaf, ok := rec.FindLeaf(field.Path, codec.RoleValue, x.BitOffset)
		here, there := p.job.Rec.FindLeaf(field.Path, codec.RoleValue, field.BitOffset)
		out := slices.Clone(was)
		if ok && there && p.job.Rec.PatchNumber(out, here, leaf.Raw) {
			return out, nil
		}
	}
	return nil, errors.New("this value has no bytes of its own")
}

// changedValue applies the change of a form to the values of a message.
func changedValue(have []byte, f *form) ([]byte, error) {
	have = value.Unshare(have, f.path)
	at, err := value.FindJSON(have, f.path)
	if err != nil {
		return nil, err
	}
	switch f.action {
	case "set":
		typed, err := typedJSON(have[at.From:at.To], f.typed)
		if err != nil {
			return nil, err
		}
		return splice(have, at.From, at.To, typed), nil
	case "remove":
		if !at.Element {
			return nil, errors.New("only elements of a list can be removed")
		}
		from, to := at.From, at.To
		if to < len(have) && have[to] == ',' {
			to++
		} else if from > 0 && have[from-1] == ',' {
			from--
		}
		return splice(have, from, to, nil), nil
	case "copy":
		if !at.Element {
			return nil, errors.New("only elements of a list can be duplicated")
		}
		return splice(have, at.To, at.To, slices.Concat([]byte{','}, have[at.From:at.To])), nil
	case "up", "down": // exchanges an element with its neighbor
		return exchanged(have, f.path, f.action == "up")
	case "insert": // a default element: before an element, or at the end of a list
		switch {
		case at.Element:
			return splice(have, at.From, at.From, []byte("null,")), nil
		case at.To-at.From == 2 && have[at.From] == '[':
			return splice(have, at.From+1, at.From+1, []byte("null")), nil
		case have[at.From] == '[':
			return splice(have, at.To-1, at.To-1, []byte(",null")), nil
		}
		return nil, errors.New("elements can only be added to lists")
	}
	return nil, fmt.Errorf("unknown change: %s", f.action)
}

// exchanged exchanges an element with the one before or after it.
func exchanged(have []byte, path string, before bool) ([]byte, error) {
	list := path[:max(strings.LastIndexByte(path, '['), 0)]
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(path[len(list):], "["), "]"))
	if err != nil || list == "" {
		return nil, errors.New("only elements of a list can be moved")
	}
	if before {
		n--
	}
	a, err := value.FindJSON(have, fmt.Sprintf("%s[%d]", list, n))
	if n < 0 || err != nil || !a.Element {
		return nil, errors.New("it is the first element")
	}
	b, err := value.FindJSON(have, fmt.Sprintf("%s[%d]", list, n+1))
	if err != nil {
		return nil, errors.New("it is the last element")
	}
	return slices.Concat(have[:a.From], have[b.From:b.To], have[a.To:b.From], have[a.From:a.To], have[b.To:]), nil
}

func splice(data []byte, from, to int, with []byte) []byte {
	return slices.Concat(data[:from], with, data[to:])
}

// typedJSON converts typed text to JSON of the same kind as the old value.
func typedJSON(was []byte, typed string) ([]byte, error) {
	word := strings.TrimSpace(typed)
	switch was[0] {
	case '"':
		if len(word) > 1 && word[0] == '"' && json.Valid([]byte(word)) {
			return []byte(word), nil // JSON with escapes
		}
		if n, ok := prefixedNumber(word); ok && isDecimal(was) {
			return []byte(n), nil
		}
		return json.Marshal(typed)
	case 't', 'f':
		switch strings.ToLower(word) {
		case "1", "true", "yes":
			return []byte("true"), nil
		case "0", "false", "no":
			return []byte("false"), nil
		}
		return nil, fmt.Errorf("true or false is expected, not %q", typed)
	case '{', '[':
		if !json.Valid([]byte(word)) {
			return nil, errors.New("JSON is expected")
		}
		return []byte(word), nil
	}
	if n, ok := prefixedNumber(word); ok {
		return []byte(n), nil
	}
	if json.Valid([]byte(word)) {
		return []byte(word), nil
	}
	if was[0] == 'n' { // text in place of null
		return json.Marshal(typed)
	}
	return nil, fmt.Errorf("a number is expected, not %q", typed)
}

// prefixedNumber converts 0x1F, 0b101 and -0x1 to decimal.
func prefixedNumber(word string) (string, bool) {
	digits := strings.TrimPrefix(word, "-")
	if len(digits) < 3 || digits[0] != '0' || !strings.ContainsRune("xXbB", rune(digits[1])) {
		return "", false
	}
	n, err := strconv.ParseUint(digits, 0, 64)
	if err != nil {
		return "", false
	}
	return strings.Repeat("-", len(word)-len(digits)) + strconv.FormatUint(n, 10), true
}

// isDecimal reports whether a JSON text is an integer in quotes, the form of 64-bit numbers.
func isDecimal(text []byte) bool {
	inside := strings.Trim(string(text), `"`)
	_, err := strconv.ParseInt(inside, 10, 64)
	_, errU := strconv.ParseUint(inside, 10, 64)
	return err == nil || errU == nil
}
