package collab

import (
	"slices"
	"strings"

	"wirebench/defs/text"
)

// Merge joins two texts that were made of a common one. What only one of them has changed is as that one has it, and what both have changed in
// the same way is there once. Where they have changed a place in different ways, both are there, those of theirs first; of a line that both have
// changed, its parts are joined, where that is possible.
func Merge(base, mine, theirs Text) Text {
	merged, _ := MergeClearly(base, mine, theirs)
	return merged
}

// MergeClearly is Merge. It reports whether no line of the common text has become two.
func MergeClearly(base, mine, theirs Text) (merged Text, isClear bool) {
	lines := func(t Text) []string { return strings.Split(t.String(), "\n") }
	of := lines(base)
	m := merging{base: of, mine: hunksOf(of, lines(mine)), theirs: hunksOf(of, lines(theirs))}
	for len(m.mine) > 0 || len(m.theirs) > 0 {
		m.place()
	}
	m.out = append(m.out, of[m.at:]...)
	return NewText(strings.Join(m.out, "\n")), !m.clash
}

// lineHunk is a difference from a common text: lines in place of its lines from, inclusive, to to.
type lineHunk struct {
	from, to int
	lines    []string
}

func hunksOf(base, now []string) (out []lineHunk) {
	old := 0
	for _, e := range text.Diff(base, now) {
		if e.Old > 0 && e.New > 0 {
			old = e.Old
			continue
		}
		last := len(out) - 1
		if last < 0 || out[last].to != old {
			out = append(out, lineHunk{from: old, to: old})
			last++
		}
		if e.New > 0 {
			out[last].lines = append(out[last].lines, now[e.New-1])
		} else {
			old = e.Old
			out[last].to = old
		}
	}
	return out
}

// merging is the work of Merge.
type merging struct {
	base         []string
	mine, theirs []lineHunk // those to come
	at           int        // lines of the base that are done
	out          []string
	clash        bool // a line of the base has become two
}

// place merges the next place: the hunks of both that change the same lines, or that touch each other and have lines in common.
func (m *merging) place() {
	var a, b []lineHunk
	if len(m.theirs) == 0 || len(m.mine) > 0 && before(m.mine[0], m.theirs[0]) {
		a, m.mine = m.mine[:1], m.mine[1:]
	} else {
		b, m.theirs = m.theirs[:1], m.theirs[1:]
	}
	first := slices.Concat(a, b)[0]
	from, to := first.from, first.to
	for more := true; more; {
		more = false
		if len(m.mine) > 0 && m.mine[0].meets(to, b) {
			a, to, m.mine, more = append(a[:len(a):len(a)], m.mine[0]), max(to, m.mine[0].to), m.mine[1:], true
		}
		if len(m.theirs) > 0 && m.theirs[0].meets(to, a) {
			b, to, m.theirs, more = append(b[:len(b):len(b)], m.theirs[0]), max(to, m.theirs[0].to), m.theirs[1:], true
		}
	}
	m.out = append(m.out, m.base[m.at:from]...)
	m.at = to
	m.both(m.base[from:to], m.applied(a, from, to), m.applied(b, from, to))
}

// before reports whether a hunk of mine comes before one of theirs.
func before(mine, theirs lineHunk) bool {
	return mine.from < theirs.from || mine.from == theirs.from && mine.to < theirs.to
}

// meets reports whether a hunk belongs to a place that ends at a line, with hunks of the other text.
func (h lineHunk) meets(to int, others []lineHunk) bool {
	return h.from < to || h.from == to && slices.ContainsFunc(others, func(o lineHunk) bool {
		return slices.ContainsFunc(o.lines, func(line string) bool { return slices.Contains(h.lines, line) })
	})
}

// applied returns the lines of the base from, inclusive, to to after hunks.
func (m *merging) applied(list []lineHunk, from, to int) (out []string) {
	for _, h := range list {
		out = append(append(out, m.base[from:h.from]...), h.lines...)
		from = h.to
	}
	return append(out, m.base[from:to]...)
}

// both merges a place.
func (m *merging) both(base, mine, theirs []string) {
	switch {
	case slices.Equal(mine, theirs), slices.Equal(mine, base):
		m.out = append(m.out, theirs...)
		return
	case slices.Equal(theirs, base):
		m.out = append(m.out, mine...)
		return
	case len(base) == len(mine) && len(base) == len(theirs) && aligned(mine, theirs) && aligned(mine, base) && aligned(theirs, base):
		for i := range base {
			m.line(base[i], mine[i], theirs[i])
		}
		return
	}
	// Lines that both have are there once. Between them is what each has, but for the lines of the base, which the other has removed.
	edits := text.Diff(mine, theirs)
	onlyMine, onlyTheirs := map[string]int{}, map[string]int{}
	for _, e := range edits {
		switch {
		case e.New == 0:
			onlyMine[mine[e.Old-1]]++
		case e.Old == 0:
			onlyTheirs[theirs[e.New-1]]++
		}
	}
	from, own := len(m.out), 0 // lines that only one of them has
	var behind []string        // mine, which follow theirs
	for _, e := range edits {
		switch {
		case e.New == 0:
			line := mine[e.Old-1]
			if moved := onlyTheirs[line] > 0; moved {
				onlyTheirs[line]--
			} else if !slices.Contains(base, line) {
				behind = append(behind, line)
				own++
			}
		case e.Old == 0:
			if line := theirs[e.New-1]; onlyMine[line] > 0 || !slices.Contains(base, line) {
				m.out = append(m.out, line)
			}
		default:
			m.out = append(append(m.out, behind...), mine[e.Old-1])
			behind = nil
		}
	}
	m.out = append(m.out, behind...)
	m.clash = m.clash || own > 0 && changed(base, mine) && changed(base, theirs) && slices.ContainsFunc(m.out[from:], func(line string) bool {
		return !slices.Contains(base, line) && !slices.Contains(mine, line)
	})
}

// changed reports whether a line of the base is not among others any more.
func changed(base, lines []string) bool {
	return slices.ContainsFunc(base, func(line string) bool { return !slices.Contains(lines, line) })
}

// aligned reports whether the lines that two places have in common are at the same lines of them.
func aligned(a, b []string) bool {
	for i, line := range a {
		if line != b[i] && slices.Contains(b, line) {
			return false
		}
	}
	return true
}

// line merges a line.
func (m *merging) line(base, mine, theirs string) {
	if mine == theirs || mine == base {
		m.out = append(m.out, theirs)
		return
	}
	if theirs == base {
		m.out = append(m.out, mine)
		return
	}
	of, now := NewText(base), NewText(theirs)
	own, other := Between(of, NewText(mine)), Between(of, now)
	change, err := own.Map(other, false)
	var both Text
	if err == nil {
		both, err = change.Apply(now)
	}
	if err != nil || base == "" || overlap(own, other) { // an empty line has no parts
		m.out, m.clash = append(m.out, theirs, mine), m.clash || base != ""
		return
	}
	m.out = append(m.out, both.String())
}

// overlap reports whether two changes of one line change the same part of it, or one goes on behind what the other replaces.
func overlap(a, b Change) bool {
	part := func(c Change) (from, to int) {
		i := slices.IndexFunc(c, func(s Span) bool { return !s.Keep })
		for _, s := range c[:i] {
			from += s.Len
		}
		return from, from + c[i].Len
	}
	from, to := part(a)
	from2, to2 := part(b)
	return from < to2 && from2 < to || from < to && to == from2 && from2 == to2 || from2 < to2 && to2 == from && from == to
}
