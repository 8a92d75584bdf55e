package filter_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/defs/benchtest"
	"wirebench/defs/schema"
)

// values and conditions to generate filters from; all are valid for the definitions of fight.
var (
	drawnNumbers = []string{"op", "len", "n", "depth", ".channel", ".damage", ".ids", ".members.level", ".members.items.id", "S_FIGHT.flags", ".skill.id", "count(.members)", "len(.words)", "u16le(bytes[0:2])", ".x", ".d", "$me", "bytes[3]"}
	drawnTexts   = []string{"name", ".message", "S_CHAT.author", ".words", ".members.name", "lower(.message)", "note", "conn", "info", ".message[0:2]"}
	drawnBytes   = []string{"bytes", ".blob", "bytes[2:2]", ".blob[1:]", "@.damage"}
	drawnLetters = []string{"lfg", "a", "Lann", "é", `q\"\\\n`, "S_"}
)

func drawNumber(t *rapid.T, depth int) string {
	switch rapid.IntRange(0, 9).Draw(t, "number") {
	case 0, 1, 2:
		return fmt.Sprint(rapid.SampledFrom([]int64{0, 1, 2, 3, 5, 60, -250, 500, 9938, 1 << 40}).Draw(t, "integer"))
	case 3:
		return rapid.SampledFrom([]string{"0.1", "2.5", "1e3", "0x1F"}).Draw(t, "float")
	case 4:
		if depth > 0 {
			op := rapid.SampledFrom([]string{"+", "-", "*", "/", "%"}).Draw(t, "op")
			return "(" + drawNumber(t, depth-1) + " " + op + " " + drawNumber(t, depth-1) + ")"
		}
	case 5:
		if depth > 0 {
			return "-" + drawNumber(t, depth-1)
		}
	}
	return rapid.SampledFrom(drawnNumbers).Draw(t, "field")
}

func drawCondition(t *rapid.T, depth int) string {
	quant := rapid.SampledFrom([]string{"", "", "any ", "all "}).Draw(t, "quant")
	text := func() string { return `"` + rapid.SampledFrom(drawnLetters).Draw(t, "text") + `"` }
	switch rapid.IntRange(0, 12).Draw(t, "condition") {
	case 0:
		return quant + rapid.SampledFrom(drawnTexts).Draw(t, "field") + rapid.SampledFrom([]string{" == ", " != ", " contains ", " > "}).Draw(t, "op") + text()
	case 1:
		return quant + rapid.SampledFrom(drawnBytes).Draw(t, "field") + " contains " + rapid.SampledFrom([]string{`x"?? 00"`, "u16le(500)", `utf16("a")`, "f32(0.1, 0.5)", `"a"`}).Draw(t, "bytes")
	case 2:
		return quant + rapid.SampledFrom(drawnTexts).Draw(t, "field") + ` ~ "` + rapid.SampledFrom([]string{"^S_", "a+", "[a-z]*$"}).Draw(t, "pattern") + `"`
	case 3:
		not := rapid.SampledFrom([]string{"", "not "}).Draw(t, "not")
		return quant + rapid.SampledFrom(drawnNumbers[:16]).Draw(t, "field") + " " + not + "in {1, 3..7, -250, 0x26d2, " + fmt.Sprint(rapid.IntRange(0, 100).Draw(t, "n")) + "}"
	case 4:
		return rapid.SampledFrom([]string{"C_CHAT", "S_CHAT", "S_*", "S_CHAT.2", ".crit", ".members", "op", "mark", "injected", "dir == c2s", "state == clean", "S_PARTY_LOST", "kind != message"}).Draw(t, "name")
	case 5, 6:
		if depth > 0 {
			return "(" + drawCondition(t, depth-1) + rapid.SampledFrom([]string{" && ", " || ", " and ", " or "}).Draw(t, "op") + drawCondition(t, depth-1) + ")"
		}
	case 7:
		if depth > 0 {
			return "!(" + drawCondition(t, depth-1) + ")"
		}
	case 8:
		return quant + drawNumber(t, 0) + " & 4 == " + drawNumber(t, 1)
	}
	return quant + drawNumber(t, 2) + " " + rapid.SampledFrom([]string{"==", "!=", "<", "<=", ">", ">=", "eq", "ne"}).Draw(t, "op") + " " + drawNumber(t, 2)
}

