package kaitai

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/corpora"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// minSpecs is the number of specifications of the suite that pass. It only rises.
const minSpecs = 138

// spec is a specification of the suite: what a format reads from a file.
type spec struct {
	id, data  string
	exception bool
	asserts   []assertion
}

type assertion struct {
	actual, expected string
	exception        bool
}

func readSpec(t *testing.T, name, text string) (s spec) {
	r := reader{file: source.New(name, text)}
	n := r.read()
	if len(r.diags) > 0 {
		t.Fatal(r.diags.Render())
	}
	s.id, s.data, s.exception = n.get("id").str(), n.get("data").str(), n.get("exception") != nil
	if list := n.get("asserts"); list != nil {
		for _, a := range list.items {
			s.asserts = append(s.asserts, assertion{a.get("actual").str(), a.get("expected").str(), a.get("exception") != nil})
		}
	}
	return s
}

// suite is the files of a corpus.
func suite(t *testing.T, c *corpora.Corpus) []*source.File {
	var files []*source.File
	for _, pattern := range [...]string{"kaitai/formats/*.ksy", "kaitai/formats/*/*.ksy"} {
		for _, name := range c.Glob(t, pattern) {
			files = append(files, source.New(strings.TrimPrefix(name, "kaitai/formats/"), c.Text(t, name)))
		}
	}
	return files
}

// TestCorporaKaitai checks that formats of the suite of Kaitai Struct read what its specifications say.
func TestCorporaKaitai(t *testing.T) {
	corpora.Run(t, func(t *testing.T, c *corpora.Corpus) {
		if c.Own {
			return
		}
		specs := c.Glob(t, "kaitai/spec/*.kst")
		s, diags := Parse(suite(t, c), schema.Options{})
		passed, written := 0, 0
		reasons := map[string][]string{}
		for _, name := range specs {
			sp := readSpec(t, name, c.Text(t, name))
			why := check(s, diags, &sp, c.Read(t, "kaitai/src/"+sp.data))
			if why == "" {
				passed++
				switch back := writtenBack(s.Find(sp.id, 0), c.Read(t, "kaitai/src/"+sp.data)); {
				case sp.exception:
				case back == "":
					written++
				default:
					t.Logf("%s: not written back: %s", sp.id, back)
				}
				continue
			}
			short := why
			if i := strings.Index(short, " | "); i >= 0 {
				short = short[:i]
			}
			reasons[short] = append(reasons[short], sp.id)
			t.Logf("%s: %s", sp.id, why)
		}
		t.Logf("%d of %d specifications pass, the bytes of %d are written back", passed, len(specs), written)
		for _, r := range slices.Sorted(maps.Keys(reasons)) {
			t.Logf("%3d %s: %s", len(reasons[r]), r, strings.Join(reasons[r], " "))
		}
		if passed < minSpecs {
			t.Errorf("%d specifications pass, fewer than %d", passed, minSpecs)
		}
	})
}

// writtenBack returns why the values of a message are not encoded as the bytes that were read.
func writtenBack(m *schema.Message, data []byte) string {
	p, err := codec.Compile(m)
	if err != nil {
		return err.Error()
	}
	var rec, built, out codec.Record
	p.Decode(&rec, data)
	if err := value.ParseJSON(&built, p, value.AppendJSON(nil, &rec)); err != nil {
		return err.Error()
	}
	var over value.Over
	if err := over.Encode(&out, &built, &rec); err != nil {
		return err.Error()
	}
	if b, n := out.Message(), min(len(data), rec.Used); !bytes.Equal(b, data) && !bytes.Equal(b, data[:n]) {
		return fmt.Sprintf("%d bytes in place of %d: %.100x, not %.100x", len(b), n, b, data[:n])
	}
	return ""
}

