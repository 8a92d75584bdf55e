package subspace

import "wirebench/defs/schema"

// The groups of packet types that this package knows. Definitions may name others.
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

// Frames are messages without fields that read the type of any packet, each for the group of its key: of a core packet, which
// starts with 00, and of all others. The first that decodes without being illegal is the right one.
func Frames() []*schema.Message { return []*schema.Message{coreFrame, gameFrame} }
