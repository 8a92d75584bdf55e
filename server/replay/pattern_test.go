package replay

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
	for _, test := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "abc", true},
		{"a*", "abc", true},
		{"*c", "abc", true},
		{"a*c*", "abcd", true},
		{"a*d*c", "abcd", false},
		{"abc", "abcd", false},
		{"**b**", "abc", true},
		{strings.Repeat("*a", 100) + "b", strings.Repeat("a", 1000), false},
	} {
		if got := glob(test.pattern, test.text); got != test.want {
			t.Errorf("%q of %q: %v", test.pattern, test.text, got)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, test := range []struct {
		pattern, message, path string
		want                   bool
	}{
		{"S_PING", "S_PING", "", true},
		{"S_*", "S_PING", "", true},
		{"S_PING.n", "S_PING", "", false},
		{"*.time", "S_PING", "time", true},
		{"*.members.id", "S_PARTY", "members[3].id", true},
		{"*.members[3].id", "S_PARTY", "members[3].id", true},
		{"*.members[2].id", "S_PARTY", "members[3].id", false},
		{"S_PING", "S_PING", "n", false},
	} {
		p := parsePattern(test.pattern)
		got := p.matches(test.message)
		if test.path != "" {
			got = p.matchesField(test.message, test.path)
		}
		if got != test.want {
			t.Errorf("%q of %s.%s: %v", test.pattern, test.message, test.path, got)
		}
	}
}

func TestSubstituted(t *testing.T) {
	vars := map[string]json.RawMessage{"n": []byte("5"), "big": []byte(`"18446744073709551615"`), "s": []byte(`"a\"b"`), "neg": []byte("-1")}
	for _, test := range []struct{ value, path, expr, want string }{
		{`{"a":1}`, "a", "$n", `{"a":5}`},
		{`{"a":1}`, "b", "$n", `{"a":1,"b":5}`},
		{`{"a":1}`, "a", "$n+7", `{"a":12}`},
		{`{"a":"1"}`, "a", "$big-1", `{"a":"18446744073709551614"}`},
		{`{"a":1}`, "a", "$big", `{"a":18446744073709551615}`},
		{`{"a":""}`, "a", "$s", `{"a":"a\"b"}`},
		{`{"a":[{"b":1},{"b":2}]}`, "a[1].b", "$neg", `{"a":[{"b":1},{"b":-1}]}`},
		{`{"a":[[1,2]]}`, "a[0][1]", "$n", `{"a":[[1,5]]}`},
		{`{"a":[1]}`, "a[1]", "$n", "no such field"},
		{`{"a":1}`, "a.b", "$n", "no such field"},
		{`{"a":1}`, "a", "$x", "$x"},
		{`{"a":1}`, "a", "$s+1", "not an integer"},
		{`[]`, "a", "$n", "no such field"},
		{`{`, "a", "$n", "unexpected"},
	} {
		sets, err := settings(map[string]string{test.path: test.expr}, "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := substituted([]byte(test.value), sets, vars)
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s %s=%s: %v", test.value, test.path, test.expr, err)
			}
			continue
		}
		if string(got) != test.want {
			t.Errorf("%s %s=%s: %s, want %s", test.value, test.path, test.expr, got, test.want)
		}
	}
}

// The inbox is bounded in number and size, and drops the oldest messages first.
func TestInbox(t *testing.T) {
	var b inbox
	over := 0
	for i := range 3 * maxInbox {
		a := &arrived{}
		a.Bytes = make([]byte, 1+i%100)
		over += len(b.put(a))
	}
	if len(b.list) != maxInbox || over != 2*maxInbox {
		t.Errorf("%d wait, %d are over", len(b.list), over)
	}
	big := &arrived{}
	big.Bytes = make([]byte, maxInboxBytes)
	if got := len(b.put(big)); got != maxInbox || len(b.list) != 1 {
		t.Errorf("%d are over, %d wait", got, len(b.list))
	}
	if b.take(func(a *arrived) bool { return a == big }) != big || b.bytes != 0 || b.take(func(*arrived) bool { return true }) != nil {
		t.Error("a taken message is still there")
	}
}
