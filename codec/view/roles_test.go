package view

import (
	"os"
	"strings"
	"testing"

	"wirebench/codec"
)

// The page explains each role of a number that is not a value.
func TestRolesAreExplained(t *testing.T) {
	text, err := os.ReadFile("../../web/src/message/roles.ts")
	if err != nil {
		t.Fatal(err)
	}
	for r := codec.RoleValue + 1; r <= codec.RoleTag; r++ {
		if r != codec.RoleGap && !strings.Contains(string(text), "\n  "+r.String()+`: "`) {
			t.Errorf("%s is not explained", r)
		}
	}
}
