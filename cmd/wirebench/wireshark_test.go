package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"wirebench/defs/benchtest"
)

// Each filter of the manual's table means what the table says, and finds as many frames of the sample capture.
func TestFiltersFromWireshark(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	text, err := os.ReadFile("../../web/docs/wireshark.md")
	if err != nil {
		t.Fatal(err)
	}
	const capture = "../../defs/library/tera/demo.pcapng"
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00"), " | ")
		if len(cells) != 3 || !strings.HasPrefix(cells[0], "| `") {
			continue
		}
		rows++
		code := func(s string) string {
			return strings.Trim(strings.ReplaceAll(strings.TrimPrefix(s, "| "), "\x00", "|"), "`")
		}
		filter, means, want := code(cells[0]), code(cells[1]), strings.TrimSuffix(cells[2], " |")
		out, errs, status := cli(t, "", "frames", "--protocol", "tera", "--filter", filter, capture)
		if status != 0 {
			t.Errorf("%s: status %d\n%s", filter, status, errs)
			continue
		}
		got := "as written"
		if _, after, ok := strings.Cut(errs, "note: the filter is equivalent to "); ok {
			got, _, _ = strings.Cut(after, "\n")
		}
		if n := strconv.Itoa(strings.Count(out, "\n")); got != means || n != want {
			t.Errorf("%s\n got %s, %s frames\nwant %s, %s frames", filter, got, n, means, want)
		}
		// What it was translated to is a filter that means the same.
		if got != "as written" {
			again, errs, _ := cli(t, "", "frames", "--protocol", "tera", "--filter", got, capture)
			if again != out || strings.Contains(errs, "equivalent") {
				t.Errorf("%s: %s finds other frames, or is not in the words of the language: %s", filter, got, errs)
			}
		}
	}
	if rows < 60 {
		t.Errorf("%d filters in the table", rows)
	}
}

// Fields of Wireshark that frames do not have are mistakes with help.
func TestFiltersOfPackets(t *testing.T) {
	for filter, want := range map[string]string{
		"tcp.analysis.retransmission": "kind == problem",
		"tcp.flags.syn == 1":          "messages, not segments",
		"tcp.prot == 7801":            "tcp.port",
		"tcp.port == 7801 or 10001":   "in {7801, 10001}",
		"frame[0] == 20":              "bytes[0] == 0x20",
		"frame.comment":               "comments of packets",
		"tcp.time_delta > 1":          "delta",
		"frame.len > 100":             "len is",
		"ip.addr == fe80::1":          "IPv4",
		"http.host == \"x\"":          "one protocol",
		"eth.addr == 00:11:22":        "headers of packets",
		"not arp":                     "one protocol",
		"ip.ttl < 5":                  "srcip",
		"ip == \"north\"":             "is not an address",
		"S_CHTA == 5":                 "S_CHAT",
	} {
		_, errs, status := cli(t, "", "frames", "--protocol", "tera", "--filter", filter, "../../defs/library/tera/demo.pcapng")
		if status != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %q lacks %q", filter, status, errs, want)
		}
	}
}

// A text that is in the bytes as UTF-16 only is hinted at, if nothing else is found.
func TestFrameContainsHint(t *testing.T) {
	const capture = "../../defs/library/tera/demo.pcapng"
	for text, want := range map[string]string{
		`frame contains "mines"`:              `as UTF-16 it is found in 2, by bytes contains utf16("mines")`,
		`S_CHAT && bytes contains "mines"`:    `as UTF-16 it is found in 1, by S_CHAT && bytes contains utf16("mines")`,
		`bytes contains "no such text"`:       "",
		`bytes contains utf16("mines")`:       "",
		`bytes contains "mines" or len == 41`: "",
		`message contains "mines"`:            "",
	} {
		_, errs, status := cli(t, "", "frames", "--protocol", "tera", "--filter", text, capture)
		if status != 0 || strings.Contains(errs, "UTF-16") != (want != "") || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %q", text, status, errs)
		}
	}
}
