package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wirebench/defs/library"
)

// The envelopes of the library say what their language says: the frames of the demos are the same with and without them.
func TestEnvelopesOfTheLibrary(t *testing.T) {
	for _, name := range []string{"tera", "muta", "subspace"} {
		fsys, _ := library.Dialect(name)
		folder := t.TempDir()
		if err := os.CopyFS(folder, fsys); err != nil {
			t.Fatal(err)
		}
		list := func() string {
			out, said, status := cli(t, "", "frames", "--protocol", name, "--library", folder, "--json", "--value", "--fields", filepath.Join(folder, "demo.pcapng"))
			if status != exitOK {
				t.Fatal(said)
			}
			return out
		}
		with := list()
		if _, said, status := cli(t, "", "check", folder); status != exitOK || strings.Contains(said, "envelope") {
			t.Errorf("%s: check says %s", name, said)
		}
		if err := os.Remove(filepath.Join(folder, "protocol.envelope")); err != nil {
			t.Fatal(err)
		}
		if without := list(); with != without || len(with) < 1000 {
			t.Errorf("%s: frames differ:\n%.2000s\nwithout the envelope\n%.2000s", name, with, without)
		}
	}
}

// Definitions of another language read messages in TERA's streams, behind TERA's header.
func TestMessagesInForeignStreams(t *testing.T) {
	fsys, _ := library.Dialect("tera")
	folder := t.TempDir()
	if err := os.CopyFS(folder, fsys); err != nil {
		t.Fatal(err)
	}
	demo := filepath.Join(folder, "demo.pcapng")
	game := t.TempDir()
	for name, text := range map[string]string{
		"protocol.envelope": "carrier tera\n",
		"game.json": `{"types": {
			"vec3": ["container", [{"name": "x", "type": "lf32"}, {"name": "y", "type": "lf32"}, {"name": "z", "type": "lf32"}]],
			"packet_location": ["container", [{"name": "time", "type": "lu32"}, {"name": "position", "type": "vec3"}, {"name": "goal", "type": "vec3"},
				{"name": "heading", "type": "li16"}, {"name": "speed", "type": "lf32"}, {"name": "gait", "type": "u8"},
				{"name": "falling", "type": "bool"}, {"name": "mounted", "type": "bool"}]],
			"packet": ["container", [
				{"name": "name", "type": ["mapper", {"type": "lu16", "mappings": {"20101": "location"}}]},
				{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"location": "packet_location"}}]}]]}}`,
	} {
		if err := os.WriteFile(filepath.Join(game, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	type frame struct {
		N       int
		Dir     string
		Kind    string
		Code    int
		Message string
		Status  string
		Hex     string
		Value   map[string]any
	}
	list := func(args ...string) (out []frame) {
		text, said, status := cli(t, "", append([]string{"frames", "--json", "--value", demo}, args...)...)
		if status != exitOK && status != exitInput {
			t.Fatal(said)
		}
		for line := range strings.Lines(text) {
			var f frame
			if err := json.Unmarshal([]byte(line), &f); err != nil {
				t.Fatal(err)
			}
			out = append(out, f)
		}
		return out
	}
	own, foreign := list("--protocol", "tera", "--library", folder), list("--protocol", "protodef", "--library", game)
	if len(own) != len(foreign) {
		t.Fatalf("%d frames, not %d", len(foreign), len(own))
	}
	read := 0
	for i, f := range foreign {
		want := own[i]
		if f.Kind != want.Kind || f.Code != want.Code || f.Hex != want.Hex || f.Dir != want.Dir {
			t.Fatalf("frame %d: %+v, not %+v", f.N, f, want)
		}
		if want.Message != "C_PLAYER_LOCATION" {
			continue
		}
		read++
		header, _ := f.Value["header"].(map[string]any)
		delete(f.Value, "header")
		if f.Message != "location" || f.Status != "ok" || header["length"] != float64(len(f.Hex)/2) {
			t.Errorf("frame %d: %+v, header %v", f.N, f, header)
		}
		if got, want := slices.Sorted(maps.Keys(f.Value)), slices.Sorted(maps.Keys(want.Value)); !slices.Equal(got, want) {
			t.Errorf("frame %d: %v, not %v", f.N, got, want)
		}
		if f.Value["time"] != want.Value["time"] || f.Value["speed"] != want.Value["speed"] {
			t.Errorf("frame %d: %v, not %v", f.N, f.Value, want.Value)
		}
	}
	if read < 10 {
		t.Errorf("%d messages are read", read)
	}
}

// Definitions of another language read messages in SubSpace's packets, behind their type.
func TestMessagesInForeignPackets(t *testing.T) {
	game := t.TempDir()
	for name, text := range map[string]string{
		"protocol.envelope": "carrier subspace\n",
		"game.json": `{"toServer": {"types": {"packet": ["container", [
			{"name": "name", "type": ["mapper", {"type": "u8", "mappings": {"3": "position"}}]},
			{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"position": ["container", [
				{"name": "rotation", "type": "i8"}, {"name": "time", "type": "lu32"}, {"name": "rest", "type": "restBuffer"}]]}}]}]]}},
			"toClient": {"types": {"packet": ["container", [
			{"name": "name", "type": ["mapper", {"type": "u8", "mappings": {"7": "chat"}}]},
			{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"chat": ["container", [
				{"name": "kind", "type": "u8"}, {"name": "sound", "type": "u8"}, {"name": "from", "type": "li16"}, {"name": "text", "type": "restBuffer"}]]}}]}]]}}}`,
	} {
		if err := os.WriteFile(filepath.Join(game, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	demo := filepath.Join("..", "..", "defs", "library", "subspace", "demo.pcapng")
	list := func(filter string, args ...string) string {
		out, said, status := cli(t, "", append([]string{"frames", "--columns", "n,dir,kind,code,len,status,hex", "--filter", filter, demo}, args...)...)
		if status != exitOK && status != exitInput {
			t.Fatal(said)
		}
		return out
	}
	const positions, chats = `dir == c2s && code == 3 && kind == message`, `dir == s2c && code == 7 && kind == message`
	for filter, least := range map[string]int{positions: 10, chats: 3} {
		own, foreign := list(filter, "--protocol", "subspace"), list(filter, "--protocol", "protodef", "--library", game)
		if own != foreign || strings.Count(own, "\n") < least {
			t.Errorf("%s:\n%s\nof another language\n%s", filter, own, foreign)
		}
	}
	if out, said, _ := cli(t, "", "frames", "--protocol", "protodef", "--library", game, "--columns", "name,.rotation", "--filter", positions, demo); !strings.Contains(out, "\nposition\t12\n") {
		t.Errorf("%s%s", out, said)
	}
}
