package replay_test

import (
	"fmt"
	"sync"
	"testing"

	"wirebench/defs/schema"
	"wirebench/server/replay"
)

// A recording whose two sides are replayed against each other stays the same: also if one side sends keepalives with different answers each
// time, and continues after the other side has finished its steps.
func TestAgainstItself(t *testing.T) {
	w := newWorld(t, games["tera"])
	lines := []string{`0 C_LOGIN {"name":"Lann"}`, `5 S_CHALLENGE {"token":777777,"seq":888888}`, `9 C_AUTH {"token":777777,"next":888889}`, `10 S_WELCOME {"token":777777,"level":7}`}
	for i := range 20 {
		lines = append(lines, fmt.Sprintf(`%d S_PING {"n":0}`, 20+20*i), fmt.Sprintf(`%d C_PONG {"n":%d}`, 21+20*i, 5000+i*i))
	}
	frames := w.recording(lines...)
	for _, speed := range []float64{1, 3, 1000} {
		var reports [2]*replay.Report
		client, server := w.pair()
		var both sync.WaitGroup
		for i, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
			s, err := replay.FromFrames(frames, replay.FromOptions{Definitions: w.snap, Play: dir})
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 && (len(s.Keepalive) != 1 || len(s.Keepalive[0].Then) != 19) {
				t.Fatalf("%+v", s.Keepalive)
			}
			o := w.options()
			o.Speed = speed
			both.Go(func() {
				wire := []*replay.Wire{client, server}[i]
				defer wire.Close() // immediately, as the command does
				if reports[i], err = replay.Run(t.Context(), s, wire, o); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		for i, rep := range reports {
			if rep == nil || !rep.OK || rep.Unexpected != 0 || rep.Received != rep.Matched+rep.Answered+rep.Ignored {
				t.Errorf("speed %g, part %d:", speed, i)
				show(t, rep)
			}
		}
		if reports[0] != nil && reports[0].Answered != 20 {
			t.Errorf("%d keepalives were answered", reports[0].Answered)
		}
	}
}

// Successive answers: the last one repeats; they are for answers only, and bounded.
func TestKeepaliveThen(t *testing.T) {
	w := newWorld(t, games["tera"])
	s := w.login()
	pong := func(n int) replay.Send {
		return replay.Send{Message: "C_PONG", Value: fmt.Appendf(nil, `{"n":%d}`, n)}
	}
	s.Keepalive = []replay.Keepalive{{On: "S_PING", Send: pong(77777), Then: []replay.Send{pong(1), pong(2)}}}
	if rep, _, wrong := w.run(s, w.options(), server{token: 123456789, seq: 987654, ping: true}); !rep.OK || len(wrong) > 0 {
		show(t, rep)
		t.Error(wrong)
	}
	s.Keepalive[0].Then = make([]replay.Send, replay.MaxThen+1)
	if err := s.Check(); err == nil {
		t.Error("too many answers are accepted")
	}
	s.Keepalive[0].Then = []replay.Send{{Message: "C_PONG", Hex: "zz"}}
	if err := s.Check(); err == nil {
		t.Error("an answer that is not a message is accepted")
	}
	s.Keepalive[0] = replay.Keepalive{Every: replay.Duration(1e9), Send: pong(1), Then: []replay.Send{pong(2)}}
	if err := s.Check(); err == nil {
		t.Error("then without on is accepted")
	}
}
