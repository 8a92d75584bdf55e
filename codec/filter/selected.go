package filter

import (
	"fmt"
	"slices"
	"strconv"

	"wirebench/codec"
)

// selectedValue compiles the value of a field in the selected frame.
func (c *compiler) selectedValue(n *node, s *side) (*expr, ty, outcome) {
	x := c.env.Selected
	if x == nil {
		return nil, ty{}, c.mistake(n, "no frame is selected here", "write the value itself; in the page, the menu of a field writes it into the filter")
	}
	parts := n.parts[1:]
	if len(parts) == 1 {
		if f, ok := frameFields[parts[0].name]; ok {
			return c.selectedFrame(n, f, parts[0])
		}
	}
	of := x.shape()
	p := c.program(of)
	if p == nil {
		return nil, ty{}, c.mistake(n, "the selected frame has no definition", "")
	}
	if len(parts) > 1 && parts[0].name == of.Name {
		parts = parts[1:]
	}
	f, why := c.resolve(n, parts, p, false)
	if why != nil {
		q := &n.parts[len(n.parts)-len(parts)+why.part]
		if why.message == "" {
			why.message = fmt.Sprintf("%q has no field %q", of.Name, clip(q.name))
			why.help = didYouMean(q.name, why.known)
		}
		return nil, f.t, c.mistakeAt(q.start, q.end, why.message, why.help)
	}
	if f.t.class == cGroup || f.t.class == cList {
		return nil, f.t, c.mistake(n, f.t.says(), groupHelp(f.t))
	}
	f.t.num = nil
	e := s.leaf(&leaf{kind: leafConsts, consts: c.selectedConsts(p, f)})
	if f.slice != nil {
		return sliced(e, f.t, f.slice)
	}
	return e, f.t, fine
}

// selectedConsts reads the values of a field in the selected frame, the first 1,000.
func (c *compiler) selectedConsts(p *codec.Program, f found) (out []value) {
	if c.sel == nil {
		c.sel = new(codec.Record)
		p.Decode(c.sel, slices.Clone(c.env.Selected.Bytes))
	}
	for _, t := range f.targets {
		at, ok := t.site(p)
		if !ok {
			continue
		}
		var s slot
		for s.cur.Start(c.sel, at); len(out) < 1000 && s.cur.Next(); {
			s.take(t.conv, c.sel)
			v := s.val
			v.b = slices.Clone(v.b)
			out = append(out, v)
		}
	}
	return out
}

// selectedFrame compiles a property of the selected frame.
func (c *compiler) selectedFrame(n *node, f frameField, q part) (*expr, ty, outcome) {
	about := &frameInfo[f]
	t := ty{class: about.class, words: about.words, label: about.name}
	m := machine{frame: c.env.Selected, filter: &Filter{}, without: No}
	e := &expr{op: xFrame, field: f}
	switch f {
	case ffName:
		e.op = xCodeName
	case ffState, ffStatus, ffErr, ffInfo, ffBuild, ffVer, ffTag, ffVia, ffFrom, ffIP, ffPort:
		return nil, t, c.mistake(n, strconv.Quote(about.name)+" of the selected frame is unknown here", "")
	default:
		if about.class == cText {
			e.op = xFrameText
		}
	}
	v, ok := m.compute(e, 0)
	if !ok {
		return nil, t, absent
	}
	x := &expr{op: xConst, val: v}
	if len(q.index) == 1 && (t.class == cText || t.class == cBytes) {
		return sliced(x, t, &q.index[0])
	}
	return x, t, fine
}
