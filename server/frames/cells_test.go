package frames

import (
	"testing"

	"wirebench/defs/schema"
)

// TestBelowMessage checks that columns name messages as filters do.
func TestBelowMessage(t *testing.T) {
	msg := &schema.Message{Name: "S_CHAT", Version: 2, Key: schema.Key{Group: "core"}}
	for path, want := range map[string]string{
		".text": ".text", ".at.x": ".at.x", "*.text": "text", "S_CHAT.text": "text", "S_*.at.x": "at.x", "S_CHAT.2.text": "text", "S_CHAT.1.text": "",
		"*.2.text": "text", "core.text": "text", "core.S_CHAT.text": "text", "C_CHAT.text": "", "text": "", "": "",
	} {
		if got := BelowMessage(path, msg); got != want {
			t.Errorf("%q is %q below the message, want %q", path, got, want)
		}
	}
}
