package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
	"wirebench/server/replay"
)

// Limits of scripts made of captures.
const (
	maxMessages = 60_000   // more than the steps of a script
	maxBytes    = 16 << 20 // of them
	maxMakers   = 2        // at once; other requests wait
)

// Conn is a connection of a capture that can be replayed.
type Conn struct {
	Conn     string `json:"conn" doc:"client-server, as in frames"`
	Session  int    `json:"session,omitempty" doc:"number among successive connections of the same addresses"`
	ToServer int    `json:"to_server" doc:"messages"`
	ToClient int    `json:"to_client" doc:"messages"`

	index uint32 // in the log
}

func (c Conn) messages() int { return c.ToServer + c.ToClient }

// Part selects the connection of a capture to replay.
type Part struct {
	Conn    string `json:"conn,omitempty" maxLength:"200" doc:"connection, client-server; default: the only one"`
	Session int    `json:"session,omitempty" minimum:"0" doc:"number among successive connections of the same addresses"`
}

// Made is a script made of a recording.
type Made struct {
	Script *replay.Script
	Of     Conn
	Conns  []Conn // with messages, by descending number of messages
	Note   string // why the script lacks parts of the connection
}

// Script makes the script of a connection of a recording. If none is named and there are several, it takes the one with most messages or
// returns an error.
func (s *Set) Script(ctx context.Context, of Recording, part Part, play schema.Dir, largest bool) (made Made, err error) {
	select {
	case s.making <- struct{}{}:
		defer func() { <-s.making }()
	case <-ctx.Done():
		return made, &CaptureError{ctx.Err()}
	}
	open, err := s.Captures.Use(of.Workspace, of.Snapshot, of.Capture)
	if err != nil {
		return made, &CaptureError{err}
	}
	defer s.Captures.LetGo(open)
	whole, err := open.Wait(ctx)
	switch {
	case err != nil:
		return made, &CaptureError{err}
	case whole && open.Err() != nil:
		made.Note = open.Err().Error()
	case whole:
	case !open.Running():
		return made, ErrReading
	default:
		made.Note = "the connection is still open: the script has its messages so far"
	}
	made.Conns = connsOf(open.Log())
	if made.Of, err = chosenConn(made.Conns, part, largest); err != nil {
		return made, err
	}
	messages, all := messagesOf(open.Log(), made.Of.index)
	if err := open.Log().Err(); err != nil {
		return made, &CaptureError{err}
	}
	if !all {
		made.Note = fmt.Sprintf("only the first %d messages", len(messages))
	}
	made.Script, err = replay.FromFrames(messages, replay.FromOptions{Definitions: of.Snapshot, Protocol: of.Snapshot.Dialect.Name, Play: play})
	return made, err
}

// connsOf returns the connections of a log with messages, by descending number of messages.
func connsOf(log *live.Log) []Conn {
	conns := log.Conns()
	all := make([]Conn, len(conns))
	for i, c := range conns {
		all[i] = Conn{Conn: c.Name, Session: c.Session, index: uint32(i)}
	}
	log.Each(log.Base(), log.Len(), func(_ int, e live.Entry, _ []byte) bool {
		if e.Kind != transport.Message || int(e.Conn) >= len(all) {
			return true
		}
		switch e.Dir {
		case schema.ToServer:
			all[e.Conn].ToServer++
		case schema.ToClient:
			all[e.Conn].ToClient++
		}
		return true
	})
	all = slices.DeleteFunc(all, func(c Conn) bool { return c.messages() == 0 })
	slices.SortStableFunc(all, func(a, b Conn) int { return b.messages() - a.messages() })
	return all
}

// chosenConn returns the requested connection.
func chosenConn(all []Conn, part Part, largest bool) (Conn, error) {
	switch {
	case len(all) == 0:
		return Conn{}, errors.New("the capture has no messages that can be replayed")
	case part.Conn == "" && (largest || len(all) == 1):
		return all[0], nil
	case part.Conn == "":
		var names []string
		for _, c := range all[:min(len(all), 10)] {
			name := c.Conn
			if c.Session > 0 {
				name += fmt.Sprintf(" (session %d)", c.Session)
			}
			names = append(names, name)
		}
		return Conn{}, fmt.Errorf("the capture has %d connections; choose one as \"conn\": %s", len(all), strings.Join(names, ", "))
	}
	for _, c := range all {
		if c.Conn == part.Conn && c.Session == part.Session {
			return c, nil
		}
	}
	return Conn{}, fmt.Errorf("connection %s, session %d does not exist or has no messages", part.Conn, part.Session)
}

// messagesOf returns the messages of a connection as the other end received them, and whether they are complete.
func messagesOf(log *live.Log, conn uint32) (list []replay.Message, all bool) {
	all = log.Base() == 0
	size := 0
	var f transport.Frame
	log.Each(log.Base(), log.Len(), func(i int, e live.Entry, data []byte) bool {
		if e.Conn != conn || e.Kind != transport.Message || e.Flags&live.Dropped != 0 {
			return true
		}
		if size += len(data); size > maxBytes || len(list) == maxMessages {
			all = false
			return false
		}
		log.Frame(i, e, data, &f)
		list = append(list, replay.Copy(&f))
		return true
	})
	return list, all
}
