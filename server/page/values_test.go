package page

import (
	"testing"

	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
	"wirebench/templates"
)

// A message can be built and begun in the form also if the values that are not set would not be legal.
func TestStartOfBoundedValues(t *testing.T) {
	for _, c := range []struct{ field string }{
		{"name = char <uint8> {3, 9}"},
		{"name = char <uint8> {0, 9}"},
		{"n = uint8 {1, 9}"},
		{"list = uint8 <uint8> {2, 4}"},
		{"n = uint32 {5, 5}\n   name = char <uint8> {1, 2}\n   m = uint8"},
	} {
		files, _ := workspacetest.Dir(t, map[string]string{"game.def": "group: svmsg\n\npacket: made\n   __group = svmsg\n   " + c.field + "\n"})
		ws := workspacetest.Open(t, workspace.Config{Dialect: "muta", Files: files})
		p := &work{ws: spaceOf(ws, store.Capture{}, nil), form: form{message: "made"}, view: &templates.Workbench{}}
		p.open()
		if p.def == nil || p.def.Program == nil {
			t.Fatalf("%s is no definition: %+v", c.field, p.view.Definition.Diagnostics)
		}
		if got := p.valuesForm(); got.Failed != "" || !got.Made {
			t.Errorf("%s: the form says %q", c.field, got.Failed)
		}
		if got := string(p.startValue()); got == "{}" {
			t.Errorf("%s: no values to encode", c.field)
		}
		p.form.action = "build"
		if p.encode(p.start()); len(p.view.Values.Problems) > 0 || len(p.form.edits) == 0 && p.form.input == "" {
			t.Errorf("%s: nothing was built: %+v", c.field, p.view.Values.Problems)
		}
	}
}
