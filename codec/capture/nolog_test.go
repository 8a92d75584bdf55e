package capture

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"wirebench/codec/logs"
	"wirebench/codec/packet"
	"wirebench/codec/packettest"
	"wirebench/codec/transport"
	"wirebench/defs/corpora"
)

// Files that are not logs are left to other readers.
func TestNoLog(t *testing.T) {
	for _, data := range []string{
		"", "T", "TPP", "hello", "\x01\x13\x00TeraConnection", strings.Repeat("\x00", 4000), strings.Repeat("\xff", 4000), strings.Repeat("\x10\x00\x00\x00", 1000),
		strings.Repeat("\x08\x00", 3000), "2024-05-01T12:00:00Z | S->C | x | y | RAW: 00", "2024-05-01 | S->C | 1 | y | RAW: 00", "00000000  01 02 03 04",
		packettest.WireMessage(1, "abc") + packettest.WireMessage(2, "abc"), "\xff\xfeh\x00i\x00", "\x1f\x8b\x08", "[23:59:50.380] -> C_CHECK_VERSION.1\n1400bc4d",
	} {
		for _, all := range []bool{false, true} {
			if id := logs.Sniff([]byte(data), all); id != "" {
				t.Errorf("%.30q is detected as %s", data, id)
			}
		}
	}
	var texts int
	for _, text := range packettest.Samples() {
		texts++
		if id := logs.Sniff(text, true); id != "" {
			t.Errorf("%.30q is detected as %s", text, id)
		}
	}
	if texts == 0 {
		t.Error("there are no samples")
	}
	// The bytes read for detection are read again.
	text := "00000000  01 02 00 68                                       ...h\n    00000000  02 02                                             ..\n"
	n := 0
	_, paste, err := ReadAny(iotest.OneByteReader(strings.NewReader(text)), Options{Options: packet.Options{}, Proto: transport.TCP}, func(*transport.Frame) { n++ })
	if err != nil || paste == nil || n != 2 {
		t.Errorf("%d frames, %v", n, err)
	}
}

// No file of the corpora is detected as a log of another program.
func TestCorporaAreNoLogs(t *testing.T) { corpora.Run(t, testCorporaAreNoLogs) }

func testCorporaAreNoLogs(t *testing.T, c *corpora.Corpus) {
	for _, name := range c.Names(t) {
		head := c.Read(t, name)
		head = head[:min(len(head), logs.Head)]
		id := logs.Sniff(head, len(head) < logs.Head)
		if id == "hook-jsonl" && filepath.Ext(name) == ".jsonl" {
			id = "" // lists of messages with their direction and bytes, as hooks write them
		}
		if id != "" {
			t.Errorf("%s is detected as %s", name, id)
		}
	}
}
