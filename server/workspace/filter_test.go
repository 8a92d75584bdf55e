package workspace_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/server/workspace"
)

// Filters can test all properties that a transport gives to frames.
func TestFrameFilter(t *testing.T) {
	s := build(t, fstest.MapFS{
		"S_NPC.1.def": text("uint64 gameId\nvec3 loc\n"), "C_SAY.1.def": text("string message\n"), "protocol.376012.map": text("S_NPC 5\nC_SAY 6\n"),
	}, workspace.Settings{})
	npc := &transport.Frame{
		N: 9, Marks: transport.Fake,
		Dir: schema.ToClient, Key: schema.Key{Dir: schema.ToClient, Code: 5}, HasKey: true, Via: []string{"reliable:7", "chunk"},
		From: []transport.Source{{Packet: 3}, {Packet: 4}}, Note: "odd",
		Bytes: []byte("\x18\x00\x05\x00\x4d\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x3f\x65\xd0\x0a\x00\x00\x00\x00\x40"),
	}
	where := workspace.Where{Where: filter.Where{Conn: "a:1-b:2", Note: "mine #boss", Mark: "marked", Marker: "start"}}
	for text, want := range map[string]bool{
		"":                                    true,
		"op == S_NPC":                         true,
		"op == C_SAY":                         false,
		"build == 376012":                     true,
		"build != 376012":                     false,
		"depth == 2":                          true,
		`via contains "chunk"`:                true,
		"via == stream":                       false,
		"from == 4":                           true,
		"from == 5":                           false,
		"tag == boss":                         true,
		`note contains "odd"`:                 true,
		"len(@.loc) == 12":                    true,
		"@.loc contains 65:d0":                true,
		`bytes ~ r"\x65\xd0\n"`:               true,
		`bytes ~ r"\x65\xd1"`:                 false,
		"injected && mark && marker == start": true,
		"modified or dropped":                 false,
		"state == clean && n == 9":            true,
	} {
		f, mistakes := s.Filter(text)
		if len(mistakes) > 0 {
			t.Errorf("%s: %+v", text, mistakes)
			continue
		}
		if got := f.Fits(where, npc); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"core.type == 3":         "no core packets",
		".gameId == $sel.gameId": "no frame is selected",
		".gameId == $me":         `no value is given for "$me"`,
		`bytes ~ r"[\x{100}]日["`: "not a valid regular expression",
	} {
		if f, mistakes := s.Filter(text); len(mistakes) != 1 || !strings.Contains(mistakes[0].Message, want) || f.Fits(where, npc) {
			t.Errorf("%s: %+v, want %s", text, mistakes, want)
		}
	}
}

// The build is taken from the name of the code map in use, also while a definition is edited.
func TestFilterBuild(t *testing.T) {
	file := fstest.MapFS{"C_A.1.def": text("byte x")}
	for name, want := range map[string]string{
		"": "", "protocol.387396.map": "387396", "maps/protocol.0100.map": "100", "protocol.0.map": "0", "protocol.map": "", "protocol.x1.map": "",
		"protocol.123456789012345678901.map": "", "other.12.txt": "",
	} {
		set := workspace.Settings{}
		if name != "" {
			set.Codes = source.New(name, "C_A 5")
		}
		s := build(t, file, set)
		edited, _ := s.With("C_A.1.def", "byte y")
		for _, s := range []*workspace.Snapshot{s, edited} {
			if got := s.FilterEnv().Values["build"]; got != want {
				t.Errorf("%q: build %q, want %q", name, got, want)
			}
			if _, mistakes := s.Filter("build == " + "1"); (len(mistakes) > 0) != (want == "") {
				t.Errorf("%q: %+v", name, mistakes)
			}
		}
	}
}
