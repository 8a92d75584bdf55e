package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/server/store"
)

const sampleName = "sample: a session of the demo game"

// samples are the built-in recordings: their plays and the expected frames.
var samples = []struct {
	protocol string
	port     uint16
	groups   map[schema.Dir]string
	play     func(*stage)
	text     string
	wants    []string // messages
	via      []string // first words of layers that some frame has
	odd      []string // "kind status name" of all frames with problems
}{
	{
		protocol: "tera", port: 7801, play: playTera,
		text:  "A short visit to an invented world: a walk, a fight, and the time after it. One message has no definition, one is deliberately wrong.",
		wants: []string{"C_CHECK_VERSION", "S_LOGIN", "S_INVENTORY", "S_PARTY_MEMBER_LIST", "C_PLAYER_LOCATION", "C_CHAT", "S_CHAT", "S_PING", "C_PONG", "S_SPAWN_NPC", "C_START_SKILL", "S_SKILL_RESULT", "S_DESPAWN_NPC", "S_EXPERIENCE", "C_USE_ITEM", "C_MOVE_ITEM", "S_TRADE_OFFER"},
		odd:   []string{"message unknown ", "message illegal S_CHAT"},
	},
	{
		protocol: "muta", port: 7802, play: playMuta, groups: map[schema.Dir]string{schema.ToServer: "clmsg", schema.ToClient: "svmsg"},
		text:  "A short visit to an invented world: heroes are created, walk about and level up, players chat. One message is deliberately wrong.",
		wants: []string{"login", "login_result", "create_hero", "heroes", "say", "ping", "pong"},
		odd:   []string{"problem  "},
	},
	{
		protocol: "subspace", port: 7803, play: playSubspace, groups: map[schema.Dir]string{schema.ToServer: "game", schema.ToClient: "game"},
		text:  "A login, a duel and a logout, with an invented player. One packet has no definition, one is deliberately wrong, one was lost.",
		wants: []string{"c2s_login", "s2c_login_response", "c2s_go_arena", "s2c_settings", "s2c_file", "s2c_player_entering", "c2s_position", "s2c_position", "s2c_weapon", "c2s_chat", "s2c_chat", "s2c_kill", "s2c_score_update", "c2s_green", "c2s_set_ship", "c2s_die", "ack", "sync_request", "ping", "pong"},
		via:   []string{"cluster", "reliable", "chunk"},
		odd:   []string{"message unknown ", "message incomplete s2c_kill"},
	},
	{
		protocol: "protodef", port: 7804, play: playShips,
		text:  "A voyage between invented harbors: ships, trade and talk. Messages of 256 bytes and more are compressed. One message is deliberately wrong.",
		wants: []string{"hello", "harbor", "ship", "say", "steer", "trade", "ping", "pong"},
		odd:   []string{"message incomplete ship"},
	},
	{
		protocol: "mavlink", port: 14550, play: playBoat,
		text:  "A boat and its station on land, with invented messages. Most frames are of MAVLink 2, one is of version 1, one is signed, and the checksum of one is deliberately wrong.",
		wants: []string{"BEAT", "PLACE", "SONAR", "TASK_LONG", "TASK_DONE", "SAY"},
	},
	{
		protocol: "c", port: 7805, play: playOrchard,
		text:  "A visit of an invented orchard: trees are watered, fruits picked, and people talk. The count of one message is deliberately wrong.",
		wants: []string{"enter", "welcome", "water", "pick", "garden", "talk", "chatter", "weather"},
		odd:   []string{"message illegal garden"},
	},
	{
		protocol: "protobuf", port: 7806, play: playHarbor,
		text:  "A day of an invented harbor: ships call and unload, and the master writes the log. One message has fields that its definition does not have, one is deliberately wrong.",
		wants: []string{"Ship", "Crate", "Day"},
		odd:   []string{"message incomplete Day"},
	},
	{
		protocol: "kaitai", port: 7807, play: playLogbook,
		text:  "A voyage of an invented ship, which tells where it is and sends its logbook. One logbook is of an older version, one is deliberately wrong.",
		wants: []string{"place", "logbook"},
		odd:   []string{"message incomplete logbook"},
	},
}

