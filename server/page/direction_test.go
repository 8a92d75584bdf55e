package page

import (
	"testing"

	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
	"wirebench/templates"
)

// A code that means one message from the client and another one from the server is read as the chosen direction says, whatever definition is open.
func TestChosenDirection(t *testing.T) {
	both := `{"types": {"packet_%": ["container", [{"name": "n", "type": "u8"}]], "packet": ["container", [` +
		`{"name": "name", "type": ["mapper", {"type": "varint", "mappings": {"0x01": "%"}}]}, {"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"%": "packet_%"}}]}]]}}`
	named := func(name string) (out string) {
		for _, r := range both {
			if r == '%' {
				out += name
			} else {
				out += string(r)
			}
		}
		return out
	}
	files, _ := workspacetest.Dir(t, map[string]string{"protocol.json": `{"types": {}, "play": {"toServer": ` + named("say") + `, "toClient": ` + named("said") + `}}`})
	ws := workspacetest.Open(t, workspace.Config{Dialect: "protodef", Files: files})
	open := map[string]string{}
	for m := range ws.Now().Messages() {
		open[m.Name] = ws.Now().NameOf(m)
	}
	if len(open) != 2 {
		t.Fatalf("%v", open)
	}
	for _, c := range []struct{ open, dir, want string }{
		{"say", "", "say"}, {"said", "", "said"}, {"said", "c2s", "say"}, {"say", "s2c", "said"}, {"say", "c2s", "say"}, {"say", "sideways", "say"},
	} {
		p := spaceOf(ws, store.Capture{}, nil).fill(&templates.Workbench{}, form{message: open[c.open], input: "01 05", byCode: true, dir: c.dir}, nil, nil)
		if m := p.view.Shown; m == nil || m.Name != open[c.want] {
			t.Errorf("%+v: %+v", c, m)
		}
		if got := p.view.Input.Dir; got != c.dir {
			t.Errorf("%+v: the page says %q", c, got)
		}
	}
}
