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
	"wirebench/server/supervise"
)

// metrics holds the metrics of GET /metrics, in Prometheus format. They contain no names of users or files, and no contents of messages.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "wirebench_http_request_duration_seconds", Help: "Duration of requests, without websockets.",
			Buckets: []float64{.001, .005, .02, .1, .5, 2, 10, 60},
		}, []string{"method", "route", "code"}),
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.requests, &nowCollector{s},
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "wirebench_build_info", Help: "1; the label is the version of the program.", ConstLabels: prometheus.Labels{"version": s.Version},
		}, func() float64 { return 1 }))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// took counts a request by the pattern of its route: with paths, every capture would have a metric of its own.
func (m *metrics) took(r *http.Request, status int, time time.Duration) {
	if status == http.StatusSwitchingProtocols {
		return // the time that a page was open is not a duration of a request
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

// knownMethod keeps clients from creating metrics by inventing methods.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// nowCollector collects the current state on demand.
type nowCollector struct{ s *Server }

var (
	pagesOpen     = prometheus.NewDesc("wirebench_pages_open", "Open websockets.", nil, nil)
	capturesOpen  = prometheus.NewDesc("wirebench_captures_open", "Captures whose frames are in memory.", nil, nil)
	framesKept    = prometheus.NewDesc("wirebench_frames_kept", "Frames in memory, of all open captures.", nil, nil)
	bytesKept     = prometheus.NewDesc("wirebench_frames_kept_bytes", "Memory of the frames of all open captures.", nil, nil)
	faultsSeen    = prometheus.NewDesc("wirebench_faults_total", "Panics of the program, each of which ended one part.", []string{"part"}, nil)
	replaysListed = prometheus.NewDesc("wirebench_replays_running", "Running replays.", nil, nil)

	sessionLabels = []string{"workspace", "listen"}
	relayOpen     = prometheus.NewDesc("wirebench_relay_connections_open", "Open relayed connections.", sessionLabels, nil)
	relayTotal    = prometheus.NewDesc("wirebench_relay_connections_total", "Connections relayed since the listener started.", sessionLabels, nil)
	relayRefused  = prometheus.NewDesc("wirebench_relay_refused_total", "Connections refused by a limit.", sessionLabels, nil)
	relayFailed   = prometheus.NewDesc("wirebench_relay_failed_total", "Connections whose upstream could not be reached.", sessionLabels, nil)
	relayBytes    = prometheus.NewDesc("wirebench_relay_bytes_total", "Relayed bytes.", append(sessionLabels, "direction"), nil)
	relayFrames   = prometheus.NewDesc("wirebench_relay_frames_total", "Observed frames.", sessionLabels, nil)
	relayLost     = prometheus.NewDesc("wirebench_relay_unobserved_bytes_total", "Relayed bytes that were not observed.", sessionLabels, nil)
	relayMissed   = prometheus.NewDesc("wirebench_relay_unrecorded_packets_total", "Packets that were not recorded.", sessionLabels, nil)
	relayHeld     = prometheus.NewDesc("wirebench_relay_held", "Messages waiting for a decision.", sessionLabels, nil)
)

// Describe implements prometheus.Collector.
func (c *nowCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{pagesOpen, capturesOpen, framesKept, bytesKept, faultsSeen, replaysListed, relayOpen, relayTotal, relayRefused, relayFailed, relayBytes, relayFrames, relayLost, relayMissed, relayHeld} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. Goroutines of the library call it.
func (c *nowCollector) Collect(ch chan<- prometheus.Metric) {
	_ = supervise.Do("metrics", func() error { c.collect(ch); return nil })
	for part, n := range supervise.Counts() {
		ch <- prometheus.MustNewConstMetric(faultsSeen, prometheus.CounterValue, float64(n), part)
	}
}

func (c *nowCollector) collect(ch chan<- prometheus.Metric) {
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

// listenOf returns the first listening address of a session, which is unique among running sessions.
func listenOf(x proxy.State) string {
	if len(x.Pairs) == 0 {
		return ""
	}
	return x.Pairs[0].Listen
}
