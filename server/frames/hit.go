package frames

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/codec/view"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// hit returns the byte range in a frame that made it match a search; start is -1 if it is unknown. For a match in a field the range is the
// whole field, as pages select it; for bytes without a field it is the match itself.
func (a *FindQuery) hit(ctx context.Context, m *RowMaker, by *workspace.FrameFilter, f *transport.Frame) (start, end int) {
	if len(f.Bytes) > maxFrameShown { // the page does not have all of it, and it has many fields
		return -1, 0
	}
	m.Decode(f)
	rec := m.Shown()
	switch a.As {
	case "regex":
		re, err := filter.NewRegexp(a.Text)
		if err != nil || rec == nil {
			return -1, 0
		}
		return fieldWhere(rec, func(v *view.FieldValue) bool {
			text, ok := textIn(rec, v)
			return ok && re.Match(text, ctx.Done())
		})
	case "value":
		w := wantedIn(a.Text)
		if rec != nil {
			if start, end = fieldWhere(rec, func(v *view.FieldValue) bool { return w.is(rec, v) }); start >= 0 {
				return start, end
			}
		}
		return w.in(ctx, f.Bytes)
	case "filter":
		if rec == nil {
			return -1, 0
		}
		// If the filter tests one field, and the frame has one value of it, this value matched.
		columns := by.Columns(rec.Program.Message)
		if len(columns) != 1 {
			return -1, 0
		}
		values := 0
		var path []byte
		start, end = fieldWhere(rec, func(v *view.FieldValue) bool {
			path = path[:0]
			if int(v.Field) < len(rec.Program.Fields) {
				path = rec.Program.AppendFieldPath(path, v.Field)
			}
			if string(path) != columns[0] {
				return false
			}
			values++
			return values == 1
		})
		if values == 1 {
			return start, end
		}
	}
	return -1, 0
}

// fieldWhere returns the byte range of the first value for which is returns true. It calls is for all values.
func fieldWhere(rec *codec.Record, is func(*view.FieldValue) bool) (start, end int) {
	start = -1
	all := view.Fields(rec)
	for i := range all {
		v := &all[i]
		if v.Role == "value" && v.BitLength > 0 && is(v) && start < 0 {
			start, end = int(v.BitOffset/8), int((v.BitOffset+v.BitLength+7)/8)
		}
	}
	return start, end
}

// textIn returns the text of a value; ok is false if it is not a text.
func textIn(rec *codec.Record, v *view.FieldValue) (text string, ok bool) {
	if int(v.Field) >= len(rec.Program.Fields) {
		return "", false
	}
	if _, ok := rec.Program.Fields[v.Field].Schema.Type.(*schema.Text); !ok {
		return "", false
	}
	return text, json.Unmarshal(v.Value, &text) == nil
}

// wanted is a value in each form in which a message may contain it, as matched by the filter "= VALUE".
type wanted struct {
	text    string
	whole   *uint64 // in two's complement; nil if it is not an integer
	minus   bool
	float   *float64 // nil if it is not a number
	off     float64  // tolerance for floats
	needles []needle
}

