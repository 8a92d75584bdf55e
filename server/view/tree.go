package view

import (
	"strings"

	"wirebench/codec"
	"wirebench/codec/view"
)

// Part describes the rows of the tree that stand for the same part of a message: runs of bits, or lists, elements and groups.
type Part struct {
	Path     string `json:"path"`           // without indexes: members[].name
	Role     string `json:"role,omitempty"` // "" for a value
	Name     string `json:"name,omitempty"` // in the tree, if it is not the last name of the path
	Type     string `json:"type,omitempty"`
	Family   string `json:"family,omitempty"` // its color; "" for integers
	Depth    int    `json:"depth,omitempty"`  // rows around it
	Skip     int    `json:"skip,omitempty"`   // lines between that of the previous part with a line and its own
	Unlined  bool   `json:"unlined,omitempty"`
	Overlaps bool   `json:"overlaps,omitempty"` // it shares bytes with a part before
	Packed   bool   `json:"packed,omitempty"`   // it is in decompressed contents; its bytes are those of the compressed ones
	Bad      string `json:"bad,omitempty"`      // severity of its worst problem
}

// Jump is a run of bits that does not begin at the end of the run before.
type Jump struct {
	Runs int `json:"runs"` // since the previous jump
	Bits int `json:"bits"` // from there to its first bit
}

// Named is the row of an element whose index does not follow that of the element before, or of a first one that is not 0.
type Named struct {
	Rows  int `json:"rows"` // since the previous of these
	Index int `json:"index"`
}

// roleGroup is the role of lists, elements and groups, which have rows inside.
const roleGroup = "group"

// Tree is a message as rows, in wire order. Lists, elements and groups have their own rows, above their first field; a group whose fields are
// apart on the wire has several rows. No list is nil.
type Tree struct {
	Parts []Part
	Rows  []int    // index in Parts
	Bits  []uint32 // by row that is a run of bits: its length
	Texts []string // and its value
	Jumps []Jump   // runs that do not begin at the end of the run before
	Named []Named  // elements that do not follow the element before
}

// TreeOf returns the rows of a decoded message; an empty tree for nil. Types are those of its fields, by path without indexes. The lines of
// its definition are left out unless it is linked.
func TreeOf(m *view.Result, types map[string]string, linked bool) Tree {
	b := treeBuilder{numbers: map[partKind]int{}, types: types, linked: linked}
	b.Tree = Tree{[]Part{}, []int{}, []uint32{}, []string{}, []Jump{}, []Named{}}
	if m == nil {
		return b.Tree
	}
	b.bad = worstProblems(m.Problems)
	end := uint32(0)
	for i := range m.Fields {
		f := &m.Fields[i]
		around, name := b.place(f, m.Fields[i+1:])
		if f.Role == codec.RoleGap.String() {
			around = b.between(m.Fields[i+1:])
		}
		b.enter(around)
		if f.BitOffset != end {
			b.Jumps = append(b.Jumps, Jump{i - b.jumped, int(f.BitOffset) - int(end)})
			b.jumped = i
		}
		end = f.BitOffset + f.BitLength
		b.run(f, name)
	}
	return b.Tree
}

// partKind is what the rows of a part have in common.
type partKind struct {
	field      uint16
	role, path string // path for bookkeeping without a field and for groups, the type of a gap
	depth      int
	overlaps   bool
	packed     bool
	bad        string
}

type treeBuilder struct {
	Tree
	types   map[string]string
	linked  bool
	bad     map[[2]uint32]string // severity of the worst problem, by exact place
	numbers map[partKind]int     // index in parts
	open    []openRow            // rows around the next one, outermost first
	root    openRow              // of elements without a list
	line    int                  // of the last part with a line
	jumped  int                  // run of the last jump
	renamed int                  // row of the last element in named
}

// openRow is a row that may get more rows inside.
type openRow struct {
	name string
	next int // index of its next element
}

// part returns the index of a part, which is described on first use.
func (b *treeBuilder) part(k partKind, describe func() Part) int {
	n, ok := b.numbers[k]
	if !ok {
		n = len(b.Parts)
		b.numbers[k] = n
		b.Parts = append(b.Parts, describe())
	}
	return n
}

// run adds a run of bits inside the open rows.
func (b *treeBuilder) run(f *view.FieldValue, name string) {
	k := partKind{f.Field, f.Role, "", len(b.open), f.Overlap && f.Inner == nil, f.Inner != nil, b.bad[[2]uint32{f.BitOffset, f.BitOffset + f.BitLength}]}
	gap := f.Role == codec.RoleGap.String()
	if gap {
		k.path = f.Type
	} else if f.Field == codec.NoField {
		k.path = view.Indexless(f.Path)
	}
	n := b.part(k, func() Part {
		p := Part{
			Path: view.Indexless(f.Path), Role: f.Role, Type: f.Type, Family: string(f.Family), Depth: len(b.open), Unlined: true, Overlaps: k.overlaps, Packed: k.packed, Bad: k.bad,
		}
		if p.Role == codec.RoleValue.String() {
			p.Role = ""
		}
		if p.Family == string(view.FamilyInt) {
			p.Family = ""
		}
		if !gap && !isIndex(name) && name != lastName(p.Path) {
			p.Name = name
		}
		if b.linked && f.Line > 0 {
			p.Unlined, p.Skip = false, f.Line-b.line-1
			b.line = f.Line
		}
		return p
	})
	if isIndex(name) {
		b.element(name, f.Role == codec.RoleValue.String())
	}
	b.Rows, b.Bits, b.Texts = append(b.Rows, n), append(b.Bits, f.BitLength), append(b.Texts, f.Text)
}