// check returns why a specification is not met.
func check(s *schema.Schema, diags diag.List, sp *spec, data []byte) string {
	m := s.Find(sp.id, 0)
	if m == nil {
		return "no message"
	}
	var said []string
	for _, d := range diags {
		if d.Span.File == m.Span.File {
			said = append(said, d.Message)
		}
	}
	p, err := codec.Compile(m)
	if err != nil {
		return "compile | " + err.Error()
	}
	var rec codec.Record
	p.Decode(&rec, data)
	if sp.exception {
		if len(rec.Problems) == 0 {
			return "no problem"
		}
		return ""
	}
	if len(said) > 0 && m.Broken {
		return said[0]
	}
	text := value.AppendJSON(nil, &rec)
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var root any
	if err := d.Decode(&root); err != nil {
		return "JSON | " + err.Error()
	}
	for _, a := range sp.asserts {
		if a.exception {
			continue
		}
		got, err := evaluate(a.actual, root)
		if err != nil {
			return fmt.Sprintf("evaluate | %s: %v %s %.300s", a.actual, err, strings.Join(said, "; "), text)
		}
		want, err := evaluate(a.expected, nil)
		if err != nil {
			return fmt.Sprintf("evaluate expected | %s: %v", a.expected, err)
		}
		if !equalValue(got, want) {
			return fmt.Sprintf("value | %s is %v, not %v: %s %.300s", a.actual, got, want, strings.Join(said, "; "), text)
		}
	}
	if len(rec.Problems) > 0 {
		return "problem | " + rec.Problems[0].Message(&rec) + fmt.Sprintf(" %.300s", text)
	}
	return ""
}

// missing is the value of a member that is not there.
type missing struct{}

func equalValue(got, want any) bool {
	switch w := want.(type) {
	case missing, nil:
		return got == nil || got == missing{}
	case float64:
		g, ok := number(got)
		return ok && (g == w || math.Abs(g-w) <= 1e-6*math.Abs(w) && w != math.Trunc(w))
	case bool:
		return got == w
	case string:
		return got == w
	case uint64:
		switch g := got.(type) {
		case json.Number:
			if u, err := strconv.ParseUint(string(g), 10, 64); err == nil {
				return u == w
			}
			i, err := strconv.ParseInt(string(g), 10, 64)
			return err == nil && uint64(i) == w
		case string: // of 64 bits
			return equalValue(json.Number(g), w)
		case uint64:
			return g == w
		}
		g, ok := number(got)
		return ok && g == float64(int64(w))
	case []any:
		if s, ok := got.(string); ok { // bytes
			b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
			if err != nil || len(b) != len(w) {
				return false
			}
			for i, x := range w {
				if x != uint64(b[i]) {
					return false
				}
			}
			return true
		}
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !equalValue(g[i], w[i]) {
				return false
			}
		}
		return true
	}
	return false
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case uint64:
		return float64(int64(v)), true
	case float64:
		return v, true
	}
	return 0, false
}

// evaluate returns the value of an expression over decoded JSON.
func evaluate(text string, root any) (any, error) {
	if text == "null" {
		return nil, nil
	}
	e, err := parseExpr(text)
	if err != nil {
		return nil, err
	}
	return evalJSON(e, root)
}

func evalJSON(e *ex, root any) (any, error) {
	arg := func(i int) (any, error) { return evalJSON(e.args[i], root) }
	switch e.kind {
	case exInt:
		return e.int, nil
	case exBool:
		return e.int != 0, nil
	case exFloat:
		return e.float, nil
	case exStr:
		return e.name, nil
	case exEnum:
		return e.path[len(e.path)-1], nil
	case exArray:
		out := []any{}
		for i := range e.args {
			v, err := arg(i)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case exName:
		return memberJSON(root, e.name)
	case exCast:
		return arg(0)
	case exAttr:
		v, err := arg(0)
		if err != nil {
			return nil, err
		}
		return memberJSON(v, e.name)
	case exIndex:
		v, err := arg(0)
		if err != nil {
			return nil, err
		}
		i := int(e.args[1].int)
		if s, ok := v.(string); ok {
			b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
			if err != nil || i >= len(b) {
				return nil, fmt.Errorf("no byte %d", i)
			}
			return uint64(b[i]), nil
		}
		list, ok := v.([]any)
		if !ok || i >= len(list) {
			return nil, fmt.Errorf("no element %d", i)
		}
		return list[i], nil
	case exUnary:
		v, err := arg(0)
		if u, ok := v.(uint64); ok && e.name == "-" {
			return -u, err
		}
		if f, ok := v.(float64); ok && e.name == "-" {
			return -f, err
		}
	case exBinary:
		a, err := arg(0)
		b, err2 := arg(1)
		x, ok := a.(uint64)
		y, ok2 := b.(uint64)
		if err == nil && err2 == nil && ok && ok2 && e.name == "+" {
			return x + y, nil
		}
	}
	return nil, fmt.Errorf("an expression that the test does not know")
}

func memberJSON(v any, name string) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		m, ok := v[name]
		if !ok {
			return missing{}, nil
		}
		return m, nil
	case []any:
		if name == "size" || name == "length" {
			return uint64(len(v)), nil
		}
	case string:
		if name == "size" {
			return uint64(len(v) / 2), nil
		}
	}
	return nil, fmt.Errorf("no member %q", name)
}
