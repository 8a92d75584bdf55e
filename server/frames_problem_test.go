package server

import (
	"encoding/json"
	"testing"

	"wirebench/server/frames"
)

// A problem in a stream without lengths is decoded by the group of its direction, so that its tree can be shown.
func TestListOfFramesProblem(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": "group: clmsg\n\npacket: say\n   __group = clmsg\n   kind    = uint8 [1, 3]\n   size    = uint8\n"})
	// Each message: id, kind, size. The second one has kind 9.
	c := openList(t, s, []byte("00000000  01 01 05 01 09 05 01 02  05 01 01 05 01 02 05 01   ........ ........\n00000010  01 05 01 02 05 01 01 05   ........\n"))
	c.view(1, "")
	var got frames.Frame
	text := c.ask("frame", "frame", `,"n":2`)
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Row.Kind != "problem" || got.Group != "clmsg" || got.About == nil || got.About.What != "Problem" {
		t.Errorf("%.800s", text)
	}
}
