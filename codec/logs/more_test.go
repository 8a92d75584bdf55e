package logs

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"wirebench/codec/packet"
	"wirebench/codec/packettest"
	"wirebench/codec/transport"
)

// tnet writes a tnetstring as mitmproxy does: dictionaries are pairs in the order of the list.
func tnet(v any) string {
	var body, kind string
	switch v := v.(type) {
	case nil:
		kind = "~"
	case bool:
		body, kind = fmt.Sprint(v), "!"
	case int:
		body, kind = fmt.Sprint(v), "#"
	case float64:
		body, kind = fmt.Sprintf("%.6f", v), "^"
	case string:
		body, kind = v, ";"
	case []byte:
		body, kind = string(v), ","
	case []any:
		for _, x := range v {
			body += tnet(x)
		}
		kind = "]"
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		slices.Reverse(keys) // mitmproxy writes the last key first
		for _, k := range keys {
			body += tnet(k) + tnet(v[k])
		}
		kind = "}"
	}
	return fmt.Sprintf("%d:%s%s", len(body), body, kind)
}

// mitmFlow returns a flow as mitmproxy saves it.
func mitmFlow(kind string, messages ...any) map[string]any {
	flow := map[string]any{
		"client_conn": map[string]any{"peername": []any{"10.0.0.2", 4000}, "id": "x"},
		"server_conn": map[string]any{"address": []any{"game.example", 7801}, "peername": []any{"10.0.0.1", 7801}},
		"error":       nil, "id": "1", "type": kind, "version": 21,
	}
	if kind == "http" {
		flow["request"] = map[string]any{"method": []byte("GET")}
		flow["websocket"] = nil
		if messages != nil {
			flow["websocket"] = map[string]any{"messages": messages, "closed_by_client": nil}
		}
		return flow
	}
	flow["messages"] = messages
	return flow
}

// wowHead returns the header of a .pkt of a version; extra are the bytes added by the sniffer.
func wowHead(version uint16, sniffer byte, start, ticks uint32, extra string) string {
	b := append([]byte("PKT"), byte(version), byte(version>>8))
	switch version {
	case wow21:
		return string(b) + "\x01\x02" + strings.Repeat("k", 40)
	case wow22:
		return string(b) + "\x06\x01\x02" + "enUS" + strings.Repeat("k", 20) + strings.Repeat("r", 64)
	}
	b = append(b, sniffer, 1, 2, 0, 0)
	b = append(b, "enUS"+strings.Repeat("k", 40)...)
	if version == wow31 {
		b = le.AppendUint32(le.AppendUint32(b, start), ticks)
	}
	return string(le.AppendUint32(b, uint32(len(extra)))) + extra
}

func wowPacket(dir string, second, ticks uint32, extra string, opcode uint32, body string) string {
	b := le.AppendUint32(le.AppendUint32([]byte(dir), second), ticks)
	b = le.AppendUint32(le.AppendUint32(b, uint32(len(extra))), uint32(4+len(body)))
	return string(le.AppendUint32(append(b, extra...), opcode)) + body
}

func wowOld(fromServer bool, second, ticks uint32, opcode uint16, body string) string {
	b := []byte{0}
	if fromServer {
		b[0] = 0xff
	}
	b = le.AppendUint32(le.AppendUint32(b, second), ticks)
	if fromServer {
		return string(le.AppendUint16(le.AppendUint32(b, uint32(2+len(body))), opcode)) + body
	}
	return string(le.AppendUint32(le.AppendUint32(b, uint32(4+len(body))), uint32(opcode))) + body
}

