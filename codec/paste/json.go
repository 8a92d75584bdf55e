package paste

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"wirebench/codec/scan"
)

// JSON objects as rows: JSON Lines, an array of objects, or one object that holds such an array. Nested objects are columns with dotted
// names. The text is scanned in place, as the values of encoding/json would take many times its size.

// jsonStart is the start of rows: an object, or an array of objects.
var jsonStart = regexp.MustCompile(`^\s*\[?\s*\{\s*"`)

// tryJSON recognises rows by their start.
func tryJSON(t *pasted) (*builder, *Error) {
	if !jsonStart.MatchString(t.s) {
		return nil, nil
	}
	return readJSON(t)
}

type jsonTable struct {
	t       *pasted
	columns map[string]int
	list    []string
	row     row
	path    []byte
	rows    int // of the last walk
	torn    int // start of a value truncated by the end of the text, or -1
	visit   func(r *row) *Error
}

func (j *jsonTable) names() []string { return j.list }

// readJSON reads the form "json-rows".
func readJSON(t *pasted) (*builder, *Error) {
	j := &jsonTable{t: t, columns: map[string]int{}, torn: -1}
	b, e := readTable(t, j, formJSONRows)
	if e != nil {
		if j.rows > 0 {
			e.strength = certain
		}
		return nil, e
	}
	b.why = "JSON " + b.why
	if j.torn >= 0 {
		b.note(j.torn, "the text ends inside this value; it was skipped")
	}
	return b, nil
}

// walk visits the objects of the text. A truncated last object is skipped if it is not the first.
func (j *jsonTable) walk(visit func(r *row) *Error) *Error {
	j.visit, j.rows = visit, 0
	s := j.t.s
	inArray := false
	for i := skipJSON(s, 0); i < len(s); i = skipJSON(s, i) {
		switch {
		case s[i] == '[' && !inArray:
			inArray = true
			i++
		case s[i] == ']' && inArray:
			inArray = false
			i++
		case s[i] == ',':
			i++
		case s[i] == '{':
			end, e := j.object(i, 0)
			if e != nil && e.off >= len(s) && j.rows > 0 && e.strength != certain {
				j.torn = i
				return nil
			}
			if e != nil {
				return e
			}
			i = end
		default:
			return errFound(j.t, i, "a JSON object")
		}
	}
	return nil
}

// rowsIn are the names under which an object holds the rows.
var rowsIn = []string{"messages", "packets", "frames", "records", "results"}

// object reads the object at i as a row, or as several if it holds an array of rows.
func (j *jsonTable) object(i, depth int) (end int, e *Error) {
	j.row.cells, j.row.off, j.path = j.row.cells[:0], i, j.path[:0]
	before := j.rows
	end, e = j.group(i, depth)
	if e == nil && j.rows == before {
		j.rows++
		if e = j.visit(&j.row); e != nil {
			e.as(certain)
		}
	}
	return end, e
}

// group reads the object or array at i. The members of an object become cells of the row, named by the path. An array is a cell if it
// holds only numbers or a single string, rows if it is the array of rows; other values inside are not columns.
func (j *jsonTable) group(start, depth int) (i int, e *Error) {
	s := j.t.s
	if depth > maxJSONDepth {
		return start, errAt(start, "values are nested more than %d deep", maxJSONDepth)
	}
	list, closer := s[start] == '[', s[start]+2
	first := skipJSON(s, start+1)
	rows := list && depth == 0 && first < len(s) && s[first] == '{' && slices.Contains(rowsIn, string(j.path))
	numbers, count := list && !rows, 0
	for i = first; i >= len(s) || s[i] != closer || count > 0; i = skipJSON(s, i+1) {
		switch cells, path := len(j.row.cells), len(j.path); {
		case !list:
			i, e = j.member(i, depth)
		case !rows:
			numbers = numbers && i < len(s) && (scan.IsDigit(s[i]) || s[i] == '-')
			i, e = j.value(i, depth+1)
			j.row.cells, j.path = j.row.cells[:min(cells, len(j.row.cells))], j.path[:min(path, len(j.path))]
		case i >= len(s) || s[i] != '{':
			e = errFound(j.t, i, "a JSON object")
		default:
			i, e = j.object(i, 1)
		}
		if count++; e != nil {
			return i, e
		}
		if i = skipJSON(s, i); i < len(s) && s[i] == closer {
			break
		}
		if i >= len(s) || s[i] != ',' {
			return i, errFound(j.t, i, fmt.Sprintf(`"," or "%c"`, closer))
		}
	}
	i++
	switch {
	case numbers:
		j.cell(cellList, s[start:i], start)
	case list && count == 1 && s[first] == '"': // tshark writes the values of a field like this, usually a single one
		_, e = j.value(first, depth+1)
	}
	return i, e
}

