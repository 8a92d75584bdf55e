package relay

import (
	"strings"
	"testing"

	"wirebench/server/proxy"
)

func TestPorts(t *testing.T) {
	for text, want := range map[string]string{"17800-17809": "17800-17809", "80": "80", "80-80": "80", "": "", "0-5": "", "9-5": "", "x": "", "1-70000": "", "1-2-3": ""} {
		if p, err := ParsePorts(text); p.String() != want || (err == nil) != (want != "") {
			t.Errorf("%q: %v %v", text, p, err)
		}
	}
	some, _ := ParsePorts("17800-17809")
	for _, c := range []struct {
		ports  Ports
		listen string
		why    string
	}{
		{Ports{}, "127.0.0.1:7801", ""},
		{Ports{}, ":7801", ""},
		{Ports{}, "[::1]:0", ""},
		{Ports{}, "0.0.0.0:0", ""},
		{Ports{}, "127.0.0.1:80", "port 80 is for programs of the system"},
		{some, "0.0.0.0:17800", ""},
		{some, ":17809", ""},
		{some, "127.0.0.1:0", ""},
		{some, "0.0.0.0:0", "the ports 17800-17809"},
		{some, "127.0.0.1:8080", "8080 is none of them"},
	} {
		err := c.ports.check([]proxy.Pair{{Listen: c.listen, Upstream: "127.0.0.1:1"}})
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s with %v: %v", c.listen, c.ports, err)
		}
	}
}
