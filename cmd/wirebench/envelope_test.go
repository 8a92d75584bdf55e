package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An envelope with mistakes is reported, and no other one is looked for in its place.
func TestEnvelopeWithMistakes(t *testing.T) {
	dir := t.TempDir()
	library := filepath.Join("..", "..", "defs", "library", "protodef")
	definitions, err := os.ReadFile(filepath.Join(library, "harbor.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"harbor.json": string(definitions), "protocol.envelope": "frame lenght varint\ncode varint\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, errs, status := cli(t, "", "frames", "--library", dir, filepath.Join(library, "demo.pcapng"))
	if status == exitOK || out != "" || !strings.Contains(errs, `did you mean "length"?`) {
		t.Errorf("%d %s %s", status, out, errs)
	}
	out, errs, status = cli(t, "", "check", dir)
	if status == exitOK || !strings.Contains(out, `protocol.envelope:1:7: error: "lenght"`) {
		t.Errorf("%d %s %s", status, out, errs)
	}
	if err := os.Remove(filepath.Join(dir, "protocol.envelope")); err != nil {
		t.Fatal(err)
	}
	out, errs, status = cli(t, "", "frames", "--library", dir, filepath.Join(library, "demo.pcapng"))
	if status != exitOK || !strings.Contains(errs, "found an envelope") || !strings.Contains(out, "harbor") {
		t.Errorf("%d %.300s %s", status, out, errs)
	}
}
