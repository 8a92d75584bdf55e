package page

import "testing"

func TestTypedJSON(t *testing.T) {
	for _, c := range []struct{ was, typed, want string }{
		{"1", " 12 ", "12"},
		{"1", "0x1F", "31"},
		{"1", "-0x10", "-16"},
		{"1", "1e3", "1e3"},
		{"1.5", `"NaN"`, `"NaN"`},
		{"1", "twelve", ""},
		{"1", "", ""},
		{"true", "0", "false"},
		{"false", "Yes", "true"},
		{"true", "maybe", ""},
		{`"text"`, ` a "b" `, `" a \"b\" "`},
		{`"text"`, `"a\nb"`, `"a\nb"`},
		{`"text"`, `"not closed`, `"\"not closed"`},
		{`"123"`, "0xff", `255`},
		{`"123"`, "456", `"456"`},
		{`"0a0b"`, "0c", `"0c"`},
		{`{"x":1}`, `{"x": 2}`, `{"x": 2}`},
		{`[]`, `1,2`, ""},
	} {
		got, err := typedJSON([]byte(c.was), c.typed)
		if c.want == "" && err == nil || c.want != "" && string(got) != c.want {
			t.Errorf("%q over %s: %s %v, want %s", c.typed, c.was, got, err, c.want)
		}
	}
}

func TestChangedValue(t *testing.T) {
	const value = `{"l":[{"x":1},{"x":2}],"e":[],"n":5}`
	for _, c := range []struct{ action, path, typed, want string }{
		{"set", "l[1].x", "9", `{"l":[{"x":1},{"x":9}],"e":[],"n":5}`},
		{"set", "l[2].x", "9", ""},
		{"set", "n#1", "6", `{"l":[{"x":1},{"x":2}],"e":[],"n":5,"n#1":6}`},
		{"remove", "l[0]", "", `{"l":[{"x":2}],"e":[],"n":5}`},
		{"remove", "l[1]", "", `{"l":[{"x":1}],"e":[],"n":5}`},
		{"remove", "n", "", ""},
		{"copy", "l[0]", "", `{"l":[{"x":1},{"x":1},{"x":2}],"e":[],"n":5}`},
		{"copy", "l", "", ""},
		{"up", "l[1]", "", `{"l":[{"x":2},{"x":1}],"e":[],"n":5}`},
		{"down", "l[0]", "", `{"l":[{"x":2},{"x":1}],"e":[],"n":5}`},
		{"up", "l[0]", "", ""},
		{"down", "l[1]", "", ""},
		{"up", "l", "", ""},
		{"down", "n", "", ""},
		{"insert", "l[1]", "", `{"l":[{"x":1},null,{"x":2}],"e":[],"n":5}`},
		{"insert", "l", "", `{"l":[{"x":1},{"x":2},null],"e":[],"n":5}`},
		{"insert", "e", "", `{"l":[{"x":1},{"x":2}],"e":[null],"n":5}`},
		{"insert", "n", "", ""},
		{"nothing", "n", "", ""},
	} {
		got, err := changedValue([]byte(value), &form{action: c.action, path: c.path, typed: c.typed})
		if c.want == "" && err == nil || c.want != "" && (err != nil || string(got) != c.want) {
			t.Errorf("%s %s: %s %v, want %s", c.action, c.path, got, err, c.want)
		}
	}
}
