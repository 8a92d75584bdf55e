package server

//go:generate go run ../web/types

import (
	"wirebench/server/api"
	"wirebench/server/frames"
	"wirebench/server/page"
	"wirebench/server/rooms"
	"wirebench/server/settings"
	"wirebench/server/socket"
)

// Messages returns the structs that the scripts of the pages exchange with the server in channels. web/src/api/api.ts is generated from them, and
// from the bodies of the operations of the HTTP API.
func Messages() []any {
	return []any{
		socket.Up{},
		socket.Down{},
		page.Opened{},
		page.Message{},
		page.Answer{},
		page.ValueAnswer{},
		page.ChoicesAnswer{},
		page.HitsAnswer{},
		page.ScoreAnswer{},
		page.FormAnswer{}, // the channel "page"
		page.PushedOpened{},
		page.Pushed{}, // "pushed"
		framesOpened{},
		listMessage{},
		listState{},
		listFailed{}, // "frames"
		TextOpened{},
		TextMessage{},
		rooms.Message{}, // "text"
		rowsAnswer{},
		mapAnswer{},
		frames.Frame{},
		frames.Packet{},
		frames.Found{},
		frames.Types{},
		frames.Timeline{},
		frames.Problems{},
		frames.Conns{},
		frames.Replies{},
		frames.Graph{},
		frames.Follow{},
		frames.Table{},
		frames.Diff{},
		settings.List{},
		api.ChangeProblem{}, // a refusal over HTTP; the other bodies are in the table of operations
	}
}
