package server

//go:generate go run ../web/types

import (
	"wirebench/server/api"
	"wirebench/server/frames"
	"wirebench/server/page"
	"wirebench/server/relay"
	"wirebench/server/socket"
	"wirebench/server/store"
)

// Messages are the structs that the scripts of the pages exchange with the server, in channels and over HTTP. web/src/api.ts is generated
// from them.
func Messages() []any {
	return []any{
		socket.Up{},
		socket.Down{},
		page.Message{},
		page.Answer{},
		page.ValueAnswer{}, // the channel "page"
		page.Pushed{},      // "pushed"
		framesOpened{},
		listMessage{},
		listState{},
		listFailed{}, // "frames"
		rowsAnswer{},
		mapAnswer{},
		frames.Frame{},
		frames.Packet{},
		frames.Found{},
		frames.Types{},
		frames.Timeline{},
		frames.Table{},
		frames.Diff{},
		store.Capture{},
		api.PacketInfo{},
		api.RelatedType{},
		api.RelatedField{},
		api.Elsewhere{}, // HTTP
		relay.Info{},
		relay.Rule{},
		api.HeldInfo{},
		api.ReplayInfo{},
		api.ReplayResult{},
	}
}
