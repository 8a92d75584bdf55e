package tera

import "wirebench/defs/schema"

// frame is the header of every message: uint16 length of the whole message, uint16 code (spec: "Packet Header").
var frame = &schema.Message{Body: &schema.Struct{Wire: []schema.Item{
	{Kind: schema.Length, Bits: 16},
	{Kind: schema.Code, Bits: 16},
}}}

// Frame returns a message with the header and no fields. It decodes frames without a definition.
func Frame() *schema.Message { return frame }
