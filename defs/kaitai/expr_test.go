package kaitai

import (
	"strconv"
	"strings"
	"testing"
)

// write returns an expression with all its brackets.
func write(e *ex) string {
	args := make([]string, len(e.args))
	for i, a := range e.args {
		args[i] = write(a)
	}
	path := strings.Join(e.path, "::")
	if e.list {
		path += "[]"
	}
	switch e.kind {
	case exInt:
		return strconv.FormatUint(e.int, 10)
	case exFloat:
		return strconv.FormatFloat(e.float, 'g', -1, 64)
	case exStr:
		return strconv.Quote(e.name)
	case exFormat:
		return "f(" + strings.Join(args, ", ") + ")"
	case exBool:
		return strconv.FormatBool(e.int != 0)
	case exName:
		return e.name
	case exArray:
		return "[" + strings.Join(args, ", ") + "]"
	case exEnum:
		return path
	case exAttr:
		return args[0] + "." + e.name
	case exCall:
		return args[0] + "." + e.name + "(" + strings.Join(args[1:], ", ") + ")"
	case exIndex:
		return args[0] + "[" + args[1] + "]"
	case exCast:
		return args[0] + ".as<" + path + ">"
	case exUnary:
		return "(" + e.name + " " + args[0] + ")"
	case exBinary:
		return "(" + args[0] + " " + e.name + " " + args[1] + ")"
	case exCond:
		return "(" + args[0] + " ? " + args[1] + " : " + args[2] + ")"
	}
	return e.name + "<" + path + ">"
}

// TestExpr checks what expressions mean.
func TestExpr(t *testing.T) {
	for text, want := range map[string]string{
		"1 + 2 * 3":                       "(1 + (2 * 3))",
		"(1 + 2) * 3":                     "((1 + 2) * 3)",
		"a - b - c":                       "((a - b) - c)",
		"-a % ~b":                         "((- a) % (~ b))",
		"1 << 2 + 3":                      "(1 << (2 + 3))",
		"a & b | c ^ d":                   "((a & b) | (c ^ d))",
		"a & 1 == 0":                      "((a & 1) == 0)",
		"not a == b and c or d":           "(((not (a == b)) and c) or d)",
		"not not a":                       "(not (not a))",
		"a ? b : c ? d : e":               "(a ? b : (c ? d : e))",
		"0x_ff + 0b1_0 + 0o17 + 1_000":    "(((255 + 2) + 15) + 1000)",
		"18446744073709551615":            "18446744073709551615",
		"1.5e3 + 2.0":                     "(1500 + 2)",
		"3. / 1.":                         "(3 / 1)",
		"5.to_s":                          "5.to_s",
		`"a\n\x" `:                        "unknown escape \\x",
		`"a\n\t\"\u263a\101"`:             `"a\n\t\"☺A"`,
		`'a\n'`:                           `"a\\n"`,
		`"a" "b"`:                         `"ab"`,
		"a::b::c":                         "a::b::c",
		"x.y.z(1, q)[2].as<a::b>.w":       "x.y.z(1, q)[2].as<a::b>.w",
		"x.as<u4[]>":                      "x.as<u4[]>",
		"sizeof<a::b> + bitsizeof<b12>":   "(sizeof<a::b> + bitsizeof<b12>)",
		"[1, 2,]":                         "[1, 2]",
		"[]":                              "[]",
		`f"a{x + 1}b{y}"`:                 `f("a", (x + 1), "b", y)`,
		"_io.size - _io.pos":              "(_io.size - _io.pos)",
		"true and false":                  "(true and false)",
		"as.as":                           "as.as",
		"":                                "a value is missing",
		"a b":                             `"b" is left over`,
		"(a":                              `")" is missing`,
		"a ? b":                           `":" is missing`,
		`"a`:                              "the text has no end",
		"a $ b":                           `unexpected "$"`,
		"a.":                              "a name is missing",
		"99999999999999999999":            "an integer of more than 64 bits, or malformed",
		"0x":                              "an integer of more than 64 bits, or malformed",
		`f"{a"`:                           `the text has no end`,
		strings.Repeat("(", 200) + "1":    "the expression is nested too deeply",
		strings.Repeat("-", 200) + "1":    "the expression is nested too deeply",
		"1" + strings.Repeat("+1", 20000): "the expression is too long",
	} {
		e, err := parseExpr(text)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = write(e)
			if again, err := parseExpr(got); e.kind != exFormat && (err != nil || write(again) != got) {
				t.Errorf("%s: %s is read as something else", text, got)
			}
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestExprPlaces checks the places of errors and of parts.
func TestExprPlaces(t *testing.T) {
	const text = `ab + f"x{ cd }" * ef[1]`
	e, err := parseExpr(text)
	if err != nil {
		t.Fatal(err)
	}
	var walk func(e *ex)
	walk = func(e *ex) {
		if e.kind == exName && text[e.from:e.to] != e.name {
			t.Errorf("%s is at %q", e.name, text[e.from:e.to])
		}
		if e.kind == exIndex && text[e.from:e.to] != "ef[1]" {
			t.Errorf("the element is at %q", text[e.from:e.to])
		}
		for _, a := range e.args {
			walk(a)
		}
	}
	walk(e)
	_, err = parseExpr(`1 + f"x{ c $ }"`)
	if x, ok := err.(*exprError); !ok || x.from != 11 {
		t.Errorf("the error is %+v", err)
	}
}
