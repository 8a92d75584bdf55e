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

// readingOf returns the options for reading a capture: the definitions of a snapshot, and the keys and framing of the capture. These were
// validated when they were set; invalid ones in a description file edited by hand are ignored.
func readingOf(snap *workspace.Snapshot, protocol protocols.Protocol, x store.Capture) capture.Options {
	return readingTold(snap, protocol, x, nil)
}

// readingTold is readingOf with a callback for each connection of which a part was deciphered.
func readingTold(snap *workspace.Snapshot, protocol protocols.Protocol, x store.Capture, ciphered func(conn string)) capture.Options {
	env := envOf(snap, x)
	o := capture.Options{Options: packet.Options{Key: env.Key(), New: transportsOf(env, protocol, ciphered)}, Proto: transport.UDP}
	if x.Framing != "" {
		if f, err := capture.ParseFraming(x.Framing); err == nil {
			o.Framing = &f
		}
	}
	if x.Keys == "" { // with keys the packets hold more than the recorded frames
		o.Recorded = func(cut string) bool { return cut == CutBy(snap) }
	}
	o.Day, _ = paste.LogDay(x.Name)
	if protocol.Streams {
		o.Proto = transport.TCP
	}
	return o
}

// envOf returns the environment of the transports of a capture.
func envOf(snap *workspace.Snapshot, x store.Capture) *protocols.Env {
	env := &protocols.Env{Definitions: snap, Options: snap.Options.Values}
	if keys, err := protocols.ParseKeys(x.Keys); err == nil {
		env.Keys = keys
	}
	return env
}

// transportsOf returns a function that makes the transport of each connection that may carry a protocol. ciphered, if not nil, is called
// with the name of each connection of which a part was deciphered.
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

// readingOfCapture returns the key of a reading: it is unique among the captures of all workspaces.
func readingOfCapture(ws string, snap *workspace.Snapshot, x store.Capture) string {
	key := ws + "/" + x.ID
	if len(snap.Dialect.Frames) == 0 {
		key += "/" + snap.ID // the definitions determine where messages end
	}
	return key + readingKey(x)
}

// CutBy returns a hash of the definitions if frame boundaries depend on them, else "". It is stable across restarts.
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

// readingKey returns a hash of the keys and framing of a capture, "" if it has none.
func readingKey(x store.Capture) string {
	day, dated := paste.LogDay(x.Name)
	if x.Framing == "" && x.Keys == "" && !dated {
		return ""
	}
	sum := sha256.Sum256([]byte(x.Framing + "\x00" + x.Keys + "\x00" + day.String()))
	return "/" + hex.EncodeToString(sum[:8])
}
