package envelope

import "wirebench/codec/transport"

type webSocket struct{}

func (t *Transport) webSocket(w *way, seg *transport.Segment) {}
