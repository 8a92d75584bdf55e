package docs

import (
	"regexp"
	"testing"

	"wirebench/defs/envelope"
)

// Each word that an envelope may have is in the manual, as code.
func TestWordsOfEnvelopes(t *testing.T) {
	text, err := files.ReadFile("define.md")
	if err != nil {
		t.Fatal(err)
	}
	var code []byte
	for _, part := range regexp.MustCompile("`[^`\n]+`").FindAll(text, -1) {
		code = append(append(code, part...), ' ')
	}
	for _, w := range envelope.Language().Words {
		if !regexp.MustCompile("[ `[]" + regexp.QuoteMeta(w.Name) + "[ `]").Match(code) {
			t.Errorf("define.md lacks the word %s: %s", w.Name, w.Doc)
		}
	}
}
