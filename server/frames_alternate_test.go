package server

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport/tera"
	"wirebench/defs/schema"
	"wirebench/server/servertest"
)

// Messages with the alternative header, mixed with messages of the same code without it, have their fields in all views.
func TestListOfLongHeaders(t *testing.T) {
	const iv, n = 0x1234567, 300
	var out bytes.Buffer
	s, at := servertest.Conversation(t, &out)
	put := func(dir schema.Dir, msg []byte) {
		t.Helper()
		binary.LittleEndian.PutUint16(msg, uint16(len(msg)))
		at = at.Add(time.Millisecond)
		if err := s.Data(dir, at, msg, ""); err != nil {
			t.Fatal(err)
		}
	}
	put(schema.ToServer, []byte{0, 0, 0xbc, 0x4d, 1, 0, 0, 0}) // C_CHECK_VERSION
	login := append([]byte{0, 0, 0x00, 0xb3, 18, 0}, make([]byte, 12)...)
	binary.LittleEndian.PutUint32(login[14:], iv)
	put(schema.ToClient, append(login, 'S', 0, 0, 0))
	for i := range uint32(n) {
		msg := []byte{0, 0, 0x30, 0x75}
		if long := i%10 != 0; long {
			msg = binary.LittleEndian.AppendUint32(msg, i+1)
			msg = append(msg, 0, 0, 0, 0)
		}
		msg = append(binary.LittleEndian.AppendUint32(msg, i*7%n), 1)
		if len(msg) > 9 {
			binary.LittleEndian.PutUint16(msg, uint16(len(msg)))
			binary.LittleEndian.PutUint32(msg[8:], tera.Checksum(iv, msg))
		}
		put(schema.ToServer, msg)
	}
	c := openList(t, captureServer(t, "tera", map[string]string{
		"C_CHECK_VERSION.1.def": "uint32 x\n", "C_MOVE.1.def": "uint32 x\nbool y\n",
		"S_LOGIN_ACCOUNT_INFO.2.def": "string serverName\nuint64 accountId\nuint32 integrityIv\n",
		"protocol.1.map":             "C_CHECK_VERSION 19900\nC_MOVE 30000\nS_LOGIN_ACCOUNT_INFO 45824\n",
	}), out.Bytes())
	fits := func(seq int, view, filter string, want int) {
		t.Helper()
		if fit := c.show(seq, view+`,"filter":"`+filter+`"`, n+2); fit != want {
			t.Errorf("%s has %d frames, want %d", filter, fit, want)
		}
	}
	fits(1, "", "C_MOVE", n)
	fits(2, "", ".x >= 40 && .x < 60 && C_MOVE", 20)
	fits(3, "", "C_MOVE.x == 47", 1)
	fits(4, "", "via == integrity", n*9/10)
	fits(5, `,"columns":[".x"],"sort":{"by":"=.x","desc":true}`, "C_MOVE && .y", n)
	answers := func(kind, asked string, want ...string) {
		t.Helper()
		got := c.ask(kind, kind, asked)
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%s lacks %s: %s", kind, part, got)
			}
		}
	}
	answers("rows", `,"from":0,"count":2`, `"info":"x 299, y true"`, `"cells":["299"]`, `"info":"x 298, y true"`)
	answers("frame", `,"n":50`, `"alternate":true`, `"x 29, y true"`)
	answers("types", "", `"bad":0`)
	answers("table", `,"type":"C_MOVE","from":0,"count":2`, `"path":"x"`)
}
