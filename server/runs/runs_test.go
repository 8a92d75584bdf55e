package runs

import (
	"encoding/json"
	"strings"
	"testing"

	"wirebench/server/replay"
)

// Results are bounded in number and in memory; omitted ones are counted.
func TestReplayResultsAreBounded(t *testing.T) {
	var few, many Run
	long := strings.Repeat("x", 10_000)
	for range maxResults + 5 {
		r := replay.Result{Status: replay.Different, Lifted: map[string]json.RawMessage{"key": json.RawMessage(`"` + long + `"`)}}
		few.add(r)
		if len(r.Lifted) > 0 {
			t.Fatal("the run's own report keeps the value")
		}
		many.add(replay.Result{})
	}
	if v := few.results[0].Lifted["key"]; v != `"`+long[:maxValue-1]+"…" {
		t.Errorf("the value that is kept: %s", v)
	}
	if few.memory > maxMemory || few.info.LeftOut == 0 || few.info.Different != maxResults+5 {
		t.Errorf("%d bytes, %d left out", few.memory, few.info.LeftOut)
	}
	for _, run := range []*Run{&few, &many} {
		info, list := run.From(0, 1<<30)
		if info.Total != maxResults+5 || len(list)+info.LeftOut != info.Total || len(list) == 0 {
			t.Errorf("%d listed, %d left out, %d in all", len(list), info.LeftOut, info.Total)
		}
	}
}

// Of several connections one must be named to be played; a script is made of the one with most messages.
func TestReplayChoosesConnection(t *testing.T) {
	all := []Conn{{Conn: "a", ToServer: 5}, {Conn: "b", ToServer: 2}, {Conn: "b", Session: 1, ToServer: 1}}
	for _, c := range []struct {
		part    Part
		largest bool
		want    int // -1: refused
	}{
		{Part{}, true, 0},
		{Part{}, false, -1},
		{Part{Conn: "b"}, false, 1},
		{Part{Conn: "b", Session: 1}, false, 2},
		{Part{Conn: "b", Session: 2}, true, -1},
	} {
		got, err := chosenConn(all, c.part, c.largest)
		if (err != nil) != (c.want < 0) || err == nil && got != all[c.want] {
			t.Errorf("%+v: %+v %v", c, got, err)
		}
	}
	if _, err := chosenConn(nil, Part{}, true); err == nil {
		t.Error("a connection was chosen from none")
	}
}
