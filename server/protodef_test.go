package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"wirebench/server/projects"
	"wirebench/server/servertest"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

const imported = "!import: parts/types.yml\n^play.toClient.types:\n   packet_hi:\n      to: Name\n   packet:\n      name: varint =>\n         7: hi\n      params: name ?\n         if hi: packet_hi\n"

// Files that other programs give the same extensions are told apart by their contents.
func TestUploadOfFilesByTheirContents(t *testing.T) {
	kept, dir := workspacetest.Dir(t, nil)
	h := serverOf(t, workspacetest.Open(t, workspace.Config{Dialect: "protodef", Files: kept}))
	a := send(t, h, "",
		servertest.File{"pc-1.16.1.json", servertest.ProtoDef(t)},
		servertest.File{"items.json", `{"items": [{"id": 1, "types": {"a": 1}}]}`},
		servertest.File{"package.json", `{"types": {"a": "varint"}}`},
		servertest.File{"more.zip", servertest.Zip(t, servertest.File{"proto.yml", imported}, servertest.File{"parts/types.yml", "Name: [\"pstring\", {\"countType\": \"u8\"}]\nId:\n   of: varint\n   kind: u8\n"}, servertest.File{"docker.yml", "services:\n  web:\n    image: x\n"})},
		servertest.File{"C_JOIN.1.def", "byte x\n"},
	)
	want := []string{
		"pc-1.16.1.json new",
		"items.json skipped (not a definition, a code map or samples: it looks like JSON of something else)",
		"package.json skipped (not a definition, a code map or samples: it looks like JSON of something else)",
		"more.zip: docker.yml skipped (not a definition, a code map or samples: it looks like a text)",
		"more.zip: parts/types.yml new",
		"more.zip: proto.yml new",
		"C_JOIN.1.def skipped (this is a definition of protocol tera; the project is for protodef)",
	}
	got := a.lines()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	names := []string{}
	for name := range tree(t, dir) {
		names = append(names, name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "parts/types.yml pc-1.16.1.json proto.yml" {
		t.Error(got)
	}
	status, text := ask(h, "POST /api/one/decode", `{"message": "hi", "hex": "0702 6869"}`)
	if status != http.StatusOK || !strings.Contains(text, `"to":"hi"`) {
		t.Errorf("%d %s", status, text)
	}

	// A definition remains one, whatever its mistakes.
	for _, text := range []string{"{\"types\"", "", "{}", servertest.ProtoDef(t)} {
		if status, said := ask(h, "PUT /api/one/definitions/pc-1.16.1.json; Content-Type: text/plain; If-Match: *", text); status/100 != 2 {
			t.Fatalf("%q: %d %s", text, status, said)
		}
		if status, list := ask(h, "GET /api/one/definitions", ""); status != http.StatusOK || !strings.Contains(list, "pc-1.16.1.json") {
			t.Fatalf("%q: %d %s", text, status, list)
		}
	}
	if status, said := ask(h, "PUT /api/one/definitions/other.json", servertest.ProtoDef(t)[strings.Index(servertest.ProtoDef(t), "{"):]); status != http.StatusCreated { // as application/json
		t.Errorf("%d %s", status, said)
	}
	if status, said := ask(h, "PUT /api/one/definitions/settings.json", `{"text": "{}"}`); status != http.StatusUnprocessableEntity || !strings.Contains(said, "definitions end in .json") {
		t.Errorf("%d %s", status, said)
	}
}

// A project that is made of a ProtoDef file has this protocol, and its name.
func TestProjectOfProtoDef(t *testing.T) {
	s := projectServer(t, t.TempDir(), projects.Options{})
	kind, body := formOf(t, servertest.File{"pc-1.16.1.json", servertest.ProtoDef(t)})
	a := post(t, s, "/api/v1/projects", kind, bytes.NewReader(body))
	var made projects.Info
	if err := json.Unmarshal([]byte(a.text), &made); err != nil || a.Status != http.StatusCreated || made.Protocol != "protodef" || made.Title != "pc-1.16.1" || made.Messages != 12 {
		t.Errorf("%d %s", a.Status, a.text)
	}
}

// "Decode as" opens the message that it names, whichever is open, also where a code has a meaning in both directions and several states.
func TestDecodeAsOpensWhatItNames(t *testing.T) {
	const side = `{"types": {
		"packet_say": ["container", [{"name": "a", "type": "u8"}]],
		"packet_one": ["container", [{"name": "b", "type": "u8"}]],
		"packet": ["container", [
			{"name": "name", "type": ["mapper", {"type": "u8", "mappings": {"1": "%s", "2": "%s"}}]},
			{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"say": "packet_say", "one": "packet_one"}}]}]]}}`
	both := func(c2s, s2c string) string { return `{"toServer": ` + c2s + `, "toClient": ` + s2c + `}` }
	there, back := fmt.Sprintf(side, "say", "one"), fmt.Sprintf(side, "one", "say")
	for name, text := range map[string]string{
		"the same codes":     `{"types": {"u8": "native"}, "play": ` + both(there, there) + `}`,
		"exchanged codes":    `{"types": {"u8": "native"}, "play": ` + both(there, back) + `}`,
		"two states":         `{"types": {"u8": "native"}, "hello": ` + both(there, there) + `, "play": ` + both(back, back) + `}`,
		"two states crossed": `{"types": {"u8": "native"}, "hello": ` + both(there, back) + `, "play": ` + both(back, there) + `}`,
	} {
		kept, _ := workspacetest.Dir(t, map[string]string{"game.json": text})
		ws := workspacetest.Open(t, workspace.Config{Dialect: "protodef", Files: kept})
		h := serverOf(t, ws)
		offered := 0
		for _, open := range ws.Now().Names() {
			for _, hex := range []string{"0105", "0205", "01", "020506"} {
				_, page := ask(h, "POST /p/one/definitions; Content-Type: application/x-www-form-urlencoded", url.Values{"action": {"decode"}, "message": {open}, "input": {hex}}.Encode())
				_, rest, ok := strings.Cut(page, ">Decode as ")
				if !ok {
					continue
				}
				offered++
				as, _, _ := strings.Cut(rest, "<")
				_, page = ask(h, "POST /p/one/definitions; Content-Type: application/x-www-form-urlencoded", url.Values{"message": {open}, "input": {hex}, "bycode": {"1"}}.Encode())
				if want := `name="message" value="` + as + `"`; !strings.Contains(page, want) {
					_, got, _ := strings.Cut(page, `name="message" value="`)
					t.Errorf("%s: %s of %s is decoded as %s, and opens %.20q", name, hex, open, as, got)
				}
			}
		}
		if offered == 0 {
			t.Errorf("%s: nothing is offered", name)
		}
	}
}