// TestFilterProperties checks for any filter: printing yields the same filter; double negation has no effect; operands decide "and" and
// "or"; the index never contradicts the record; any and all are dual.
func TestFilterProperties(t *testing.T) {
	w := fight(t)
	w.env.Values = map[string]string{"me": "5"}
	frames := fightFrames(t, w)
	rapid.Check(t, func(r *rapid.T) {
		match := func(text string) string {
			f, mistakes := filter.Compile(text, w.env)
			if len(mistakes) > 0 {
				return "mistake"
			}
			return matching(t, w, frames, fightOrder, f)
		}
		a, b := drawCondition(r, 3), drawCondition(r, 2)
		inA, inB := match(a), match(b)
		printed, ok := filter.Print(a)
		if !ok {
			r.Fatalf("%s cannot be read", a)
		}
		if again, ok := filter.Print(printed); !ok || again != printed {
			r.Fatalf("%s is printed as %s, and that as %s", a, printed, again)
		}
		if got := match(printed); got != inA {
			r.Fatalf("%s matches %s, but %s matches %s", a, inA, printed, got)
		}
		if inA == "mistake" || inB == "mistake" {
			return
		}
		if got := match("not (not (" + a + "))"); got != inA {
			r.Fatalf("not not %s matches %s, not %s", a, got, inA)
		}
		var and, or, not strings.Builder
		for _, c := range fightOrder {
			x, y := strings.ContainsRune(inA, c), strings.ContainsRune(inB, c)
			if x && y {
				and.WriteRune(c)
			}
			if x || y {
				or.WriteRune(c)
			}
			if !x {
				not.WriteRune(c)
			}
		}
		for text, want := range map[string]string{
			"(" + a + ") and (" + b + ")": and.String(),
			"(" + a + ") or (" + b + ")":  or.String(),
			"not (" + a + ")":             not.String(),
		} {
			if got := match(text); got != want {
				r.Fatalf("%s matches %s, want %s", text, got, want)
			}
		}
	})
}

// TestJoin compares two lists with join and pair by pair.
func TestJoin(t *testing.T) {
	w := newWorldOf(t, "array<int16> a\narray<double> b\narray<string> s\narray<string> u\n")
	ops := map[string]func(d int) bool{
		"==": func(d int) bool { return d == 0 }, "!=": func(d int) bool { return d != 0 },
		"<": func(d int) bool { return d < 0 }, "<=": func(d int) bool { return d <= 0 },
		">": func(d int) bool { return d > 0 }, ">=": func(d int) bool { return d >= 0 },
	}
	rapid.Check(t, func(r *rapid.T) {
		numbers := rapid.SliceOfN(rapid.IntRange(-2, 2), 0, 4)
		a, b := numbers.Draw(r, "a"), numbers.Draw(r, "b")
		list := func(v []int, quote string) string {
			parts := make([]string, len(v))
			for i := range v {
				parts[i] = quote + fmt.Sprint(v[i]+2) + quote
				if quote == "" {
					parts[i] = fmt.Sprint(v[i])
				}
			}
			return "[" + strings.Join(parts, ",") + "]"
		}
		x := w.frame(t, "C_ONE", 0, fmt.Sprintf(`{"a":%s,"b":%s,"s":%s,"u":%s}`, list(a, ""), list(b, ""), list(a, `"`), list(b, `"`)))
		rec := w.record(t, x)
		for op, fits := range ops {
			some, every := false, len(a) > 0 && len(b) > 0
			for _, i := range a {
				for _, k := range b {
					if fits(i - k) {
						some = true
					} else {
						every = false
					}
				}
			}
			plain := some
			if op == "!=" {
				plain = every
			}
			for quant, want := range map[string]bool{"": plain, "any ": some, "all ": every} {
				for _, sides := range [...][2]string{{".a", ".b"}, {".s", ".u"}} {
					text := quant + sides[0] + " " + op + " " + sides[1]
					f, mistakes := filter.Compile(text, w.env)
					if len(mistakes) > 0 {
						r.Fatal(mistakes)
					}
					if got := f.Match(x, rec); got != want {
						r.Fatalf("%s with %v and %v: %v", text, a, b, got)
					}
				}
			}
		}
	})
}

// TestLongLists checks that no comparison takes quadratic time in the size of a message.
func TestLongLists(t *testing.T) {
	w := newWorldOf(t, "array<int16> a\narray<int32> b\nbytes c\n")
	many := strings.Repeat("7,", 8000) + "7"
	x := w.frame(t, "C_ONE", 0, `{"a":[`+many[:6000]+`7],"b":[`+many[:6000]+`7],"c":"`+strings.Repeat("ab", 10000)+`"}`)
	rec := w.record(t, x)
	for _, text := range []string{
		".a == .b - 1", ".a != .b", "any .a != .b", ".a + .b == 15", ".a * .b + .a == 3", "all .a >= .b", `.c contains x"` + strings.Repeat("ab ?b ", 120) + `ac"`,
		`.c ~ "(ab?)*(ab)*c$"`, "count(.a) + count(.b) == len(.a) * 2",
	} {
		f, mistakes := filter.Compile(text, w.env)
		if len(mistakes) > 0 {
			t.Fatal(text, mistakes)
		}
		began := time.Now()
		f.Match(x, rec)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s takes %v", text, took)
		}
	}
}

