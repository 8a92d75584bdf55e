package paste

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Columns of source and destination give the direction and the connection, as in the output of tshark with and without -x.
func TestRowsWithAddresses(t *testing.T) {
	const udp = "frame.number,frame.time_epoch,ip.src,udp.srcport,ip.dst,udp.dstport,udp.payload\n"
	json := func(src, sport, dst, dport, payload string) string {
		return fmt.Sprintf(`{"_type":"doc","_source":{"layers":{"eth":{"eth.src":"00:00:00:00:00:01","eth.dst":"00:00:00:00:00:02"},"ip":{"ip.src":"%s","ip.dst":"%s"},"tcp":{"tcp.srcport":"%s","tcp.dstport":"%s","tcp.payload":"%s"}}}}`, src, dst, sport, dport, payload)
	}
	for _, c := range []struct {
		name, text string
		stream     bool
		conns      string
		want       []string
	}{
		{"one", udp + "1,1.5,10.0.0.2,4000,10.0.0.1,53,0102\n2,2.5,10.0.0.1,53,10.0.0.2,4000,03\n", true, "10.0.0.2:4000-10.0.0.1:53", []string{"c2s 0102", "s2c 03"}},
		{
			"two", udp + "1,1.5,10.0.0.2,4000,10.0.0.1,53,0102\n2,2.5,10.0.0.3,53,10.0.0.2,4000,03\n3,3.5,10.0.0.1,53,10.0.0.2,4000,04\n", true,
			"10.0.0.2:4000-10.0.0.1:53 10.0.0.3:53-10.0.0.2:4000",
			[]string{"c2s 0102", "c2s 03", "s2c 04"},
		},
		{"lists of one", `[{"layers":{"ip.src":["::1"],"ip.dst":["::2"],"udp.srcport":["5"],"udp.dstport":["6"],"udp.payload":["0102"]}}]`, true, "[::1]:5-[::2]:6", []string{"c2s 0102"}},
		{"no ports", "Source,Destination,hex\n10.0.0.2,10.0.0.1,0102\n10.0.0.1,10.0.0.2,03ff\n", false, "10.0.0.2:0-10.0.0.1:0", []string{"c2s 0102", "s2c 03ff"}},
		{"ports in the addresses", "src,dst,hex\n10.0.0.2:5,10.0.0.1:6,0102\n", false, "10.0.0.2:5-10.0.0.1:6", []string{"c2s 0102"}},
		{"a direction of its own", "dir,src,dst,hex\ns2c,10.0.0.2,10.0.0.1,0102\n", false, "10.0.0.2:0-10.0.0.1:0", []string{"s2c 0102"}},
		{"TCP: the lower port is the server", json("10.0.0.1", "80", "10.0.0.2", "4000", "0102") + json("10.0.0.2", "4000", "10.0.0.1", "80", "03"), true, "10.0.0.2:4000-10.0.0.1:80", []string{"s2c 0102", "c2s 03"}},
		{"names", "src,dst,hex\nalice,bob,0102\n", false, "", []string{"- 0102"}},
		{"one row without", "src,dst,udp.payload\n10.0.0.1,10.0.0.2,0102\n,,03\n", false, "10.0.0.1:0-10.0.0.2:0", []string{"c2s 0102", "- 03"}},
	} {
		p, err := Recognise(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got, conns []string
		for _, m := range p.Messages {
			dir := m.Dir.String()
			if dir == "" {
				dir = "-"
			}
			got = append(got, fmt.Sprintf("%s %x", dir, m.Bytes))
			if m.Name != "" {
				t.Errorf("%s: a message has the name %q", c.name, m.Name)
			}
		}
		for _, x := range p.Conns {
			conns = append(conns, x.Name())
		}
		if p.Peers != nil {
			conns = []string{strings.Join(p.Peers, "-")}
		}
		if !slices.Equal(got, c.want) || p.Stream != c.stream || strings.Join(conns, " ") != c.conns {
			t.Errorf("%s: %q, stream %v, %q", c.name, got, p.Stream, conns)
		}
		if c.conns != "" && !strings.Contains(p.Why, "source and destination") {
			t.Errorf("%s: %s", c.name, p.Why)
		}
	}
}
