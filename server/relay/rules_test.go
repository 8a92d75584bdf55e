package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"wirebench/codec/transport"
	"wirebench/codec/transport/tera"
	"wirebench/defs/schema"
	"wirebench/server/proxy"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

const ruleFiles = "group: clmsg\n\npacket: say\n   __group = clmsg\n   text    = char {1, 300}\n\npacket: move_it\n   __group = clmsg\n   x = uint8\n" +
	"   items = item {1, 10}\n\nstruct: item\n   id = uint8\n"

// opened opens a workspace of files.
func opened(t *testing.T, dialect string, files map[string]string) *workspace.Workspace {
	t.Helper()
	d, _ := workspacetest.Dir(t, files)
	return workspacetest.Open(t, workspace.Config{Dialect: dialect, Files: d})
}

// A rule that no message can match, or that sets a field of no message, is refused when it is entered, with the reason.
func TestRulesThatCannotWork(t *testing.T) {
	ws := opened(t, "muta", map[string]string{"game.def": ruleFiles})
	if d := ws.Now().Diagnostics(); ws.Now().Count() != 2 {
		t.Fatal(d)
	}
	s := (&Session{Workspace: ws})
	for _, c := range []struct{ filter, field, value, want string }{
		{"say", "text", `"hello"`, ""},
		{".text contains \"gold\"", "text", `"lead"`, ""},
		{"kind == message", "x", `7`, ""}, // one of the messages has the field
		{"op == 250", "x", `7`, ""},       // the value is not known in advance
		{"gold", "text", `"lead"`, ""},    // a text to search for
		{"move_it", "items[3].id", `7`, ""},
		{"move_it", "items[3000].id", `7`, ""}, // not checked
		{"say", "nosuch", `7`, "nosuch in say"},
		{"say", "text.more", `7`, "text.more in say"},
		{"say", "text", `7`, "text in say"},
		{"move_it", "x", `"north"`, "x in move_it"},
		{"move_it", "x", `256`, "0 to 255"},
		{"move_it", "items[0].nosuch", `7`, "nosuch"},
		{"move_it", "items[0]", `"a text"`, "items[0]"},
		{"say", "[0]", `7`, "is not a field path"},
		{"say", "text..x", `7`, "is not a field path"},
		{"say", "text[1", `7`, "is not a field path"},
		{"say", strings.Repeat("a[9].", 400) + "a", `7`, "is not a field path"},
		{"move_it", "items" + strings.Repeat("[60]", 20), `7`, ""}, // not checked: the message would be large
		{"C_NOSUCH", "x", `7`, "no message is called C_NOSUCH"},
		{"say && move_it", "x", `7`, "no message can match"},
	} {
		_, err := s.rule(Rule{ID: "1", On: true, Filter: c.filter, Action: "replace", Field: c.field, Value: json.RawMessage(c.value)})
		if got := ""; err != nil {
			if got = err.Error(); c.want == "" || !strings.Contains(got, c.want) {
				t.Errorf("%s: %s = %s: %q, not %q", c.filter, c.field, c.value, got, c.want)
			}
		} else if c.want != "" {
			t.Errorf("%s: %.50s = %s is accepted", c.filter, c.field, c.value)
		}
	}
	if _, err := s.rule(Rule{ID: "1", On: true, Filter: "C_NOSUCH", Action: "drop"}); err == nil {
		t.Error("a rule for a message that does not exist is accepted")
	}
}

