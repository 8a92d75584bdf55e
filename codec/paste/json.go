package paste

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"wirebench/codec/scan"
)

// JSON objects as rows: JSON Lines, an array of objects, or one object that holds such an array. Nested objects are columns with dotted
// names. The text is scanned in place, as the values of encoding/json would take many times its size.

// tryJSON recognises rows by a text that starts with an object or an array of objects.
func tryJSON(t *pasted) (*builder, *Error) {
	s := strings.TrimLeft(t.s, " \t\r\n")
	if strings.HasPrefix(s, "[") {
		s = strings.TrimLeft(s[1:], " \t\r\n")
	}
	if !strings.HasPrefix(s, "{") {
		return nil, nil
	}
	s = strings.TrimLeft(s[1:], " \t\r\n")
	if !strings.HasPrefix(s, `"`) {
		return nil, nil
	}
	tb := newJSONTable(t)
	b, e := tb.read()
	if e != nil && tb.rows > 0 {
		return nil, e.as(certain)
	}
	return b, e
}

// readJSON reads the form "json-rows".
func readJSON(t *pasted) (*builder, *Error) { return newJSONTable(t).read() }

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

func newJSONTable(t *pasted) *jsonTable {
	return &jsonTable{t: t, columns: make(map[string]int), torn: -1}
}

func (j *jsonTable) names() []string { return j.list }

func (j *jsonTable) read() (*builder, *Error) {
	b, e := readTable(j.t, j, formJSONRows)
	if e != nil {
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
func (j *jsonTable) object(i, depth int) (end int, _ *Error) {
	j.row.cells, j.row.off, j.path = j.row.cells[:0], i, j.path[:0]
	before := j.rows
	end, e := j.members(i, depth)
	if e != nil || j.rows > before {
		return end, e
	}
	j.rows++
	if e := j.visit(&j.row); e != nil {
		return end, e.as(certain)
	}
	return end, nil
}

const maxJSONDepth = 64

// group reads the elements of the object or array at i.
func (j *jsonTable) group(i, depth int, end byte, element func(i int) (end int, e *Error)) (_ int, e *Error) {
	s := j.t.s
	if depth > maxJSONDepth {
		return i, errAt(i, "values are nested more than %d deep", maxJSONDepth)
	}
	if i = skipJSON(s, i+1); i < len(s) && s[i] == end {
		return i + 1, nil
	}
	for {
		if i, e = element(i); e != nil {
			return i, e
		}
		switch i = skipJSON(s, i); {
		case i < len(s) && s[i] == ',':
			i = skipJSON(s, i+1)
		case i < len(s) && s[i] == end:
			return i + 1, nil
		default:
			return i, errFound(j.t, i, fmt.Sprintf(`"," or "%c"`, end))
		}
	}
}

// members reads the object at i. Its values become cells of the row, named by the path.
func (j *jsonTable) members(i, depth int) (end int, _ *Error) {
	s := j.t.s
	return j.group(i, depth, '}', func(i int) (int, *Error) {
		if i >= len(s) || s[i] != '"' {
			return i, errFound(j.t, i, "a name in quotes")
		}
		after, e := j.str(i)
		if e != nil {
			return i, e
		}
		mark := len(j.path)
		if mark > 0 {
			j.path = append(j.path, '.')
		}
		j.path = append(j.path, s[i+1:min(after-1, i+200)]...)
		if i = skipJSON(s, after); i >= len(s) || s[i] != ':' {
			return i, errFound(j.t, i, "a colon")
		}
		i, e = j.value(skipJSON(s, i+1), depth)
		j.path = j.path[:mark]
		return i, e
	})
}

// value reads the value at i.
func (j *jsonTable) value(i, depth int) (end int, e *Error) {
	s := j.t.s
	if i >= len(s) {
		return i, errFound(j.t, i, "a value")
	}
	switch s[i] {
	case '{':
		return j.members(i, depth+1)
	case '[':
		return j.array(i, depth)
	case '"':
		if end, e = j.str(i); e != nil {
			return end, e
		}
		text := s[i+1 : end-1]
		if strings.IndexByte(text, '\\') >= 0 {
			var plain string
			if json.Unmarshal([]byte(s[i:end]), &plain) == nil {
				text = plain
			}
		}
		j.cell(cellText, text, i+1)
		return end, nil
	}
	end = i
	for end < len(s) && (scan.IsWord(s[end]) || s[end] == '-' || s[end] == '+' || s[end] == '.') {
		end++
	}
	switch text := s[i:end]; {
	case text == "null":
		j.cell(cellNull, "", i)
	case text == "true", text == "false", text != "" && (scan.IsDigit(text[0]) || text[0] == '-'):
		j.cell(cellNumber, text, i)
	default:
		return i, errFound(j.t, i, "a value")
	}
	return end, nil
}

// array reads the array at i: a cell if it holds only numbers or a single string, rows if it is the array of rows.
func (j *jsonTable) array(start, depth int) (end int, _ *Error) {
	s := j.t.s
	first := skipJSON(s, start+1)
	rows := first < len(s) && s[first] == '{' && depth == 0 && slices.Contains(rowsIn, string(j.path))
	numbers, count := !rows, 0
	end, e := j.group(start, depth, ']', func(i int) (end int, e *Error) {
		count++
		switch {
		case !rows:
			// Values inside the array are not columns.
			numbers = numbers && i < len(s) && (scan.IsDigit(s[i]) || s[i] == '-')
			cells, path := len(j.row.cells), len(j.path)
			end, e = j.value(i, depth+1)
			j.row.cells, j.path = j.row.cells[:min(cells, len(j.row.cells))], j.path[:min(path, len(j.path))]
		case i >= len(s) || s[i] != '{':
			return i, errFound(j.t, i, "a JSON object")
		default:
			end, e = j.object(i, 1)
		}
		return end, e
	})
	switch {
	case e != nil:
	case numbers:
		j.cell(cellList, s[start:end], start)
	case count == 1 && s[first] == '"': // tshark writes the values of a field like this, usually a single one
		_, e = j.value(first, depth+1)
	}
	return end, e
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

// str returns the end of the string at i.
func (j *jsonTable) str(i int) (end int, _ *Error) {
	kind, end := stringEnd(j.t.s, i)
	if kind != codeString {
		return end, errFound(j.t, end, "the end of the string")
	}
	return end, nil
}

func skipJSON(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}
