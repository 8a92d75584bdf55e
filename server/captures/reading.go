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

// OptionsOf returns the options for reading a capture: the definitions of a snapshot, and the keys and framing of the capture. These were
// validated when they were set; invalid ones in a description file edited by hand are ignored.
func OptionsOf(snap *workspace.Snapshot, protocol protocols.Protocol, x store.Capture) capture.Options {
	return readingTold(snap, protocol, x, nil)
}

// readingTold is OptionsOf with a callback for each connection of which a part was deciphered.
func readingTold(snap *workspace.Snapshot, protocol protocols.Protocol, x store.Capture, ciphered func(conn string)) capture.Options {
	return readingWith(EnvOf(snap, x), snap, protocol, x, ciphered)
}

// readingWith is readingTold with the environment of the transports.
func readingWith(env *protocols.Env, snap *workspace.Snapshot, protocol protocols.Protocol, x store.Capture, ciphered func(conn string)) capture.Options {
	o := capture.Options{Options: packet.Options{
		Ports: snap.Traffic.Ports, Dir: snap.Traffic.Dir, Key: env.Key(), New: transportsOf(env, protocol, ciphered), TLS: env.TLS(),
	}, Proto: transport.UDP}
	if ciphered != nil {
		last := -1
		o.ClearTLS = func(c transport.Conn, _ transport.Clear) {
			if c.ID != last {
				last = c.ID
				ciphered(c.Name())
			}
		}
	}
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

// EnvOf returns the environment of the transports of a capture. Keys that cannot be read are ignored.
func EnvOf(snap *workspace.Snapshot, x store.Capture) *protocols.Env {
	env := snap.Env()
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

// Reading returns the key of a reading: it is unique among the captures of all workspaces, and changes with what the frames depend on.
func Reading(ws string, snap *workspace.Snapshot, x store.Capture) string {
	key := ws + "/" + x.ID
	if len(snap.Dialect.Frames) == 0 {
		key += "/" + snap.ID // the definitions determine where messages end
	}
	return key + readingKey(snap, x)
}

// CutBy returns a hash of everything that frame boundaries depend on: the definitions, for some protocols, and the ports, groups and direction
// chosen. It is "" if there is nothing, and stable across restarts.
func CutBy(snap *workspace.Snapshot) string {
	chosen := !snap.Traffic.IsZero()
	if len(snap.Dialect.Frames) > 0 && !chosen {
		return ""
	}
	sum := sha256.New()
	if len(snap.Dialect.Frames) == 0 {
		for f := range snap.Files() {
			fmt.Fprintf(sum, "%q %q\n", f.Name, f.Text)
		}
	}
	if f := snap.EnvelopeFile; f != nil {
		fmt.Fprintf(sum, "%q\n", f.Text)
	}
	if chosen {
		fmt.Fprintf(sum, "%v\n", snap.Traffic)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// readingKey returns a hash of the keys and framing of a capture, and of the settings that it is read with.
func readingKey(snap *workspace.Snapshot, x store.Capture) string {
	day, _ := paste.LogDay(x.Name)
	sum := sha256.Sum256([]byte(x.Framing + "\x00" + x.Keys + "\x00" + day.String() + "\x00" + snap.Reading()))
	if x.Packets {
		return "/" + hex.EncodeToString(sum[:8]) + "/packets"
	}
	return "/" + hex.EncodeToString(sum[:8])
}
