package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirebench/server/workspace"
)

// said is an analysis in words: what the text is, how its message is asked for, the number of mistakes and the first, by what it is
// shown, and the paths of the rows.
func said(a *Text) string {
	out := fmt.Sprintf("%s edited=%v %s/%d", a.Def.File.Name, a.Def.Edited, a.Name, a.Part)
	if a.Def.Message != nil {
		out += " " + a.Def.Snap.NameOf(a.Def.Message)
	}
	for _, d := range a.Def.Diagnostics[:min(len(a.Def.Diagnostics), 1)] {
		out += fmt.Sprintf(" %d: %s in line %d", len(a.Def.Diagnostics), d.Code, d.Line)
	}
	if a.Stale {
		out += " stale"
	}
	for _, h := range a.Holes {
		out += fmt.Sprintf(" line %d kept=%v", h.Line, h.Kept)
	}
	for _, r := range a.Rows {
		out += " " + r.Path
	}
	return out
}

func TestOf(t *testing.T) {
	const two = "group: g\n\npacket: ping\n   __group = g\n   v = uint32\n\npacket: pong\n   __group = g\n   w = uint8\n"
	plain := snapshot(t, "", map[string]string{"C_A.1.def": "byte x\n", "C_BROKEN.1.def": "unheard of\n"})
	several := snapshot(t, "muta", map[string]string{"a.def": two, "protocol.envelope": "frame length u8\ncode u8\n"})
	good, err := Of(Asked{Snap: plain, Name: "C_A.1", Text: "byte x\nint16 good\n"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		ask  Asked
		want string
	}{
		{"stored", Asked{Snap: plain, Name: "C_A.1"}, "C_A.1.def edited=false C_A.1/0 C_A.1 length code x"},
		{"the stored text, sent again", Asked{Snap: plain, Name: "C_A.1", Text: "byte x\n"}, "C_A.1.def edited=false C_A.1/0 C_A.1 length code x"},
		{"edited", Asked{Snap: plain, Name: "C_A.1", Text: "byte y\n"}, "C_A.1.def edited=true C_A.1/0 C_A.1 length code y"},
		{"new", Asked{Snap: plain, Name: "C_NEW.1", Text: "byte y\n"}, "C_NEW.1.def edited=true C_NEW.1/0 C_NEW.1 length code y"},
		{"a line with a mistake is as in the good text", Asked{Snap: plain, Name: "C_A.1", Text: "byte x\nint1 good\n", Good: good.Def}, "C_A.1.def edited=true C_A.1/0 C_A.1 1: unknown-type in line 2 line 2 kept=true length code x good"},
		{"or in the stored text", Asked{Snap: plain, Name: "C_A.1", Text: "byt x\nbyte y\n"}, "C_A.1.def edited=true C_A.1/0 C_A.1 1: unknown-type in line 1 line 1 kept=true length code x y"},
		{"the good text of another file is not used", Asked{Snap: plain, Name: "C_NEW.1", Text: "byte x\nint1 good\n", Good: good.Def}, "C_NEW.1.def edited=true C_NEW.1/0 C_NEW.1 1: unknown-type in line 2 line 2 kept=false length code x"},
		{"too many mistakes: the good text", Asked{Snap: plain, Name: "C_A.1", Text: strings.Repeat("unheard of\n", 30), Good: good.Def}, "C_A.1.def edited=true C_A.1/0 C_A.1 30: unknown-type in line 1 stale length code x good"},
		{"too many mistakes: the stored text", Asked{Snap: plain, Name: "C_A.1", Text: strings.Repeat("unheard of\n", 30)}, "C_A.1.def edited=true C_A.1/0 C_A.1 30: unknown-type in line 1 stale length code x"},
		{"too many mistakes, and nothing good", Asked{Snap: plain, Name: "C_NEW.1", Text: strings.Repeat("unheard of\n", 30)}, "C_NEW.1.def edited=true C_NEW.1/0 C_NEW.1 30: unknown-type in line 1 length code"},
		{"stored with mistakes", Asked{Snap: plain, Name: "C_BROKEN.1"}, "C_BROKEN.1.def edited=false C_BROKEN.1/0 C_BROKEN.1 1: unknown-type in line 1 line 1 kept=false length code"},
		{"the first of several", Asked{Snap: several, Name: "ping"}, "a.def edited=false ping/0 ping code v"},
		{"the second by its number", Asked{Snap: several, Name: "ping", Part: 2}, "a.def edited=false pong/0 pong code w"},
		{"of the edited text", Asked{Snap: several, Name: "ping", Part: 2, Text: two + "   x = uint8\n"}, "a.def edited=true pong/0 pong code w x"},
		{"one that is not stored keeps its number", Asked{Snap: several, Name: "ping", Part: 3, Text: two + "\npacket: new\n   __group = g\n   n = uint8\n"}, "a.def edited=true ping/3 new code n"},
		{"also with a mistake", Asked{Snap: several, Name: "ping", Part: 3, Text: two + "\npacket: new\n   __group = g\n   n = uint8\n   m = uint\n"}, "a.def edited=true ping/3 new 1: unknown-type in line 14 line 14 kept=false code n"},
		{"a number that no message has", Asked{Snap: several, Name: "pong", Part: 9}, "a.def edited=false pong/0 pong code w"},
		{"an envelope", Asked{Snap: several, Name: workspace.EnvelopeName, Text: "frame\n"}, "protocol.envelope edited=true protocol.envelope/0 1: expected in line 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := Of(c.ask)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, said(a)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := Of(Asked{Snap: plain, Name: "C_NEW.1"}); err == nil {
		t.Error("a definition that does not exist is opened")
	}
}
