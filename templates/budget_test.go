package templates

import (
	"fmt"
	"strings"
	"testing"

	"wirebench/codec/view"
)

// TestLayoutBudget checks that the fragment of a layout, and its picture, are a small multiple of the definition.
func TestLayoutBudget(t *testing.T) {
	var strs, lists strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&strs, "string text_number_%d\n", i)
		fmt.Fprintf(&lists, "array a%d\n- string b\n", i)
	}
	for name, text := range map[string]string{"texts": strs.String(), "lists": lists.String(), "bytes": "byte[9999][999] a\nint32 b\n"} {
		p, _ := opened(t, text)
		info := view.Layout(p)
		var b strings.Builder
		if err := layoutBody(Workbench{Layout: &info}).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		for what, n := range map[string]int{"page": b.Len(), "picture": len(LayoutSVG("X", &info)), "text": len(LayoutText("X", &info))} {
			if n > 100*len(text)+1<<18 {
				t.Errorf("%s: %d bytes of %s for a definition of %d", name, n, what, len(text))
			}
		}
	}
}
