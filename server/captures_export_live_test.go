package server

import (
	"bytes"
	"strings"
	"testing"

	"wirebench/codec/pcap"
)

// An export of running traffic has the frames at the time of the request, and does not wait for the end.
func TestExportOfRunningTraffic(t *testing.T) {
	r := newRolling(t, 1<<20)
	r.add(100)
	got, head := exported(t, r.s, r.id, "format=hex")
	if n := strings.Count(got, "\n"); n != 100 || !strings.Contains(head.Get("X-Wirebench-Note"), "first 100 frames") {
		t.Errorf("%d messages; %s", n, head)
	}
	if got, _ := exported(t, r.s, r.id, "format=jsonl&filter=dir+%3D%3D+s2c"); strings.Count(got, "\n") != 33 {
		t.Errorf("of the server: %s", got)
	}
	got, _ = exported(t, r.s, r.id, "format=pcapng&frames=3-12")
	in, err := pcap.NewReader(bytes.NewReader([]byte(got)))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for {
		p, err := in.Next()
		if err != nil {
			break
		}
		if bytes.Contains(p.Data, []byte("text ")) {
			n++
		}
	}
	if n != 6 { // the others are from the server
		t.Errorf("%d packets with a text", n)
	}
	r.add(100_000) // the log discards the first ones
	got, head = exported(t, r.s, r.id, "format=hex")
	base := r.log.Base()
	if n := strings.Count(got, "\n"); base == 0 || n != 100_100-base || !strings.Contains(head.Get("X-Wirebench-Note"), "to 100100;") {
		t.Errorf("%d messages from %d on; %s", n, base, head)
	}
}