func moreLogCases() []logCase {
	at := func(ms int) float64 { return float64(logStart.UnixMilli()+int64(ms)) / 1000 }
	second := uint32(logStart.Unix())
	tcp := []any{[]any{true, []byte(packettest.WireMessage(1, "abc")), at(0)}, []any{false, []byte(packettest.WireMessage(2, "")), nil, at(1)}}
	socket := []any{[]any{2, true, []byte(packettest.WireMessage(3, "")), at(2), true, false}, []any{1, false, []byte(packettest.WireMessage(4, "t")), at(3), false, true}}
	flows := tnet(mitmFlow("http")) + tnet(mitmFlow("tcp", tcp...)) + tnet(mitmFlow("http", socket...)) + tnet(mitmFlow("websocket", []any{2, false, []byte(packettest.WireMessage(5, "")), at(4)}))
	bytes := base64.StdEncoding.EncodeToString([]byte(packettest.WireMessage(1, "abc")))
	har := `{ "log": {"version":"1.2","creator":{"name":"WebInspector"},"pages":[{"title":"entries"}],"entries":[
		{"request":{"url":"https://game.example/"},"response":{"content":{"text":"\"}{[\\"}}},
		{"request":{"url":"wss://game.example:8443/x?a=b:1"},"serverIPAddress":"10.0.0.1","_webSocketMessages":[
			{"type":"send","time":1714564800.000,"opcode":2,"data":"` + bytes + `"},
			{"type":"receive","time":1714564800.001,"opcode":1,"data":"text\u00e9"},
			{"type":"receive","time":1714564800.002,"opcode":9,"data":""},
			{"type":"receive","time":1714564800.003,"opcode":2,"data":"?"}]}
		],"comment":"x"}}`
	wowWant := []string{"12:00:00.000 c2s 6162 code 496", "12:00:00.250 s2c  code 65535"}
	wow3 := wowPacket("CMSG", second, 1000, "", 0x1f0, "ab") + wowPacket("SMSG", second, 1250, "more", 65535, "")
	fileTicks := uint64(logStart.UnixNano())/100 + 116_444_736_000_000_000
	return []logCase{
		{"mitmproxy", "mitmproxy", []byte(flows), []string{
			"12:00:00.000 c2s 07000100616263 code 1", "12:00:00.001 s2c 04000200 code 2",
			"12:00:00.002 c2s 04000300 code 3 conn 1 (silenced)", "12:00:00.003 s2c 0500040074 code 4 conn 1 (sent by the proxy)",
			"12:00:00.004 s2c 04000500 code 5 conn 2",
		}},
		{"har", "har", []byte(har), []string{
			"12:00:00.000 c2s 07000100616263 code 1", "12:00:00.001 s2c 74657874c3a9 code 29816", "problem 12:00:00.003 s2c 3f (the message is not base64)",
		}},
		{"wow 2.1", "wow-pkt", []byte(wowHead(wow21, 0, 0, 0, "") + wowOld(false, second, 5, 0x1f0, "ab") + wowOld(true, second, 255, 65535, "")), wowWant},
		{"wow 2.2", "wow-pkt", []byte(wowHead(wow22, 0, 0, 0, "") + wowOld(false, second, 1<<32-50, 0x1f0, "ab") + wowOld(true, second, 200, 65535, "")), wowWant},
		{"wow 3.0", "wow-pkt", []byte(wowHead(wow30, 1, 0, 0, "abc") + wow3), wowWant},
		{"wow 3.0, xyla", "wow-pkt", []byte(wowHead(wow30, 10, 0, 0, string(le.AppendUint32(le.AppendUint32(nil, second), 1000))) + wow3), wowWant},
		{"wow 3.1", "wow-pkt", []byte(wowHead(wow31, 1, second, 1000, "") + wowPacket("CMSG", 0, 1000, "", 0x1f0, "ab") + wowPacket("C_BN", 7, 1250, "x", 3, "")), []string{wowWant[0], "12:00:00.250 c2s  code 3 conn 1 (of Battle.net)"}},
		{"wow 3.1, WSTC", "wow-pkt", []byte(wowHead(wow31, 'S', 1, 1000, "\xff\x07\x01"+string(le.AppendUint64(nil, fileTicks))) + wowPacket("CMSG", 0, 1000, "", 0x1f0, "ab") + wowPacket("SMSG", 0, 1250, "", 65535, "")), wowWant},
	}
}

