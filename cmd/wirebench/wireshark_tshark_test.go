package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wirebench/codec/filter"
	"wirebench/defs/benchtest"
	"wirebench/defs/corpora"
	"wirebench/defs/tooltest"
)

var updateTshark = flag.Bool("update-tshark", false, "record what tshark finds")

// tsharkFile has what tshark finds of a capture: a line for each filter, with the numbers of the packets, or "refused". It is checked if tshark
// is installed, and written with -update-tshark.
const tsharkFile = "testdata/tshark.txt"

// asInWireshark are filters and, if the field has another name there, what Wireshark calls them. Fields of messages have the names that the
// emitted dissector gives them.
var asInWireshark = [][2]string{
	{"ip", ""},
	{"ipv6", ""},
	{"not ip", ""},
	{"!ipv6 && tcp", ""},
	{"ip || ipv6", ""},
	{"ip and udp", ""},
	{"ip.version == 4", ""},
	{"ip.addr", ""},
	{"ipv6.src", ""},
	{"tcp.port", ""},
	{"udp.stream", ""},
	{"frame.number", ""},
	{"frame.time", ""},
	{"ip.addr == 10.8.0.1", ""},
	{"ip.addr != 10.8.0.1", ""},
	{"!(ip.addr == 10.8.0.1)", ""},
	{"any ip.addr != 10.8.0.1", ""},
	{"all ip.addr == 10.8.0.1", ""},
	{"ip.addr == 10.8.0.0/13", ""},
	{"ip.src == 10.8.0.0/13", ""},
	{"ip.src == 10.8.0.2/31", ""},
	{"ip.src != 10.8.0.2/31", ""},
	{"ip.addr == 0.0.0.0/0", ""},
	{"ip.src == 10.0.0.0/11", ""},
	{"ip.src in {10.8.0.1..10.8.0.2}", ""},
	{"ip.src in {10.8.0.3, 10.16.0.0/16}", ""},
	{"ip.src not in {10.8.0.1}", ""},
	{"ip.src > 10.8.0.2", ""},
	{"ip.src >= 10.8.0.2", ""},
	{"ip.src < 10.8.0.2", ""},
	{"ip.dst <= 10.8.0.2", ""},
	{"ip.src == ip.dst", ""},
	{"ip.src != ip.dst", ""},
	{"ipv6.addr == 2001:db8::a08:2", ""},
	{"ipv6.addr == 2001:0db8:0:0:0:0:0a08:2", ""},
	{"ipv6.addr == 2001:db8::/32", ""},
	{"ipv6.src == 2001:db8::a08:0/127", ""},
	{"ipv6.src != 2001:db8::a08:0/112", ""},
	{"ipv6.addr == fe80::/10", ""},
	{"ipv6.src in {2001:db8::a08:1..2001:db8::a08:3}", ""},
	{"ip.addr == 10.8.0", ""},
	{"ip.addr == fe80::1", ""},
	{`ip.src[0:2] == 0a:08`, ""},
	{"ip.ttl == 64", ""},
	{"ip.proto == 17", ""},
	{"tcp.port == 7801", ""},
	{"tcp.port != 7801", ""},
	{"udp.port == 7801", ""},
	{"tcp.srcport == 7802", ""},
	{"tcp.dstport eq 7801", ""},
	{"udp.srcport == 42001", ""},
	{"tcp.port in {7802, 41001}", ""},
	{"tcp.port in {41002..41003}", ""},
	{"not tcp.port in {41002..41003}", ""},
	{"tcp.port not in {41002..41003}", ""},
	{"tcp.srcport > tcp.dstport", ""},
	{"tcp.port & 1", ""},
	{"tcp.port % 2 == 0", ""},
	{"tcp.port == 7801 or udp.port == 42001", ""},
	{"tcp.port == 7801 or 10001", ""},
	{"tcp.stream == 0", ""},
	{"tcp.stream == 2", ""},
	{"tcp.stream in {1..2}", ""},
	{"udp.stream == 1", ""},
	{"udp.stream != 1", ""},
	{"frame.number == 13", ""},
	{"frame.number >= 20 && frame.number <= 40", ""},
	{"frame.number in {13, 15..20}", ""},
	{"frame.number != 13", ""},
	{"frame.number == 010", ""},
	{"frame.number % 2 == 1", ""},
	{"frame.number + 1 == 14", ""},
	{"frame.number == 0x10", ""},
	{"frame.number & 1", ""},
	{`frame.time > "Nov 14, 2023 22:20:01"`, ""},
	{`frame.time > "2023-11-14 22:20:01.5"`, ""},
	{`frame.time <= "2023-11-14T22:20:01Z"`, ""},
	{`frame.time > "Nov 14, 2023 22:20:01.123456 UTC"`, ""},
	{`frame.time > "2023-11-14T23:20:01+01:00"`, ""},
	{`frame.time > "22:20:01"`, ""},
	{"frame.time_epoch > 1700000401", ""},
	{"frame.time_epoch < 1700000401.25", ""},
	{"frame.time_epoch > 1.5", ""},
	{"frame.marked", ""},
	{"frame.marked == 1", ""},
	{"frame.marked == false", ""},
	{"frame.time_relative > 1", ""},
	{"frame.time_delta > 0.01", ""},
	{"frame.time_delta_displayed > 0.01", ""},
	{"tcp.time_delta > 0.01", ""},
	{"tcp.time_relative > 1", ""},
	{"frame.len > 100", ""},
	{"frame.cap_len > 100", ""},
	{"tcp.len > 40", ""},
	{"udp.length > 40", ""},
	{"data.len > 10", ""},
	{"data", ""},
	{"frame", ""},
	{"frame[0] == 20", ""},
	{"frame[4:2] == 01:00", ""},
	{"frame[-2:] == 00:00", ""},
	{"frame contains 01:00", ""},
	{"frame contains 08:00", ""},
	{`frame contains "guild"`, ""},
	{`frame contains "Guild"`, ""},
	{`frame matches "GUILD"`, ""},
	{`frame matches "guild \\x00|war"`, ""},
	{`frame matches "^guild"`, ""},
	{`frame contains "\x00\x00"`, ""},
	{`tcp.payload contains "guild"`, ""},
	{`udp.payload contains "guild"`, ""},
	{`tcp.payload contains 00:00`, ""},
	{`tcp.payload[0] == 31`, ""},
	{`tcp.segment_data contains "guild"`, ""},
	{"frame.comment", ""},
	{`frame.comment contains "a"`, ""},
	{"_ws.malformed", ""},
	{"_ws.expert", ""},
	{`_ws.col.info contains "guild"`, ""},
	{"tcp.flags.syn == 1", ""},
	{"tcp.analysis.lost_segment", ""},
	{`ip.host == "10.8.0.1"`, ""},
	{"eth.addr == 02:00:00:00:00:01", ""},

	// The kinds of filters of this language, as far as there are words for them: dir is told from the ports, bytes are the item of the message.
	{`S_CHAT && .message contains "guild"`, `messages.S_CHAT && messages.S_CHAT.message contains "guild"`},
	{`dir == c2s and len > 40 and not name in {"S_CHAT", "S_LOGIN"}`, `(tcp.dstport in {7801..7802} or udp.dstport == 7801) and messages.len > 40 and not messages.name in {"S_CHAT", "S_LOGIN"}`},
	{"dir == s2c and len > 30", "(tcp.srcport in {7801..7802} or udp.srcport == 7801) and messages.len > 30"},
	{"S_CHAT.channel > 2 and .gameId != 7", "messages.S_CHAT.channel > 2 and messages.S_CHAT.gameId != 7"},
	{`name ~ "^S_" && proto == udp`, `messages.name matches "^S_" && udp`},
	{"op == 0x4e26 && bytes[8:4] == u32le(3)", "messages.op == 0x4e26 && messages[8:4] == 03:00:00:00"},
	{"u32le(bytes[8:4]) == 3", "messages[8:4] == 03:00:00:00"},
	{"bytes contains u32le(3)", "messages contains 03:00:00:00"},
	{`bytes contains utf16("guild")`, "messages contains 67:00:75:00:69:00:6c:00:64:00"},
	{`bytes contains "guild"`, `messages contains "guild"`},
	{`bytes contains x"67 ?? 75 00"`, `messages matches "(?-i)\\x67\\x00\\x75\\x00"`},
	{"bytes[:2] == u16le(46)", "messages[:2] == 2e:00"},
	{`bytes[0,2] == x"2e 26"`, "messages[0,2] == 2e:26"},
	{"bytes[-4:2] == 00:00", "messages[-4:2] == 00:00"},
	{"bytes[-2:] != 00:00", "messages[-2:] != 00:00"},
	{"~q", "(tcp.dstport in {7801..7802} or udp.dstport == 7801)"},
	{"~s", "(tcp.srcport in {7801..7802} or udp.srcport == 7801)"},
	{"~b guild", `messages contains "guild"`},
	{"~udp and ~q", "udp and (tcp.dstport in {7801..7802} or udp.dstport == 7801)"},
	{"C_PARTY_*", `messages.name matches "^C_PARTY_"`},
	{"20006", "messages.op == 20006"},
	{"0x4E26", "messages.op == 0x4e26"},
	{"guild", `lower(messages.name) contains "guild" or lower(messages.S_CHAT.name) contains "guild" or lower(messages.S_CHAT.message) contains "guild" or lower(messages.C_PARTY_INVITE.name) contains "guild" or lower(messages.S_LOGIN.name) contains "guild"`},
	{"!(S_CHAT.channel == 1)", "!(messages.S_CHAT.channel == 1)"},
	{"S_CHAT.channel != 1", "messages.S_CHAT.channel != 1"},
	{`.name == "Aldor"`, `messages.S_CHAT.name == "Aldor" or messages.C_PARTY_INVITE.name == "Aldor" or messages.S_LOGIN.name == "Aldor"`},
	{`*.name contains "g"`, `messages.S_CHAT.name contains "g" or messages.C_PARTY_INVITE.name contains "g" or messages.S_LOGIN.name contains "g"`},
	{`hex(op) == "4e26"`, "messages.op == 0x4e26"},
	{"status == ok", `messages.status == "ok"`},
	{"srcip == 10.8.0.1 or dstip == 10.8.0.1", "ip.addr == 10.8.0.1"},
	{"ip == 10.8.0.0/13 or ip == 2001:db8::/32", "ip.addr == 10.8.0.0/13 or ipv6.addr == 2001:db8::/32"},
	{"port == 7802", "tcp.port == 7802 or udp.port == 7802"},
	{"srcport in {41001..41002}", "tcp.srcport in {41001..41002} or udp.srcport in {41001..41002}"},
	{"from in {20..30}", "frame.number in {20..30}"},
	{`time > "2023-11-14 22:20:01"`, `frame.time > "2023-11-14 22:20:01"`},
	{"time > 1700000401", "frame.time_epoch > 1700000401"},
	{"stream == 1 && proto == tcp", "tcp.stream == 1"},

	// Comparisons, slices and functions.
	{"ip.addr === 10.8.0.1", ""},
	{"ip.addr !== 10.8.0.1", ""},
	{"ip.addr ~= 10.8.0.1", ""},
	{"ip.addr any_eq 10.8.0.1", ""},
	{"ip.addr all_eq 10.8.0.1", ""},
	{"ip.addr any_ne 10.8.0.1", ""},
	{"ip.addr all_ne 10.8.0.1", ""},
	{"any ip.addr === 10.8.0.1", ""},
	{"all ip.addr != 10.8.0.1", ""},
	{"tcp.port === 7801", ""},
	{"frame[:4] == 00:00:00:00", ""},
	{"frame[0,2] == 00:00", ""},
	{"frame[1-3] == 00:00:00", ""},
	{"tcp.payload[-4:] == 00:00:00:00", ""},
	{"max(tcp.srcport, tcp.dstport) > 41002", ""},
	{"max(tcp.srcport, udp.srcport) > 41002", ""},
	{"max(tcp.port, 41003) == 41003", ""},
	{"min(tcp.port) == 7801", ""},
	{"max(tcp.port) == 41002", ""},
	{"max(max(tcp.port), tcp.srcport) > 41001", ""},
	{"max(frame.number, 100) == 100", ""},
	{"max(ip.src, ip.dst) == 10.16.0.1", ""},
	{`max(frame.time) > "Nov 14, 2023 22:20:01"`, ""},
	{"abs(tcp.port - 7801) == 0", ""},
	{`string(tcp.port) == "7801"`, ""},
	{`string(tcp.port) contains "78"`, ""},
	{`string(tcp.port) matches "^78"`, ""},
	{`string(ip.src) == "10.8.0.1"`, ""},
	{`string(ip.src) matches "^10\\.8\\..*1$"`, ""},
	{`string(ipv6.src) contains "db8"`, ""},
	{`string(frame.number) matches "[13579]$"`, ""},
	{`string(frame.number)[:1] == "1"`, ""},
	{`string(frame.time) contains "2023"`, ""},
	{"S_CHAT.channel === 3", "messages.S_CHAT.channel === 3"},
	{"S_CHAT.channel !== 3", "messages.S_CHAT.channel !== 3"},
	{"S_CHAT.channel any_eq 3", "messages.S_CHAT.channel any_eq 3"},
	{"S_CHAT.channel all_ne 3", "messages.S_CHAT.channel all_ne 3"},
	{"C_PARTY_INVITE.data[:2] == 67:75", "messages.C_PARTY_INVITE.data[:2] == 67:75"},
	{"C_PARTY_INVITE.data[0,2] == 67:69", "messages.C_PARTY_INVITE.data[0,2] == 67:69"},
	{"C_PARTY_INVITE.data[0:2,4] == 67:75:64", "messages.C_PARTY_INVITE.data[0:2,4] == 67:75:64"},
	{"C_PARTY_INVITE.data[1-3] == 75:69:6c", "messages.C_PARTY_INVITE.data[1-3] == 75:69:6c"},
	{"C_PARTY_INVITE.data[-4:2] == 75:69", "messages.C_PARTY_INVITE.data[-4:2] == 75:69"},
	{"C_PARTY_INVITE.data[-4--3] == 75:69", "messages.C_PARTY_INVITE.data[-4--3] == 75:69"},
	{"C_PARTY_INVITE.data[-4:] == 47:75:69:6c", "messages.C_PARTY_INVITE.data[-4:] == 47:75:69:6c"},
	{"C_PARTY_INVITE.data[:] contains 75:69", "messages.C_PARTY_INVITE.data[:] contains 75:69"},
	{`S_CHAT.message[:2] == "Gu"`, `messages.S_CHAT.message[:2] == "Gu"`},
	{`S_CHAT.message[0,2] == "Gi"`, `messages.S_CHAT.message[0,2] == "Gi"`},
	{`S_CHAT.message[-2:] == "ld"`, `messages.S_CHAT.message[-2:] == "ld"`},
	{`S_CHAT.message[1-2] == "ui"`, `messages.S_CHAT.message[1-2] == "ui"`},
	{`S_CHAT.message[:2] contains "u"`, `messages.S_CHAT.message[:2] contains "u"`},
	{`lower(S_CHAT.message)[:2] == "gu"`, `lower(messages.S_CHAT.message)[:2] == "gu"`},
	{"max(S_CHAT.channel, S_LOGIN.level) > 2", "max(messages.S_CHAT.channel, messages.S_LOGIN.level) > 2"},
	{"max(S_LOGIN.level) + 1 > 2", "max(messages.S_LOGIN.level) + 1 > 2"},
	{"max(S_LOGIN.level + 1) > 2", "max(messages.S_LOGIN.level + 1) > 2"},
	{"min(S_CHAT.channel, 3) == 3", "min(messages.S_CHAT.channel, 3) == 3"},
	{"abs(S_LOGIN.level) == 1", "abs(messages.S_LOGIN.level) == 1"},
	{"abs(S_LOGIN.level - 30) < 5", "abs(messages.S_LOGIN.level - 30) < 5"},
	{`string(op) == "20006"`, `string(messages.op) == "20006"`},
	{`string(S_LOGIN.level) == "-1"`, `string(messages.S_LOGIN.level) == "-1"`},
	{`string(S_CHAT.channel) == "3"`, `string(messages.S_CHAT.channel) == "3"`},

	// The fields of messages, and other properties that the dissector has.
	{"S_CHAT", "messages.S_CHAT"},
	{"C_PARTY_INVITE || S_LOGIN", "messages.C_PARTY_INVITE || messages.S_LOGIN"},
	{"!S_CHAT", "!messages.S_CHAT"},
	{`name == "S_CHAT"`, `messages.name == "S_CHAT"`},
	{`name contains "_C"`, `messages.name contains "_C"`},
	{`name ~ "^S_"`, `messages.name matches "^S_"`},
	{"op == 20006", "messages.op == 20006"},
	{"op in {20000..20005}", "messages.op in {20000..20005}"},
	{"len > 40", "messages.len > 40"},
	{"ver == 4", "messages.ver == 4"},
	{`S_CHAT.message contains "guild"`, `messages.S_CHAT.message contains "guild"`},
	{`S_CHAT.message ~ "(?i)guild"`, `messages.S_CHAT.message matches "guild"`},
	{`S_CHAT.message == "Guild"`, `messages.S_CHAT.message == "Guild"`},
	{`S_CHAT.message != "Guild"`, `messages.S_CHAT.message != "Guild"`},
	{`lower(S_CHAT.message) == "guild"`, `lower(messages.S_CHAT.message) == "guild"`},
	{`len(S_CHAT.message) > 5`, `len(messages.S_CHAT.message) > 5`},
	{"S_CHAT.channel == 3", "messages.S_CHAT.channel == 3"},
	{"S_CHAT.channel in {1..2}", "messages.S_CHAT.channel in {1..2}"},
	{"S_CHAT.channel & 1", "messages.S_CHAT.channel & 1"},
	{"S_CHAT.gm == true", "messages.S_CHAT.gm == true"},
	{"S_LOGIN.level < 0", "messages.S_LOGIN.level < 0"},
	{`C_PARTY_INVITE.data contains "guild"`, `messages.C_PARTY_INVITE.data contains "guild"`},
	{`C_PARTY_INVITE.data[0:2] == 67:75`, `messages.C_PARTY_INVITE.data[0:2] == 67:75`},
	{`C_PARTY_INVITE.data[-1:] == 72`, ""},
	{`S_CHAT && tcp.port == 7802 && .message contains "g"`, `messages.S_CHAT && tcp.port == 7802 && messages.S_CHAT.message contains "g"`},
}

