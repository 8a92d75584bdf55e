package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"wirebench/cmd/wirebench/demo"
	"wirebench/server/bus/bustest"
)

// manualNATS runs a server with a configuration of the manual: its users can do what they need to, and a collector has only its own name.
func manualNATS(t *testing.T, b manualBlock) {
	t.Setenv("WORKBENCH_PASSWORD", "first")
	t.Setenv("HOST7_PASSWORD", "second")
	if !strings.Contains(b.text, "sync_interval: always") {
		t.Errorf("%s: what is acknowledged is not on disk", b)
	}
	if strings.Contains(b.text, "\ncluster {") { // TestCluster has one
		if o := bustest.Options(t, b.text); !o.JetStream || !o.SyncAlways || o.Cluster.Name == "" || len(o.Routes) != 3 {
			t.Errorf("%s: no server of a cluster: %+v", b, o)
		}
		return
	}
	at := bustest.Configured(t, b.text)
	var d diary
	g, err := demo.Start(t.Context(), demo.Options{Protocol: "muta", Rate: 400, Seed: 3, Seen: d.note})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	via, flag := relayFlag(t, g)
	ctx, stop := context.WithCancel(t.Context())
	bench, from := &log{}, &log{}
	ended := make(chan int, 2)
	defer func() { stop(); <-ended; <-ended }()
	go func() {
		ended <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--nats", "nats://workbench:first@" + at}, strings.NewReader(""), io.Discard, bench)
	}()
	until(t, "the server starts", func() bool { return address.MatchString(bench.String()) })
	addr := address.FindStringSubmatch(bench.String())[1]
	go func() {
		ended <- run(ctx, []string{"collect", "--nats", "nats://host7:second@" + at, "--name", "host7", "--spool", t.TempDir(), "--listener", flag}, strings.NewReader(""), io.Discard, from)
	}()
	until(t, "the listener", func() bool {
		_, body := get(t, "http://"+addr+"/api/muta/proxies")
		return strings.Contains(body, `"collector":"host7"`)
	})
	playing, done := context.WithCancel(ctx)
	over := make(chan error, 1)
	go func() { over <- g.Client(playing, via) }()
	until(t, "messages", func() bool { return len(over) > 0 || d.count() >= 20 })
	if len(over) > 0 {
		t.Fatalf("the game is over: %v", <-over)
	}
	done()
	<-over
	until(t, "the capture", func() bool {
		_, body := get(t, "http://"+addr+"/api/muta/captures")
		return strings.Contains(body, `"by":"host7"`)
	})
	refused := make(chan error, 1)
	conn, err := nats.Connect("nats://host7:second@"+at, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, subject := range []string{"wirebench.traffic.muta.host8.game", "wirebench.state.muta.host8", "wirebench.control.host8", "wirebench.control.host7", "wirebench.changed.muta", "$JS.API.STREAM.PURGE.wirebench-traffic"} {
		if err := conn.Publish(subject, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		if err := <-refused; !strings.Contains(err.Error(), subject) {
			t.Errorf("%s: %v", subject, err)
		}
	}
	if text := from.String() + bench.String(); strings.Contains(text, "second") || strings.Contains(text, "ermission") {
		t.Errorf("the logs have a password, or somebody may not do what is needed:\n%s", text)
	}
}
