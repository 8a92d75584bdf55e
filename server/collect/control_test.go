package collect

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"wirebench/server/bus"
	"wirebench/server/bus/bustest"
	"wirebench/server/proxy"
	"wirebench/server/relay"
	"wirebench/server/store"
	"wirebench/server/supervise"
)

// What others say by NATS about listeners and projects is judged as any input: nothing of it panics, starts a listener, writes outside of the
// folder of a project, or takes the place of what a collector says.
func TestHostileControl(t *testing.T) {
	faults := fmt.Sprint(supervise.Counts())
	server := bustest.Start(t)
	bench := open(t, t.TempDir(), "one", server.URL)
	data, err := store.OpenData(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	up, err := proxy.NewUpstreams(proxy.DefaultUpstreams, nil)
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	c, err := Start(t.Context(), Options{
		Name: "host1", Data: data, SpoolBytes: MinSpool, Protocol: "tera", Upstreams: up, Bus: bus.Options{URL: server.URL}, Log: slog.New(slog.DiscardHandler),
		Listeners: []relay.Config{{Workspace: "one", Name: "game", Listen: "127.0.0.1:0", Upstream: echoServer(t)}, {Workspace: "evil", Name: "game", Listen: "127.0.0.1:0", Upstream: echoServer(t)}},
		Answer: func(_ *relay.Session, operation, _ string, _ []byte) []byte {
			asked = append(asked, operation)
			return []byte("{}")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	until(t, "the listener is heard", func() bool { return len(bench.receiver.Listeners("one")) == 1 })
	one := bench.receiver.Listeners("one")[0]
	conn, err := nats.Connect(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	say := func(subject, text string) {
		t.Helper()
		if err := conn.Publish(subject, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	taken, _ := json.Marshal(state{Info: one})
	other, _ := json.Marshal(state{Info: relay.Info{ID: store.NewCaptureID(time.Now())}})
	for _, text := range []string{"", "{", "null", "[]", `{"info":{"id":"../x"}}`, `{"info":7}`, strings.Repeat("[", 100_000), string(taken), string(other)} {
		say("wirebench.state.one.evil", text)
		say("wirebench.control.host1", text)
		say("wirebench.project.one", text)
		say("wirebench.changed.one", text)
	}
	for name, files := range map[string]map[string]string{
		"outside": {strings.Repeat("../", 3) + "outside.def": "r"}, "settings": {"settings.json": "r"}, "deep": {strings.Repeat("a/", 500) + "b.def": "r"},
	} {
		answers, err := conn.Subscribe("wirebench.project.evil", func(m *nats.Msg) {
			text, _ := json.Marshal(contents{Protocol: "tera", Files: files})
			if strings.Contains(string(m.Data), "file") {
				text = []byte("evil")
			}
			_ = m.Respond(text)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := c.projects["evil"].sync(t.Context(), c); err == nil && name != "settings" {
			t.Errorf("%s: it is taken", name)
		}
		_ = answers.Unsubscribe()
	}
	_ = filepath.WalkDir(data.Path(), func(path string, d os.DirEntry, _ error) error {
		if text, err := os.ReadFile(path); err == nil && string(text) == "evil" && filepath.Base(filepath.Dir(path)) != "definitions" {
			t.Errorf("%s was written", path)
		}
		return nil
	})
	if _, ok, err := bench.receiver.Call("one", one.ID, "held", "", nil); !ok || err != nil {
		t.Errorf("the collector is not heard any more: %v %v", ok, err)
	}
	if _, ok, _ := bench.receiver.Call("two", one.ID, "held", "", nil); ok {
		t.Error("a listener of another project is reached")
	}
	if len(asked) != 1 {
		t.Errorf("operations: %q", asked)
	}
	all := bench.receiver.Listeners("one")
	if len(all) != 1 || all[0].Collector != "host1" {
		t.Errorf("listeners: %+v", all)
	}
	if n := len(c.Listeners()); n != 2 {
		t.Errorf("%d listeners run", n)
	}
	if now := fmt.Sprint(supervise.Counts()); now != faults {
		t.Errorf("faults: %s", now)
	}
}
