package server

import (
	"bytes"
	"encoding/binary"
	"net/url"
	"testing"
	"time"

	"wirebench/defs/schema"
	"wirebench/server/frames"
	"wirebench/server/servertest"
)

// questions returns a capture in which each question of the client is answered after its number in milliseconds, but for the last, between
// messages of the server that answer nothing.
func questions(t *testing.T, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	s, at := servertest.Conversation(t, &out)
	send := func(dir schema.Dir, code uint16, size int) {
		t.Helper()
		msg := binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, uint16(size)), code)
		if err := s.Data(dir, at, append(msg, make([]byte, size-4)...), ""); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		at = at.Add(time.Second)
		send(schema.ToServer, 0x1001, 8)
		for range 3 {
			send(schema.ToClient, 0x3003, 200)
		}
		if i < n-1 {
			at = at.Add(time.Duration(i+1) * time.Millisecond)
			send(schema.ToClient, 0x2002, 12)
		}
	}
	return out.Bytes()
}

// Answers are found among messages that follow as often, and their times are those from the request to the answer.
func TestReplies(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	id := servertest.Keep(t, s, "asked", questions(t, 101)).ID
	var got frames.Replies
	if code := servertest.Request(t, s, "GET", "/api/v1/one/captures/"+id+"/replies", nil, &got); code != 200 || len(got.Rows) != 1 || got.Note != "" {
		t.Fatalf("%d %+v", code, got)
	}
	r := got.Rows[0]
	if r.Request.Name != "C_SAY" || *r.Answer.Code != 0x2002 || r.Answer.Dir != "s2c" || r.Requests != 101 || r.Answered != 100 || r.Answers != 100 {
		t.Errorf("%+v", r)
	}
	if r.Least != 1000 || r.Most != 100_000 || r.Mean != 50_500 || r.Median < 48_500 || r.Median > 51_500 || r.Most95 < 92_000 || r.Most95 > 98_000 || r.Slowest != 99*5+1 {
		t.Errorf("%+v", r)
	}
	if code := servertest.Request(t, s, "GET", "/api/v1/one/captures/"+id+"/replies?filter="+url.QueryEscape("dir == c2s"), nil, &got); code != 200 || len(got.Rows) != 0 {
		t.Errorf("%d, %d rows of the client alone", code, len(got.Rows))
	}
}

// Each frame is in one range of lengths, and the filter of a range finds its frames.
func TestLengths(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	id := servertest.Keep(t, s, "asked", questions(t, 50)).ID
	var got frames.Types
	if code := servertest.Request(t, s, "GET", "/api/v1/one/captures/"+id+"/types", nil, &got); code != 200 {
		t.Fatal(code)
	}
	want := []frames.LengthRow{{From: 8, To: 9, C2S: 50}, {From: 12, To: 13, S2C: 49}, {From: 192, To: 223, S2C: 150}}
	if len(got.Lengths) != len(want) {
		t.Fatalf("%+v", got.Lengths)
	}
	for i, r := range got.Lengths {
		if r != want[i] {
			t.Errorf("%+v, not %+v", r, want[i])
		}
	}
}

// Ends of connections have what both directions of all their connections have, by port or by address, and a filter finds their frames.
func TestEnds(t *testing.T) {
	s := captureServer(t, "tera", servertest.MillionFiles)
	id := servertest.Keep(t, s, "many", servertest.Million(t, 2400)).ID
	get := func(ends string) map[string]*frames.EndRow {
		t.Helper()
		var got frames.Conns
		if code := servertest.Request(t, s, "GET", "/api/v1/one/captures/"+id+"/connections?ends="+ends, nil, &got); code != 200 || got.MoreEnds != 0 {
			t.Fatalf("%d %+v", code, got)
		}
		rows := map[string]*frames.EndRow{}
		for _, r := range got.Ends {
			rows[r.Name] = r
		}
		return rows
	}
	found := func(filter string) int {
		t.Helper()
		var rows struct{ Fit int }
		if code := servertest.Request(t, s, "GET", "/api/v1/one/captures/"+id+"/rows?count=1&filter="+url.QueryEscape(filter), nil, &rows); code != 200 {
			t.Fatal(code)
		}
		return rows.Fit
	}
	ports := get("port")
	if len(ports) != 9 {
		t.Fatalf("%d endpoints", len(ports))
	}
	if r := ports["10.0.0.1:7801"]; r.Conns != 8 || r.Got != 1600 || r.Sent != 800 || r.GotSize != 1600*20 || r.SentSize != 800*28 || r.First != 1 || r.To-r.From != 2_399_000 {
		t.Errorf("%+v", r)
	}
	if r := ports["10.0.0.2:4003"]; r.Conns != 1 || r.Sent != 200 || r.Got != 100 || r.First != 10 || found(`src == "10.0.0.2:4003" || dst == "10.0.0.2:4003"`) != 300 {
		t.Errorf("%+v", r)
	}
	if all := get("address"); len(all) != 2 || all["10.0.0.2"].Conns != 8 || all["10.0.0.2"].Sent != 1600 || found(`ip == "10.0.0.2"`) != 2400 {
		t.Errorf("%+v", all["10.0.0.2"])
	}
}
