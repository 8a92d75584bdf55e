package server

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"wirebench/server/servertest"
)

// Addresses of earlier versions, in bookmarks and programs, lead to the current ones.
func TestEarlierAddresses(t *testing.T) {
	s := serverOf(t, servertest.OpenWorkspace(t, t.TempDir(), nil))
	for _, c := range []struct{ path, to string }{
		{"/w/one", "/p/one/definitions"},
		{"/w/one?message=C_SAY.1&sample=2", "/p/one/definitions/C_SAY.1?sample=2"},
		{"/w/one?message=s2c%2Fchat", "/p/one/definitions/s2c%2Fchat"},
		{"/w/one?new=C_X.1", "/p/one/definitions?new=C_X.1"},
		{"/w/one/captures/x?f=a%2Bb", "/p/one/captures/x?f=a%2Bb"},
		{"/w/a%20b%2Fc/captures/x", "/p/a%20b%2Fc/captures/x"},
		{"/p/one", "/p/one/definitions"},
		{"/p/one/definitions?message=C_SAY.1&filter=x", "/p/one/definitions/C_SAY.1?filter=x"},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, c.path, nil))
		if to := w.Header().Get("Location"); w.Code/100 != 3 || to != c.to {
			t.Errorf("%s: %d %s, want %s", c.path, w.Code, to, c.to)
		}
	}
	for _, c := range []struct {
		path string
		want int
	}{
		{"/api/one", 200},
		{"/api/v1/one", 200},
		{"/api/one/definitions", 200},
		{"/api/v1/one/definitions", 200},
		{"/api/v1", 404},
		{"/api/nosuch", 404},
		{"/api/openapi.json", 200},
		{"/api/docs", 200},
		{"/api/v1/v1", 404},
		{"/api/", 404},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, c.path, nil))
		if w.Code != c.want {
			t.Errorf("%s: %d, want %d", c.path, w.Code, c.want)
		}
	}
}
