package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"wirebench/defs"
	"wirebench/defs/library"
	"wirebench/server/scores"
	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// The definitions of a project are judged by all its captures, each version by the messages of its code, and again after a change.
func TestScoresOfProject(t *testing.T) {
	s := captureServer(t, "tera", map[string]string{"C_HIT.1.def": servertest.HitText, "C_HIT.2.def": "uint32 id\nuint16 kind\nuint16 more\nstring text\n", "C_NONE.1.def": "byte a\n", "protocol.1.map": "C_HIT 4097\nC_NONE 4098\n"})
	upload := func(name string, data []byte) (x store.Capture) {
		if code := servertest.Request(t, s, "POST", "/api/one/captures?name="+name, data, &x); code != 201 {
			t.Fatalf("upload: %d", code)
		}
		return x
	}
	one, two := upload("one.pcapng", servertest.Hits(t, 3000, 1000)), upload("two.pcapng", servertest.Hits(t, 20, 10))
	var got scores.Scores
	ask := func() {
		t.Helper()
		got = scores.Scores{}
		if code := servertest.Request(t, s, "GET", "/api/v1/one/scores", nil, &got); code != 200 || !got.Done {
			t.Fatal(code, got)
		}
	}
	ask()
	if len(got.Definitions) != 2 || got.NoData != 1 || got.Unknown != 0 || got.State.Captures != 2 || got.State.Frames != 3020 {
		t.Fatalf("%+v", got)
	}
	for i, d := range got.Definitions {
		if d.Frames != 3020 || d.Clean != 3015 || d.Leftover != 5 || d.First == nil || d.First.Reason != "4 bytes that the definition does not explain" || d.Used != (i == 1) {
			t.Errorf("%+v, first %+v", d, d.First)
		}
		if len(d.Captures) != 2 || d.Captures[0].Capture != one.ID || d.Captures[0].Frames != 3000 || d.Captures[1].Capture != two.ID || d.Captures[1].Leftover != 2 || d.Captures[1].Filter != "C_HIT" {
			t.Errorf("%+v", d.Captures)
		}
	}
	if _, err := s.Projects.Find("one").Save("C_HIT.2.def", []byte("uint32 id\nbyte kind\nstring text\n"), nil); err != nil {
		t.Fatal(err)
	}
	ask()
	if d := got.Definitions[1]; d.Frames != 3020 || d.Clean != 0 {
		t.Errorf("%+v", d)
	}
	if code := servertest.Request(t, s, "DELETE", "/api/v1/one/captures/"+one.ID, nil, nil); code != 204 {
		t.Fatal(code)
	}
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if ask(); got.State.Frames == 20 || time.Now().After(until) {
			break
		}
	}
	if got.State.Frames != 20 || got.Definitions[0].Clean != 18 {
		t.Errorf("%+v", got)
	}
}

