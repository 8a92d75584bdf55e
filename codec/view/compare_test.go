package view_test

import (
	"fmt"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/view"
	"wirebench/defs"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

func programOf(t *testing.T, text string) *codec.Program {
	t.Helper()
	s, diags := defs.Load([]*source.File{source.New("S_EXAMPLE.1.def", text)}, "tera", schema.Options{Codes: map[string]uint32{"S_EXAMPLE": 7}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, err := codec.Compile(s.Messages[0])
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCompare(t *testing.T) {
	for _, c := range []struct{ about, before, after, want string }{
		{"the same", "uint32 a\n", "uint32 a # with a comment\n", ""},
		{"a field before others", "uint32 a\nuint16 b\n", "uint32 a\nuint32 new\nuint16 b\n", "added new @8\nmoved b +4"},
		{"a field removed", "uint32 a\nuint32 old\nuint16 b\n", "uint32 a\nuint16 b\n", "removed old @8\nmoved b -4"},
		{"retyped", "uint32 a\nuint16 b\n", "uint64 a\nuint16 b\n", "retyped a uint32 to uint64\nmoved b +4"},
		{"renamed", "uint32 a\nuint16 b\n", "uint32 first\nuint16 b\n", "renamed a to first"},
		{"renamed and moved", "uint16 x\nuint32 a\n", "uint16 x\nuint16 y\nuint32 b\n", "added y @6\nrenamed a to b +2"},
		{
			"a pointer more", "string name\nuint32 a\n", "string name\nstring title\nuint32 a\n",
			"added title offset @6\nmoved a +2\nmoved name +2\nadded title @12 + name",
		},
		{
			"contents before others", "string title\n", "string name\nstring title\n",
			"added name offset @4\nmoved title offset +2\nadded name @8\nmoved title +2 + name",
		},
		{"in an element", "array list\n- uint16 a\n- uint32 b\n", "array list\n- uint32 a\n- uint32 b\n", "retyped list[].a uint16 to uint32\nmoved list[].b +2"},
		{"another order", "uint32 a\nuint16 b\n", "uint16 b\nuint32 a\n", "moved b -4\nmoved a +2"},
	} {
		t.Run(strings.ReplaceAll(c.about, " ", "_"), func(t *testing.T) {
			x := view.ComparePrograms(programOf(t, c.before), programOf(t, c.after))
			var got []string
			for _, r := range x.Rows {
				name := func(p *view.ComparedPart) string {
					if p.Role == "value" {
						return p.Path
					}
					return p.Path + " " + p.Role
				}
				switch r.Change {
				case view.ChangeNone:
					continue
				case view.ChangeAdded:
					got = append(got, fmt.Sprintf("added %s @%s", name(r.New), r.New.Offset))
				case view.ChangeRemoved:
					got = append(got, fmt.Sprintf("removed %s @%s", name(r.Old), r.Old.Offset))
				case view.ChangeRetyped:
					got = append(got, strings.TrimSpace(fmt.Sprintf("retyped %s %s to %s %s", name(r.New), r.Old.Type, r.New.Type, r.Shift)))
				case view.ChangeRenamed:
					got = append(got, strings.TrimSpace(fmt.Sprintf("renamed %s to %s %s", name(r.Old), name(r.New), r.Shift)))
				default:
					got = append(got, fmt.Sprintf("moved %s %s", name(r.New), r.Shift))
				}
			}
			if text := strings.Join(got, "\n"); text != c.want {
				t.Errorf("got\n%s\nwant\n%s", text, c.want)
			}
		})
	}
}
