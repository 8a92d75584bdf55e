package codec

import (
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

// Row is one part of a message, known without data.
type Row struct {
	Field   uint16 // index into Program.Fields; 0xffff for bookkeeping that belongs to no field
	Role    Role
	Depth   int    // number of lists around it
	Path    string // members[].player_id; bookkeeping of the frame is named after its role
	Type    string // as written, or the width of bookkeeping
	At      Offset
	MinBits int64
	MaxBits int64  // -1 = no limit
	Note    string // what decides about it: "if more bytes follow", "for messages of 22 bytes"
}

// Offset is where a part begins: after Bits, and after the contents of Vars.
type Offset struct {
	Elem bool // counted from the start of the element, not of the frame
	Bits int64
	Vars []uint16 // fields of variable size before it, by index
	Text string   // the above as people write it, in bytes: "18 + name", "element + 4"
}

// Fixed reports whether the part begins at the same place in every message.
func (o Offset) Fixed() bool { return !o.Elem && len(o.Vars) == 0 }

// Layout says where everything stands, without data, in the order in which Encode writes it.
func (p *Program) Layout() []Row {
	l := layouter{p: p}
	l.body(0, uint16(len(p.ops)), Offset{}, 0, "")
	return l.rows
}

// Size is the smallest and the largest number of bytes of a message; most is -1 if nothing limits it.
func (p *Program) Size() (least, most int64) {
	least, most = p.bodySize(0, uint16(len(p.ops)))
	least = (least + 7) / 8
	if most >= 0 {
		most = (most + 7) / 8
	}
	return least, most
}

type layouter struct {
	p    *Program
	rows []Row
}

// body lays out the ops from pc to end from the given place on, and returns the place after them.
func (l *layouter) body(pc, end uint16, at Offset, depth int, note string) Offset {
	for pc < end {
		o := &l.p.ops[pc]
		n := note
		if o.optional {
			n = "if the message goes on"
		}
		switch o.code {
		case opBlock:
			l.block(&l.p.blocks[o.block], at, depth, n)
			at.Bits += int64(l.p.blocks[o.block].bits)
		case opText, opBlob, opList:
			at = l.content(o, pc, at, depth, n)
		case opWeave:
			// The lists share one place, in turns: each begins where the first begins or soon after it.
			for c := pc + 1; c < o.end; c = l.p.ops[c].end {
				l.content(&l.p.ops[c], c, at, depth, "elements in turns with the lists beside it")
			}
			for c := pc + 1; c < o.end; c = l.p.ops[c].end {
				at = l.after(&l.p.ops[c], c, at)
			}
		case opVariant:
			for c := pc + 1; c < o.end; c = l.p.ops[c].end {
				l.body(c+1, l.p.ops[c].end, at, depth, l.when(&l.p.ops[c].when))
			}
		}
		pc = o.end
	}
	return at
}

// when is the condition of an alternative in words.
func (l *layouter) when(w *when) string {
	switch {
	case w.reg != noIndex:
		for _, b := range l.p.blocks {
			for _, ld := range b.loads {
				if ld.reg == w.reg && ld.kind == RoleValue {
					return "if " + string(l.p.AppendFieldPath(nil, ld.field)) + " is " + strconv.FormatUint(w.value, 10)
				}
			}
		}
		return ""
	case w.max == 0:
		return "in messages of " + strconv.Itoa(int(w.min)) + " bytes or more"
	case w.min == w.max:
		return "in messages of " + strconv.Itoa(int(w.min)) + " bytes"
	}
	return "in messages of " + strconv.Itoa(int(w.min)) + " to " + strconv.Itoa(int(w.max)) + " bytes"
}

func (l *layouter) block(b *block, at Offset, depth int, note string) {
	for i := range b.items {
		it := &b.items[i]
		where := at
		where.Bits += int64(it.off)
		row := Row{Field: it.field, Role: it.role, Depth: depth, Type: it.typeName(), At: l.text(where), MinBits: int64(it.bits), MaxBits: int64(it.bits), Note: note}
		if it.field != noIndex {
			row.Path = string(l.p.AppendFieldPath(nil, it.field))
			if it.role == RoleValue {
				row.Type = l.p.Fields[it.field].Type
			}
		} else {
			row.Path = it.role.String()
		}
		l.rows = append(l.rows, row)
	}
}

// content lays out one text, run of bytes or list, and a list's element.
func (l *layouter) content(o *op, pc uint16, at Offset, depth int, note string) Offset {
	least, most := l.p.opSize(o, pc)
	l.rows = append(l.rows, Row{
		Field: o.field, Role: RoleValue, Depth: depth, Path: string(l.p.AppendFieldPath(nil, o.field)),
		Type: l.p.Fields[o.field].Type, At: l.text(at), MinBits: least, MaxBits: most, Note: note,
	})
	if o.code == opList {
		before := len(l.rows)
		l.body(pc+1, o.end, Offset{Elem: true}, depth+1, "")
		for i := before; i < len(l.rows); i++ {
			if r := &l.rows[i]; r.Field == noIndex && r.Depth == depth+1 { // here and next belong to the element
				r.Path = l.rows[before-1].Path + "[]"
			}
		}
	}
	return l.after(o, pc, at)
}

// after is the place after contents.
func (l *layouter) after(o *op, pc uint16, at Offset) Offset {
	if least, most := l.p.opSize(o, pc); least == most {
		at.Bits += least
		return at
	}
	at.Vars = append(at.Vars[:len(at.Vars):len(at.Vars)], o.field)
	return at
}

// text writes an offset for people.
func (l *layouter) text(at Offset) Offset {
	var b strings.Builder
	if at.Elem {
		b.WriteString("element")
	}
	if at.Bits > 0 || !at.Elem {
		if at.Elem {
			b.WriteString(" + ")
		}
		b.WriteString(strconv.FormatInt(at.Bits/8, 10))
		if r := at.Bits % 8; r != 0 {
			b.WriteString(" bytes " + strconv.FormatInt(r, 10) + " bits")
		}
	} else if at.Elem && len(at.Vars) == 0 {
		b.WriteString(" + 0")
	}
	for _, v := range at.Vars {
		b.WriteString(" + ")
		b.Write(l.p.relativePath(v, at.Elem))
	}
	at.Text = b.String()
	return at
}

// relativePath is the path of a field from its element on.
func (p *Program) relativePath(field uint16, elem bool) []byte {
	path := p.AppendFieldPath(nil, field)
	if elem {
		if i := strings.LastIndex(string(path), "[]."); i >= 0 {
			path = path[i+3:]
		}
	}
	return path
}

// bodySize is the smallest and the largest number of bits of a body, -1 for no limit.
func (p *Program) bodySize(pc, end uint16) (least, most int64) {
	for pc < end {
		lo, hi := p.opSize(&p.ops[pc], pc)
		if p.ops[pc].optional {
			lo = 0
		}
		least += lo
		if most >= 0 && hi >= 0 {
			most += hi
		} else {
			most = -1
		}
		pc = p.ops[pc].end
	}
	return least, most
}

func (p *Program) opSize(o *op, pc uint16) (least, most int64) {
	unit := int64(o.unit) * 8
	switch o.code {
	case opBlock:
		n := int64(p.blocks[o.block].bits)
		return n, n
	case opWeave:
		return p.bodySize(pc+1, o.end)
	case opVariant:
		least, most = -1, 0
		for c := pc + 1; c < o.end; c = p.ops[c].end {
			lo, hi := p.bodySize(c+1, p.ops[c].end)
			if least < 0 || lo < least {
				least = lo
			}
			if hi < 0 || most < 0 {
				most = -1
			} else {
				most = max(most, hi)
			}
		}
		return max(least, 0), most
	case opList:
		lo, hi := p.bodySize(pc+1, o.end)
		return p.times(o, lo, hi)
	}
	if o.size == schema.Terminated {
		return unit, -1
	}
	return p.times(o, unit, unit)
}

// times is the size of as many units as are allowed.
func (p *Program) times(o *op, lo, hi int64) (least, most int64) {
	if o.size == schema.Fixed {
		if hi >= 0 {
			hi *= int64(o.n)
		}
		return lo * int64(o.n), hi
	}
	const bound = 1 << 32
	least = int64(min(o.minUnits, bound)) * lo
	if hi < 0 || o.maxUnits >= bound {
		return least, -1
	}
	return least, int64(o.maxUnits) * hi
}

// SameLayout reports whether two programs have the same bytes for the same types: only names and comments may differ between their
// definitions.
func SameLayout(a, b *Program) bool {
	rows, others := a.Layout(), b.Layout()
	if len(rows) != len(others) || a.Message.HasKey != b.Message.HasKey || a.Message.Key.Code != b.Message.Key.Code {
		return false
	}
	for i, r := range rows {
		o := others[i]
		if r.Field != o.Field || r.Role != o.Role || r.Depth != o.Depth || r.Type != o.Type || r.MinBits != o.MinBits || r.MaxBits != o.MaxBits ||
			r.At.Elem != o.At.Elem || r.At.Bits != o.At.Bits || !slices.Equal(r.At.Vars, o.At.Vars) {
			return false
		}
	}
	return true
}