// documented returns the filters of the manual's table.
func documented(t *testing.T) (filters []string) {
	t.Helper()
	text, err := os.ReadFile("../../web/docs/wireshark.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(strings.TrimSpace(line), " | "); len(cells) == 3 && strings.HasPrefix(cells[0], "| `") {
			filters = append(filters, strings.Trim(strings.ReplaceAll(strings.TrimPrefix(cells[0], "| "), `\|`, "|"), "`"))
		}
	}
	return filters
}

// A filter finds the packets that tshark finds of those with messages, or is refused.
func TestToolFiltersBesideTshark(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	dir := t.TempDir()
	for _, name := range corpora.Own().Names(t) {
		if strings.HasPrefix(name, "mixed/") {
			to := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, corpora.Own().Read(t, name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	capture, definitions := filepath.Join(dir, "mixed/packets.pcapng"), filepath.Join(dir, "mixed/definitions")
	read := func(text string) (packets []string, refused string) {
		out, errs, status := cli(t, "", "frames", "--protocol", "tera", "--library", definitions, "--map", filepath.Join(dir, "mixed/protocol.map"), "--framing", "prefixed:2le+self+keep", "--port", "7801", "--port", "7802",
			"--json", "--filter", text, capture)
		if status != 0 {
			return nil, errs
		}
		for line := range strings.Lines(out) {
			_, from, _ := strings.Cut(line, `"from":[`)
			from, _, _ = strings.Cut(from, "]")
			packets = append(packets, from)
		}
		return packets, ""
	}
	all, refused := read("")
	if len(all) != 120 || refused != "" {
		t.Fatalf("%d packets with messages: %s", len(all), refused)
	}
	rows := slices.Clone(asInWireshark)
	for _, text := range documented(t) {
		if !strings.HasPrefix(text, "time ") { // time is another protocol in Wireshark
			rows = append(rows, [2]string{text, ""})
		}
	}
	for _, w := range filter.Words() { // at least the existence of each
		if !strings.HasSuffix(w.Name, ".") {
			rows = append(rows, [2]string{w.Name, ""})
		}
	}
	recorded := tsharkResults(t, capture, definitions, filepath.Join(dir, "mixed/protocol.map"), rows)
	found, compared, refusals := map[string]bool{}, 0, 0
	for _, row := range rows {
		there := cmp.Or(row[1], row[0])
		want, ok := recorded[there]
		if found[row[0]] {
			continue
		}
		found[row[0]] = true
		got, refused := read(row[0])
		switch {
		case !ok:
			t.Errorf("%s: not recorded: run with -update-tshark", there)
		case want == "refused" && row[1] != "":
			t.Errorf("%s: tshark does not take it", there)
		case want == "refused": // it is a filter of this language only, or none
		case refused != "":
			refusals++
			if !strings.Contains(refused, "\n") {
				t.Errorf("%s is refused without a place: %s", row[0], refused)
			}
		default:
			compared++
			var with []string
			for _, n := range strings.Fields(want) {
				if slices.Contains(all, n) {
					with = append(with, n)
				}
			}
			if !slices.Equal(got, with) {
				t.Errorf("%s: packets %v\ntshark: %v", row[0], got, with)
			}
		}
	}
	t.Logf("%d filters find the same packets, %d are refused", compared, refusals)
	if compared < 130 || refusals > compared {
		t.Errorf("%d filters compared, %d refused", compared, refusals)
	}
}

// tsharkResults returns what tshark finds: by itself if it is installed, which must be what is recorded, otherwise as recorded.
func tsharkResults(t *testing.T, capture, definitions, codes string, rows [][2]string) map[string]string {
	t.Helper()
	recorded := map[string]string{}
	if text, err := os.ReadFile(tsharkFile); err == nil {
		for line := range strings.Lines(string(text)) {
			filter, result, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			recorded[filter] = result
		}
	}
	tshark, ok := tooltest.Look(t, "tshark")
	if !ok {
		t.Log("tshark is not installed: its recorded results are used")
		return recorded
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "messages.lua")
	text, errs, status := cli(t, "", "emit", "--target", "lua", "--library", definitions, "--map", codes)
	if status != 0 {
		t.Fatal(errs)
	}
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var filters, file strings.Builder
	var names []string
	for _, row := range rows {
		there := cmp.Or(row[1], row[0])
		if !slices.Contains(names, there) {
			names = append(names, there)
			fmt.Fprintf(&filters, "[==[%s]==],\n", there)
		}
	}
	taps, results := filepath.Join(dir, "taps.lua"), filepath.Join(dir, "results")
	if err := os.WriteFile(taps, []byte(fmt.Sprintf(tapsLua, filters.String(), results)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), tshark, "-q", "-r", capture, "-X", "lua_script:"+script, "-X", "lua_script:"+taps, "-o", "messages.tcp_ports:7801-7802", "-o", "messages.udp_ports:7801-7802")
	cmd.Env = append(os.Environ(), "TZ=UTC", "HOME="+dir, "XDG_CONFIG_HOME="+dir, "WIRESHARK_CONFIG_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := os.ReadFile(results)
	if err != nil || strings.Count(string(out), "\n") != len(names) {
		t.Fatalf("results of %d filters: %v\n%s", len(names), err, out)
	}
	now := map[string]string{}
	for line := range strings.Lines(string(out)) {
		i, result, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		n, _ := strconv.Atoi(i)
		now[names[n-1]] = result
	}
	for _, name := range names {
		old, ok := recorded[name]
		// Later versions take more filters.
		if !*updateTshark && ok && old != now[name] && old != "refused" && now[name] != "refused" {
			t.Errorf("%s: tshark finds %s, recorded is %s", name, now[name], old)
		}
		fmt.Fprintf(&file, "%s\t%s\n", name, now[name])
	}
	if *updateTshark {
		if err := os.WriteFile(tsharkFile, []byte(file.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Fatalf("recorded %d filters: run again without -update-tshark", len(names))
	}
	return recorded
}

// tapsLua makes tshark write the packets of each filter. The filters are read once the fields of the dissector are known.
const tapsLua = `local filters = {
%s}
local p, begun = Proto("taps", "taps"), false
function p.init()
  if begun then return end
  begun = true
  local out = io.open([==[%s]==], "w")
  for i, f in ipairs(filters) do
    local ok, tap = pcall(Listener.new, "frame", f)
    if ok then
      local got = {}
      tap.packet = function(x) got[#got + 1] = tostring(x.number) end
      tap.draw = function() out:write(i, "\t", table.concat(got, " "), "\n") out:flush() end
    else
      out:write(i, "\trefused\n") out:flush()
    end
  end
end
register_postdissector(p)
`

// The manual has the table of words.
func TestWordsOfTheManual(t *testing.T) {
	const path = "../../web/docs/wireshark.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var taken, refused strings.Builder
	code := func(s string) string { return "`" + s + "`" }
	for _, w := range filter.Words() {
		name := code(w.Name)
		if strings.HasSuffix(w.Name, ".") {
			name = code(strings.TrimSuffix(w.Name, ".")) + " and others of it"
		}
		switch {
		case w.Why != "":
			why := w.Why
			if w.Help != "" {
				why += "; " + w.Help
			}
			fmt.Fprintf(&refused, "| %s | %s |\n", name, why)
		case w.Here == "bytes":
			fmt.Fprintf(&taken, "| %s | %s, searched for text |\n", name, code(w.Means()))
		default:
			fmt.Fprintf(&taken, "| %s | %s |\n", name, code(w.Means()))
		}
	}
	const head, other = "| word | means |\n| --- | --- |\n", "| word | reason |\n| --- | --- |\n"
	before, rest, ok := strings.Cut(string(text), head)
	_, middle, ok2 := strings.Cut(rest, "\nThese have no equivalent")
	middle, after, ok3 := strings.Cut(middle, other)
	_, after, ok4 := strings.Cut(after, "\n## What differs")
	if !ok || !ok2 || !ok3 || !ok4 {
		t.Fatal("the manual lacks a table")
	}
	want := before + head + taken.String() + "\nThese have no equivalent" + middle + other + refused.String() + "\n## What differs" + after
	if *updateTshark {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("%s has other words: run with -update-tshark", path)
	}
}
