package server

import (
	"crypto/sha256"
	"encoding/hex"

	"wirebench/codec/capture"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// readingOf says how a capture is read: by the definitions of a snapshot, and with what is known of it from elsewhere. What is kept of
// that was looked at when it was set; what a hand has written into the file beside the capture since counts for nothing if it is wrong.
func readingOf(snap *workspace.Snapshot, protocol protocols.Protocol, x store.Capture) (capture.Options, capture.Proto) {
	env := &protocols.Env{Definitions: snap, Patch: snap.Options.Patch}
	if keys, err := protocols.ParseKeys(x.Keys); err == nil {
		env.Keys = keys
	}
	o := capture.Options{Key: env.Key(), New: func(c capture.Conn) transport.Transport {
		if (c.Proto == capture.TCP) != protocol.Streams {
			return nil
		}
		return protocol.New(env.For(c.Name(), c.Session), c.Server.Port())
	}}
	if x.Framing != "" {
		if f, err := capture.ParseFraming(x.Framing); err == nil {
			o.Framing = &f
		}
	}
	if protocol.Streams {
		return o, capture.TCP
	}
	return o, capture.UDP
}

// readingKey tells the readings of one capture apart: "" if nothing is known of it from elsewhere.
func readingKey(x store.Capture) string {
	if x.Framing == "" && x.Keys == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(x.Framing + "\x00" + x.Keys))
	return "/" + hex.EncodeToString(sum[:8])
}
