package page

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"wirebench/templates"
)

// Only changed lines are marked, not the lines between them.
func TestLineChanges(t *testing.T) {
	disk, page := make([]string, 300), make([]string, 300)
	for i := range disk {
		disk[i] = fmt.Sprintf("uint32 field%d", i+1)
		page[i] = disk[i]
	}
	disk[0], page[299] = "uint64 field1", "uint64 field300"
	want := []templates.ChangedLine{
		{Sign: "disk", Number: 1, Text: "uint64 field1"},
		{Sign: "here", Number: 1, Text: "uint32 field1"},
		{Sign: "disk", Number: 300, Text: "uint32 field300"},
		{Sign: "here", Number: 300, Text: "uint64 field300"},
	}
	if got := lineChanges(strings.Join(disk, "\n"), strings.Join(page, "\n")); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	got := lineChanges("", strings.Repeat("a\n", maxChangedLines+5))
	if last := got[len(got)-1]; len(got) != 1+maxChangedLines || last.Text != "… 5 more lines" || last.Sign != "here" {
		t.Errorf("%d lines, the last one %+v", len(got), last)
	}
}
