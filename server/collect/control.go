package collect

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go"

	"wirebench/server/bus"
	"wirebench/server/relay"
	"wirebench/server/settings"
	"wirebench/server/supervise"
)

// Subjects beside the traffic. State is published by collectors, changed by workbenches; requests go to the two others.
const (
	statePrefix   = "wirebench.state."   // PROJECT.COLLECTOR: a state
	controlPrefix = "wirebench.control." // COLLECTOR: a call, whose answer is that of Options.Answer
	projectPrefix = "wirebench.project." // PROJECT: a question
	changedPrefix = "wirebench.changed." // PROJECT: the definitions or settings have changed
)

// Times of what is said about listeners.
const (
	stateEvery  = 2 * time.Second
	stateRest   = 100 * time.Millisecond // between two states of one listener
	stateLasts  = 7 * time.Second        // after which a collector is away
	callTime    = 5 * time.Second
	askTime     = 10 * time.Second
	syncEvery   = 30 * time.Second
	answerBytes = 16 << 20 // of an answer, unpacked
	packedFrom  = 4 << 10  // bytes of an answer that is packed
)

// state is the state of a listener of a collector.
type state struct {
	Info    relay.Info `json:"info"`
	Version string     `json:"version"`
	Held    int        `json:"held"`              // changes of its held messages so far
	Reading string     `json:"reading,omitempty"` // see reading.rev
}

// call asks for an operation with a listener.
type call struct {
	Project   string          `json:"project"`
	ID        string          `json:"id"`
	Operation string          `json:"operation"`
	Who       string          `json:"who"`
	Body      json.RawMessage `json:"body,omitempty"`
}

// question asks for a file of a project, or with "" for what it has.
type question struct {
	File string `json:"file,omitempty"`
}

// contents is what a project has.
type contents struct {
	Protocol string            `json:"protocol"`
	Title    string            `json:"title"`
	Settings settings.Settings `json:"settings,omitzero"`
	Files    map[string]string `json:"files"` // revisions by name
}

// Headers of an answer.
const (
	headPacked = "Content-Encoding"
	headFailed = "Wirebench-Error"
)

// reply answers a request.
func reply(m *nats.Msg, most int64, data []byte, err error) {
	out := nats.NewMsg(m.Reply)
	if err == nil && len(data) > packedFrom {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(data) // a buffer takes everything
		_ = z.Close()
		data = b.Bytes()
		out.Header.Set(headPacked, "gzip")
	}
	if err == nil && int64(len(data)) > most-headRoom {
		err = fmt.Errorf("the answer has %d bytes, more than NATS takes", len(data))
	}
	if out.Data = data; err != nil {
		out.Data = nil
		out.Header.Set(headFailed, fmt.Sprintf("%.1000q", err))
	}
	_ = m.RespondMsg(out) // who asked asks again
}

// request asks somebody and returns the unpacked answer.
func request(ctx context.Context, conn *nats.Conn, subject string, about any) ([]byte, error) {
	text, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	m, err := conn.RequestWithContext(ctx, subject, text)
	if err != nil {
		return nil, err
	}
	if why := m.Header.Get(headFailed); why != "" {
		return nil, fmt.Errorf("%.1000s", why)
	}
	if m.Header.Get(headPacked) != "gzip" {
		return m.Data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(m.Data))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(z, answerBytes+1))
	if err == nil && len(data) > answerBytes {
		err = fmt.Errorf("the answer has more than %d bytes", answerBytes)
	}
	return data, err
}

// serve calls a function for each message of a subject until the context is done. A panic of it ends the handling of its message.
func serve(ctx context.Context, conn *nats.Conn, subject string, do func(*nats.Msg)) error {
	sub, err := conn.SubscribeSync(subject)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }()
	for {
		m, err := sub.NextMsgWithContext(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, nats.ErrSlowConsumer): // it asks again
			continue
		case err != nil:
			return err
		}
		_ = supervise.Do("collector", func() error { do(m); return nil })
	}
}

// answer executes the operations that workbenches ask for.
func (c *Collector) answer(ctx context.Context) {
	err := serve(ctx, c.conn, controlPrefix+c.opts.Name, func(m *nats.Msg) {
		var x call
		if err := json.Unmarshal(m.Data, &x); err != nil {
			c.opts.Log.Warn("a request by NATS is refused", "bytes", len(m.Data), "reason", err)
			reply(m, c.conn.MaxPayload(), nil, err)
			return
		}
		one := c.relays.Get(x.Project, x.ID)
		if one == nil {
			reply(m, c.conn.MaxPayload(), nil, errors.New("no such listener, or it has ended"))
			return
		}
		if x.Operation == read {
			err := c.read(one, x.Body)
			reply(m, c.conn.MaxPayload(), nil, err)
			c.poke()
			return
		}
		answer := c.opts.Answer(one, x.Operation, x.Who, x.Body)
		if x.Operation == "set-rules" {
			c.projects[x.Project].keepRules(c, one)
		}
		reply(m, c.conn.MaxPayload(), answer, nil)
		c.poke()
	})
	if err != nil {
		c.opts.Log.Error("requests by NATS are not answered", "error", err)
	}
}

// announce publishes the states of the listeners: now and then, and when they have changed.
func (c *Collector) announce(ctx context.Context) {
	every := time.NewTicker(stateEvery)
	defer every.Stop()
	for {
		for _, one := range c.relays.Of("") {
			c.tell(one)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(stateRest):
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		case <-c.moved:
		}
	}
}

// tell publishes the state of a listener.
func (c *Collector) tell(one *relay.Session) {
	c.mu.Lock()
	x := state{Version: c.opts.Version, Held: c.held[one.ID], Reading: c.readings[one.ID]}
	c.mu.Unlock()
	x.Info = one.Info()
	text, err := json.Marshal(x)
	if most := c.conn.MaxPayload(); err == nil && most > 0 && int64(len(text)) > most {
		x.Info.Events, x.Info.Conns = nil, nil
		text, err = json.Marshal(x)
	}
	if err == nil {
		_ = c.conn.Publish(statePrefix+bus.Token(one.Workspace.Name)+"."+c.opts.Name, text) // it is said again
	}
}

func (c *Collector) poke() {
	select {
	case c.moved <- struct{}{}:
	default:
	}
}