// The built-in recordings are those that the plays write; -update writes them.
func TestSampleCaptures(t *testing.T) {
	for _, sample := range samples {
		t.Run(sample.protocol, func(t *testing.T) {
			s := newStage(t, sample.protocol, sample.port, sample.groups)
			sample.play(s)
			recording, notes := s.end(sample.text)
			dir := filepath.Join("..", "..", "defs", "library", sample.protocol)
			for name, want := range map[string][]byte{"demo.pcapng": recording, "demo.json": notes} {
				path := filepath.Join(dir, name)
				got, err := os.ReadFile(path)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s differs from the play: %v", path, err)
				}
				if !*update || bytes.Equal(got, want) {
					continue
				}
				if err := os.WriteFile(path, want, 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Each sample reads like any capture, and only the intended frames have problems.
func TestSampleCapturesRead(t *testing.T) {
	for _, sample := range samples {
		t.Run(sample.protocol, func(t *testing.T) {
			r, ok := library.Recorded(sample.protocol)
			if !ok || r.Name != sampleName || len(r.Data) == 0 || len(r.Data) >= 60_000 {
				t.Fatalf("%v %q of %d bytes", ok, r.Name, len(r.Data))
			}
			file := filepath.Join(t.TempDir(), "demo.pcapng")
			if err := os.WriteFile(file, r.Data, 0o644); err != nil {
				t.Fatal(err)
			}
			out, errs, status := cli(t, "", "frames", "--protocol", sample.protocol, "--json", file)
			if status != exitOK || errs != "" {
				t.Fatalf("status %d\n%s", status, errs)
			}
			all := lines(out)
			if len(all) < 150 || len(all) > 400 {
				t.Errorf("%d frames", len(all))
			}
			dirs, names, via := map[string]int{}, map[string]int{}, map[string]bool{}
			var odd []string
			var oddAt []uint64
			for _, line := range all {
				var f struct {
					N                          uint64
					Dir, Kind, Status, Message string
					Via                        []string
				}
				if err := json.Unmarshal([]byte(line), &f); err != nil {
					t.Fatal(err)
				}
				dirs[f.Dir]++
				names[f.Message]++
				for _, v := range f.Via {
					v, _, _ = strings.Cut(v, ":")
					via[v] = true
				}
				if fine := (f.Kind == "message" || f.Kind == "control") && (f.Status == "ok" || f.Kind == "control" && f.Status == ""); !fine {
					oddAt = append(oddAt, f.N)
					odd = append(odd, fmt.Sprintf("%s %s %s", f.Kind, f.Status, f.Message))
				}
			}
			if !slices.Equal(odd, sample.odd) {
				t.Errorf("odd are %q, want %q", odd, sample.odd)
			}
			for _, want := range sample.wants {
				if names[want] == 0 {
					t.Errorf("no %s", want)
				}
			}
			for _, want := range sample.via {
				if !via[want] {
					t.Errorf("no frame came in a %s", want)
				}
			}
			if dirs["c2s"] < 30 || dirs["s2c"] < 30 {
				t.Errorf("directions: %v", dirs)
			}
			var notes store.Notes
			if err := json.Unmarshal(r.Notes, &notes); err != nil || len(notes.Marked) < 3 || len(notes.Frames) < 3 || len(notes.Markers) < 2 || notes.Text == "" {
				t.Errorf("%+v %v", notes, err)
			}
			for _, n := range notes.Marked {
				if n < 1 || n > uint64(len(all)) {
					t.Errorf("frame %d of %d is marked", n, len(all))
				}
			}
			for _, n := range oddAt {
				if !slices.Contains(notes.Marked, n) || notes.Frames[n] == "" {
					t.Errorf("frame %d has a problem without a note", n)
				}
			}
			t.Logf("%d bytes, %d frames %v: %v", len(r.Data), len(all), dirs, names)
		})
	}
}

// An element that stands for its list is shown as its value, not as a number of elements.
func TestSingleElementsInLines(t *testing.T) {
	out, errs, status := cli(t, "", "frames", "--protocol", "protobuf", filepath.Join("..", "..", "defs", "library", "protobuf", "demo.pcapng"))
	if want := `name "Petrel", draught 2, tides ×4, arrival.seconds 1773513000, quay 1`; status != exitOK || !strings.Contains(lines(out)[0], want) {
		t.Errorf("status %d %s\n%s", status, errs, lines(out)[0])
	}
	for _, line := range lines(out) {
		for _, single := range []string{"name ×", "ware ×", "number ×", "owner ×"} {
			if strings.Contains(line, single) {
				t.Errorf("%s", line)
			}
		}
	}
}

// The samples are for the server; frames still requires an input.
func TestFramesWithoutCapture(t *testing.T) {
	if out, errs, status := cli(t, "", "frames"); status != exitUsage || out != "" || errs == "" {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
}

// keptCapture is an element of the list of captures.
type keptCapture struct {
	ID, Name string
	Notes    store.Notes
}

func keptCaptures(t *testing.T, addr, ws string) []keptCapture {
	t.Helper()
	status, body := get(t, "http://"+addr+"/api/"+ws+"/captures")
	var all struct{ Captures []keptCapture }
	if err := json.Unmarshal([]byte(body), &all); err != nil || status != http.StatusOK {
		t.Fatalf("%d %v %s", status, err, body)
	}
	return all.Captures
}

// The first start adds a sample capture to each workspace. It is an ordinary capture, and is not added again after deletion.
func TestServeSampleCaptures(t *testing.T) {
	data := t.TempDir()
	t.Run("first", func(t *testing.T) {
		addr, _ := started(t, "--listen", "127.0.0.1:0", "--data", data)
		if _, body := get(t, "http://"+addr+"/"); !strings.Contains(body, "C_EDIT_PRIVATE_CHANNEL") || !strings.Contains(body, "player_id") {
			t.Error("the first page is not the workbench with its example")
		}
		for _, sample := range samples {
			all := keptCaptures(t, addr, sample.protocol)
			if len(all) != 1 || all[0].Name != sampleName || all[0].Notes.Text != sample.text || len(all[0].Notes.Markers) == 0 {
				t.Fatalf("%s: %+v", sample.protocol, all)
			}
			page := "/p/" + sample.protocol + "/captures/" + all[0].ID
			if status, body := get(t, "http://"+addr+page); status != http.StatusOK || !strings.Contains(body, sample.wants[0]) {
				t.Errorf("%s: its page: %d %.300s", sample.protocol, status, body)
			}
			for _, n := range all[0].Notes.Marked {
				status, body := get(t, fmt.Sprintf("http://%s/api/%s/captures/%s/frames?filter=n+%%3D%%3D+%d", addr, sample.protocol, all[0].ID, n))
				if status != http.StatusOK || !regexp.MustCompile(fmt.Sprintf(`"n":%d\b`, n)).MatchString(body) {
					t.Errorf("%s: frame %d: %d %s", sample.protocol, n, status, body)
				}
			}
		}
		req, err := http.NewRequest("DELETE", "http://"+addr+"/api/muta/captures/"+keptCaptures(t, addr, "muta")[0].ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode/100 != 2 {
			t.Fatalf("%d %s", res.StatusCode, text)
		}
	})
	t.Run("second", func(t *testing.T) {
		addr, _ := started(t, "--listen", "127.0.0.1:0", "--data", data)
		for ws, want := range map[string]int{"tera": 1, "muta": 0, "subspace": 1} {
			if all := keptCaptures(t, addr, ws); len(all) != want {
				t.Errorf("%s: %+v", ws, all)
			}
		}
	})
	if left, _ := filepath.Glob(filepath.Join(data, "*", "definitions", "demo.*")); len(left) > 0 {
		t.Errorf("%v are not definitions", left)
	}
}

// A --library folder gets no samples, and a folder with captures no sample capture.
func TestServeSampleCapturesElsewhere(t *testing.T) {
	data := t.TempDir()
	own, err := store.OpenCaptures(filepath.Join(data, "muta", "captures"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := own.Add("mine", sampleStart, strings.NewReader("bytes")); err != nil {
		t.Fatal(err)
	}
	addr, _ := started(t, "serve", "--listen", "127.0.0.1:0", "--data", data, "--library", write(t, joinLib))
	if all := keptCaptures(t, addr, "tera"); len(all) != 0 {
		t.Errorf("tera: %+v", all)
	}
	if all := keptCaptures(t, addr, "muta"); len(all) != 1 || all[0].Name != "mine" {
		t.Errorf("muta: %+v", all)
	}
	if all := keptCaptures(t, addr, "subspace"); len(all) != 1 || all[0].Name != sampleName {
		t.Errorf("subspace: %+v", all)
	}
}
