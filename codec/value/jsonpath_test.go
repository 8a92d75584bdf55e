package value

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestFindJSON(t *testing.T) {
	const text = `{"a":1,"s":"x\"},[y","list":[{"n":"1","v":[10,20]},{"n":"2","v":[]}],"a":2,"o":{"p":{"q":true}},"empty":{}}`
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
