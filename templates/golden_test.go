package templates

import (
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/google/go-cmp/cmp"

	"wirebench/codec"
	"wirebench/codec/view"
	"wirebench/defs"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

var update = flag.Bool("update", false, "rewrite testdata/*.html, and fail")

const listText = "# who is in it\narray members\n- uint32 id\n- string name\n\nuint16 flags # four of them\n"

// opened compiles a definition, as the page does.
func opened(t *testing.T, text string) (*codec.Program, []diag.Info) {
	t.Helper()
	f := source.New("C_LIST.1.def", text)
	s, ds := defs.Load([]*source.File{f}, defs.Dialects[0].Name, schema.Options{Codes: map[string]uint32{"C_LIST": 0x1234}})
	p, err := codec.Compile(s.Messages[0])
	if err != nil {
		t.Fatal(err)
	}
	var infos []diag.Info
	for _, d := range ds {
		infos = append(infos, d.Info())
	}
	return p, infos
}

// decoded decodes a message, as the page does.
func decoded(t *testing.T, text, bytes string) *Message {
	t.Helper()
	p, _ := opened(t, text)
	data, err := hex.DecodeString(strings.ReplaceAll(bytes, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	var rec codec.Record
	p.Decode(&rec, data)
	return &Message{Name: "C_LIST.1", Result: view.Of(&rec, true), Data: data, Linked: true, Types: map[string]string{"members": "array"}}
}

// The golden files have one element per line.
func TestPanes(t *testing.T) {
	program, _ := opened(t, listText)
	info := view.Layout(program)
	const broken = "in32 id\nfoo\nuint16 id\n"
	_, mistakes := opened(t, broken)
	const list = "1a00 3412 0100 0a00 0300 0a00 0000 1400 07000000 4100 0000 0000"
	one := func(m *Message) Workbench {
		return Workbench{Message: "C_LIST.1", Shown: m, Values: Values{Offered: true}}
	}
	edited := decoded(t, listText, list)
	edited.Edited, edited.Was = true, append([]byte{0xff, 0xff}, edited.Data[2:]...)
	for name, c := range map[string]templ.Component{
		"definition":         definition(Workbench{Message: "C_LIST.1", Definition: Definition{File: "C_LIST.1.def", Text: listText, Stored: true, Versioned: true, Version: 1, Newest: 1}}),
		"definition_broken":  definition(Workbench{Message: "C_LIST.1", Definition: Definition{File: "C_LIST.1.def", Text: broken, Edited: true, Stored: true, Versioned: true, Diagnostics: mistakes, Version: 1, Newest: 1}}),
		"definition_new":     definition(Workbench{}),
		"definition_older":   definition(Workbench{Message: "C_LIST.1", Definition: Definition{File: "C_LIST.1.def", Text: listText, Edited: true, Stored: true, Versioned: true, Version: 1, Newest: 2, Moves: true}}),
		"definition_changed": definition(Workbench{Message: "C_LIST.1", Definition: Definition{File: "C_LIST.1.def", Text: "byte x", Edited: true, Stored: true, Versioned: true, Version: 1, Newest: 1, Conflict: &Conflict{Lines: []ChangedLine{{"disk", 1, "<b>"}, {"here", 1, "byte x"}}}}}),
		"definition_deleted": definitionNotes(Workbench{Message: "C_LIST.1", Definition: Definition{File: "C_LIST.1.def", Text: "byte x", Edited: true, Conflict: &Conflict{Deleted: true}}}),
		"layout":             layout(Workbench{Layout: &info}),
		"layout_stale":       layout(Workbench{Layout: &info, Stale: true}),
		"layout_none":        layout(Workbench{}),
		"bytes_edited":       messageBytes(one(edited)),
		"message":            templ.Join(messageBytes(one(decoded(t, listText, list))), messageFields(one(decoded(t, listText, list)))),
		"message_cut":        messageFields(one(decoded(t, listText, list[:40]))),
		"message_illegal":    messageFields(one(decoded(t, listText, strings.Replace(list, "1400 0700", "ff00 0700", 1)))),
		"input":              messageList(Workbench{Messages: []MessageRow{{Dir: "c2s", Name: "C_LIST", Status: "ok", Size: 26, Open: true, Edited: true}, {Number: 1, Dir: "s2c", Time: "10:00", Name: "code 0x0007", Status: "unknown", Size: 4}}, MoreMessages: 3}),
		"samples":            samples(Workbench{Values: Values{Offered: true}, Samples: Samples{CanKeep: true, Rows: []SampleRow{{About: "a list", Size: 26, Message: "C_LIST.1", Current: true}, {Number: 1, Size: 1, Message: "C_OTHER.1", Other: true}}}}),
		"values": valuesBody(Workbench{Values: Values{Offered: true, Text: `{"flags": -1}`, Kept: true, CodeHint: "0x1234", Problems: []view.ProblemInfo{
			{Severity: "error", Code: "out-of-range", Path: "flags", Message: "-1 does not fit uint16: 0 to 65535"},
		}}}),
		"values_encoded": valuesBody(Workbench{Values: Values{Offered: true, Text: `{}`, Code: "0x1234", Encoded: "Encoded: 10 bytes."}}),
		"page_empty":     WorkbenchPage(Workbench{Frame: Frame{Title: "Wirebench: One", Workspace: "one", Projects: []Project{{"one", "One"}}}, Rail: Rail{Ext: ".def"}}),
		"page_missing":   NotFound(Frame{Title: "Wirebench: nothing here", Projects: []Project{{"one", "One"}}}, "/x"),
		"rail": rail(Workbench{Frame: Frame{Workspace: "one"}, Message: "C_LIST.1", Rail: Rail{Drawn: true, State: "s1", Ext: ".def", Versions: true, Count: 3, Earlier: "/p/one/definitions?list=0", Later: "/p/one/definitions?list=120", EnvelopeFrom: "day.pcap", Groups: []Group{
			{Title: "Envelope", Count: 2, Envelopes: true, Items: []Item{
				{Name: "a.envelope", State: "error", Unused: true, Versions: []ItemVersion{{Href: "/p/one/definitions/a.envelope"}}},
				{Name: "protocol.envelope", New: true, Versions: []ItemVersion{{Href: "/p/one/definitions/protocol.envelope"}}},
			}},
			{Title: "Client → server", Count: 4, Items: []Item{
				{Name: "C_LIST", Code: "0x1234", Sampled: true, Versions: []ItemVersion{{Number: 2, Href: "/p/one/definitions/C_LIST.2"}, {Number: 1, Href: "/p/one/definitions/C_LIST.1", Current: true}}},
				{Name: "C_OLD", State: "error", Versions: []ItemVersion{{Number: 2, Href: "/p/one/definitions/C_OLD.2"}}},
				{Name: "C_NO_CODE", Unmapped: true, File: "many.def", Versions: []ItemVersion{{Number: 1, Href: "/p/one/definitions/C_NO_CODE.1"}}},
			}},
			{Title: "No definition", Count: 2, Undefined: true, Items: []Item{{Name: "C_TODO", Code: "0x0001", Versions: []ItemVersion{{Number: 1, Href: "/p/one/definitions?new=C_TODO.1"}}}}},
		}, Maps: []string{"protocol.1.map", "protocol.2.map"}, MapName: "protocol.2.map", Notes: []string{"a note"}, NoteCount: 2}}),
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, c) })
	}
}

var version = regexp.MustCompile(`\?v=[0-9a-f]+|<link rel="modulepreload"[^>]*>\n`)

// golden compares a component with testdata/NAME.html.
func golden(t *testing.T, name string, c templ.Component) {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	got := version.ReplaceAllString(strings.ReplaceAll(b.String(), "><", ">\n<"), "") + "\n"
	path := filepath.Join("testdata", name+".html")
	want, err := os.ReadFile(path)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Fatal("rewritten: review the changes, then run without -update")
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