// element counts an element of the innermost open row. whole reports whether the row is the element, rather than its count or the like.
func (b *treeBuilder) element(name string, whole bool) {
	index := 0
	for _, c := range name[1 : len(name)-1] {
		index = index*10 + int(c-'0')
	}
	list := &b.root
	if len(b.open) > 0 {
		list = &b.open[len(b.open)-1]
	}
	if list.next != index {
		b.Named = append(b.Named, Named{len(b.Rows) - b.renamed, index})
		b.renamed = len(b.Rows)
	}
	if list.next = index; whole {
		list.next++
	}
}

// isIndex reports whether a name is that of an element: "[17]".
func isIndex(name string) bool {
	if len(name) < 3 || len(name) > 12 || name[0] != '[' || name[len(name)-1] != ']' {
		return false
	}
	return strings.Trim(name[1:len(name)-1], "0123456789") == ""
}

// lastName returns the name in members[].name, and members[] in party.members[].
func lastName(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// between returns the rows around both the last row and the next explained one: a gap between two elements belongs to their list.
func (b *treeBuilder) between(rest []view.FieldValue) []string {
	for i := range rest {
		if rest[i].Role == codec.RoleGap.String() {
			continue
		}
		next, _ := b.place(&rest[i], rest[i+1:])
		n := 0
		for n < len(next) && n < len(b.open) && next[n] == b.open[n].name {
			n++
		}
		return next[:n]
	}
	return nil
}

// enter closes and opens rows until exactly the given rows are open.
func (b *treeBuilder) enter(around []string) {
	same := 0
	for same < len(around) && same < len(b.open) && b.open[same].name == around[same] {
		same++
	}
	b.open = b.open[:same]
	for i := same; i < len(around); i++ {
		path := view.Indexless(joinSteps(around[:i+1]))
		n := b.part(partKind{field: codec.NoField, role: roleGroup, path: path, depth: i}, func() Part {
			p := Part{Path: path, Role: roleGroup, Depth: i, Unlined: true}
			if name := around[i]; name[0] != '[' {
				p.Type = b.types[view.WithoutIndexes(path)]
				if name != lastName(path) {
					p.Name = name
				}
			} else if !isIndex(name) {
				p.Name = name
			}
			return p
		})
		if isIndex(around[i]) {
			b.element(around[i], true)
		}
		b.Rows = append(b.Rows, n)
		b.open = append(b.open, openRow{around[i], 0})
	}
}

// place returns the rows around a run of bits in the tree, and its name there. Lengths, counts and offsets are not inside the group that they
// describe, because their bytes are before it: only in a group that is open already, or that begins with a tag. Those of an element that is
// a single value are beside it. rest are the runs that follow.
func (b *treeBuilder) place(f *view.FieldValue, rest []view.FieldValue) (around []string, name string) {
	if f.Role == codec.RoleGap.String() {
		return nil, ""
	}
	steps := pathSteps(f.Path)
	if f.Role == codec.RoleValue.String() {
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
	if f.Role == codec.RoleTag.String() {
		elem = max(elem, len(steps)-1)
	}
	for elem < len(steps)-1 && b.within(steps[:elem+1]) {
		elem++
	}
	if elem == len(steps) && elem > 0 && isSingle(f.Path, rest) {
		return steps[:elem-1], steps[elem-1]
	}
	if around = steps[:elem]; elem == len(steps) || f.Path == f.Role { // a number of the element, or of the frame
		return around, f.Role
	}
	return around, strings.Join(steps[elem:], ".")
}

// isSingle reports whether the element at a path is a single value: the next one of the runs that follow.
func isSingle(path string, rest []view.FieldValue) bool {
	for i := range rest {
		if r := &rest[i]; r.Role == codec.RoleValue.String() || !strings.HasPrefix(r.Path, path) {
			return r.Role == codec.RoleValue.String() && r.Path == path
		}
	}
	return false
}

// within reports whether rows are open.
func (b *treeBuilder) within(rows []string) bool {
	for i, name := range rows {
		if i >= len(b.open) || b.open[i].name != name {
			return false
		}
	}
	return true
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

// worstProblems returns the severity of the worst problem of each exact place: of its first and last bit.
func worstProblems(problems []view.ProblemInfo) map[[2]uint32]string {
	worst := map[[2]uint32]string{}
	for _, p := range problems {
		if at := [2]uint32{p.BitOffset, p.BitOffset + p.BitLength}; p.BitLength > 0 && worst[at] != "error" {
			worst[at] = p.Severity
		}
	}
	return worst
}
