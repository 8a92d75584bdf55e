package server

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
)

// A message whose header has a checksum is encoded with the counter and the key of a connection, and decoding verifies it.
func TestChecksumOfASession(t *testing.T) {
	post := func(s *Server, path, body string, into any) {
		t.Helper()
		r := httptest.NewRequest("POST", "/api/v1/one/"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != 200 || json.Unmarshal(w.Body.Bytes(), into) != nil {
			t.Fatal(w.Code, w.Body)
		}
	}
	s := captureServer(t, "tera", map[string]string{"C_SAY.1.def": "uint32 number\n", "protocol.1.map": "C_SAY 7\n"})
	const settings = `"settings":{"integrity":"true"}`
	var made struct{ Hex string }
	post(s, "encode", `{"message":"C_SAY","value":{"number":5},"session":{"key":12345,"counter":9},`+settings+`}`, &made)
	for _, c := range []struct {
		session, problem string
	}{{`{"key":12345}`, ""}, {`{"key":1}`, "wrong-checksum"}, {`{}`, ""}} {
		var out struct {
			Results []struct{ Problems []struct{ Code string } }
		}
		post(s, "decode", fmt.Sprintf(`{"message":"C_SAY","hex":%q,"session":%s,%s}`, made.Hex, c.session, settings), &out)
		got := ""
		for _, p := range out.Results[0].Problems {
			got += p.Code
		}
		if got != c.problem {
			t.Errorf("%s: %q, want %q", c.session, got, c.problem)
		}
	}
	if len(made.Hex) != 2*(12+4) {
		t.Error(made.Hex)
	}
}
