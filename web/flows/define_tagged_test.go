package flows

import (
	"testing"

	"wirebench/web/browsertest"
)

// Bytes of Protocol Buffers that have no definition are shown by a guess, which becomes a definition; a field that it does not have gets a type and a name.
func TestFlowDefineTagged(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	f, _ := beginAs(t, "protobuf", map[string]string{"log.proto": "syntax = \"proto3\";\n\nmessage Log {\n  string text = 1;\n}\n"}, "/p/one/definitions")
	p := f.page()
	f.paste("0a06506574726566 1001 1a060880e2cfaa06")
	f.shows(row("unknown[1].value"), `0880e2cfaa06`)
	f.dragBytes(12, 18)
	f.rightByte(13)
	p.Click("menuitem", "a new message…")
	p.Type("sent")
	p.Press("Enter")
	f.says("the field and its message", "syntax = \"proto3\";\n\nmessage Log {\n  string text = 1;\n  Field3 sent = 3;\n\n  message Field3 {\n    uint32 field_1 = 1; // 1700000000; as a time 2023-11-14T22:13:20Z\n  }\n}\n")
	f.shows(row("sent.field_1"), "1700000000")
	p.Click("button", "read as Log")
	p.Click("checkbox", "definition by code, or a guess by the bytes")
	p.Press("Escape")
	f.shows(row("field_1"), `"Petref"`)
	p.Click("button", "New definition from these bytes")
	p.Type("Call")
	p.Press("Enter")
	f.says("what was guessed, and why", "// Guessed from 18 bytes: behind each field stands why.\nsyntax = \"proto3\";\n\nmessage Call {\n  string field_1 = 1; // \"Petref\"\n  uint32 field_2 = 2; // 1; may be bool\n  Field3 field_3 = 3; // 1 field in 6 bytes\n\n  message Field3 {\n    uint32 field_1 = 1; // 1700000000; as a time 2023-11-14T22:13:20Z\n  }\n}\n")
	f.shows(row("field_3.field_1"), "1700000000")
	f.shots("guess")
}