// TestSize checks the bounds of a filter's text and of its conditions for many messages.
func TestSize(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	w := fight(t)
	for _, text := range []string{
		strings.Repeat("(", 5000), strings.Repeat("!", 8000), strings.Repeat("-", 8000) + "1 == 1", strings.Repeat("a", filter.MaxText+1),
		strings.Repeat("lower(", 1000), "name ~ \"" + strings.Repeat("(a*)*", 300) + "\"", "op in {" + strings.Repeat("1,", 4000),
		"." + strings.Repeat("a.", 4000) + "a == 1", ".ids" + strings.Repeat("[0]", 2000) + " == 1",
	} {
		if _, mistakes := filter.Compile(text, w.env); len(mistakes) == 0 {
			t.Errorf("%.40s...: no mistake", text)
		}
	}
	for _, text := range []string{
		"op == 1" + strings.Repeat(" || op == 1", 700), "1" + strings.Repeat(" + 1", 2000) + " == 2001", strings.Repeat("!", 60) + "C_CHAT", "op in {1" + strings.Repeat(",1", 4000) + "}",
	} {
		if _, mistakes := filter.Compile(text, w.env); len(mistakes) > 0 {
			t.Errorf("%.40s...: %v", text, mistakes)
		}
	}
	s := &schema.Schema{}
	body := w.schema.Find("S_FIGHT", 0).Body
	for i := range 20000 {
		s.Messages = append(s.Messages, &schema.Message{Name: fmt.Sprintf("M%d", i), Version: 1, Body: body})
	}
	program, err := codec.Compile(s.Messages[0])
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	_, mistakes := filter.Compile(".damage == 1"+strings.Repeat(" || .damage == .flags", 380), filter.Env{Schema: s, Program: func(m *schema.Message) (*codec.Program, error) {
		looked++
		p := *program
		p.Message = m
		return &p, nil
	}})
	if len(mistakes) != 1 || !strings.Contains(mistakes[0].Message, "too large") {
		t.Errorf("%+v", mistakes)
	}
	if looked == 0 || looked > len(s.Messages)/20 {
		t.Errorf("that is seen after %d messages of %d", looked, len(s.Messages))
	}
}

func FuzzCompile(f *testing.F) {
	for _, text := range []string{
		`C_CHAT.message contains "x" && !(dir == c2s)`, "all .ids in {1..5, 7}", "= 48211", "~b a", "party", "u16le(bytes[2:2]) == op", `bytes contains x"de ?? be"`, "any .members[*].items[0].id != $me + 1",
		`.words[2][0] == "\u00e9"`, "S_*.2.x", "@.blob[1-3] == 00:01", "1..5", "time > \"10:00\"", "$sel.members.name == .author", "core.type == 3", "op in {", `r"a" 'b'`, "0b1 & 0x2 % 3 / -4.5e-7",
		`bytes ~ r"[^]\xd0]\Q日\E(?i)日"`, "count(from) > count(via)", "tag == boss", "@.at.pos contains 00:00", "all @.path == @.at.pos", "op in {S_CHAT, S_*}", "len(@.members) > 3", "build == $build",
		"u16" + strings.Repeat("\x96", 1000), // its full form is longer than a filter may be
	} {
		f.Add(text)
	}
	w := fight(f)
	w.env.Values = map[string]string{"me": "5", "who": "x", "build": "7"}
	frames := fightFrames(f, w)
	w.env.Selected = frames["p"]
	f.Fuzz(func(t *testing.T, text string) {
		began := time.Now()
		defer func() {
			if took := time.Since(began); took > time.Minute {
				t.Errorf("%q takes %v", text, took)
			}
		}()
		compiled, mistakes := filter.Compile(text, w.env)
		for _, m := range mistakes {
			if m.Start < 0 || m.End < m.Start || m.End > len(text) || m.Message == "" {
				t.Errorf("%q: %+v", text, m)
			}
		}
		if !slices.IsSortedFunc(mistakes, func(a, b filter.Mistake) int { return a.Start - b.Start }) {
			t.Errorf("%q: mistakes are in no order: %+v", text, mistakes)
		}
		got := matching(t, w, frames, fightOrder, compiled)
		if len(mistakes) > 0 && got != "" {
			t.Errorf("%q: matches %s with a mistake", text, got)
		}
		if len(mistakes) == 0 && len(text) < 2000 {
			if printed, ok := filter.Print(text); ok {
				again, ok := filter.Print(printed)
				if !ok || again != printed {
					t.Errorf("%q is printed as %q, and that as %q", text, printed, again)
				}
			}
			if r := compiled.Rewritten(); r != "" {
				same, mistakes := filter.Compile(r, w.env)
				if len(mistakes) > 0 || matching(t, w, frames, fightOrder, same) != got {
					t.Errorf("%q is rewritten as %q, which is another filter: %+v", text, r, mistakes)
				}
			}
		}
		for _, caret := range []int{0, len(text) / 2, len(text)} {
			start, options := filter.Complete(text, caret, w.env)
			if start < 0 || start > caret || len(options) > 100 {
				t.Errorf("%q at %d: from %d, %d options", text, caret, start, len(options))
			}
		}
	})
}
