package captures

import (
	"fmt"
	"strings"
	"testing"

	"wirebench/codec/capture"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/defs/schema"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Keys and framing of a capture determine how it is read, and distinguish its readings.
func TestReadingOf(t *testing.T) {
	snap := definitions(t, "muta", map[string]string{"game.def": "group: clmsg\n\npacket: say\n   __group = clmsg\n   text    = char {1, 300}\n\npacket: ping\n   __group = clmsg\n"})
	protocol, _ := protocols.Of("muta")
	x := store.Capture{Framing: "prefixed:1+c2s"}
	o := OptionsOf(snap, protocol, x)
	var told []string
	_, _, err := capture.ReadAny(strings.NewReader("\x05\x01\x02\x00hi\x01\x02"), o, func(f *transport.Frame) {
		told = append(told, fmt.Sprint(snap.FrameMessage(f).Name, " ", f.Dir))
	})
	if err != nil || fmt.Sprint(told) != "[say c2s ping c2s]" || o.Proto != transport.TCP {
		t.Error(told, err)
	}
	if o := OptionsOf(snap, protocol, store.Capture{}); o.Framing != nil {
		t.Error("a framing without one being set")
	}
	seen := map[string]bool{}
	for _, x := range []store.Capture{{}, {Framing: "whole"}, {Framing: "fixed:4"}, {Keys: "fixed:4"}, {Framing: "fixed:4", Keys: "k"}} {
		if key := readingKey(snap, x); seen[key] {
			t.Errorf("%+v: %q", x, key)
		} else {
			seen[key] = true
		}
	}
	other, err := workspace.Build(snap.Library, workspace.Settings{Dialect: "muta", Traffic: workspace.Traffic{Dir: schema.ToClient, Ports: []uint16{4000}}})
	if err != nil {
		t.Fatal(err)
	}
	if readingKey(other, store.Capture{}) == readingKey(snap, store.Capture{}) || CutBy(other) == CutBy(snap) {
		t.Error("other settings have the same reading")
	}
	told = nil
	_, _, err = capture.ReadAny(strings.NewReader("\x01\x02"), OptionsOf(other, protocol, store.Capture{Framing: "whole"}), func(f *transport.Frame) { told = append(told, f.Dir.String()) })
	if err != nil || fmt.Sprint(told) != "[s2c]" {
		t.Error("the direction of a file that does not tell it: ", told, err)
	}
}
