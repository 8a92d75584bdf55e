package protocols

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/codec/transport/tera"
	"wirebench/defs/schema"
)

var teraHex = strings.Repeat("a1", tera.KeySize) + strings.Repeat("b1", tera.KeySize) + strings.Repeat("a2", tera.KeySize) + strings.Repeat("b2", tera.KeySize)

func TestParseKeys(t *testing.T) {
	keys, err := ParseKeys("# of the session in March\n\n" +
		"10.0.0.2:4000-10.0.0.1:7801#1 tera " + teraHex + " old # the second one\n" +
		"10.0.0.2:4000-10.0.0.1:7801\ttera " + teraHex + "\r\n" +
		"[2001:DB8::1]:5-[::2]:6 subspace 0x1234abcd\n" +
		"* subspace 0\n")
	if err != nil || len(keys) != 4 {
		t.Fatalf("%+v %v", keys, err)
	}
	k := keys[0]
	old := k.value.(teraKey)
	if k.Conn != "10.0.0.2:4000-10.0.0.1:7801" || k.Session != 1 || old.constants != tera.OldConstants || old.keys.Client1[0] != 0xa1 || old.keys.Server1[127] != 0xb1 || old.keys.Client2[0] != 0xa2 || old.keys.Server2[0] != 0xb2 {
		t.Errorf("%+v", k)
	}
	if keys[2].Conn != "[2001:db8::1]:5-[::2]:6" || keys[2].value != uint32(0x1234abcd) || keys[3].Conn != "" {
		t.Errorf("%+v", keys[2:])
	}
	env := &Env{Keys: keys}
	for _, c := range []struct {
		conn, dialect string
		session       int
		want          string
	}{
		{"10.0.0.2:4000-10.0.0.1:7801", "tera", 1, "old"},
		{"10.0.0.2:4000-10.0.0.1:7801", "tera", 0, "any"},
		{"10.0.0.2:4000-10.0.0.1:7801", "subspace", 0, "0x0"},
		{"[2001:db8::1]:5-[::2]:6", "subspace", 3, "0x1234abcd"},
		{"10.0.0.3:1-10.0.0.1:2", "tera", 0, ""},
	} {
		got := ""
		if k := env.For(c.conn, c.session).KeyOf(c.dialect); k != nil {
			switch k := k.(type) {
			case teraKey:
				got = k.constants.String()
			default:
				got = fmt.Sprintf("%#x", k)
			}
		}
		if got != c.want {
			t.Errorf("%v: %s", c, got)
		}
	}
	if k := env.KeyOf("tera"); k != nil {
		t.Error("the key of one connection is used for any")
	}
}

func TestParseKeysRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"* tera":                               "line 1: expected a connection, a protocol and a key, or a line of a TLS key log",
		"\n# x\n* tera 00":                     "line 3: the key must be 1024 hex digits",
		"* tera " + teraHex + " new":           "only old or current",
		"* subspace 0x123456789":               "32-bit number",
		"* subspace -1":                        "32-bit number",
		"* subspace 1 2":                       "32-bit number",
		"* " + teraHex + " old":                "tera or subspace",
		"* muta 1":                             "tera or subspace",
		"10.0.0.1-10.0.0.2 subspace 1":         "each address:port",
		"a:1-b:2 subspace 1":                   "each address:port",
		"1.2.3.4:1-1.2.3.4:2#x subspace 1":     "number of a session",
		"1.2.3.4:1-1.2.3.4:2#-1 subspace 1":    "number of a session",
		"* a b c d":                            "a connection, a protocol and a key",
		strings.Repeat("* subspace 1\n", 1001): "line 1001: more than 1000 keys",
		strings.Repeat("#", MaxKeysText+1):     "at most",
	} {
		keys, err := ParseKeys(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v %v", text, keys, err)
		}
		if err != nil && strings.Contains(err.Error(), "a1a1a1") {
			t.Error("the error shows the key")
		}
	}
}

func FuzzParseKeys(f *testing.F) {
	f.Add("* subspace 0x1234abcd # x")
	f.Add("10.0.0.2:4000-10.0.0.1:7801#1 tera " + teraHex)
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := ParseKeys(text)
		if err != nil && keys != nil {
			t.Error("keys and an error")
		}
		env := &Env{Keys: keys}
		for _, k := range keys {
			if k.Dialect != "tera" && k.Dialect != "subspace" || k.value == nil {
				t.Errorf("%+v", k)
			}
			if env.For(k.Conn, max(k.Session, 0)).KeyOf(k.Dialect) == nil {
				t.Errorf("%+v is not found", k)
			}
		}
	})
}

// A session without its handshake is read with the key of its connection, and of no other.
func TestKeyOfASession(t *testing.T) {
	env := &Env{Keys: []Key{{Conn: "a", Session: -1, Dialect: "subspace", value: uint32(0x1234abcd)}}}
	p, _ := Of("subspace")
	for conn, want := range map[string]bool{"a": true, "b": false} {
		tr := p.New(env.For(conn, 0), 5000)
		found := false
		emit := func(f *transport.Frame) {
			found = found || f.Kind == transport.Message && string(f.Bytes) == "\x06hello"
		}
		data := []byte("\x00\x03\x00\x00\x00\x00\x06hello") // reliable, the first one
		c := subspace.NewCipher(0x1234abcd, subspace.Either)
		c.Encrypt(data, data)
		tr.Feed(transport.Segment{Dir: schema.ToServer, Bytes: data}, emit)
		tr.Flush(time.Unix(1, 0), emit)
		if found != want {
			t.Errorf("%s: %v", conn, found)
		}
	}
}
