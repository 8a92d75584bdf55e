package main

import (
	"fmt"
	"strings"
	"testing"
)

// The command line reads what it prints.
func TestPipes(t *testing.T) {
	capture := "../../defs/library/tera/demo.pcapng"
	frames := func(more ...string) string {
		t.Helper()
		out, errs, status := cli(t, "", append([]string{"frames", "--protocol", "tera", "--kind", "message", "--filter", "state == clean"}, append(more, capture)...)...)
		if status != 0 || out == "" {
			t.Fatalf("%d %s", status, errs)
		}
		return out
	}
	decode := []string{"decode", "--protocol", "tera", "--json"}
	hex := frames("--columns", "hex")
	_, lines, _ := strings.Cut(hex, "\n")
	want, errs, _ := cli(t, lines, decode...)
	if n := strings.Count(lines, "\n"); n < 5 || strings.Count(want, `"status":"ok"`) != n {
		t.Fatalf("%d lines, %s %s", n, want, errs)
	}
	for from, text := range map[string]string{"hex": hex, "columns": frames("--columns", "n,name,hex,t"), "json": frames("--json", "--value")} {
		if got, errs, status := cli(t, text, decode...); got != want || status != 0 {
			t.Errorf("%s: %d %s\n%.2000s\nwant\n%.2000s", from, status, errs, got, want)
		}
	}
	encoded, errs, status := cli(t, want, "encode", "--protocol", "tera", "--json")
	if got, _, _ := cli(t, encoded, decode...); got != want || status != 0 {
		t.Errorf("decode, encode, decode: %d %s\n%.2000s\nwant\n%.2000s", status, errs, got, want)
	}
	if _, errs, status := cli(t, `{"message":"x","version":1,"status":"incomplete","used":1,"value":{},"problems":[]}`+"\n", "encode", "--protocol", "tera"); status != 1 || !strings.Contains(errs, "not that of a whole message") {
		t.Errorf("%d %s", status, errs)
	}
	if _, errs, status := cli(t, "{}\n", "encode", "--protocol", "tera"); status != 1 || !strings.Contains(errs, "give --message NAME") {
		t.Errorf("%d %s", status, errs)
	}
	if _, _, status := cli(t, `{"hexx":1}`+"\n", decode...); status != 1 {
		t.Error("an unknown key is no error")
	}
}

// Times of frames do not depend on the filter, and several captures are listed with numbers that go on.
func TestFramesOfSeveralCaptures(t *testing.T) {
	capture := "../../defs/library/tera/demo.pcapng"
	args := []string{"frames", "--protocol", "tera", "--columns", "n,t"}
	all, _, _ := cli(t, "", append(args, capture)...)
	some, _, _ := cli(t, "", append(args, "--filter", "n >= 5", capture)...)
	_, rows, _ := strings.Cut(some, "\n")
	if rows == "" || !strings.HasSuffix(all, rows) {
		t.Errorf("%s\nis no part of\n%s", some, all)
	}
	twice, errs, status := cli(t, "", append(args, capture, capture)...)
	n := strings.Count(all, "\n") - 1
	if status != 0 || strings.Count(twice, "\n") != 2*n+1 || !strings.Contains(twice, fmt.Sprintf("\n%d\t", 2*n)) || strings.Count(errs, "frames\n") != 2 {
		t.Errorf("%d %s\n%s", status, errs, twice)
	}
}

// One reason is reported once for lines in a row, with their numbers.
func TestEncodeEqualErrors(t *testing.T) {
	out, errs, status := cli(t, strings.Repeat(`{"no":1}`+"\n", 1000)+"[]\n{\n", "encode", "--protocol", "muta", "--group", "svmsg", "--message", "login_result")
	if status != 1 || strings.Count(out, "\n") != 1002 || strings.Count(errs, "\n") > 6 || !strings.Contains(errs, "lines 2 to 1000: the same, 999 lines") {
		t.Errorf("%d, %d lines\n%s", status, strings.Count(out, "\n"), errs)
	}
}
