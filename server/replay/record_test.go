package replay_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/replay"
)

// recording returns a conversation given as "at name {values}".
func (w *world) recording(lines ...string) (out []replay.Message) {
	start := time.Unix(1_700_000_000, 0)
	for _, line := range lines {
		var after int
		var name string
		if _, err := fmt.Sscan(line, &after, &name); err != nil {
			w.t.Fatal(err)
		}
		def, err := w.snap.Find(name)
		if err != nil {
			w.t.Fatal(err)
		}
		_, value, _ := strings.Cut(line, "{")
		key := def.Key
		key.Dir = schema.ToServer
		if strings.HasPrefix(name, "S_") {
			key.Dir = schema.ToClient
		}
		out = append(out, replay.Message{
			Kind: transport.Message, Dir: key.Dir, At: start.Add(time.Duration(after) * time.Millisecond), Key: key, HasKey: true,
			Bytes: w.encode(name, "{"+value),
		})
	}
	return out
}

// brief summarizes the steps of a script.
func brief(s *replay.Script) (out []string) {
	for _, st := range s.Steps {
		switch {
		case st.Send != nil:
			out = append(out, fmt.Sprintf("send %s after %s set %v", st.Send.Message, time.Duration(st.Send.After), st.Send.Set))
		case st.Expect != nil:
			out = append(out, fmt.Sprintf("expect %s lift %v", st.Expect.Message, st.Expect.Lift))
		}
	}
	for _, k := range s.Keepalive {
		out = append(out, fmt.Sprintf("keepalive on %s every %s lift %v send %s set %v", k.On, time.Duration(k.Every), k.Lift, k.Send.Message, k.Send.Set))
	}
	return append(out, "ignore "+strings.Join(s.Ignore, " "))
}

func TestFromFrames(t *testing.T) {
	w := newWorld(t, games["tera"])
	for _, test := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{
			"small, repeated and own values are not lifted",
			[]string{
				`0 C_LOGIN {"name":"Lann"}`, `10 S_CHALLENGE {"token":4294967295,"seq":65535}`, `35 C_AUTH {"token":4294967295,"next":65535}`,
				`40 C_AUTH {"token":777777,"next":0}`, `50 S_WELCOME {"token":777777}`, `60 C_AUTH {"token":777777}`,
			},
			[]string{
				"send C_LOGIN after 0s set map[]", "expect S_CHALLENGE lift map[]", "send C_AUTH after 25ms set map[]",
				"send C_AUTH after 5ms set map[]", "expect S_WELCOME lift map[]", "send C_AUTH after 10ms set map[]", "ignore ",
			},
		},
		{
			"a token, a number that is one more, and the first place where a value came",
			[]string{
				`0 S_CHALLENGE {"token":777777,"seq":888888}`, `1 S_WELCOME {"token":777777,"level":999999}`,
				`2 C_AUTH {"token":777777,"next":888889}`, `3 C_AUTH {"token":999999,"next":777777}`,
			},
			[]string{
				"expect S_CHALLENGE lift map[seq:S_CHALLENGE.seq token:S_CHALLENGE.token]", "expect S_WELCOME lift map[level:S_WELCOME.level]",
				"send C_AUTH after 1ms set map[next:$seq+1 token:$token]", "send C_AUTH after 1ms set map[next:$token token:$level]", "ignore ",
			},
		},
		{
			"pings that are answered with their number",
			[]string{
				`0 C_LOGIN {"name":"Lann"}`, `1000 S_PING {"n":5}`, `1010 C_PONG {"n":5}`, `1500 S_WELCOME {}`, `2000 S_PING {"n":6}`, `2010 C_PONG {"n":6}`,
			},
			[]string{
				"send C_LOGIN after 0s set map[]", "expect S_WELCOME lift map[]",
				"keepalive on S_PING every 0s lift map[alive1_1:n] send C_PONG set map[n:$alive1_1]", "ignore ",
			},
		},
		{
			"pings of the client, which are answered",
			[]string{
				`0 C_LOGIN {"name":"Lann"}`, `1000 C_PONG {"n":5}`, `1010 S_PING {"n":5}`, `3000 C_PONG {"n":5}`, `3020 S_PING {"n":6}`,
				`5000 C_PONG {"n":5}`, `5030 S_PING {"n":7}`, `6000 S_WELCOME {}`,
			},
			[]string{
				"send C_LOGIN after 0s set map[]", "expect S_WELCOME lift map[]",
				"keepalive on  every 2s lift map[] send C_PONG set map[]", "ignore S_PING",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := replay.FromFrames(w.recording(test.lines...), replay.FromOptions{Definitions: w.snap, Play: schema.ToServer})
			if err != nil {
				t.Fatal(err)
			}
			if got := brief(s); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			text, err := s.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := replay.ParseScript(text); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}

// Bytes without a definition, or not completely described by one, are sent unchanged.
func TestFromFramesBytes(t *testing.T) {
	w := newWorld(t, games["tera"])
	list := w.recording(`0 C_AUTH {"token":5}`, `1 S_PING {}`, `2 S_WELCOME {}`)
	list[0].Bytes = append(list[0].Bytes, 1, 2, 3)
	list[0].Bytes[0] += 3
	list[1].Key.Code = 9999
	list[1].Bytes = []byte{5, 0, 0x0F, 0x27, 1}
	s, err := replay.FromFrames(list, replay.FromOptions{Definitions: w.snap, Play: schema.ToServer})
	if err != nil {
		t.Fatal(err)
	}
	if x := s.Steps[0].Send; x.Hex == "" || x.Value != nil || x.Message != "C_AUTH" {
		t.Errorf("send %+v", x)
	}
	if x := s.Steps[1].Expect; x.Hex != "05000f2701" || x.Match != "op == 0x270F" || x.Message != "" {
		t.Errorf("expect %+v", x)
	}
	if _, err := replay.FromFrames(nil, replay.FromOptions{Definitions: w.snap, Play: schema.ToServer}); err == nil {
		t.Error("a script of nothing")
	}
}
