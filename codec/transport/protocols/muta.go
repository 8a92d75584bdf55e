package protocols

import (
	"wirebench/codec/transport"
	"wirebench/codec/transport/muta"
	"wirebench/defs/schema"
)

// overMuta is the transport of MUTA messages.
var overMuta = Protocol{
	Dialect: "muta", Streams: true, Ports: []string{"the game"},
	New: func(e *Env, port uint16) transport.Transport { return muta.New(muta.Options{Measure: e.measure(port)}) },
	Rewriter: func(e *Env, port uint16) transport.Rewriter {
		return muta.NewRewriter(muta.Options{Measure: e.measure(port)})
	},
	End: func(e *Env, sends schema.Dir, port uint16, _ Ends) (transport.Endpoint, error) {
		return muta.NewEndpoint(muta.Options{Measure: e.measure(port)}, sends), nil
	},
}
