package tera

import "wirebench/defs/schema"

// frame is what every message starts with: uint16 length of the whole message, uint16 code (spec: "Packet Header").
var frame = &schema.Message{Body: &schema.Struct{Wire: []schema.Item{
	{Kind: schema.Length, Bits: 16},
	{Kind: schema.Code, Bits: 16},
}}}

// Frame is a message that has the frame's header and no fields. It reads what has no definition.
func Frame() *schema.Message { return frame }
