package server

import (
	"encoding/json"
	"strings"
	"testing"

	"wirebench/server/workspace"
)

const ruleFiles = "group: clmsg\n\npacket: say\n   __group = clmsg\n   text    = char {1, 300}\n\npacket: move_it\n   __group = clmsg\n   x = uint8\n" +
	"   items = item {1, 10}\n\nstruct: item\n   id = uint8\n"

// A rule that no message can fit, or that sets what none of them has, is refused when it is written, with the reason.
func TestRulesThatCannotWork(t *testing.T) {
	ws, err := workspace.Open(workspace.Config{Name: "one", Dialect: "muta", Files: captureServer(t, "muta", map[string]string{"game.def": ruleFiles}).byName["one"].Files})
	if err != nil {
		t.Fatal(err)
	}
	if d := ws.Now().Diagnostics(); ws.Now().Count() != 2 {
		t.Fatal(d)
	}
	s := &liveSession{ws: ws}
	for _, c := range []struct{ filter, field, value, want string }{
		{"say", "text", `"hello"`, ""},
		{".text contains \"gold\"", "text", `"lead"`, ""},
		{"kind == message", "x", `7`, ""}, // one of the messages has it
		{"op == 250", "x", `7`, ""},       // nothing is known of those yet
		{"gold", "text", `"lead"`, ""},    // a text that is looked for
		{"move_it", "items[3].id", `7`, ""},
		{"move_it", "items[3000].id", `7`, ""}, // not tried
		{"say", "nosuch", `7`, "nosuch in say"},
		{"say", "text.more", `7`, "text.more in say"},
		{"say", "text", `7`, "text in say"},
		{"move_it", "x", `"north"`, "x in move_it"},
		{"move_it", "x", `256`, "0 to 255"},
		{"move_it", "items[0].nosuch", `7`, "nosuch"},
		{"move_it", "items[0]", `"a text"`, "items[0]"},
		{"say", "[0]", `7`, "no path"},
		{"say", "text..x", `7`, "no path"},
		{"say", "text[1", `7`, "no path"},
		{"say", strings.Repeat("a[9].", 400) + "a", `7`, "no path"},
		{"move_it", "items" + strings.Repeat("[60]", 20), `7`, ""}, // not tried: it would be a large one
		{"C_NOSUCH", "x", `7`, "no message is called C_NOSUCH"},
		{"say && move_it", "x", `7`, "no message can fit"},
	} {
		_, err := s.rule(ruleBody{ID: "1", On: true, Filter: c.filter, Action: "replace", Field: c.field, Value: json.RawMessage(c.value)})
		if got := ""; err != nil {
			if got = err.Error(); c.want == "" || !strings.Contains(got, c.want) {
				t.Errorf("%s: %s = %s: %q, not %q", c.filter, c.field, c.value, got, c.want)
			}
		} else if c.want != "" {
			t.Errorf("%s: %.50s = %s is taken", c.filter, c.field, c.value)
		}
	}
	if _, err := s.rule(ruleBody{ID: "1", On: true, Filter: "C_NOSUCH", Action: "drop"}); err == nil {
		t.Error("a rule for a message that does not exist is taken")
	}
}
