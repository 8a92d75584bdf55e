package templates

import (
	"fmt"
	"strings"

	"wirebench/codec/view"
)

// treeRow is a row of the decoded tree: a field, or a list, element or group.
type treeRow struct {
	Name, Type, Value, Hint string
	Path                    string
	Line                    string
	Depth                   int
	Swatch                  string // class of its color, "" unless it is a field
	Own                     bool   // a number that the codec computes
	Gap                     bool   // bytes that no field explains
	Parent                  bool
	List, Element           bool
	Role                    string
	Folded                  bool   // its children are not drawn
	Run                     string // name of a run of list elements
	Bad                     string // class of its worst problem

	from, to uint32 // bits
	items    int    // of a list: elements in this run
}

// Range is the bits of the row in the message, for links between panes.
func (r treeRow) Range() string { return fmt.Sprintf("%d:%d", r.from, r.to-r.from) }

// Offset is the start of the row, in bytes.
func (r treeRow) Offset() string {
	text := fmt.Sprintf("0x%02x", r.from/8)
	if r.from%8 != 0 {
		text += fmt.Sprintf(".%d", r.from%8)
	}
	return text
}

// Size is the number of bytes of the row.
func (r treeRow) Size() string { return sizeText(int64(r.to - r.from)) }

// treeRows makes a tree of the runs of bits of a message, in wire order. Lists, elements and groups have their own rows, above their first
// field; a group whose fields are apart on the wire has several rows.
func treeRows(m *Message) []treeRow {
	b := treeBuilder{types: m.Types, rows: make([]treeRow, 0, len(m.Fields)+len(m.Fields)/2)}
	linked := m.Linked && !m.Stale
	for i, t := range tints(m.Fields) {
		f := m.Fields[i]
		around, name := place(f)
		if f.Role == "gap" {
			around = b.between(m.Fields[i+1:])
		}
		b.leaf(f, around, name, t, linked)
	}
	b.closeTo(0)
	b.mark(m.Problems)
	return b.rows
}

type treeBuilder struct {
	types map[string]string
	rows  []treeRow
	open  []openRow // rows around the next one, outermost first
}

// openRow is a row that may get more children.
type openRow struct {
	name string
	row  int // index into rows
}

// between returns the rows around both the last row and the next explained one: a gap between two elements belongs to their list.
func (b *treeBuilder) between(rest []view.FieldValue) []string {
	for _, f := range rest {
		if f.Role == "gap" {
			continue
		}
		next, _ := place(f)
		n := 0
		for n < len(next) && n < len(b.open) && next[n] == b.open[n].name {
			n++
		}
		return next[:n]
	}
	return nil
}

// leaf adds a run of bits inside the given rows.
func (b *treeBuilder) leaf(f view.FieldValue, around []string, name, swatch string, linked bool) {
	b.enter(around)
	r := treeRow{
		Name: name, Type: f.Type, Value: f.Text, Path: f.Path, Swatch: swatch, Own: f.Role != "value" && f.Role != "gap", Gap: f.Role == "gap",
		Depth: len(around), from: f.BitOffset, to: f.BitOffset + f.BitLength, Role: f.Role, Element: f.Role == "value" && strings.HasPrefix(name, "["),
	}
	if r.Gap {
		r.Value = "no definition explains these bytes"
	}
	if f.Overlap {
		r.Hint = "shares bytes with a field before it"
	}
	if linked {
		r.Line = number(f.Line)
	}
	for _, o := range b.open {
		b.rows[o.row].to = max(b.rows[o.row].to, r.to)
	}
	if strings.HasPrefix(name, "[") && f.Role == "value" && len(b.open) > 0 {
		b.rows[b.open[len(b.open)-1].row].items++
	}
	b.rows = append(b.rows, r)
}

// place returns the rows around a run of bits in the tree, and its name there. Lengths, counts and offsets are not inside the group that they
// describe, because their bytes are elsewhere; brackets mark them.
func place(f view.FieldValue) (around []string, name string) {
	if f.Role == "gap" {
		return nil, "unexplained"
	}
	steps := pathSteps(f.Path)
	if f.Role == "value" {
		if len(steps) == 0 {
			return nil, ""
		}
		return steps[:len(steps)-1], steps[len(steps)-1]
	}
	elem := 0
	for i, s := range steps {
		if s[0] == '[' {
			elem = i + 1
		}
	}
	if around = steps[:elem]; elem == len(steps) || f.Path == f.Role { // a number of the element, or of the frame
		return around, "[" + f.Role + "]"
	}
	if elem == len(steps)-1 {
		return around, "[" + steps[elem] + " " + f.Role + "]"
	}
	return around, "[" + strings.Join(steps[elem:], ".") + " " + f.Role + "]"
}

// pathSteps splits members[0].player_id into members, [0] and player_id.
func pathSteps(path string) []string {
	out := make([]string, 0, 4)
	from := 0
	for i := 0; i <= len(path); i++ {
		switch {
		case i == len(path) || path[i] == '.' || path[i] == '[':
			if i > from {
				out = append(out, path[from:i])
			}
			if from = i; i < len(path) && path[i] == '.' {
				from++
			}
		case path[i] == ']' && path[from] == '[':
			out = append(out, path[from:i+1])
			from = i + 1
		}
	}
	return out
}

