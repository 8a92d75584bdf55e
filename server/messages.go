package server

//go:generate go run ../web/types

import (
	"wirebench/codec/paste"
	"wirebench/server/api"
	"wirebench/server/frames"
	"wirebench/server/git"
	"wirebench/server/page"
	"wirebench/server/relay"
	"wirebench/server/rooms"
	"wirebench/server/runs"
	"wirebench/server/scores"
	"wirebench/server/socket"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Messages returns the structs that the scripts of the pages exchange with the server, in channels and over HTTP. web/src/api.ts is
// generated from them.
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
		store.Capture{},
		paste.PasteInfo{},
		api.DefinitionBody{},
		api.SearchBody{},
		api.UploadReport{},
		api.CodeReport{},
		api.CodesReport{},
		workspace.Renamed{},
		api.ChangeList{},
		api.HistoryList{},
		api.ThreadList{},
		api.BeginBody{},
		api.MergedText{},
		api.CapsuleBody{},
		api.MadeCapsule{},
		api.CapsuleList{},
		api.CommitBody{},
		api.PullBody{},
		git.Status{},
		git.Pulled{},
		scores.Scores{},
		api.PeopleList{},
		api.ChangeProblem{},
		workspace.Emitted{},
		api.ComparedDefinitions{},
		api.SettingsInUse{},
		api.FilterInfo{},
		api.FramingReport{},
		api.CutReport{},
		api.CandidateList{},
		api.UsedEnvelope{},
		api.CaptureList{},
		api.PacketList{},
		api.ElsewhereList{},
		api.ProposalList{},
		api.ProjectList{},
		api.MadeProject{},
		api.RelatedType{},
		api.RelatedField{}, // HTTP
		api.ListenerList{},
		relay.Rule{},
		api.HeldList{},
		runs.Info{},
		runs.Result{},
	}
}