// member reads a member of an object.
func (j *jsonTable) member(i, depth int) (end int, _ *Error) {
	s := j.t.s
	if i >= len(s) || s[i] != '"' {
		return i, errFound(j.t, i, "a name in quotes")
	}
	kind, after := stringEnd(s, i)
	if kind != codeString {
		return after, errFound(j.t, after, "the end of the string")
	}
	mark := len(j.path)
	defer func() { j.path = j.path[:mark] }()
	if mark > 0 {
		j.path = append(j.path, '.')
	}
	j.path = append(j.path, s[i+1:min(after-1, i+200)]...)
	if i = skipJSON(s, after); i >= len(s) || s[i] != ':' {
		return i, errFound(j.t, i, "a colon")
	}
	return j.value(skipJSON(s, i+1), depth)
}

const maxJSONDepth = 64

// value reads the value at i.
func (j *jsonTable) value(i, depth int) (end int, e *Error) {
	s := j.t.s
	for end = i; end < len(s) && (scan.IsWord(s[end]) || s[end] == '-' || s[end] == '+' || s[end] == '.'); {
		end++
	}
	switch text := s[i:end]; {
	case text == "null":
		j.cell(cellNull, "", i)
	case text == "true", text == "false", text != "" && (scan.IsDigit(text[0]) || text[0] == '-'):
		j.cell(cellNumber, text, i)
	case i < len(s) && s[i] == '{':
		return j.group(i, depth+1)
	case i < len(s) && s[i] == '[':
		return j.group(i, depth)
	case i < len(s) && s[i] == '"':
		kind, end := stringEnd(s, i)
		if kind != codeString {
			return end, errFound(j.t, end, "the end of the string")
		}
		text, plain := s[i+1:end-1], ""
		if strings.IndexByte(text, '\\') >= 0 && json.Unmarshal([]byte(s[i:end]), &plain) == nil {
			text = plain
		}
		j.cell(cellText, text, i+1)
		return end, nil
	default:
		return i, errFound(j.t, i, "a value")
	}
	return end, nil
}

// cell appends a cell under the current path.
func (j *jsonTable) cell(kind cellKind, text string, off int) {
	column, ok := j.columns[string(j.path)]
	if !ok {
		if len(j.list) >= maxColumns {
			return
		}
		column = len(j.list)
		path := string(j.path)
		j.list = append(j.list, ekName(path))
		j.columns[path] = column
	}
	if len(j.row.cells) < maxColumns {
		j.row.cells = append(j.row.cells, cell{column, kind, text, off})
	}
}

// ekName returns the name of a tshark field for the path in -T ek: tcp.payload for "layers.tcp.tcp_tcp_payload". Other names are unchanged.
func ekName(path string) string {
	rest, ok := strings.CutPrefix(path, "layers.")
	proto, field, found := strings.Cut(rest, ".")
	if field, is := strings.CutPrefix(field, proto+"_"+proto+"_"); ok && found && is {
		return "layers." + proto + "." + field
	}
	return path
}

func skipJSON(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}
