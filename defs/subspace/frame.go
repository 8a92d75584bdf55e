package subspace

import (
	_ "embed"

	"wirebench/defs/schema"
)

// The predefined groups of packet types. Definitions may use others.
const (
	coreGroup = "core"
	gameGroup = "game"
)

var (
	coreFrame = &schema.Message{Key: schema.Key{Group: coreGroup}, Body: &schema.Struct{Wire: []schema.Item{
		{Kind: schema.Const, Bytes: []byte{0}},
		{Kind: schema.Code, Bits: 8},
	}}}
	gameFrame = &schema.Message{Key: schema.Key{Group: gameGroup}, Body: &schema.Struct{Wire: []schema.Item{
		{Kind: schema.Code, Bits: 8},
	}}}
)

// Frames returns messages without fields that decode the type of any packet, each for the group of its key: of a core packet, which starts
// with 00, and of all others. The first one that decodes without being illegal applies.
func Frames() []*schema.Message { return []*schema.Message{coreFrame, gameFrame} }

// Sessions is Lua code for dissectors, which finds the groups of messages by the datagrams of a pair of addresses: see emit.Sessions.
//
//go:embed sessions.lua
var Sessions string

// Untyped are the messages without a type that Sessions finds by their names.
func Untyped() []string {
	return []string{"ping", "pong", "summary_request", "summary", "zone_announcement"}
}