// wantedIn parses a value as filters do: a number, a text, a quoted text, or bytes as x"e8 03".
func wantedIn(typed string) wanted {
	body := strings.TrimSpace(typed)
	if rest, ok := strings.CutPrefix(body, "x"); ok && len(rest) > 1 && strings.ContainsRune(`"'`, rune(rest[0])) && rest[len(rest)-1] == rest[0] {
		return wanted{needles: []needle{hexNeedle(rest[1 : len(rest)-1])}}
	}
	w := wanted{text: body}
	number, minus := strings.CutPrefix(body, "-")
	number = strings.TrimSpace(number)
	bytesOf := func(size int, v uint64) {
		var le, be [8]byte
		binary.LittleEndian.PutUint64(le[:], v)
		binary.BigEndian.PutUint64(be[:], v)
		w.needles = append(w.needles, bytesNeedle(le[:size]))
		if size > 1 {
			w.needles = append(w.needles, bytesNeedle(be[8-size:]))
		}
	}
	floats := func(f float64) {
		w.float = &f
		bytesOf(4, uint64(math.Float32bits(float32(f))))
		bytesOf(8, math.Float64bits(f))
	}
	if u, err := parseInteger(number); err == nil {
		v, most := u, u
		if minus {
			v, most = -u, (u-min(u, 1))*2 // -128 fits one byte, -129 needs two
		}
		size := 8
		switch {
		case most <= math.MaxUint8:
			size = 1
		case most <= math.MaxUint16:
			size = 2
		case most <= math.MaxUint32:
			size = 4
		}
		w.whole, w.minus = &v, minus
		bytesOf(size, v)
		for _, data := range filter.Variables(u, minus) {
			w.needles = append(w.needles, bytesNeedle(data))
		}
		f := float64(u)
		if minus {
			f = -f
		}
		floats(f)
	} else if f, err := strconv.ParseFloat(number, 64); err == nil && strings.Trim(number, "0123456789._eE+-") == "" {
		if minus {
			f = -f
		}
		mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
		_, fraction, _ := strings.Cut(mantissa, ".")
		e, _ := strconv.Atoi(exponent)
		w.off = 0.5 * math.Pow10(max(min(e, 300), -300)-len(fraction)) // as in filters: half a unit of the last digit written
		floats(f)
	} else if n := len(body); n > 1 && strings.ContainsRune(`"'`, rune(body[0])) && body[n-1] == body[0] {
		if w.text = body[1 : n-1]; body[0] == '"' {
			if text, err := strconv.Unquote(body); err == nil {
				w.text = text
			}
		}
	}
	if w.text != "" {
		w.needles = append(w.needles, textNeedle(w.text, false))
	}
	return w
}

// parseInteger parses an integer as filters do: decimal, even with leading zeros, unless it begins with 0x, 0b or 0o.
func parseInteger(text string) (uint64, error) {
	text = strings.ReplaceAll(text, "_", "")
	if len(text) > 1 && text[0] == '0' && strings.ContainsRune("xXbBoO", rune(text[1])) {
		return strconv.ParseUint(text, 0, 64)
	}
	return strconv.ParseUint(text, 10, 64)
}

// bytesNeedle returns a needle for exact bytes.
func bytesNeedle(data []byte) needle {
	places := make([][][]byte, len(data))
	for i := range data {
		places[i] = [][]byte{data[i : i+1]}
	}
	return needle{[]needleForm{newNeedleForm(places)}}
}

// is reports whether a field has the value.
func (w *wanted) is(rec *codec.Record, v *view.FieldValue) bool {
	if text, ok := textIn(rec, v); ok {
		return w.text != "" && strings.Contains(text, w.text)
	}
	number := strings.Trim(string(v.Value), `"`) // large numbers are in quotes
	if w.whole != nil {
		if w.minus {
			i, err := strconv.ParseInt(number, 10, 64)
			if err == nil {
				return uint64(i) == *w.whole && i <= 0
			}
		} else if u, err := strconv.ParseUint(number, 10, 64); err == nil && v.Family != view.FamilyText {
			return u == *w.whole
		}
	}
	if w.float == nil || v.Family != view.FamilyFloat {
		return false
	}
	f, err := strconv.ParseFloat(number, 64)
	return err == nil && math.Abs(f-*w.float) <= w.off
}

// in returns the first range of bytes that contains the value in any form; start is -1 if there is none. At the same position wider forms
// come first.
func (w *wanted) in(ctx context.Context, data []byte) (start, end int) {
	start = -1
	take := func(from, to int) {
		if from >= 0 && (start < 0 || from < start || from == start && to > end) {
			start, end = from, to
		}
	}
	for _, n := range w.needles {
		take(n.in(ctx, data))
	}
	if w.isNear() {
		take(w.near(data))
	}
	return start, end
}

// isNear reports whether floats need not be equal to the value.
func (w *wanted) isNear() bool { return w.float != nil && w.off > 0 }

// near returns the first range with a float within the tolerance.
func (w *wanted) near(data []byte) (start, end int) {
	fits := func(f float64) bool { return math.Abs(f-*w.float) <= w.off }
	for at := range data {
		rest := data[at:]
		if len(rest) >= 8 && (fits(math.Float64frombits(binary.LittleEndian.Uint64(rest))) || fits(math.Float64frombits(binary.BigEndian.Uint64(rest)))) {
			return at, at + 8
		}
		if len(rest) >= 4 && (fits(float64(math.Float32frombits(binary.LittleEndian.Uint32(rest)))) || fits(float64(math.Float32frombits(binary.BigEndian.Uint32(rest))))) {
			return at, at + 4
		}
	}
	return -1, 0
}
