package protocols

import (
	"wirebench/codec/transport"
	"wirebench/codec/transport/stream"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// overMuta is the transport of MUTA messages. They have no length on the wire: the definitions determine where each one ends. Source: the
// read functions of the packetwriter, which report that more bytes are needed, that the message was read, or that it is illegal.
var overMuta = Protocol{
	Dialect: "muta", Streams: true, Ports: []string{"the game"},
	Says: func(e *envelope.Envelope) bool {
		is, any := e.String(), e.States[0].Code[0]
		return is == "carrier tcp\nframe measured\ncode "+any.String()+"\n" && any.At == 0 && any.Number.Kind == envelope.UInt
	},
	New: func(e *Env, port uint16) transport.Transport { return stream.New(stream.Measured(e.measure(port))) },
	Rewriter: func(e *Env, port uint16) transport.Rewriter {
		return stream.NewRewriter(stream.Measured(e.measure(port)))
	},
	End: func(e *Env, sends schema.Dir, port uint16, _ Ends) (transport.Endpoint, error) {
		return stream.NewEndpoint(stream.Measured(e.measure(port)), sends), nil
	},
}
