package workspace

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// Lines of hex are messages if their lengths say so, or if nobody wraps text at such lengths; a log is believed about the names of messages.
func TestLinesAndNames(t *testing.T) {
	s := built(t, fstest.MapFS{
		"C_A.1.def": {Data: []byte("uint32 a\n")}, "C_A.2.def": {Data: []byte("uint32 b\n")}, "S_B.1.def": {Data: []byte("uint32 b\n")},
		"protocol.1.map": {Data: []byte("S_B 9\n")},
	})
	for _, c := range []struct{ text, want string }{
		{"0800090001000000\n0800090002000000", "hex-lines: S_B S_B"},                                                             // of a width at which text is wrapped
		{"1000090001000000\n0000000000000000", "hex: S_B"},                                                                       // one message
		{"0a000900010000000000\n080009000200\n0000", "hex: S_B"},                                                                 // neither
		{"[23:59:50.380] -> C_A.1\n08001234 01000000\n[23:59:50.390] <- S_B\n08000900 02000000\n", "tera-log: C_A S_B"},          // no code of C_A is known
		{"[23:59:50.380] -> C_A\n08001234 01000000\n[23:59:50.390] <- S_UNKNOWN.4\n08000900 02000000\n", "tera-log: C_A S_B"},    // by its code
		{"[23:59:50.380] -> C_A.7\n08001234 01000000\n[23:59:50.390] <- S_NONE.4\n0800aaaa 02000000\n", "tera-log: C_A unknown"}, // another version
	} {
		j := &Input{Snap: s}
		if err := j.ReadPaste(c.text, ""); err != nil || j.PasteErr != nil {
			t.Fatal(err, j.PasteErr)
		}
		var names []string
		for i := range j.Messages {
			res := j.Decode(i)
			if res.Message == "" {
				res.Message = res.Status
			}
			names = append(names, res.Message)
		}
		if got := fmt.Sprintf("%s: %s", j.Paste.Form, strings.Join(names, " ")); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

// A page's form may be a pattern of the user's own.
func TestOwnPattern(t *testing.T) {
	for form, want := range map[string]string{OwnPattern + `=(?<data>\w+)`: "Own pattern", OwnPattern: "Hex among words", OwnPattern + "(": "pattern: missing closing )"} {
		got := ""
		if p, err := Recognise("data=01020a0b", form); err != nil {
			got = err.Error()
		} else {
			got = p.Title
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", form, got, want)
		}
	}
}
