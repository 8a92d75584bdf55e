package captures

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"wirebench/codec/capture"
	"wirebench/codec/packet"
	"wirebench/codec/paste"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// readingOf says how a capture is read: by the definitions of a snapshot, and with what is known of it from elsewhere. What is kept of
// that was looked at when it was set; what a hand has written into the file beside the capture since counts for nothing if it is wrong.
func readingOf(snap *workspace.Snapshot, protocol protocols.Protocol, x store.Capture) capture.Options {
	return readingTold(snap, protocol, x, nil)
}

// readingTold is readingOf that tells of each connection of which something was deciphered.
func readingTold(snap *workspace.Snapshot, protocol protocols.Protocol, x store.Capture, ciphered func(conn string)) capture.Options {
	env := envOf(snap, x)
	o := capture.Options{Options: packet.Options{Key: env.Key(), New: transportsOf(env, protocol, ciphered)}, Proto: transport.UDP}
	if x.Framing != "" {
		if f, err := capture.ParseFraming(x.Framing); err == nil {
			o.Framing = &f
		}
	}
	if x.Keys == "" { // with keys there is more in the packets than was seen when they passed
		o.Recorded = func(cut string) bool { return cut == CutBy(snap) }
	}
	o.Day, _ = paste.LogDay(x.Name)
	if protocol.Streams {
		o.Proto = transport.TCP
	}
	return o
}

// envOf is what the transports of a capture depend on.
func envOf(snap *workspace.Snapshot, x store.Capture) *protocols.Env {
	env := &protocols.Env{Definitions: snap, Options: snap.Options.Values}
	if keys, err := protocols.ParseKeys(x.Keys); err == nil {
		env.Keys = keys
	}
	return env
}

// transportsOf makes the transports of the connections that may carry a protocol. ciphered, if it is not nil, is told the name of each
// connection of which something was deciphered.
func transportsOf(env *protocols.Env, protocol protocols.Protocol, ciphered func(conn string)) func(transport.Conn) transport.Transport {
	return func(c transport.Conn) transport.Transport {
		if (c.Proto == transport.TCP) != protocol.Streams {
			return nil
		}
		one := env.For(c.Name(), c.Session)
		if ciphered != nil {
			told := false
			one.Clear = func(transport.Clear) {
				if !told {
					told = true
					ciphered(c.Name())
				}
			}
		}
		return protocol.New(one, c.Server.Port())
	}
}

// readingOfCapture names how a capture is cut into frames, among all captures of all workspaces.
func readingOfCapture(ws string, snap *workspace.Snapshot, x store.Capture) string {
	key := ws + "/" + x.ID
	if len(snap.Dialect.Frames) == 0 {
		key += "/" + snap.ID // the definitions say where messages end
	}
	return key + readingKey(x)
}

// CutBy tells apart definitions that cut frames otherwise, also after a restart: "" where definitions do not.
func CutBy(snap *workspace.Snapshot) string {
	if len(snap.Dialect.Frames) > 0 {
		return ""
	}
	sum := sha256.New()
	for f := range snap.Files() {
		fmt.Fprintf(sum, "%q %q\n", f.Name, f.Text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// readingKey tells the readings of one capture apart: "" if nothing is known of it from elsewhere.
func readingKey(x store.Capture) string {
	day, dated := paste.LogDay(x.Name)
	if x.Framing == "" && x.Keys == "" && !dated {
		return ""
	}
	sum := sha256.Sum256([]byte(x.Framing + "\x00" + x.Keys + "\x00" + day.String()))
	return "/" + hex.EncodeToString(sum[:8])
}
