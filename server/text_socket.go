package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"wirebench/server/access"
	"wirebench/server/collab"
	"wirebench/server/rooms"
	"wirebench/server/socket"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// maxTextMessage is the maximum number of bytes of a message about a shared text. A message that merges has two texts.
const maxTextMessage = 4 << 20

const maxMessageName = 1000

// TextOpened is the argument with which a page opens the shared text of a file.
type TextOpened struct {
	File string     `json:"file"`
	Have rooms.Have `json:"have"`
	Name string     `json:"name"` // chosen by the person, where people do not sign in

	Message string `json:"message"` // that is open, of those of the file
}

// TextMessage is a message of a page about a shared text; one of its parts.
type TextMessage struct {
	Push *struct {
		Client  string          `json:"client"`
		Version int             `json:"version"` // of the text that the changes are for
		Changes []collab.Change `json:"changes" ts:"unknown[]"`
	} `json:"push,omitempty"`
	Merge *struct {
		Client string `json:"client"`
		Base   string `json:"base"`
		Text   string `json:"text"`

		Revision string `json:"revision,omitempty"` // of the file, instead of Base
		Copy     string `json:"copy,omitempty"`     // of the text, that may have begun the definition
	} `json:"merge,omitempty"`
	At *struct {
		Version int `json:"version"`
		Anchor  int `json:"anchor"`
		Head    int `json:"head"`
	} `json:"at,omitempty"`
	Look   *rooms.Look `json:"look,omitempty"`   // the frame that is shown; one without a capture if none is
	Name   string      `json:"name,omitempty"`   // the new name, in addresses, of a definition that was begun and not saved
	Write  bool        `json:"write,omitempty"`  // write the file now
	Revert bool        `json:"revert,omitempty"` // take the text of the file
}

// textChannel is the channel of a page for a text that several people edit.
func (s *Server) textChannel(ws *workspace.Workspace, who access.Principal) socket.Kind {
	return socket.Kind{Limit: maxTextMessage, Part: "shared text", Serve: func(ctx context.Context, c *socket.Channel, with json.RawMessage) error {
		var of TextOpened
		if err := json.Unmarshal(with, &of); err != nil {
			return fmt.Errorf("not a text: %w", err)
		}
		p := personOf(who, of.Name, ws.Name)
		if len(of.Message) <= maxMessageName {
			p.Message = of.Message
		}
		leave, err := s.texts.enter(who.Key(), ws.Name+"/"+of.File)
		if err != nil {
			return err
		}
		defer leave()
		m, err := s.rooms.Join(ctx, ws, of.File, p, of.Have)
		if err != nil {
			return err
		}
		defer m.Leave()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		may := func(message string) bool { return who.MayNow("text "+message, ws.Name) }
		supervise.Go("shared text", func(err error) { cancel(err) }, func() { cancel(s.listenText(ctx, c, ws, m, may)) })
		for {
			news, err := m.Next(ctx)
			if err == nil {
				err = c.Send(ctx, news)
			}
			if err != nil {
				if cause := context.Cause(ctx); cause != nil {
					err = cause
				}
				return err
			}
		}
	}}
}

// nameText gives a definition that was begun another name. Why it cannot have that is news for the member.
func (s *Server) nameText(ws *workspace.Workspace, m *rooms.Member, name string) error {
	if len(name) > maxMessageName {
		return fmt.Errorf("a name has at most %d bytes", maxMessageName)
	}
	err := s.rooms.MoveBegun(ws, m.File(), rooms.Moved{File: ws.Now().FileName(name), Message: name})
	var bad *workspace.NameError
	if errors.Is(err, rooms.ErrTaken) || errors.As(err, &bad) {
		m.Refuse(err)
		return nil
	}
	return err
}

// personOf returns a person as others see them. Without accounts people choose their names.
func personOf(who access.Principal, chosen, project string) rooms.Person {
	p := rooms.Person{Key: who.Key(), Name: who.Name, Account: who.ID != "", Writes: who.May("text push", project)}
	if !p.Account {
		p.Name = chosen
	}
	p.Name = rooms.ChosenName(p.Name)
	return p
}

// kind returns the name of a message in the table of access.
func (m *TextMessage) kind() string {
	switch {
	case m.Push != nil:
		return "push"
	case m.Merge != nil:
		return "merge"
	case m.Name != "":
		return "name"
	case m.Write:
		return "write"
	case m.Revert:
		return "revert"
	case m.At != nil:
		return "at"
	}
	return "look"
}

// listenText takes the messages of the page that its person may send when they come. Somebody whose changes cost much waits for the next one;
// others do not.
func (s *Server) listenText(ctx context.Context, c *socket.Channel, ws *workspace.Workspace, m *rooms.Member, may func(message string) bool) error {
	for {
		text, err := c.Receive(ctx)
		if err == nil {
			err = s.rooms.Wait(ctx, m.Key, len(text))
		}
		if err != nil {
			return err
		}
		var said TextMessage
		if err := json.Unmarshal(text, &said); err != nil {
			return fmt.Errorf("not a message about a text: %w", err)
		}
		if !may(said.kind()) {
			return access.ErrEnded
		}
		switch {
		case said.Push != nil:
			err = m.Push(said.Push.Client, said.Push.Version, said.Push.Changes)
		case said.Merge != nil && said.Merge.Revision != "":
			err = m.MergeOf(said.Merge.Client, said.Merge.Revision, said.Merge.Text)
		case said.Merge != nil:
			err = m.Merge(said.Merge.Client, m.BaseOf(said.Merge.Copy, said.Merge.Base), said.Merge.Text)
		case said.At != nil:
			m.Point(said.At.Version, said.At.Anchor, said.At.Head)
		case said.Look != nil:
			m.LookAt(*said.Look)
		case said.Name != "":
			err = s.nameText(ws, m, said.Name)
		case said.Write:
			err = m.Write()
		case said.Revert:
			err = m.Revert()
		}
		switch { // the page then merges its own text
		case errors.Is(err, collab.ErrVersion), errors.Is(err, collab.ErrChange): // it has another one
			m.Restart("")
			err = nil
		case errors.Is(err, collab.ErrWork):
			m.Restart(err.Error())
			err = nil
		}
		if err != nil {
			return err
		}
	}
}
