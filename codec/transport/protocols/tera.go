package protocols

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/transport/tera"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// overTera is the transport of TERA messages.
var overTera = Protocol{
	Dialect: "tera", Streams: true, Ciphers: true, Ports: []string{"the game"},
	New: func(e *Env, _ uint16) transport.Transport { return tera.New(e.teraOptions()) },
	Rewriter: func(e *Env, _ uint16) transport.Rewriter {
		return tera.NewRewriter(e.teraOptions())
	},
	End: func(e *Env, sends schema.Dir, _ uint16, how Ends) (transport.Endpoint, error) {
		o := tera.EndpointOptions{Options: e.teraOptions()}
		o.LongHeader = e.longHeader
		if !how.Plain {
			o.Own = new(tera.Keys)
			for _, key := range []*[tera.KeySize]byte{&o.Own.Client1, &o.Own.Client2, &o.Own.Server1, &o.Own.Server2} {
				if _, err := io.ReadFull(how.Random, key[:]); err != nil {
					return nil, fmt.Errorf("make a key: %w", err)
				}
			}
		}
		return tera.NewEndpoint(o, sends), nil
	},
	Build: func(f *transport.Frame) (string, bool) {
		build, ok := tera.Build(f)
		return strconv.FormatUint(uint64(build), 10), ok
	},
	Key: readTeraKey,
}

// teraKey is the parsed cipher key of a connection.
type teraKey struct {
	keys      *tera.Keys
	constants tera.Constants
}

func readTeraKey(words []string) (any, error) {
	b, err := hex.DecodeString(words[0])
	if err != nil || len(b) != 4*tera.KeySize {
		return nil, fmt.Errorf("the key must be %d hex digits: the first keys of client and server, then the second ones", 8*tera.KeySize)
	}
	k := teraKey{keys: new(tera.Keys)}
	for i, to := range []*[tera.KeySize]byte{&k.keys.Client1, &k.keys.Server1, &k.keys.Client2, &k.keys.Server2} {
		copy(to[:], b[i*tera.KeySize:])
	}
	for _, m := range words[1:] {
		switch m {
		case "old":
			k.constants = tera.OldConstants
		case "current":
			k.constants = tera.CurrentConstants
		default:
			return nil, errors.New("only old or current may follow the key")
		}
	}
	return k, nil
}

// teraOptions returns the options for a connection.
func (e *Env) teraOptions() tera.Options {
	o := tera.Options{Definitions: e.Definitions, IntegrityIV: e.integrityIV(), Clear: e.Clear}
	if e.Envelope != nil && e.Envelope.Carrier == envelope.TERA {
		o.Envelope, o.IntegrityIV = e.Envelope, nil // no definition of another language has the field
	}
	if patch, _ := strconv.Atoi(strings.Split(e.Options["patch"], ".")[0]); patch > 0 {
		o.Constants = tera.ConstantsOf(patch)
	}
	if k, ok := e.KeyOf("tera").(teraKey); ok {
		o.Keys = k.keys
		if k.constants != tera.AnyConstants {
			o.Constants = k.constants
		}
	}
	return o
}

// longHeader reports whether the definition of a message has a count of its own.
func (e *Env) longHeader(key schema.Key) bool {
	m := e.Definitions.Lookup(key)
	if m == nil || m.Body == nil {
		return false
	}
	for _, item := range m.Body.Wire {
		if item.Kind == schema.Counter {
			return true
		}
	}
	return false
}

// integrityIV returns a function that reads the key of the client's checksums from the server message that contains it.
func (e *Env) integrityIV() func(schema.Key, []byte) (uint32, bool) {
	const holder, field = "S_LOGIN_ACCOUNT_INFO", "integrityIv"
	var rec codec.Record
	var values codec.Cursor
	var others [64]schema.Key // by the low bits of the code: keys of other messages
	return func(key schema.Key, message []byte) (uint32, bool) {
		other := &others[key.Code%uint32(len(others))]
		if *other == key {
			return 0, false
		}
		m := e.Definitions.Lookup(key)
		if m == nil || m.Name != holder {
			*other = key
			return 0, false
		}
		p, err := e.Definitions.Program(m)
		if err != nil {
			return 0, false
		}
		p.Decode(&rec, message)
		for i := range p.Fields {
			if string(p.AppendFieldPath(nil, uint16(i))) != field {
				continue
			}
			if site, ok := p.Site(uint16(i)); ok && site.Single() && rec.Status() == codec.OK {
				values.Start(&rec, site)
				if number, is := p.Fields[i].Schema.Type.(*schema.Number); is && number.Bits <= 32 && values.Next() {
					negative := number.Kind == schema.Signed && values.Raw>>(number.Bits-1) != 0
					return uint32(values.Raw), number.Kind != schema.Float && !negative
				}
			}
		}
		return 0, false
	}
}
