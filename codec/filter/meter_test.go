package filter_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"wirebench/codec/filter"
)

// A regular expression with a short text can be a large program, which is rejected before it is compiled.
func TestLargeRegexp(t *testing.T) {
	w := fight(t)
	many := "bytes ~ \"x{900}\""
	for range 12 {
		many += " || bytes ~ \"x{900}\""
	}
	for text, want := range map[string]string{
		`bytes ~ "((.{1,10}a){99}b)+c{999}"`: "the regular expression is too large",
		`name ~ "((((a?){9}){9}){9}){1}"`:    "the regular expression is too large",
		`bytes ~ "(a|b|[c-d]+){600}"`:        "the regular expression is too large",
		`bytes ~ "x{1000}"`:                  "",
		many:                                 "the regular expressions of the filter are too large together",
	} {
		_, mistakes := filter.Compile(text, w.env)
		got := ""
		if len(mistakes) > 0 {
			got = mistakes[0].Message
		}
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%.60s: %q, want %q", text, got, want)
		}
	}
}

// An evaluation stops at any point when Done is closed.
func TestEvaluationStops(t *testing.T) {
	w := fight(t)
	blob := strings.Repeat("61", 30_000)
	x := w.frame(t, "S_FIGHT", 1, `{"blob":"`+blob+`","words":["`+strings.Repeat("a", 10_000)+`"],"ids":[`+strings.Repeat("1,", 1000)+`2]}`)
	rec := w.record(t, x)
	for _, text := range []string{
		`bytes ~ "(?:a?){800}a{800}b"`, `.blob ~ "(.*a.*){200}b"`, `lower(.words) ~ "(?:a?){800}a{800}b"`, `len(hex(.blob)) + .ids == 7`, `.blob[0:30000] ~ "[a-z]{1,999}b$"`,
	} {
		f, mistakes := filter.Compile(text, w.env)
		if len(mistakes) > 0 {
			t.Fatal(text, mistakes)
		}
		done := make(chan struct{})
		x.Done = done
		time.AfterFunc(20*time.Millisecond, func() { close(done) })
		if f.Match(x, rec) {
			t.Errorf("%s: matches", text)
		}
		if f.Unjudged() != 0 {
			t.Errorf("%s: counted as too costly", text)
		}
		f.Match(x, rec) // and so does the next, at once
		x.Done = nil
	}
}

// A frame that is too costly does not match, and is counted.
func TestCostlyFrame(t *testing.T) {
	if testing.Short() {
		t.Skip("an expression that takes seconds, with -short")
	}
	w := fight(t)
	x := w.frame(t, "S_FIGHT", 1, `{}`)
	x.Bytes = bytes.Repeat([]byte("a"), 1<<20)
	f, mistakes := filter.Compile(`not bytes ~ "(?:a?){800}a{800}b"`, w.env)
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	if f.Match(x, nil) || f.Unjudged() != 1 {
		t.Errorf("%d frames counted", f.Unjudged())
	}
}

// The result of a regular expression does not depend on how the value is read, which depends on its length.
func TestLongRegexp(t *testing.T) {
	w := fight(t)
	x := w.frame(t, "S_FIGHT", 1, `{}`)
	for _, c := range []struct {
		expression, tail string
		want             bool
	}{
		{"foo", "xfoo", true},
		{"foo.", "xfoo", false},
		{"foo$", "xfoo", true},
		{`^\x00*foo$`, "foo", true},
		{"^foo", "foo", false},
		{`\bfoo`, "a foo", true},
		{`\bfoo`, "afoo", false},
		{`foo\b`, "foo-", true},
		{`(?i)fOo`, "FoO", true},
		{`(?m)^foo`, "\nfoo", true},
		{`é+z`, "\xc3\xa9z", true},
		{`\xe9+z`, "\xe9z", true},
		{`[\x80-\xff]{3}$`, "\xff\x80\xfe", true},
		{`.\xff`, "a\xff", true},
		{`fo|ba[rz]+q`, "barzq", true},
	} {
		f, mistakes := filter.Compile("bytes ~ r`"+c.expression+"`", w.env)
		if len(mistakes) > 0 {
			if f, mistakes = filter.Compile(`bytes ~ r"`+c.expression+`"`, w.env); len(mistakes) > 0 {
				t.Fatal(c.expression, mistakes)
			}
		}
		for _, zeros := range []int{1, 100, 1 << 14, 1 << 17} {
			x.Bytes = append(make([]byte, zeros), c.tail...)
			if got := f.Match(x, nil); got != c.want {
				t.Errorf("%s after %d bytes: %v", c.expression, zeros, got)
			}
		}
	}
}
