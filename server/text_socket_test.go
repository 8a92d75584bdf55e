package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"wirebench/server/access"
	"wirebench/server/rooms"
)

// newsOf reads messages of a channel until one has what is wanted, or returns why the channel was closed.
func (c *channelConn) newsOf(t *testing.T, what func(rooms.Message) bool) (m rooms.Message, why string) {
	t.Helper()
	for {
		text, err := c.Read(t.Context())
		if err != nil {
			return m, err.Error()
		}
		m = rooms.Message{}
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if what(m) {
			return m, ""
		}
	}
}

// Those who may only read get the text and its changes, and what they send closes their channel. Messages that are none do that, too.
func TestTextChannel(t *testing.T) {
	s, _ := testServerOf(t, map[string]string{"C_A.1.def": "uint32 id\n"})
	role := access.Author
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, access.As(r, access.Principal{Grants: access.Grants{access.Everywhere: role}}))
	}))
	t.Cleanup(func() { s.Close(); srv.Close() })
	open := func(name string) *channelConn {
		return dialChannel(t, t.Context(), srv.URL, nil, "text", fmt.Sprintf(`{"file":"C_A.1.def","name":%q,"message":"C_A.1"}`, name))
	}
	isStart := func(m rooms.Message) bool { return m.Start != nil }
	author := open("Ann\n\u009b")
	if m, _ := author.newsOf(t, isStart); !m.Start.Writes || *m.Start.Text != "uint32 id\n" {
		t.Errorf("%+v", m.Start)
	}
	role = access.Viewer
	viewer := open(strings.Repeat("é", 100))
	if m, _ := viewer.newsOf(t, isStart); m.Start.Writes || len(m.People) != 1 || m.People[0].Name != "Ann" || m.People[0].Message != "C_A.1" {
		t.Errorf("%+v", m)
	}
	send := func(c *channelConn, text string) {
		t.Helper()
		if err := c.Write(t.Context(), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	send(author, `{"push":{"client":"a","version":0,"changes":[[7,[2,"key"],1]]}}`)
	if m, _ := viewer.newsOf(t, func(m rooms.Message) bool { return len(m.Updates) > 0 }); m.Updates[0].Client != "a" {
		t.Errorf("%+v", m.Updates)
	}
	for _, text := range []string{
		`{"push":{"client":"v","version":1,"changes":[[[11]]]}}`, `{"merge":{"client":"v","base":"","text":"x"}}`, `{"revert":true}`, `{"push":{"client":"v","version":1,"changes":[[1.5]]}}`, `"x"`,
	} {
		c := open("viewer")
		c.newsOf(t, isStart)
		send(c, text)
		if _, why := c.newsOf(t, func(rooms.Message) bool { return false }); why == "" {
			t.Errorf("%s: the channel goes on", text)
		}
	}
	// A text of another version begins anew.
	send(author, `{"push":{"client":"a","version":99,"changes":[[[11]]]}}`)
	if m, _ := author.newsOf(t, isStart); *m.Start.Text != "uint32 key\n" || m.Start.Version != 1 {
		t.Errorf("%+v", m.Start)
	}
	role = access.Author
	missing := dialChannel(t, t.Context(), srv.URL, nil, "text", `{"file":"nothing.def"}`)
	if _, why := missing.newsOf(t, isStart); !strings.Contains(why, "does not exist") {
		t.Error(why)
	}
}
