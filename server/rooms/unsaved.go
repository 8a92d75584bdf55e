package rooms

import (
	"slices"

	"wirebench/server/collab"
	"wirebench/server/history"
)

// Unsaved says which lines of a text are not in its file, and whose they are.
type Unsaved struct {
	Version int            `json:"version"` // of the text
	Who     []string       `json:"who"`     // the people
	Lines   []UnsavedLines `json:"lines"`   // in order
	More    int            `json:"more,omitempty"`
}

// UnsavedLines are lines of a text of which a person has changed parts, or between which something was removed.
type UnsavedLines struct {
	From int `json:"from"` // the first one; 1 is the first of the text
	To   int `json:"to"`   // the last one
	By   int `json:"by"`   // index in Who; -1 if nobody knows
}

const (
	maxUnsaved = 200  // stretches of lines that pages are told; More counts the others
	maxMarks   = 2000 // of a text; more are joined
)

// mark is a part of a text that a person has written; without units, a place where the person has removed something.
type mark struct {
	From int    `json:"from"` // UTF-16 code units
	To   int    `json:"to"`
	Who  string `json:"who"`
}

// marked returns the marks after a change of a person. What another program has written is in the file, and gets none.
func marked(list []mark, c collab.Change, who string) []mark {
	at := make([]*int, 0, 2*len(list))
	last := make([]int, len(list)) // units, so that what others insert behind a mark does not become a part of it
	out := slices.Clone(list)
	for i := range out {
		last[i] = max(out[i].To-1, out[i].From)
		at = append(at, &out[i].From, &last[i])
	}
	c.Places(at)
	for i, end := 0, c.After(); i < len(out); i++ {
		if m := &out[i]; list[i].To > list[i].From {
			m.To = min(max(m.From, last[i]+1), end)
		} else {
			m.To = m.From
		}
	}
	pos := 0
	for _, s := range c {
		if s.Keep {
			pos += s.Len
			continue
		}
		if who != history.Outside {
			out = append(out, mark{pos, pos + len(s.Text), who})
		}
		pos += len(s.Text)
	}
	slices.SortStableFunc(out, func(a, b mark) int { return a.From - b.From })
	apart := 0
	for joined := out; ; apart = 2*apart + 1 {
		if joined = joinedMarks(out, apart); len(joined) <= maxMarks {
			return joined
		}
	}
}

// authorsOf returns the people of marks.
func authorsOf(list []mark) (out []string) {
	for _, m := range list {
		if !slices.Contains(out, m.Who) {
			out = append(out, m.Who)
		}
	}
	return out
}

// joinedMarks joins marks of one person that are at most so many units apart. What several people have marked stays marked by each.
func joinedMarks(list []mark, apart int) []mark {
	out := list[:0:0]
	last := map[string]int{} // by person: the index of the last mark
	for _, m := range list {
		if i, ok := last[m.Who]; ok && m.From <= out[i].To+apart {
			out[i].To = max(out[i].To, m.To)
			continue
		}
		last[m.Who] = len(out)
		out = append(out, m)
	}
	return out
}

// unsavedLines returns the lines that the change from the text of the file to another text has changed, and whose they are.
func unsavedLines(file, text collab.Text, c collab.Change, marks []mark, version int) Unsaved {
	out := Unsaved{Version: version, Who: []string{}, Lines: []UnsavedLines{}}
	line, counted := 1, 0
	lineAt := func(pos int) int {
		for ; counted < pos; counted++ {
			if text[counted] == '\n' {
				line++
			}
		}
		return line
	}
	old, pos, next := 0, 0, 0
	for i := 0; i < len(c); i++ {
		if c[i].Keep {
			old, pos = old+c[i].Len, pos+c[i].Len
			continue
		}
		from, to, gone := pos, pos, 0
		for ; i < len(c) && !c[i].Keep; i++ { // what touches is one place
			to, gone = to+len(c[i].Text), gone+c[i].Len
		}
		i--
		old, pos = old+gone, to
		var x UnsavedLines
		switch {
		case gone == 0 && text[from] == '\n' && (to == len(text) || text[to] == '\n'): // the line before is as it was
			x.From, x.To = lineAt(from+1), lineAt(to)
		case to > from && text[to-1] == '\n' && (from == 0 || text[from-1] == '\n') && (gone == 0 || file[old-1] == '\n'): // whole lines
			x.From, x.To = lineAt(from), lineAt(to-1)
		default:
			x.From, x.To = lineAt(from), lineAt(to)
		}
		for next < len(marks) && marks[next].To < from {
			next++
		}
		some := false
		for _, m := range marks[next:] {
			if m.From > to {
				break
			}
			if m.To >= from {
				out.add(x, m.Who)
				some = true
			}
		}
		if !some {
			out.add(x, "")
		}
	}
	return out
}

// unsavedNow returns what is not saved, found once for all who are told. The caller holds the lock.
func (r *Room) unsavedNow() *Unsaved {
	if r.shown == nil || r.shownNews != r.markNews || r.shown.Version != r.logged {
		u := unsavedLines(collab.NewText(r.fileText), r.doc.Text(), r.unsaved, r.marks, r.logged)
		r.shown, r.shownNews = &u, r.markNews
	}
	return r.shown
}

// same reports whether two texts have the same lines that are not saved: pages move them as the text changes.
func (u *Unsaved) same(as *Unsaved) bool {
	return as != nil && slices.Equal(u.Who, as.Who) && slices.Equal(u.Lines, as.Lines) && u.More == as.More
}

// add adds lines of a person, "" for nobody.
func (u *Unsaved) add(x UnsavedLines, who string) {
	if x.By = slices.Index(u.Who, who); x.By < 0 && who != "" {
		x.By = len(u.Who)
		u.Who = append(u.Who, who)
	}
	for i := len(u.Lines) - 1; i >= 0 && u.Lines[i].To >= x.From; i-- {
		if u.Lines[i].By == x.By {
			u.Lines[i].To = max(u.Lines[i].To, x.To)
			return
		}
	}
	if len(u.Lines) >= maxUnsaved {
		u.More++
		return
	}
	u.Lines = append(u.Lines, x)
}
