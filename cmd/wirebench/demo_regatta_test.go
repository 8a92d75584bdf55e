package main

import (
	"strings"
	"testing"
)

// The game of the manual runs by itself, on this machine only, and its server hears its client.
func TestRegatta(t *testing.T) {
	out, said, status := cli(t, "", "demo", "regatta", "--listen", "127.0.0.1:0", "--rate", "200", "--for", "3s")
	if status != 0 || said != "" || !strings.Contains(out, "heard: ahoy\n") {
		t.Errorf("%d %s%s", status, out, said)
	}
	for _, c := range [][]string{{"--listen", "0.0.0.0:0"}, {"--listen", "nowhere"}, {"--via", "nowhere"}, {"--rate", "NaN"}, {"--for", "-1s"}} {
		if _, said, status := cli(t, "", append([]string{"demo", "regatta"}, c...)...); status != exitUsage || !strings.Contains(said, c[0]) {
			t.Errorf("%s: %d %s", c, status, said)
		}
	}
}
