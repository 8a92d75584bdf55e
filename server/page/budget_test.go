package page

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"strings"
	"testing"

	"wirebench/codec"
	codecview "wirebench/codec/view"
	"wirebench/defs"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/server/view"
	"wirebench/templates"
)

// layoutOf returns the work of a page that shows a definition.
func layoutOf(t *testing.T, text string) *work {
	t.Helper()
	s, _ := defs.Load([]*source.File{source.New("C_LIST.1.def", text)}, defs.Dialects[0].Name, schema.Options{})
	p, err := codec.Compile(s.Messages[0])
	if err != nil {
		t.Fatal(err)
	}
	info := codecview.Layout(p)
	return &work{view: &templates.Workbench{Layout: &info}, text: &view.Text{Rows: view.LayoutRows(info.Rows), Cells: view.Cells(&info)}}
}

// The layout sent to a page and its picture are at most a small multiple of the definition.
func TestLayoutBudget(t *testing.T) {
	var strs, lists strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&strs, "string text_number_%d\n", i)
		fmt.Fprintf(&lists, "array a%d\n- string b\n", i)
	}
	for name, text := range map[string]string{"texts": strs.String(), "lists": lists.String(), "bytes": "byte[9999][999] a\nint32 b\n"} {
		p := layoutOf(t, text)
		l := &livePage{seed: maphash.MakeSeed(), sent: map[string]uint64{}, lists: sentLists{}}
		var out Answer
		l.layout(&out, p)
		sent, err := json.Marshal(out.Layout)
		if err != nil {
			t.Fatal(err)
		}
		for what, n := range map[string]int{"page": len(sent), "picture": len(templates.LayoutSVG("X", p.view.Layout)), "text": len(templates.LayoutText("X", p.view.Layout))} {
			if n > 100*len(text)+1<<18 {
				t.Errorf("%s: %d bytes of %s for a definition of %d", name, n, what, len(text))
			}
		}
	}
}

// A field inserted at the start moves all others, and little is sent.
func TestLayoutOfMovedFields(t *testing.T) {
	var text strings.Builder
	for i := range 300 {
		switch {
		case i%30 == 10:
			fmt.Fprintf(&text, "array list%d\n", i)
		case i%30 > 10 && i%30 < 16:
			fmt.Fprintf(&text, "- uint32 f%d\n", i)
		default:
			fmt.Fprintf(&text, "%s field%d\n", []string{"int32", "byte", "string", "float"}[i%4], i)
		}
	}
	l := &livePage{seed: maphash.MakeSeed(), sent: map[string]uint64{}, lists: sentLists{}}
	size := func(text string) int {
		var out Answer
		l.layout(&out, layoutOf(t, text))
		sent, err := json.Marshal(out.Layout)
		if err != nil {
			t.Fatal(err)
		}
		return len(sent)
	}
	whole, moved := size(text.String()), size("uint32 first\n"+text.String())
	t.Logf("%d bytes at first, %d bytes when all fields move", whole, moved)
	if moved > whole/4 {
		t.Errorf("%d bytes of %d are sent", moved, whole)
	}
}
