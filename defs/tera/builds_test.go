package tera

import (
	"testing"

	"wirebench/defs/source"
)

func TestMapOptions(t *testing.T) {
	const revisions = `{"387396": "eu-100.2/99", "300000": "27", "1": "x-y", "2": "-"}`
	for _, c := range []struct{ name, text, revisions, want string }{
		{"protocol.387396.map", "A 1\n", revisions, "100.20"},
		{"maps/protocol.300000.map", "A 1\n", revisions, "27"},
		{"protocol.373824.map", "A 1\n", revisions, "98.02"},
		{"protocol.373824.map", "A 1\n", "", "98.02"},
		{"protocol.373824.map", "A 1\n", `{"373824": "na-99.01"}`, "99.01"},
		{"protocol.1.map", "A 1\n", revisions, ""},
		{"protocol.2.map", "A 1\n", revisions, ""},
		{"protocol.3.map", "A 1\n", revisions, ""},
		{"protocol.3.map", "A 1\n", `["a"]`, ""},
		{"other.map", "# opcodes of patch 92.03\nA 1\n", "", "92.03"},
		{"protocol.387396.map", "\n# Version: eu-91\nA 1\n", revisions, "91"},
		{"protocol.387396.map", "A 1 # patch 12\n", "", ""},
		{"sysmsg.98.map", "A 1\n", "", ""},
	} {
		if got := MapOptions(source.New(c.name, c.text), []byte(c.revisions))["patch"]; got != c.want {
			t.Errorf("%s %q: %q, want %q", c.name, c.text, got, c.want)
		}
	}
}
