package api

import (
	"encoding/json"
	"strings"
	"testing"

	"wirebench/server/replay"
)

// Results are bounded in number and in memory; what is left out is counted.
func TestReplayResultsAreBounded(t *testing.T) {
	var few, many replayRun
	long := strings.Repeat("x", 10_000)
	for range maxReplayResults + 5 {
		r := replay.Result{Status: replay.Different, Lifted: map[string]json.RawMessage{"key": json.RawMessage(`"` + long + `"`)}}
		few.add(r)
		if len(r.Lifted) > 0 {
			t.Fatal("the run's own report keeps the value")
		}
		many.add(replay.Result{})
	}
	if v := few.results[0].Lifted["key"]; v != `"`+long[:maxReplayValue-1]+"…" {
		t.Errorf("the value that is kept: %s", v)
	}
	if few.memory > maxReplayMemory || few.info.LeftOut == 0 || few.info.Different != maxReplayResults+5 {
		t.Errorf("%d bytes, %d left out", few.memory, few.info.LeftOut)
	}
	for _, run := range []*replayRun{&few, &many} {
		info, list := run.from(0, 1<<30)
		if info.Total != maxReplayResults+5 || len(list)+info.LeftOut != info.Total || len(list) == 0 {
			t.Errorf("%d listed, %d left out, %d in all", len(list), info.LeftOut, info.Total)
		}
	}
}

// Of several connections one has to be named to be played; a script is made of the one with most messages.
func TestReplayChoosesConnection(t *testing.T) {
	all := []ReplayConn{{Conn: "a", ToServer: 5}, {Conn: "b", ToServer: 2}, {Conn: "b", Session: 1, ToServer: 1}}
	for _, c := range []struct {
		part    ReplayPart
		largest bool
		want    int // -1: refused
	}{
		{ReplayPart{}, true, 0},
		{ReplayPart{}, false, -1},
		{ReplayPart{Conn: "b"}, false, 1},
		{ReplayPart{Conn: "b", Session: 1}, false, 2},
		{ReplayPart{Conn: "b", Session: 2}, true, -1},
	} {
		got, err := chosenConn(all, c.part, c.largest)
		if (err != nil) != (c.want < 0) || err == nil && got != all[c.want] {
			t.Errorf("%+v: %+v %v", c, got, err)
		}
	}
	if _, err := chosenConn(nil, ReplayPart{}, true); err == nil {
		t.Error("nothing can be chosen of nothing")
	}
}
