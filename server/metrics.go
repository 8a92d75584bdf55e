package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"wirebench/server/proxy"
)

// metrics counts what operators watch: GET /metrics tells it in the form that Prometheus reads. Nothing of it names a person, a file or
// what is in a message.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "wirebench_http_request_duration_seconds", Help: "Time of requests that are answered, without websockets.",
			Buckets: []float64{.001, .005, .02, .1, .5, 2, 10, 60},
		}, []string{"method", "route", "code"}),
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.requests, &nowCollector{s})
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// took counts a request by the pattern of its route: a path would be a metric of its own for every capture.
func (m *metrics) took(r *http.Request, status int, time time.Duration) {
	if status == http.StatusSwitchingProtocols {
		return // how long a page was open says nothing
	}
	if status == 0 {
		status = http.StatusOK
	}
	m.requests.WithLabelValues(knownMethod(r.Method), routeOf(chi.RouteContext(r.Context())), strconv.Itoa(status)).Observe(time.Seconds())
}

func routeOf(ctx *chi.Context) string {
	if ctx == nil || ctx.RoutePattern() == "" || ctx.RoutePattern() == "/*" {
		return "none"
	}
	return ctx.RoutePattern()
}

// knownMethod keeps clients from inventing metrics.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// nowCollector tells how things are when it is asked.
type nowCollector struct{ s *Server }

var (
	pagesOpen     = prometheus.NewDesc("wirebench_pages_open", "Websockets that are open.", nil, nil)
	capturesOpen  = prometheus.NewDesc("wirebench_captures_open", "Captures whose frames are in memory.", nil, nil)
	framesKept    = prometheus.NewDesc("wirebench_frames_kept", "Frames in memory, of all captures that are open.", nil, nil)
	bytesKept     = prometheus.NewDesc("wirebench_frames_kept_bytes", "Memory of the frames of all captures that are open.", nil, nil)
	replaysListed = prometheus.NewDesc("wirebench_replays_running", "Replays that run.", nil, nil)

	sessionLabels = []string{"workspace", "listen"}
	relayOpen     = prometheus.NewDesc("wirebench_relay_connections_open", "Connections that are relayed now.", sessionLabels, nil)
	relayTotal    = prometheus.NewDesc("wirebench_relay_connections_total", "Connections that were relayed since the listener started.", sessionLabels, nil)
	relayRefused  = prometheus.NewDesc("wirebench_relay_refused_total", "Connections above a limit.", sessionLabels, nil)
	relayFailed   = prometheus.NewDesc("wirebench_relay_failed_total", "Connections whose upstream was not to be reached.", sessionLabels, nil)
	relayBytes    = prometheus.NewDesc("wirebench_relay_bytes_total", "Bytes that were relayed.", append(sessionLabels, "direction"), nil)
	relayFrames   = prometheus.NewDesc("wirebench_relay_frames_total", "Frames that were seen.", sessionLabels, nil)
	relayLost     = prometheus.NewDesc("wirebench_relay_unobserved_bytes_total", "Bytes that were relayed but not observed.", sessionLabels, nil)
	relayMissed   = prometheus.NewDesc("wirebench_relay_unrecorded_packets_total", "Packets that are not recorded.", sessionLabels, nil)
	relayHeld     = prometheus.NewDesc("wirebench_relay_held", "Messages that wait for a person.", sessionLabels, nil)
)

// Describe implements prometheus.Collector.
func (c *nowCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{pagesOpen, capturesOpen, framesKept, bytesKept, replaysListed, relayOpen, relayTotal, relayRefused, relayFailed, relayBytes, relayFrames, relayLost, relayMissed, relayHeld} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *nowCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(pagesOpen, float64(len(c.s.pages.All())))
	load := c.s.captures.Load()
	gauge(capturesOpen, float64(load.Open))
	gauge(framesKept, float64(load.Frames))
	gauge(bytesKept, float64(load.Bytes))
	gauge(replaysListed, float64(c.s.runs.Running()))
	for _, one := range c.s.relays.Of("") {
		x := one.State()
		labels := []string{one.Workspace.Name, listenOf(x)}
		count := func(d *prometheus.Desc, v float64, more ...string) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, append(labels[:2:2], more...)...)
		}
		gauge(relayOpen, float64(x.Open), labels...)
		count(relayTotal, float64(x.Total))
		count(relayRefused, float64(x.Refused))
		count(relayFailed, float64(x.Failed))
		count(relayBytes, float64(x.ToServer), "c2s")
		count(relayBytes, float64(x.ToClient), "s2c")
		count(relayFrames, float64(x.Frames))
		count(relayLost, float64(x.Lost))
		count(relayMissed, float64(x.Record.Missed))
		if x.Operate != nil {
			gauge(relayHeld, float64(x.Operate.Held), labels...)
		}
	}
}

// listenOf names a session by its first listening address, which no other has at a time.
func listenOf(x proxy.State) string {
	if len(x.Pairs) == 0 {
		return ""
	}
	return x.Pairs[0].Listen
}