// TestEndsInLogs tests the ends of connections, as the programs write them.
func TestEndsInLogs(t *testing.T) {
	second := uint32(logStart.Unix())
	frame := sharkFrame{logStart, true, 1, "a"}
	client := func(address string, port uint32) string {
		return string(le.AppendUint32([]byte(address+strings.Repeat("\x00", 16-len(address))), port))
	}
	v6 := "\x20\x01\x0d\xb8" + strings.Repeat("\x00", 11) + "\x01"
	for _, c := range []struct {
		name string
		data []byte
		want []string
	}{
		{"MapleShark, captured", sharkFile(0x2027, "\x0c10.0.0.1:101\x64\x00\x0d192.0.2.7:100\x65\x00\x08\x5f\x00\x00", frame), []string{"192.0.2.7:100-10.0.0.1:101"}},
		{"MapleShark, by a server", sharkFile(0x2014, "\x0d192.0.2.7:100\x64\x00\x0c10.0.0.1:101\x65\x00\x08\x00\x5f\x00", frame), []string{"192.0.2.7:100-10.0.0.1:101"}},
		{"MapleShark, without ports", sharkFile(0x2020, "\x09127.0.0.1\x10\x27\x0810.0.0.1\x65\x00\x08\x5f\x00", frame), []string{"127.0.0.1:10000-10.0.0.1:101"}},
		{"MapleShark, unknown", sharkFile(0x2030, sharkSecondHead, frame), []string{"-"}},
		{
			"TrinityCore", []byte(wowHead(wow31, 'T', second, 1000, "") + wowPacket("CMSG", 0, 1000, client("\x0a\x00\x00\x02", 4000), 1, "") +
				wowPacket("SMSG", 0, 1000, client(v6, 4001), 1, "") + wowPacket("SMSG", 1, 1000, client("\x0a\x00\x00\x02", 4000), 1, "") +
				wowPacket("SMSG", 0, 1000, client("\x0a\x00\x00\x02", 4000), 1, "")),
			[]string{"10.0.0.2:4000-", "[2001:db8::1]:4001-", "10.0.0.2:4000-#1", "10.0.0.2:4000-"},
		},
	} {
		var got []string
		_, ok, err := Read(&bytes.Buffer{}, bytes.NewReader(c.data), packet.Options{}, transport.TCP, func(f *transport.Frame) {
			name := f.Conn.Name()
			if f.Conn.Session > 0 {
				name += fmt.Sprintf("#%d", f.Conn.Session)
			}
			got = append(got, name)
		})
		if !ok || err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q, %v", c.name, got, c.want, err)
		}
	}
}

// The messages of TCP and UDP flows pass through their transport; each flow has its addresses.
func TestMitmproxyFlowsAreStreams(t *testing.T) {
	at := float64(logStart.Unix())
	message := packettest.WireMessage(7, "abcdef")
	flows := tnet(mitmFlow("tcp", []any{true, []byte(message[:3]), at}, []any{true, []byte(message[3:]), at})) +
		tnet(mitmFlow("udp", []any{false, []byte("datagram"), at})) + tnet(mitmFlow("dns")) + tnet(mitmFlow("tcp", []any{1, []byte("x"), at}))
	var got []string
	sum, _, err := Read(&bytes.Buffer{}, strings.NewReader(flows), packet.Options{New: func(c transport.Conn) transport.Transport {
		if c.Proto == transport.UDP {
			return nil
		}
		return &packettest.Sink{}
	}}, transport.TCP, func(f *transport.Frame) {
		got = append(got, fmt.Sprintf("%s %s %x", f.Conn.Name(), f.Dir, f.Bytes))
	})
	name := "10.0.0.2:4000-10.0.0.1:7801 c2s "
	if want := []string{fmt.Sprintf("%s%x", name, message[:3]), fmt.Sprintf("%s%x", name, message[3:])}; !slices.Equal(got, want) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if sum.Unserved != 2 || sum.Malformed != 1 || sum.Torn != nil || sum.Packets != 5 {
		t.Errorf("%+v", sum)
	}
}

