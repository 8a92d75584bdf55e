package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"wirebench/server/api"
	"wirebench/server/servertest"
)

// A framing is tried on the first bytes of a file.
func TestTryFraming(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	const said = "0c00 0110 0600 6100 6200 0000"
	for _, c := range []struct {
		name, body string
		code       int
		want       string
	}{
		{"two messages", `"framing": "prefixed:2le+self+keep+c2s", "hex": "` + said + said + `"`, 200, `[0 12 C_SAY ok ] [12 12 C_SAY ok ] false`},
		{"an unknown one", `"framing": "PREFIXED:2le+self+keep+c2s", "hex": "0600 7777 0000"`, 200, `[0 6  unknown ] false`},
		{"not so", `"framing": "prefixed:4be", "hex": "` + said + `"`, 200, `[0 12   a length of 201326864: the limit is 67108864; 12 bytes not read; no message was found in them] false`},
		{"more than wanted", `"framing": "fixed:1", "hex": "000102", "limit": 2`, 200, `[0 1  unknown ] [1 1  unknown ] true`},
		{"a part of a file", `"framing": "prefixed:2le+self+keep+c2s", "hex": "` + said + ` 0c00", "cut": true`, 200, `[0 12 C_SAY ok ] true`},
		{"nothing", `"framing": "whole", "hex": ""`, 200, ` false`},
		{"no framing", `"framing": "prefixed:2", "hex": ""`, 422, ``},
		{"no hex", `"framing": "whole", "hex": "0x"`, 422, ``},
		{"too many", `"framing": "whole", "hex": "", "limit": 1000000`, 422, ``},
		{"size of all that", `"framing": "fixed:1", "hex": "` + strings.Repeat("00", 1<<20) + `", "limit": 1`, 200, `[0 1  unknown ] true`},
	} {
		var out struct {
			Frames []api.FramedBytes
			More   bool
		}
		r := httptest.NewRequest(http.MethodPost, "/api/one/framing", strings.NewReader("{"+c.body+"}"))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != c.code {
			t.Errorf("%s: %d %v %s", c.name, w.Code, err, w.Body)
			continue
		}
		got := ""
		for _, f := range out.Frames {
			got += fmt.Sprintf("[%d %d %s %s %s] ", f.Offset, f.Length, f.Message, f.Status, f.Problem)
		}
		if got += fmt.Sprint(out.More); c.code == http.StatusOK && strings.TrimSpace(got) != strings.TrimSpace(c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
