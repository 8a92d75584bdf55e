package paste

import (
	"strings"
	"testing"
	"time"

	"wirebench/codec/packettest"
)

// TestHostileTextsAreLinear reads texts that take a quadratic reader many times the limit, which is a hundred times the time of a linear
// one.
func TestHostileTextsAreLinear(t *testing.T) {
	const size = 128 << 10
	for _, piece := range []string{
		`"\`, `\"`, `'''`, `''' `, "`", `"ab" `, `"ab";`, `"\x41";`, `"a",`, "/*", "//", "#",
		"{", "[", "[1,", "[1];", "]{}", "a=[];", "a = (", "const a = [01,02];", "1,", "0x", "'a',",
		`{"a":[`, `{"a":1}`, `{"a":{`, `[{"a":`, `{"hex":"00"},`,
		"5f00 ", "00\n\n", "00 \n", "0", "\n", "\n ", " ", "I ", "*\n", "0 *\n",
		"000 00\n", "0000: 41\n", "00000000: 41  A\n00000000: 4\n", "00000000  00\n    00000000  00\n", "0000000 0000\n", "0000   41   A\n0001\n",
		"0x10:\t0x41\n", "00000000`00000000 ", "=", "AA==\n", "A ", "AAAA", "a: !!binary |\n  QQ==\n", "!!binary\n", "Node 0: a\n",
		"[00:00:00.000] -> A\n00\n", "[00:00:00.000] -> A\n", "char peer0_0[] = {\n", "\"a\"\n,", "a,b\n", "\t00\n00\n",
		"data: 1600f9bc\n", "a 16 00 f9 bc ", "16 00 f9 bc) ", "1600 ", "data=", "a=AAAA", "in ", "-> ", "12:00:00 ", "recv:\n1600\n", "16 00 f9 bc g\n",
		"| 41 |\n", "|0000| 41 |A|\n", "│ 41 ┊ ", "│", "+-", "0 1 2 3 4 5 6 7 ", " 41 42  AB\n", "a:\n 41 42  AB\n", "x\n00000000: 4142  AB\n",
		".byte 0x26\n", "db 26h, ", "p: db 1\n", "(byte)", "(byte)0x26,", "byte(", "static_cast<", "<<", "<<16#26,", "0x26u8, ", "$26 ", "#x26 ", "8'h26,", "[|1;", "16#",
		`b"\x41" + `, `"4142" `, "\"4142\"\n", `x_len = 5;`, "a = {1};\n", "{300};", "/*\n*/1;",
	} {
		text := strings.Repeat(piece, size/len(piece))
		for _, text := range []string{text, "0000 00\n" + text, "x = [" + text} {
			start := time.Now()
			_, _ = Recognise(text)
			if took := time.Since(start); took > time.Minute {
				t.Errorf("%d bytes of %q took %v", len(text), piece, took)
			}
		}
	}
}

// TestEveryFormStandsEveryText reads texts of each form as every other form: the wrong choice yields an error or other bytes, but no panic.
func TestEveryFormStandsEveryText(t *testing.T) {
	b := packettest.Samples()[22]
	for _, form := range Forms() {
		for name, spec := range dumpSpecs {
			check(t, form.ID, name, spec.render(b))
		}
		for name, render := range renderers {
			check(t, form.ID, name, render(b))
		}
	}
}

func check(t *testing.T, form, name, text string) {
	t.Helper()
	p, err := RecogniseAs(text, form)
	switch e, _ := err.(*Error); {
	case err == nil && (p.Form != form || len(p.Messages) == 0):
		t.Errorf("%s as %s: %+v", name, form, p)
	case err != nil && (e == nil || e.Message == "" || e.Form != form):
		t.Errorf("%s as %s: %+v", name, form, err)
	}
}
