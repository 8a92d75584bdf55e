package templates

import (
	"fmt"
	"strings"

	"wirebench/codec"
)

// treeRow is a row of the decoded tree: a field, or what is around fields.
type treeRow struct {
	Name, Type, Value, Hint string
	Path                    string
	Offset, Size            string
	Line                    string
	Depth                   int
	Swatch                  string // class of its colour, "" for what is around fields
	Own                     bool   // the codec keeps the number itself
	Gap                     bool   // no definition explains it
	Parent                  bool
	Bad                     string // class of the worst problem that is about it

	from, to uint32 // bits
	items    int    // of a list: elements in this run
}

// Range is the place of the row in the message, for links between panes.
func (r treeRow) Range() string { return fmt.Sprintf("%d:%d", r.from, r.to-r.from) }

// treeRows makes a tree of the runs of bits of a message, in the order of the wire. Lists, elements and groups get rows of their
// own, above their first field; where fields of one group stand apart on the wire, so do its rows.
func treeRows(m *Message) []treeRow {
	b := treeBuilder{types: m.Types}
	for i, t := range tints(m.Fields) {
		f := m.Fields[i]
		around, name := place(f)
		if f.Role == "gap" {
			around = b.between(m.Fields[i+1:])
		}
		b.leaf(f, around, name, t, m.Linked)
	}
	b.closeTo(0)
	b.mark(m.Problems)
	return b.rows
}

type treeBuilder struct {
	types map[string]string
	rows  []treeRow
	open  []openRow // rows around the next one, from the outside
}

// openRow is a row that may still grow.
type openRow struct {
	name string
	row  int // index into rows
}

// between is what is around both the last row and the next explained one: a gap between two elements belongs to their list.
func (b *treeBuilder) between(rest []codec.FieldValue) []string {
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

// leaf adds one run of bits, inside the given rows.
func (b *treeBuilder) leaf(f codec.FieldValue, around []string, name, swatch string, linked bool) {
	b.enter(around)
	r := treeRow{
		Name: name, Type: f.Type, Value: f.Text, Path: f.Path, Swatch: swatch, Own: f.Role != "value" && f.Role != "gap", Gap: f.Role == "gap",
		Depth: len(around), from: f.BitOffset, to: f.BitOffset + f.BitLength, Size: sizeText(int64(f.BitLength)),
		Offset: fmt.Sprintf("0x%02x", f.BitOffset/8),
	}
	if f.BitOffset%8 != 0 {
		r.Offset += fmt.Sprintf(".%d", f.BitOffset%8)
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

// place is where a run of bits stands in the tree, and its name there. Bookkeeping is not part of the groups that it serves: its
// bytes are elsewhere. It is told by its brackets.
func place(f codec.FieldValue) (around []string, name string) {
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
	if around = steps[:elem]; elem == len(steps) || f.Path == f.Role { // the element's own number, or the frame's
		return around, "[" + f.Role + "]"
	}
	return around, "[" + strings.Join(steps[elem:], ".") + " " + f.Role + "]"
}

// pathSteps cuts members[0].player_id into members, [0] and player_id.
func pathSteps(path string) []string {
	var out []string
	for part := range strings.SplitSeq(path, ".") {
		for {
			at := strings.IndexByte(part, '[')
			if at < 0 || at == 0 && len(part) < 2 {
				break
			}
			if at == 0 {
				end := strings.IndexByte(part, ']')
				if end < 0 {
					break
				}
				out, part = append(out, part[:end+1]), part[end+1:]
				continue
			}
			out, part = append(out, part[:at]), part[at:]
		}
		if part != "" {
			out = append(out, part)
		}
	}
	return out
}

// enter closes and opens rows until exactly those are open.
func (b *treeBuilder) enter(around []string) {
	same := 0
	for same < len(around) && same < len(b.open) && b.open[same].name == around[same] {
		same++
	}
	b.closeTo(same)
	for i := same; i < len(around); i++ {
		path := joinSteps(around[:i+1])
		r := treeRow{Name: around[i], Path: path, Type: b.types[withoutIndexes(path)], Depth: i, Parent: true, from: ^uint32(0)}
		if around[i][0] == '[' {
			r.Type = ""
			if i > 0 {
				b.rows[b.open[i-1].row].items++
			}
		}
		b.open = append(b.open, openRow{around[i], len(b.rows)})
		b.rows = append(b.rows, r)
	}
}

// closeTo closes rows until n are open, and writes what is known of them only now.
func (b *treeBuilder) closeTo(n int) {
	for _, o := range b.open[n:] {
		r := &b.rows[o.row]
		for _, inside := range b.rows[o.row+1:] {
			if !inside.Parent {
				r.from, r.to = min(r.from, inside.from), max(r.to, inside.to)
			}
		}
		r.Offset, r.Size = fmt.Sprintf("0x%02x", r.from/8), sizeText(int64(r.to-r.from))
		if r.items > 0 {
			r.Value = count(r.items, "element")
		}
	}
	b.open = b.open[:n]
}

// mark marks the rows that problems are about: those of their very place.
func (b *treeBuilder) mark(problems []codec.ProblemInfo) {
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

// withoutIndexes is members[].player_id of members[0].player_id.
func withoutIndexes(path string) string {
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
	return strings.TrimSuffix(b.String(), "[]")
}

// depthClass is the class of a depth. The style sheet has twelve.
func depthClass(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("d%d", min(n, 12))
}
