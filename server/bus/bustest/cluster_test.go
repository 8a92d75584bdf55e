package bustest

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestMain lets this program run as a NATS server, to be killed.
func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// Two servers of three accept messages, one alone refuses them; with all there again, what was accepted is there once and in order.
func TestCluster(t *testing.T) {
	c := StartCluster(t, 3)
	conn, err := nats.Connect(c.URLs(), nats.MaxReconnects(-1), nats.ReconnectWait(askPause), nats.ReconnectBufSize(-1))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "log", Subjects: []string{"log"}, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	publish := func(n int) error {
		ctx, stop := context.WithTimeout(t.Context(), askTime)
		defer stop()
		_, err := js.Publish(ctx, "log", []byte(strconv.Itoa(n)), jetstream.WithMsgID(strconv.Itoa(n)), jetstream.WithRetryAttempts(0))
		return err
	}
	accepted := 0
	accept := func(what string, many int) {
		t.Helper()
		for end := time.Now().Add(usableTime); many > 0; {
			if err := publish(accepted); err == nil {
				accepted++
				many--
			} else if time.Now().After(end) {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
	accept("all servers", 20)
	for _, killed := range []int{0, 1, 2} { // the one that leads is among them
		c.Servers[killed].Kill()
		accept("two servers", 20)
		c.Servers[killed].Again()
		c.Usable()
	}
	c.Servers[0].Kill()
	c.Servers[1].Kill()
	for range 3 {
		if err := publish(accepted); err == nil {
			t.Fatal("one server of three accepts a message")
		}
	}
	c.Servers[0].Again()
	c.Servers[1].Again()
	c.Usable()
	accept("all servers again", 20) // the refused one may have been stored; the same id is accepted once
	s, err := js.Stream(t.Context(), "log")
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if int(info.State.Msgs) != accepted {
		t.Errorf("%d messages are stored, %d were accepted", info.State.Msgs, accepted)
	}
	for i := range accepted {
		m, err := s.GetMsg(t.Context(), uint64(i)+1)
		if err != nil || string(m.Data) != strconv.Itoa(i) {
			t.Fatalf("message %d: %v %v", i, m, err)
		}
	}
}
