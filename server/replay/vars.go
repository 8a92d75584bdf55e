package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// isValue reports whether a JSON text is one value without parts.
func isValue(text []byte) bool {
	text = bytes.TrimSpace(text)
	return json.Valid(text) && text[0] != '{' && text[0] != '[' && text[0] != 'n'
}

// expr is the source of a field: a value, with a number added.
type expr struct {
	name string
	add  int64
}

// parseExpr reads $name, $name+1, $name-1.
func parseExpr(text string) (x expr, err error) {
	rest, ok := strings.CutPrefix(text, "$")
	if !ok {
		return x, fmt.Errorf("%q: expected $name, $name+1 or $name-1", short(text))
	}
	x.name = rest
	if i := strings.IndexAny(rest, "+-"); i >= 0 {
		x.name = rest[:i]
		if x.add, err = strconv.ParseInt(rest[i:], 10, 64); err != nil {
			return x, fmt.Errorf("%q: %q is not a number", short(text), short(rest[i:]))
		}
	}
	return x, checkName(x.name)
}

// value evaluates an expression to JSON text.
func (x expr) value(vars map[string]json.RawMessage) (json.RawMessage, error) {
	v, ok := vars[x.name]
	if !ok {
		return nil, fmt.Errorf("no value $%s was lifted before", x.name)
	}
	if x.add == 0 {
		return v, nil
	}
	text, quoted := string(v), false
	if t, ok := unquoted(v); ok {
		text, quoted = t, true
	}
	n, ok := new(big.Int), len(text) <= 40
	if ok {
		_, ok = n.SetString(text, 10)
	}
	if !ok {
		return nil, fmt.Errorf("$%s is %s, not an integer to which %d can be added", x.name, short(string(v)), x.add)
	}
	sum := n.Add(n, big.NewInt(x.add)).String()
	if quoted {
		sum = `"` + sum + `"`
	}
	return json.RawMessage(sum), nil
}

// unquoted returns the text of a JSON string.
func unquoted(v json.RawMessage) (string, bool) {
	var s string
	if len(v) == 0 || v[0] != '"' || json.Unmarshal(v, &s) != nil {
		return "", false
	}
	return s, true
}

// filterText returns a value in filter syntax.
func filterText(v json.RawMessage) string {
	if s, ok := unquoted(v); ok {
		return s
	}
	return string(v)
}

// path is the path of a field: names and indexes.
type path []pathPart

type pathPart struct {
	name  string // or
	index int
}

const maxPath = 64 // parts

// parsePath reads members[0].name.
func parsePath(text string) (p path, err error) {
	wrong := fmt.Errorf("%q is not the path of a field, such as members[0].name", short(text))
	if text == "" || len(text) > 1024 {
		return nil, wrong
	}
	for part := range strings.SplitSeq(text, ".") {
		name, rest, indexed := strings.Cut(part, "[")
		if name == "" && (len(p) == 0 || !indexed) || len(p) >= maxPath {
			return nil, wrong
		}
		if name != "" {
			p = append(p, pathPart{name: name, index: -1})
		}
		for indexed {
			digits, more, ok := strings.Cut(rest, "]")
			n, err := strconv.ParseUint(digits, 10, 24)
			if !ok || err != nil || len(p) >= maxPath {
				return nil, wrong
			}
			p = append(p, pathPart{index: int(n)})
			if rest, indexed = strings.CutPrefix(more, "["); !indexed && more != "" {
				return nil, wrong
			}
		}
	}
	return p, nil
}

// String returns the path in the syntax of parsePath.
func (p path) String() string {
	var b strings.Builder
	for i, x := range p {
		switch {
		case x.name == "":
			fmt.Fprintf(&b, "[%d]", x.index)
		case i > 0:
			b.WriteByte('.')
			fallthrough
		default:
			b.WriteString(x.name)
		}
	}
	return b.String()
}

// within returns a path relative to a message, without the message's name.
func within(text, message string) string {
	if rest, ok := strings.CutPrefix(text, message+"."); ok && message != "" {
		return rest
	}
	return text
}

var errNoField = errors.New("the value has no such field")

// set writes a value into a tree of JSON values. Missing fields of objects are added.
func (p path) set(root any, v json.RawMessage) error {
	for i, part := range p {
		last := i == len(p)-1
		switch node := root.(type) {
		case map[string]any:
			if part.name == "" {
				return errNoField
			}
			if last {
				node[part.name] = like(node[part.name], v)
				return nil
			}
			root = node[part.name]
		case []any:
			if part.name != "" || part.index >= len(node) {
				return errNoField
			}
			if last {
				node[part.index] = like(node[part.index], v)
				return nil
			}
			root = node[part.index]
		default:
			return errNoField
		}
	}
	return errNoField
}

// like converts a value to the form of the one it replaces: 64-bit numbers are strings, smaller ones are not.
func like(old any, v json.RawMessage) any {
	if _, number := old.(json.Number); number {
		if s, ok := unquoted(v); ok {
			if _, isNumber := new(big.Int).SetString(s[:min(len(s), 40)], 10); isNumber && len(s) <= 40 {
				return json.RawMessage(s)
			}
		}
	}
	return v
}

// substituted returns a JSON object with fields set.
func substituted(value []byte, sets []setting, vars map[string]json.RawMessage) ([]byte, error) {
	var root any
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	if err := dec.Decode(&root); err != nil {
		return nil, err
	}
	for _, s := range sets {
		v, err := s.expr.value(vars)
		if err == nil {
			err = s.path.set(root, v)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.path, err)
		}
	}
	return json.Marshal(root)
}

// setting is a field to set.
type setting struct {
	path path
	expr expr
}

// settings returns the checked settings of a step in a fixed order.
func settings(set map[string]string, message string) (out []setting, err error) {
	for _, text := range slices.Sorted(maps.Keys(set)) {
		p, err := parsePath(within(text, message))
		if err != nil {
			return nil, err
		}
		x, err := parseExpr(set[text])
		if err != nil {
			return nil, err
		}
		out = append(out, setting{p, x})
	}
	return out, nil
}

// ParseVars parses NAME=VALUE, where VALUE is JSON or, if invalid, a text.
func ParseVars(list []string) (map[string]json.RawMessage, error) {
	vars := make(map[string]json.RawMessage, len(list))
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("%q: expected NAME=VALUE", short(text))
		}
		if err := checkName(name); err != nil {
			return nil, err
		}
		v := json.RawMessage(value)
		if !isValue(v) {
			v, _ = json.Marshal(value) // strings do not fail
		}
		if len(v) > MaxValue || len(vars) >= MaxVars {
			return nil, fmt.Errorf("%q: the value is too long, or there are too many values", name)
		}
		vars[name] = v
	}
	return vars, nil
}
