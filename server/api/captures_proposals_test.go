package api

import (
	"testing"

	"wirebench/codec/transport"
	"wirebench/server/live"
)

// Another protocol is proposed where it finds clearly more than some bytes that look like messages.
func TestProposeProtocols(t *testing.T) {
	for _, c := range []struct {
		name  string
		here  int
		found []Elsewhere
		want  []string
	}{
		{"nothing here", 0, []Elsewhere{{"b", "B", 5, 90}}, []string{"no messages here; the protocol of B finds 5 in its first part, 90 % of its bytes"}},
		{"a chance message here", 1, []Elsewhere{{"b", "B", 100, 90}}, []string{"1 message here; the protocol of B finds 100 in its first part, 90 % of its bytes"}},
		{"chance messages there", 0, []Elsewhere{{"b", "B", 2, 100}}, nil},
		{"chance messages of a third", 0, []Elsewhere{{"a", "A", 4, 30}, {"b", "B", 100, 90}}, []string{"no messages here; the protocol of B finds 100 in its first part, 90 % of its bytes"}},
		{"about as many here", 40, []Elsewhere{{"b", "B", 60, 90}}, nil},
		{"most messages, of few bytes", 0, []Elsewhere{{"a", "A", 100, 24}}, nil},
		{"few messages of all bytes beside many", 0, []Elsewhere{{"a", "A", 100, 26}, {"b", "B", 3, 90}}, []string{"no messages here; the protocol of B finds 3 in its first part, 90 % of its bytes"}},
		{"too few messages of all bytes before others", 0, []Elsewhere{{"a", "A", 2, 100}, {"b", "B", 50, 90}}, []string{"no messages here; the protocol of B finds 50 in its first part, 90 % of its bytes"}},
		{"none", 0, nil, nil},
	} {
		got := proposeProtocols(c.found, c.here)
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v", c.name, got)
			continue
		}
		for i, p := range got {
			if p.Evidence != c.want[i] || p.Kind != "open" {
				t.Errorf("%s: %+v", c.name, p)
			}
		}
	}
}

func TestFewMessages(t *testing.T) {
	for _, c := range []struct {
		messages, other int // of 10 and of 100 bytes
		few             bool
	}{{0, 0, true}, {0, 7, true}, {1, 0, false}, {1, 1, true}, {5, 1, false}, {100, 2000, true}, {101, 2000, false}} {
		log := live.New(0)
		conn := log.Connection(live.Conn{})
		for i := range c.messages + c.other {
			f := &transport.Frame{Kind: transport.Message, Bytes: make([]byte, 10)}
			if i >= c.messages {
				f.Kind, f.Bytes = transport.Problem, make([]byte, 100)
			}
			if err := log.Add(conn, f); err != nil {
				t.Fatal(err)
			}
		}
		if n, few := fewMessages(log); n != c.messages || few != c.few {
			t.Errorf("%+v: %d, %t", c, n, few)
		}
	}
}