// An open page that wants them gets the figures of its text, with those of each line, after each change.
func TestScoresOfPage(t *testing.T) {
	s := captureServer(t, "tera", map[string]string{"C_HIT.1.def": servertest.HitText, "protocol.1.map": "C_HIT 4097\n"})
	x := servertest.Keep(t, s, "one.pcapng", servertest.Hits(t, 3000, 1000))
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn := dialChannel(t, ctx, srv.URL, nil, "page", "{}")
	write := func(text string) {
		t.Helper()
		if err := conn.Write(ctx, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	// next returns the figures of all messages.
	next := func(fits func(scores.Score) bool) (got scores.Score) {
		t.Helper()
		for {
			text, err := conn.Read(ctx)
			if err != nil {
				t.Fatalf("%v: %+v", err, got)
			}
			var a struct{ Score *scores.Score } // page.ScoreAnswer
			if err := json.Unmarshal(text, &a); err != nil {
				t.Fatal(err)
			}
			if a.Score == nil {
				continue
			}
			if got = *a.Score; got.State.Reading == 0 && got.Frames == got.Of && fits(got) && len(got.Lines) > 0 && got.Lines[0].Frames == 3000 { // values are counted beside verdicts
				return got
			}
		}
	}
	write(`{"n":1,"set":{"message":"C_HIT.1","score":true}}`)
	got := next(func(s scores.Score) bool { return s.Frames == 3000 })
	if got.Message != "C_HIT.1" || got.Clean != 2997 || got.Leftover != 3 || got.First.Frame != 1000 || got.First.Capture != x.ID || got.First.Name != "one.pcapng" {
		t.Errorf("%+v, first %+v", got, got.First)
	}
	want := []scores.Line{
		{Line: 1, Frames: 3000, Distinct: 3000, Values: "0 … 2999"},
		{Line: 2, Frames: 3000, Distinct: 3, Values: "0 … 2"},
		{Line: 3, Frames: 3000, Distinct: 10},
	}
	if fmt.Sprintf("%+v", got.Lines) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v", got.Lines)
	}
	write(`{"n":2,"set":{"definition":"uint32 id\nbool kind\nstring text\n"}}`)
	got = next(func(s scores.Score) bool { return s.Leftover > 3 })
	if len(got.Lines) != 3 || got.Lines[1].Values != "false … true" && got.Lines[1].Distinct == 0 {
		t.Errorf("%+v", got)
	}
	write(`{"n":3,"set":{"definition":"uint32 id\nuint32 kind\nstring text\narray list\n- uint32 a\n"}}`)
	got = next(func(s scores.Score) bool { return s.Clean == 0 && s.Leftover == 0 })
	if l := got.Lines[3]; got.Over+got.Differ+got.Doubtful != 3000 || got.First == nil || got.First.Frame != 1 || l.Line != 4 || l.Bad != 2999 || l.First == nil {
		t.Errorf("%+v %+v", got, l)
	}
}

// The figures of lines are of all messages, with the header of an envelope or without one: those of the built-in recordings have values.
func TestScoresOfSamples(t *testing.T) {
	for _, d := range defs.Dialects {
		recording, ok := library.Recorded(d.Name)
		if !ok {
			t.Errorf("%s has no recording", d.Name)
			continue
		}
		fsys, _ := library.Dialect(d.Name)
		files := map[string]string{}
		lib, err := workspace.ReadFS(fsys)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range slices.Concat(lib.Files, lib.Maps, lib.Envelopes) {
			files[f.Name] = f.Text
		}
		s := captureServer(t, d.Name, files)
		t.Cleanup(s.Close)
		ws := s.Projects.Find("one")
		x := servertest.Keep(t, s, "one.pcapng", recording.Data)
		board := s.scores.Of(ws)
		for end := time.Now().Add(time.Minute); board.State().Reading > 0 || board.State().Captures == 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: %+v", d.Name, board.State())
			}
		}
		judged := 0
		for _, m := range ws.Now().Schema().Messages {
			def, err := ws.Now().Open(ws.Now().NameOf(m), "")
			if err != nil {
				t.Fatal(err)
			}
			run := board.Run(def, nil)
			for run.Advance(t.Context(), time.Minute) {
			}
			got := run.Score()
			if got.Frames == 0 || len(got.Lines) == 0 {
				continue
			}
			judged++
			most, bad := uint64(0), 0
			for _, l := range got.Lines {
				most, bad = max(most, l.Frames), bad+l.Bad
				if l.Bad > 0 && (l.First == nil || l.First.Capture != x.ID) {
					t.Errorf("%s, %s: line %d has defects without a place", d.Name, got.Message, l.Line)
				}
			}
			if most == 0 || bad > got.Frames-got.Clean {
				t.Errorf("%s, %s: of %d messages %d have values, %d defects, %d of lines: %+v", d.Name, got.Message, got.Frames, most, got.Frames-got.Clean, bad, got.Lines)
			}
		}
		if judged < 2 {
			t.Errorf("%s: %d messages have figures", d.Name, judged)
		}
	}
}

// BenchmarkScore judges a definition by 100,000 and by a million messages, and times the first figures.
func BenchmarkScore(b *testing.B) {
	edits := 0
	for _, n := range []int{100_000, 1_000_000} {
		s := captureServer(b, "tera", map[string]string{"C_HIT.1.def": servertest.HitText, "protocol.1.map": "C_HIT 4097\n"})
		ws := s.Projects.Find("one")
		if _, err := ws.Captures.Add("one.pcapng", time.Now(), bytes.NewReader(servertest.Hits(b, n, 1000))); err != nil {
			b.Fatal(err)
		}
		board := s.scores.Of(ws)
		for board.State().Frames < n {
			time.Sleep(10 * time.Millisecond)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var first time.Duration
			for range b.N {
				edits++ // figures of a text that is known would be those of before
				def, err := ws.Now().Open("C_HIT.1", fmt.Sprintf("%s# edited %d\n", servertest.HitText, edits))
				if err != nil {
					b.Fatal(err)
				}
				begun := time.Now()
				run := board.Run(def, nil)
				more := run.Advance(b.Context(), 30*time.Millisecond)
				run.Score()
				first += time.Since(begun)
				for more {
					more = run.Advance(b.Context(), time.Second)
				}
				if got := run.Score(); got.Frames != n || got.Leftover != n/1000 {
					b.Fatalf("%+v", got)
				}
			}
			b.ReportMetric(float64(first.Milliseconds())/float64(b.N), "ms-first")
		})
		s.Close()
	}
}
