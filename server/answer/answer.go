// Package answer writes what a request is answered with when it is refused: an error body of RFC 9457, as the API describes it.
package answer

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/admit"
)

// RequestID is the header that names a request, in the answer and in the log.
const RequestID = "X-Request-Id"

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

// Busy gives an error of waiting for memory its status, and says when to come again; nil stays nil.
func Busy(err error) error {
	if err == nil {
		return nil
	}
	var full *admit.BusyError
	if !errors.As(err, &full) {
		return huma.Error503ServiceUnavailable("the request was given up")
	}
	return huma.ErrorWithHeaders(huma.Error503ServiceUnavailable(full.Error()), http.Header{"Retry-After": {strconv.Itoa(Seconds(full.Retry))}})
}
