// Package answer writes the error responses of refused requests: problem details of RFC 9457, as the API describes them.
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

// RequestID is the header with the id of a request, in the response and in the log.
const RequestID = "X-Request-Id"

// Problem responds with an error body.
func Problem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(&huma.ErrorModel{Title: http.StatusText(status), Status: status, Detail: detail})
}

// Error responds with an error of the API, which has a status and headers.
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

// Seconds rounds a delay up to seconds, for display and for the header Retry-After.
func Seconds(wait time.Duration) int { return int(math.Ceil(wait.Seconds())) }

// Busy converts an error of admission into one with an HTTP status and a Retry-After header; nil stays nil.
func Busy(err error) error {
	if err == nil {
		return nil
	}
	var full *admit.BusyError
	if !errors.As(err, &full) {
		return huma.Error503ServiceUnavailable("the request was canceled")
	}
	return huma.ErrorWithHeaders(huma.Error503ServiceUnavailable(full.Error()), http.Header{"Retry-After": {strconv.Itoa(Seconds(full.Retry))}})
}
