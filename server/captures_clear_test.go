package server

import (
	"strconv"
	"strings"
	"testing"

	"wirebench/server/api"
	"wirebench/server/servertest"
)

// Packets of encrypted sessions are deciphered on demand.
func TestClearPackets(t *testing.T) {
	for dialect, session := range map[string]*servertest.Ciphered{"subspace": servertest.SubspaceSession(t), "tera": servertest.TeraSession(t)} {
		t.Run(dialect, func(t *testing.T) {
			files := map[string]map[string]string{"subspace": {"x.def": "0x7a hello (c2s)\noffset size comment\n1 ? text words\n"}, "tera": servertest.ChatFiles}[dialect]
			s := captureServer(t, dialect, files)
			x := servertest.Keep(t, s, "a.pcapng", session.File)
			get := func(query string) map[uint32]api.PacketInfo {
				t.Helper()
				var out struct{ Packets []api.PacketInfo }
				if code := servertest.Request(t, s, "GET", "/api/one/captures/"+x.ID+"/packets?"+query, nil, &out); code != 200 {
					t.Fatalf("%s: %d", query, code)
				}
				all := map[uint32]api.PacketInfo{}
				for _, p := range out.Packets {
					all[p.N] = p
				}
				return all
			}
			var query []string
			for n := range session.Clear {
				query = append(query, strconv.Itoa(int(n)))
			}
			all := get("n=" + strings.Join(query, ",") + "&clear=true")
			if len(all) != len(session.Clear) {
				t.Errorf("%d packets of %d", len(all), len(session.Clear))
			}
			for n, p := range all {
				if want := session.Clear[n]; p.Clear != want {
					t.Errorf("packet %d is %q, not %q", n, p.Clear, want)
				}
			}
			for n := range session.Clear {
				if p := get("n=" + strconv.Itoa(int(n)))[n]; p.Clear != "" {
					t.Errorf("packet %d was deciphered though nobody asked: %s", n, p.Clear)
				}
				if p := get("clear=true&conn=elsewhere&n=" + strconv.Itoa(int(n)))[n]; p.Clear != "" {
					t.Errorf("packet %d is of another connection: %s", n, p.Clear)
				}
				if p := get("clear=true&conn=" + map[string]string{"subspace": "10.0.0.2:40000-10.0.0.1:5000", "tera": "10.0.0.2:40000-10.0.0.1:7801"}[dialect] + "&n=" + strconv.Itoa(int(n)))[n]; p.Clear != session.Clear[n] {
					t.Errorf("packet %d alone is %q, not %q", n, p.Clear, session.Clear[n])
				}
			}
		})
	}
}
