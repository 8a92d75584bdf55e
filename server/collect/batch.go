package collect

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"wirebench/server/bus"
	"wirebench/server/store"
)

// streamName is the name of the stream of all traffic, and trafficPrefix begins its subjects.
const (
	streamName    = "wirebench-traffic"
	trafficPrefix = "wirebench.traffic."
)

// Bounds of batches.
const (
	batchBytes = 256 << 10 // about, of one message, at the end of a block; a server takes 1 MiB unless configured otherwise
	maxAbout   = 48 << 10  // bytes of a description; see about. A server takes headers of 64 KiB
	headRoom   = 4 << 10   // bytes of a message for its headers, without a description
)

// Headers of a message.
const (
	headCapture = "Wirebench-Capture"
	headOffset  = "Wirebench-Offset"
	headAbout   = "Wirebench-About"
)

// subjectOf returns the subject of the traffic of a listener.
func subjectOf(project, collector, listener string) string {
	return trafficPrefix + bus.Token(project) + "." + bus.Token(collector) + "." + bus.Token(listener)
}

// about describes a recording. It goes with the first message of a part, and again when it has changed.
type about struct {
	Name       string          `json:"name"`
	Added      time.Time       `json:"added"`
	Listener   *store.Listener `json:"listener,omitempty"`
	Unrecorded int64           `json:"unrecorded,omitempty"` // see store.Capture
	Changes    int             `json:"changes,omitempty"`    // of the description so far: a stream may deliver an earlier one later
	Ended      bool            `json:"ended,omitempty"`      // there is no more after this message
}

// batch is a message: bytes of a recording.
type batch struct {
	capture string // id
	offset  int64
	data    []byte
	about   []byte // JSON of an about; nil if there is nothing new
}

// message returns the message of a batch for a subject. Its id lets the stream recognize a batch that is sent again.
func (b *batch) message(subject string) *nats.Msg {
	m := nats.NewMsg(subject)
	m.Data = b.data
	m.Header.Set(headCapture, b.capture)
	m.Header.Set(headOffset, strconv.FormatInt(b.offset, 10))
	id := fmt.Sprintf("%s.%d.%d", b.capture, b.offset, len(b.data))
	if b.about != nil {
		m.Header.Set(headAbout, string(b.about))
		id += "." + string(store.RevisionOf(b.about))
	}
	m.Header.Set(jetstream.MsgIDHeader, id)
	return m
}

// parse reads a message. The error says what is wrong with it.
func parse(subject string, head nats.Header, data []byte) (b batch, a *about, collector string, err error) {
	tokens := strings.Split(subject, ".")
	if len(tokens) != 5 || tokens[3] == "" {
		return b, nil, "", fmt.Errorf("the subject %.100q is not that of a listener", subject)
	}
	b = batch{capture: head.Get(headCapture), data: data}
	if !store.IsCaptureID(b.capture) {
		return b, nil, "", fmt.Errorf("%s: %.100q is not an id", headCapture, b.capture)
	}
	if b.offset, err = strconv.ParseInt(head.Get(headOffset), 10, 64); err != nil || b.offset < 0 || b.offset > store.MaxCaptureBytes {
		return b, nil, "", fmt.Errorf("%s: %.100q is not an offset in a capture", headOffset, head.Get(headOffset))
	}
	if text := head.Get(headAbout); text != "" {
		if len(text) > maxAbout {
			return b, nil, "", fmt.Errorf("%s has %d bytes, more than %d", headAbout, len(text), maxAbout)
		}
		a = &about{}
		if err := json.Unmarshal([]byte(text), a); err != nil {
			return b, nil, "", fmt.Errorf("%s: %w", headAbout, err)
		}
		if err := a.check(); err != nil {
			return b, nil, "", fmt.Errorf("%s: %w", headAbout, err)
		}
	}
	return b, a, tokens[3], nil
}

// check returns what is wrong with a description.
func (a *about) check() error {
	switch {
	case a.Unrecorded < 0 || a.Changes < 0:
		return errors.New("a negative number")
	case a.Added.Year() < 1970 || a.Added.Year() > 9999:
		return errors.New("a time of another age")
	case a.Listener == nil:
		return nil
	}
	if rules := a.Listener.Rules; len(rules) > 0 && !json.Valid(rules) {
		return errors.New("the rules are not JSON")
	}
	return nil
}