// Rules of the proxy support the whole filter language, including bytes, layers and names of codes.
func TestFilterOfRules(t *testing.T) {
	ws := opened(t, "tera", map[string]string{"C_JOIN.1.def": "string channel_name # where\nuint16 password\n", "C_LIST.1.def": "uint32 id\n", "protocol.1.map": "C_JOIN 1\nC_LIST 2\n"})
	f := &transport.Frame{
		Dir: schema.ToServer, Key: schema.Key{Dir: schema.ToServer, Code: 1}, HasKey: true, Via: []string{"reliable:7"}, Bytes: []byte("\x06\x00\x01\x00\x65\xd0"),
	}
	for text, want := range map[string]bool{
		"op == C_JOIN": true, "op == C_LIST": false, `~q && ~b "\x65\xd0"`: true, `bytes ~ r"\x65\xd1"`: false, "via == \"reliable:7\"": true, "= 53349": true, "build == 1": true,
	} {
		if _, mistakes := ws.Now().Filter(text); len(mistakes) > 0 {
			t.Errorf("%s: %+v", text, mistakes)
		} else if got := (&matcher{snap: ws.Now, text: text}).match(&proxy.Message{Conn: &transport.Conn{}, Frame: f, N: 1}); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if _, err := (&Session{Workspace: ws}).rule(Rule{Filter: ".password == $me", Action: "note"}); err == nil {
		t.Error("a rule with an undefined value")
	}
}

// A frame is decoded once for all rules of a connection.
func TestRulesDecodeOnce(t *testing.T) {
	ws := opened(t, "tera", map[string]string{"C_LIST.1.def": "uint32 id\n", "protocol.1.map": "C_LIST 2\n"})
	f := &transport.Frame{Dir: schema.ToServer, Key: schema.Key{Dir: schema.ToServer, Code: 2}, HasKey: true, Bytes: []byte{8, 0, 2, 0, 5, 0, 0, 0}}
	m := &proxy.Message{Conn: &transport.Conn{}, Frame: f}
	rules := []*matcher{{snap: ws.Now, text: "status == ok"}, {snap: ws.Now, text: "status == ok || len > 100"}, {snap: ws.Now, text: "status == ok && len == 4"}}
	fit := func(n uint64) (out []bool) {
		m.N = n
		for _, r := range rules {
			out = append(out, r.match(m))
			f.Bytes = []byte{4, 0, 2, 0} // too short, if it is decoded again
		}
		return out
	}
	if got := fit(1); !slices.Equal(got, []bool{true, true, true}) {
		t.Errorf("the first frame: %v", got)
	}
	if got := fit(2); !slices.Equal(got, []bool{false, false, false}) {
		t.Errorf("the second one: %v", got)
	}
	if _, err := ws.Save("C_LIST.1.def", nil, nil); err != nil { // now the definition fits
		t.Fatal(err)
	}
	if got := fit(2); !slices.Equal(got, []bool{true, true, true}) {
		t.Errorf("by other definitions: %v", got)
	}
}

// Replacing a field of a message with the alternative header keeps the header.
func TestReplaceBehindLongHeader(t *testing.T) {
	ws := opened(t, "tera", map[string]string{"C_SAY.1.def": "string text\nuint32 x\n", "protocol.1.map": "C_SAY 4097\n"})
	key := schema.Key{Dir: schema.ToServer, Code: 4097}
	long := func(text string) []byte {
		body := Outgoing{Message: "C_SAY", Value: []byte(`{"text":"` + text + `","x":5}`)}
		out, err := body.Make(ws.Now(), schema.ToServer, nil)
		if err != nil || len(out.Alternate) != len(out.Bytes)+8 || out.Alternate[12] != out.Bytes[4]+8 {
			t.Fatalf("%x and %x: %v", out.Bytes, out.Alternate, err)
		}
		only, err := body.Make(ws.Now(), schema.ToServer, &transport.Frame{Via: []string{"integrity"}})
		if err != nil || only.Alternate != nil || !bytes.Equal(only.Bytes, out.Alternate) {
			t.Fatalf("in the place of one with the alternative header: %x, not %x: %v", only.Bytes, out.Alternate, err)
		}
		return out.Alternate
	}
	f := &transport.Frame{Dir: schema.ToServer, Key: key, HasKey: true, Via: []string{tera.ViaIntegrity}, Bytes: long("hello")}
	got, err := changeField(ws.Now(), f, "text", func(json.RawMessage, []byte) (json.RawMessage, error) { return []byte(`"goodbye"`), nil })
	if want := long("goodbye"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, not %x: %v", got, want, err)
	}
}

// Arithmetic on the fields of a message is exact, and says what is wrong.
func TestEvaluate(t *testing.T) {
	fields := func(path string) (json.RawMessage, error) {
		if v, ok := map[string]string{"level": "7", "id": `"18446744073709551615"`, "share": "0.5", "name": `"Lann"`, "items[1].n": "3"}[path]; ok {
			return json.RawMessage(v), nil
		}
		return nil, errors.New("no field " + path)
	}
	for text, want := range map[string]string{
		"old * 2 + 1":              "21",
		"old+.level":               "17",
		"-(old - 4) * 3":           "-18",
		".id - 1":                  "18446744073709551614",
		"7 / 2":                    "3",
		"-7 / 2":                   "-3",
		"7 / 2.0":                  "3",
		"7.5 / 2":                  "3.75",
		"old % 3":                  "1",
		".share * 3":               "1.5",
		"0x10 + .items[1].n":       "19",
		"old / 0":                  "!division by zero",
		".name + 1":                "!not a number",
		".nothing":                 "!no field nothing",
		"old old":                  "!unexpected",
		"old +":                    "!not complete",
		"(old":                     "!without its",
		"x":                        "!write numbers, old",
		strings.Repeat("(", 40):    "!nested deeper",
		strings.Repeat("1+", 1000): "!more than",
		"9" + strings.Repeat("*99999999999999999999", 20) + "*" + strings.Repeat("99999999999999999999*", 3) + "1": "",
	} {
		got, err := evaluate(text, json.RawMessage("10"), fields)
		if want == "" {
			continue // only bounded
		}
		if wrong, is := strings.CutPrefix(want, "!"); is {
			if err == nil || !strings.Contains(err.Error(), wrong) {
				t.Errorf("%s: %s, %v lacks %q", text, got, err, wrong)
			}
		} else if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
}

// Each action changes the message as it says; what cannot be applied names the field and why.
func TestRuleActions(t *testing.T) {
	ws := opened(t, "muta", map[string]string{"game.def": ruleFiles})
	s := &Session{Workspace: ws}
	message := func(name, value string) *transport.Frame {
		out, err := (&Outgoing{Message: name, Value: []byte(value)}).Make(ws.Now(), schema.ToServer, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ws.Now().Find(name)
		if err != nil {
			t.Fatal(err)
		}
		return &transport.Frame{Dir: schema.ToServer, Key: m.Key, HasKey: true, Bytes: out.Bytes}
	}
	for _, c := range []struct {
		rule             Rule
		name, from, want string
	}{
		{Rule{Filter: "move_it", Action: "compute", Field: "x", Expr: "old * 2 + 1"}, "move_it", `{"x":20,"items":[{"id":1}]}`, `{"x":41,"items":[{"id":1}]}`},
		{Rule{Filter: "move_it", Action: "compute", Field: "x", Expr: "old * 20"}, "move_it", `{"x":20,"items":[{"id":1}]}`, "!x: 400 does not fit"},
		{Rule{Filter: "say", Action: "regexp", Field: "text", Pattern: `(\w+) gold`, With: "$1 silver"}, "say", `{"text":"two gold"}`, `{"text":"two silver"}`},
		{Rule{Filter: "move_it", Action: "regexp", Field: "x", Pattern: "1", With: "2"}, "move_it", `{"x":20,"items":[{"id":1}]}`, "!x: the value is 20, which is not text"},
		{Rule{Filter: "move_it", Action: "bytes", At: 2, Hex: "07"}, "move_it", `{"x":20,"items":[{"id":1}]}`, `{"x":7,"items":[{"id":1}]}`},
		{Rule{Filter: "move_it", Action: "bytes", At: 100, Hex: "07"}, "move_it", `{"x":20,"items":[{"id":1}]}`, "!fewer than needed"},
	} {
		c.rule.ID, c.rule.On = "1", true
		made, err := s.rule(c.rule)
		if err != nil {
			t.Errorf("%+v: %v", c.rule, err)
			continue
		}
		got, err := made.Replace(message(c.name, c.from))
		if wrong, is := strings.CutPrefix(c.want, "!"); is {
			if err == nil || !strings.Contains(err.Error(), wrong) {
				t.Errorf("%s: %x, %v lacks %q", c.rule.Action, got, err, wrong)
			}
		} else if want := message(c.name, c.want).Bytes; err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %x, not %x: %v", c.rule.Action, got, want, err)
		}
	}
	for want, r := range map[string]Rule{
		"say: no message": {Filter: "move_it", Action: "regexp", Field: "text", Pattern: "a"},
		"pattern":         {Filter: "say", Action: "regexp", Field: "text", Pattern: "("},
		"hex":             {Filter: "say", Action: "bytes", Hex: "0"},
		"write numbers":   {Filter: "move_it", Action: "compute", Field: "x", Expr: "y"},
	} {
		if _, err := s.rule(r); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "say: ")) {
			t.Errorf("%+v: %v lacks %q", r, err, want)
		}
	}
}
