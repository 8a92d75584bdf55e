package server

import (
	"encoding/hex"
	"net/http/httptest"
	"strings"
	"testing"

	"wirebench/server/access"
	"wirebench/server/servertest"
)

// Values of fields marked @secret do not leave with an export, in whatever format; authors may ask for them.
func TestExportHidesSecrets(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": strings.Replace(servertest.SayAndPing, "   text", "   # @secret\n   text", 1)})
	x := servertest.Keep(t, s, "follow.txt", []byte(servertest.Follow))
	secret := hex.EncodeToString([]byte("hello"))
	for _, format := range []string{"hex", "csv", "csv&values=true&columns=say.text", "tsv", "jsonl", "pcapng", "pcapng&comments=true"} {
		got, _ := exported(t, s, x.ID, "format="+format)
		if strings.Contains(got, "hello") || strings.Contains(got, secret) {
			t.Errorf("%s: the secret is in\n%s", format, got)
		}
		if format == "hex" && (!strings.HasPrefix(got, "01020") || len(got) != len("0102006869\n02\n02\n02\n01050068656c6c6f\n")) {
			t.Errorf("other parts have changed\n%s", got)
		}
		got, _ = exported(t, s, x.ID, "format="+format+"&secrets=true")
		if !strings.Contains(got, "hello") && !strings.Contains(got, secret) {
			t.Errorf("%s: the secret is missing in\n%s", format, got)
		}
	}
	for path, want := range map[string]int{"GET /export?format=hex": 200, "GET /export?format=hex&secrets=true": 403, "GET ": 403, "POST /copy?to=one": 403} {
		method, rest, _ := strings.Cut(path, " ")
		r := httptest.NewRequest(method, "/api/one/captures/"+x.ID+rest, nil)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, access.As(r, access.Principal{Name: "v", Grants: access.Grants{access.Everywhere: access.Viewer}}))
		if w.Code != want {
			t.Errorf("a viewer at %q: %d %s", path, w.Code, w.Body)
		}
	}
}
