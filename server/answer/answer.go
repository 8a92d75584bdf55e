// Package answer writes what a request is answered with when it is refused: an error body of RFC 9457, as the API describes it.
package answer

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Problem answers with an error body.
func Problem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(&huma.ErrorModel{Title: http.StatusText(status), Status: status, Detail: detail})
}

// Error answers with an error of the API, which names its status and headers.
func Error(w http.ResponseWriter, err error) {
	var headers huma.HeadersError
	if errors.As(err, &headers) {
		maps.Copy(w.Header(), headers.GetHeaders())
	}
	status := http.StatusInternalServerError
	var known huma.StatusError
	if errors.As(err, &known) {
		status = known.GetStatus()
	}
	Problem(w, status, err.Error())
}

// Seconds is a time to wait, for people and for the header Retry-After.
func Seconds(wait time.Duration) int { return int(math.Ceil(wait.Seconds())) }