// enter closes and opens rows until exactly the given rows are open.
func (b *treeBuilder) enter(around []string) {
	same := 0
	for same < len(around) && same < len(b.open) && b.open[same].name == around[same] {
		same++
	}
	b.closeTo(same)
	for i := same; i < len(around); i++ {
		path := joinSteps(around[:i+1])
		r := treeRow{Name: around[i], Path: path, Type: b.types[WithoutIndexes(path)], Depth: i, Parent: true, from: ^uint32(0)}
		if around[i][0] == '[' {
			r.Type, r.Element = "", true
			if i > 0 {
				b.rows[b.open[i-1].row].items++
			}
		}
		b.open = append(b.open, openRow{around[i], len(b.rows)})
		b.rows = append(b.rows, r)
	}
}

// closeTo closes rows until n are open, and sets their values.
func (b *treeBuilder) closeTo(n int) {
	for _, o := range b.open[n:] {
		r := &b.rows[o.row]
		for _, inside := range b.rows[o.row+1:] {
			if !inside.Parent {
				r.from, r.to = min(r.from, inside.from), max(r.to, inside.to)
			}
		}
		if r.items > 0 {
			r.Value, r.List = count(r.items, "element"), true
		}
	}
	b.open = b.open[:n]
}

// mark marks the rows with problems, by exact position.
func (b *treeBuilder) mark(problems []view.ProblemInfo) {
	worst := map[[2]uint32]string{}
	for _, p := range problems {
		if at := [2]uint32{p.BitOffset, p.BitOffset + p.BitLength}; p.BitLength > 0 && worst[at] != "err" {
			worst[at] = severityClass(p.Severity)
		}
	}
	for i := range b.rows {
		if r := &b.rows[i]; !r.Parent {
			r.Bad = worst[[2]uint32{r.from, r.to}]
		}
	}
}

func joinSteps(steps []string) string {
	var b strings.Builder
	for i, s := range steps {
		if i > 0 && s[0] != '[' {
			b.WriteByte('.')
		}
		b.WriteString(s)
	}
	return b.String()
}

// A list longer than a run is drawn with its first elements; the other runs are collapsed.
const (
	runLength = 100
	firstRun  = 20
)

// visibleRows are the drawn rows of the tree: without the collapsed runs of long lists.
func visibleRows(m *Message) []treeRow {
	if m.visible != nil {
		return m.visible
	}
	all := treeRows(m)
	out := make([]treeRow, 0, min(len(all), 2*pageRows))
	for i := 0; i < len(all); {
		i = appendRows(&out, all, i, m.Opened, 0)
	}
	m.visible = out
	return out
}

// appendRows appends row i and its children, deeper by shift; it returns the row after them.
func appendRows(out *[]treeRow, all []treeRow, i int, opened map[string]bool, shift int) int {
	r := all[i]
	depth, elements := r.Depth, r.items
	r.Depth += shift
	*out = append(*out, r)
	i++
	if elements <= runLength {
		for i < len(all) && all[i].Depth > depth {
			i = appendRows(out, all, i, opened, shift)
		}
		return i
	}
	for n := 0; i < len(all) && all[i].Depth > depth; {
		if !all[i].Element || all[i].Depth != depth+1 {
			i = appendRows(out, all, i, opened, shift)
			continue
		}
		end, last, most := i, n, runLength
		if n == 0 {
			most = firstRun
		}
		for ; end < len(all) && all[end].Depth > depth && last-n < most; last++ { // the run is elements n to last-1, rows i to end-1
			end++
			for end < len(all) && all[end].Depth > depth+1 {
				end++
			}
		}
		name := fmt.Sprintf("%s#%d", r.Path, n)
		run := treeRow{
			Name: fmt.Sprintf("%s … %s", all[i].Name, lastElement(all[i:end], depth+1)), Depth: depth + 1 + shift, Parent: true, Run: name,
			Path: name, from: all[i].from, to: all[i].to, Folded: (n > 0) != opened[name],
		}
		for _, x := range all[i:end] {
			run.from, run.to = min(run.from, x.from), max(run.to, x.to)
		}
		run.Value = count(last-n, "element")
		*out = append(*out, run)
		if run.Folded {
			i = end
		}
		for i < end {
			i = appendRows(out, all, i, opened, shift+1)
		}
		n = last
	}
	return i
}

func lastElement(rows []treeRow, depth int) string {
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i].Depth == depth {
			return rows[i].Name
		}
	}
	return ""
}

// Key identifies a part in every message and in the layout.
func Key(path, role string) string { return Indexless(path) + "/" + role }

// key is the Key of the row, "" if the layout shown is of another message.
func (r treeRow) key(linked bool) string {
	switch {
	case !linked || r.Gap || r.Run != "":
		return ""
	case r.Parent:
		return Key(r.Path, "value")
	}
	return Key(r.Path, r.Role)
}

// Indexless returns members[].player_id for members[0].player_id.
func Indexless(path string) string {
	var b strings.Builder
	inside := false
	for _, c := range path {
		switch {
		case c == '[':
			inside = true
			b.WriteString("[")
		case c == ']':
			inside = false
			b.WriteString("]")
		case !inside:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// WithoutIndexes is Indexless without brackets at the end.
func WithoutIndexes(path string) string { return strings.TrimSuffix(Indexless(path), "[]") }

// depthClass is the class of a depth; the style sheet has twelve.
func depthClass(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("d%d", min(n, 12))
}
