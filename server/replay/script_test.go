package replay_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/replay"
)

// Mistakes in a script are reported before anything is sent.
func TestParseScript(t *testing.T) {
	loop := func(n int, inner string) string {
		return strings.Repeat(`{"repeat":{"times":1,"steps":[`, n) + inner + strings.Repeat(`]}}`, n)
	}
	for _, test := range []struct{ steps, rest, want string }{
		{`{"send":{"hex":"01 02"}}`, ``, ``},
		{`{"send":{"hex":"01 02","dir":"c2s"}},{"expect":{"match":"len > 0","dir":"s2c"}},{"pause":"1s"},{"note":"n"}`, ``, ``},
		{loop(8, `{"send":{"hex":"01"}}`), ``, ``},
		{loop(9, `{"send":{"hex":"01"}}`), ``, `more than 8 deep`},
		{`{"repeat":{"times":100000,"steps":[{"send":{"hex":"01"}}]}}`, ``, ``},
		{`{"repeat":{"times":100001,"steps":[{"send":{"hex":"01"}}]}}`, ``, `more than 100000 messages`},
		{`{"repeat":{"times":1000,"steps":[{"repeat":{"times":1000,"steps":[]}}]}}`, ``, `1000000 steps`},
		{`{"repeat":{"times":1000000000000,"steps":[]}}`, ``, `must be 0 to`},
		{`{"repeat":{"times":-1,"steps":[]}}`, ``, `must be 0 to`},
		{`{"repeat":{"times":1,"count":"a b","steps":[]}}`, ``, `is not the name of a value`},
		{`{"send":{"hex":"0"}}`, ``, `"hex"`},
		{`{"send":{}}`, ``, `"message" or "hex"`},
		{`{"send":{"message":"A","value":{},"hex":"00"}}`, ``, `either`},
		{`{"send":{"message":"A","set":{"a..b":"$x"}}}`, ``, `is not the path`},
		{`{"send":{"message":"A","set":{"a[-1]":"$x"}}}`, ``, `is not the path`},
		{`{"send":{"message":"A","set":{"a":"x"}}}`, ``, `$name`},
		{`{"send":{"message":"A","set":{"a":"$x+y"}}}`, ``, `is not a number`},
		{`{"send":{"message":"A","set":{"a[0].b[1][2]":"$x-3"}}}`, ``, ``},
		{`{"send":{"message":"A","raw":true}}`, ``, `"raw" needs`},
		{`{"send":{"hex":"01","after":"-1s"}}`, ``, `is not a time`},
		{`{"send":{"hex":"01","after":20}}`, ``, `a time must be a string`},
		{`{"pause":"999h"}`, ``, `is not a time`},
		{`{"expect":{}}`, ``, `"message" or "match"`},
		{`{"expect":{"match":"1","value":{}}}`, ``, `needs "message"`},
		{`{"expect":{"match":"1","tolerance":"much"}}`, ``, `"tolerance"`},
		{`{"send":{"hex":"01"},"pause":"1s"}`, ``, `one of send`},
		{`{"send":{"hex":"01","dir":"s2c"}}`, `,"play":"client"`, `sends c2s`},
		{`{"expect":{"match":"1","dir":"c2s"}},{"send":{"hex":"01","dir":"c2s"}}`, ``, `sends s2c`},
		{``, `,"speed":-1`, `"speed"`},
		{``, `,"speed":1e300`, `"speed"`},
		{``, `,"play":"both"`, `client or server`},
		{``, `,"vars":{"x":{}}`, `"vars"`},
		{``, `,"vars":{"x":null}`, `"vars"`},
		{``, `,"ignore":[""]`, `"ignore"`},
		{``, `,"keepalive":[{"send":{"hex":"01"}}]`, `"on" or "every"`},
		{``, `,"keepalive":[{"every":"1ms","send":{"hex":"01"}}]`, `10ms`},
		{``, `,"steeps":[]`, `unknown field`},
	} {
		_, err := replay.ParseScript([]byte(`{"version":1,"steps":[` + test.steps + `]` + test.rest + `}`))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s %s: %v, want %q", test.steps[:min(len(test.steps), 80)], test.rest, err, test.want)
		}
	}
	for _, text := range []string{``, `{`, `[]`, `{"version":2,"steps":[]}`, `{"steps":[]}`, `{"version":1,"steps":[]} x`} {
		if _, err := replay.ParseScript([]byte(text)); err == nil {
			t.Errorf("%q is a script", text)
		}
	}
	if _, err := replay.ParseScript([]byte("{\n\"version\": 1,\n\"steps\": 5}")); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("the line of a mistake: %v", err)
	}
}

// echo is a peer that returns every message, and then ends.
type echo struct {
	dir  schema.Dir
	list []replay.Message
	left int
}

func (e *echo) Send(_ context.Context, o transport.Outgoing) error {
	if len(o.Bytes) > 3 && len(e.list) < 100 {
		k := schema.Key{Dir: e.dir, Code: uint32(o.Bytes[2]) | uint32(o.Bytes[3])<<8}
		e.list = append(e.list, replay.Message{Kind: transport.Message, Dir: e.dir, At: time.Now(), Key: k, HasKey: true, Bytes: o.Bytes})
	}
	return nil
}

func (e *echo) Receive(ctx context.Context) (replay.Message, error) {
	if err := ctx.Err(); err != nil {
		return replay.Message{}, err
	}
	if e.left--; e.left < 0 || len(e.list) == 0 {
		return replay.Message{}, io.EOF
	}
	m := e.list[0]
	e.list = e.list[1:]
	return m, nil
}

// No script causes a panic or an endless run, and an encoded script can be parsed.
func FuzzParseScript(f *testing.F) {
	w := newWorld(f, games["tera plain"])
	for _, s := range []string{
		`{"version":1,"steps":[{"send":{"message":"C_AUTH","value":{"token":1},"set":{"token":"$x+1"}}}],"vars":{"x":"18446744073709551615"}}`,
		`{"version":1,"steps":[{"expect":{"match":"S_CHALLENGE.token == $x","lift":{"x":"S_CHALLENGE.token"},"optional":true,"within":"1ms"}}]}`,
		`{"version":1,"steps":[{"repeat":{"times":9,"count":"i","steps":[{"send":{"hex":"0c008a13 00000000 00000000","message":"C_AUTH","set":{"next":"$i"}}}]}}]}`,
		`{"version":1,"play":"server","steps":[{"send":{"message":"S_PING"}}],"ignore":["*.*","S_*"],"keepalive":[{"on":"C_PONG","lift":{"a":"n"},"send":{"message":"S_PING","set":{"n":"$a-1"}}}]}`,
		`{"version":1,"steps":[{"pause":"1ns"},{"send":{"hex":"ffff","raw":true}},{"expect":{"message":"S_WELCOME","value":{"level":3},"tolerance":"exact"}}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := replay.ParseScript(text)
		if err != nil {
			return
		}
		again, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := replay.ParseScript(again); err != nil {
			t.Fatalf("%v\n%s\n%s", err, text, again)
		}
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer stop()
		rep, err := replay.Run(ctx, s, &echo{dir: transport.Opposite(s.Sends()), left: 1000}, w.options())
		if err != nil {
			return
		}
		if _, err := json.Marshal(rep); err != nil {
			t.Fatal(err)
		}
	})
}
