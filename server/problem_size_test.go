package server

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// The error of an invalid request does not repeat its body.
func TestErrorsAreBrief(t *testing.T) {
	s := captureServer(t, "tera", nil)
	for _, body := range []string{
		`{"message":"C_A","value":` + strings.Repeat(`{"a":`, 50_000) + "1" + strings.Repeat("}", 50_000) + "}",
		`{"old":"` + strings.Repeat("x", 500_000) + `"}`,
		`{"message":5,"password":"hunter2"}`,
	} {
		r := httptest.NewRequest("POST", "/api/v1/one/encode", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code/100 != 4 || w.Body.Len() > 2000 || strings.Contains(w.Body.String(), strings.Repeat("x", 300)) || strings.Contains(w.Body.String(), "hunter2") {
			t.Errorf("%d, %d bytes: %.300s", w.Code, w.Body.Len(), w.Body)
		}
	}
}
