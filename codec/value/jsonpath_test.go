package value

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestFindJSON(t *testing.T) {
	const text = `{"a":1,"s":"x\"},[y","list":[{"n":"1","v":[10,20]},{"n":"2","v":[]}],"a":2,"o":{"p":{"q":true}},"empty":{},"e#1":3,"e":4}`
	for _, c := range []struct{ path, want string }{
		{"", text},
		{"a", "2"}, // the last one takes precedence
		{"s", `"x\"},[y"`},
		{"list[0].n", `"1"`},
		{"list[1].v", `[]`},
		{"list[0].v[1]", "20"},
		{"o.p.q", "true"},
		{"o.p", `{"q":true}`},
		{"empty", "{}"},
		{"e#1", "3"},
		{"e#2", "4"}, // shares the value of the last one
		{"o#1.p#1.q", "true"},
		{"list[2]", ""},
		{"list[0].v[2]", ""},
		{"list[-1]", ""},
		{"list[x]", ""},
		{"list[", ""},
		{"a.b", ""},
		{"empty.x", ""},
		{"nothing", ""},
	} {
		at, err := FindJSON([]byte(text), c.path)
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%s: found %s", c.path, text[at.From:at.To])
		case c.want != "" && (err != nil || text[at.From:at.To] != c.want):
			t.Errorf("%s: %v, %s, want %s", c.path, err, text[at.From:at.To], c.want)
		}
	}
}

func TestUnshare(t *testing.T) {
	const text = `{"a":1,"list":[{"v":{"x":1},"n":2}],"e#1":3,"e":4}`
	for path, want := range map[string]string{
		"a":           text,
		"e#1":         text,
		"e#2":         `{"a":1,"list":[{"v":{"x":1},"n":2}],"e#1":3,"e":4,"e#2":4}`,
		"list[0].v#1": `{"a":1,"list":[{"v":{"x":1},"v#1":{"x":1},"n":2}],"e#1":3,"e":4}`,
		"list#1[0].n": `{"a":1,"list":[{"v":{"x":1},"n":2}],"list#1":[{"v":{"x":1},"n":2}],"e#1":3,"e":4}`,
		"b#1":         text,
		"list[1].v#1": text,
		"a#":          text,
	} {
		if got := string(Unshare([]byte(text), path)); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// For any text and path there is no panic, and the located value is JSON.
func FuzzFindJSON(f *testing.F) {
	f.Add(`{"a":[1,{"b":"c\\"}],"d":{}}`, "a[1].b")
	f.Add(`[[],[[]]]`, "[1][0]")
	f.Add(`{"":1}`, ".")
	f.Fuzz(func(t *testing.T, text, path string) {
		if !json.Valid([]byte(text)) {
			return
		}
		var flat strings.Builder
		var v json.RawMessage
		if json.Unmarshal([]byte(text), &v) != nil {
			return
		}
		compact, _ := json.Marshal(v)
		flat.Write(compact)
		at, err := FindJSON([]byte(flat.String()), path)
		if err == nil && !json.Valid([]byte(flat.String()[at.From:at.To])) {
			t.Errorf("%s of %s is %s", path, flat.String(), flat.String()[at.From:at.To])
		}
	})
}