// A truncated flow yields the messages before the truncation, if its type precedes them.
func TestMitmproxyFlowThatBreaksOff(t *testing.T) {
	flow := "999:4:type;3:tcp;8:messages;500:" + tnet([]any{true, []byte("abc"), 1714564800.5}) + tnet([]any{false, []byte("d"), 1.5}) + "40:4:true"
	got, sum := readLogFile(t, []byte(flow), 0)
	if want := []string{"12:00:00.500 c2s 616263", "12:00:00.500 s2c 64"}; !slices.Equal(got, want) || sum.Torn == nil {
		t.Errorf("%q, torn %v", got, sum.Torn)
	}
}

func TestHARServer(t *testing.T) {
	for _, c := range []struct{ address, ip, want string }{
		{"wss://a.b/c", "10.0.0.1", "10.0.0.1:443"},
		{"ws://a.b", "10.0.0.1", "10.0.0.1:80"},
		{"ws://a.b:81?x=:5", "[::1]", "[::1]:81"},
		{"ws://[::1]:82/", "::1", "[::1]:82"},
		{"ws://a.b:81", "", "invalid AddrPort"},
		{"", "10.0.0.1", "10.0.0.1:443"},
	} {
		if got := harServer(c.address, c.ip); got.String() != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Invalid records end the reading with their position, and yield nothing.
func TestMoreLogsThatAreWrong(t *testing.T) {
	second := uint32(logStart.Unix())
	good := wowPacket("CMSG", second, 1, "", 1, "")
	for _, c := range []struct {
		name, data string
		n          int
		why        string
	}{
		{"no direction", wowHead(wow30, 1, 0, 0, "") + good + wowPacket("XMSG", second, 1, "", 1, ""), 1, "invalid packet header"},
		{"a sniffer's bytes", wowHead(wow30, 1, 0, 0, "") + good + "SMSG" + strings.Repeat("\xff", 16), 1, "sniffer bytes"},
		{"a size", wowHead(wow30, 1, 0, 0, "") + good + "SMSG" + strings.Repeat("\x00", 12) + "\xff\xff\xff\xff", 1, "is invalid"},
		{"a size below the opcode", wowHead(wow30, 1, 0, 0, "") + good + "SMSG" + strings.Repeat("\x00", 16), 1, "is invalid"},
		{"the head", wowHead(wow30, 1, 0, 0, "")[:5+49] + "\xff\xff\xff\xff", 0, "sniffer bytes"},
		{"behind a flow", tnet(mitmFlow("tcp", []any{true, []byte("a"), 1.5})) + "x", 1, "no flow starts here"},
		{"a large flow", tnet(mitmFlow("tcp", []any{true, []byte("a"), 1.5})) + "999999999:", 1, "exceeds 128 MiB"},
		{"no entries", `{"log":{"creator":1,"entries":7`, 0, "no entries"},
		{"a string among entries", `{"log":{"creator":1,"entries":["x"]}}`, 0, "a string"},
	} {
		got, sum := readLogFile(t, []byte(c.data), 0)
		if len(got) != c.n || sum.Torn == nil || !strings.Contains(sum.Torn.Why, c.why) {
			t.Errorf("%s: %d frames, torn %v", c.name, len(got), sum.Torn)
		}
	}
}

func FuzzLogMitmproxy(f *testing.F) { fuzzLog(f, "mitmproxy") }
func FuzzLogHAR(f *testing.F)       { fuzzLog(f, "har") }
func FuzzLogWow(f *testing.F)       { fuzzLog(f, "wow-pkt") }
