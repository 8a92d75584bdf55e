package page

import (
	"encoding/hex"
	"slices"
	"testing"

	"wirebench/codec"
	"wirebench/codec/view"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
	"wirebench/templates"
)

// A frame without a definition, behind the header of an envelope: its tree has the fields of the header, whose values change its bytes in
// place, and a definition begun from it describes the bytes behind the header.
func TestHeaderOfUnknownFrame(t *testing.T) {
	files, _ := workspacetest.Dir(t, map[string]string{
		"ping.def":          "group: clmsg\n\npacket: ping\n   __group = clmsg\n   v = uint32\n",
		"protocol.envelope": "frame length u16 le including all at 2 keep\ncode u8 at 1\nfield magic hex ff at 0\nfield flags u8 at 4\ngroup clmsg\n",
	})
	ws := workspacetest.Open(t, workspace.Config{Dialect: "muta", Files: files})
	frame := &FrameForm{Kind: "message", Dir: "c2s", Group: "clmsg", Alternate: true, Offer: "unknown_07"}
	base := form{input: "ff 07 08 00 03 05 06 00", byCode: true, frame: frame}
	run := func(f form) *work {
		return spaceOf(ws, store.Capture{}, nil).fill(&templates.Workbench{}, f, nil, nil)
	}
	p := run(base)
	m := p.view.Shown
	if m == nil || m.Status != "unknown" || m.Message != "" || *m.Code != 7 {
		t.Fatalf("%+v", m)
	}
	at := func(path, role string) (bits [2]uint32) {
		i := slices.IndexFunc(m.Fields, func(f view.FieldValue) bool { return f.Path == path && f.Role == role })
		if i < 0 {
			return bits
		}
		return [2]uint32{m.Fields[i].BitOffset, m.Fields[i].BitLength}
	}
	for path, want := range map[string][2]uint32{"header.magic": {0, 8}, "header.length": {16, 16}, "header.flags": {32, 8}} {
		if got := at(path, "value"); got != want {
			t.Errorf("%s is at %v, want %v", path, got, want)
		}
	}
	if got := at("", codec.RoleGap.String()); got != [2]uint32{40, 24} {
		t.Errorf("the contents are at %v", got)
	}
	for path, want := range map[string]string{"header.flags": "ff07080016050600", "header.magic": "1607080003050600"} {
		f := base
		if f.action, f.path, f.role, f.typed = "set", path, "value", "22"; path == "header.magic" { // bytes, in hex
			f.typed = "16"
		}
		if p := run(f); p.failed != "" || hex.EncodeToString(p.form.edits[0]) != want {
			t.Errorf("%s: %q %x", path, p.failed, p.form.edits[0])
		}
	}
	f := base
	f.action, f.arg = "begin", "unknown_07"
	p = run(f)
	if p.def == nil || p.def.Message == nil {
		t.Fatalf("%q: %v", p.failed, p.view.Definition)
	}
	f = base
	f.message, f.byCode, f.definition = p.form.message, false, p.form.definition
	p = run(f)
	if m = p.view.Shown; m.Message == "" || at("header.flags", "value") != [2]uint32{32, 8} || m.Leftover != 3 {
		t.Errorf("begun definition %q: %+v", f.definition, m)
	}
}
