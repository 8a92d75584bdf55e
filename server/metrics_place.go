package server

import (
	"github.com/prometheus/client_golang/prometheus"
)

// placeCollector collects what the place of captures has, and what was done there.
type placeCollector struct{ s *Server }

var (
	placeBytes    = prometheus.NewDesc("wirebench_place_bytes", "Bytes of captures in the place of captures.", []string{"workspace"}, nil)
	placeAway     = prometheus.NewDesc("wirebench_place_away_captures", "Captures whose bytes are only there.", []string{"workspace"}, nil)
	placeDue      = prometheus.NewDesc("wirebench_place_due_captures", "Captures that are not there yet.", nil, nil)
	placeBroken   = prometheus.NewDesc("wirebench_place_broken", "1 while the place cannot be used.", nil, nil)
	placeUploads  = prometheus.NewDesc("wirebench_place_uploads_total", "Objects that were stored there: captures and indexes.", nil, nil)
	placeFailures = prometheus.NewDesc("wirebench_place_failures_total", "Requests to the place that failed.", nil, nil)
	placeRemovals = prometheus.NewDesc("wirebench_place_removals_total", "Objects that were removed there.", nil, nil)
	placeRead     = prometheus.NewDesc("wirebench_place_read_bytes_total", "Bytes that were read from there.", nil, nil)
	placeCached   = prometheus.NewDesc("wirebench_place_cached_bytes", "Bytes of blocks from there that are kept in the data folder.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c *placeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{placeBytes, placeAway, placeDue, placeBroken, placeUploads, placeFailures, placeRemovals, placeRead, placeCached} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. Goroutines of the library call it.
func (c *placeCollector) Collect(ch chan<- prometheus.Metric) {
	for _, ws := range c.s.Projects.Seen(everywhere).All() {
		if ws.Captures == nil {
			continue
		}
		bytes, away := ws.Captures.Stored()
		ch <- prometheus.MustNewConstMetric(placeBytes, prometheus.GaugeValue, float64(bytes), ws.Name)
		ch <- prometheus.MustNewConstMetric(placeAway, prometheus.GaugeValue, float64(away), ws.Name)
	}
	broken := 0.0
	if c.s.archive.Problem() != nil {
		broken = 1
	}
	n := c.s.Place.Numbers()
	for _, x := range []struct {
		d    *prometheus.Desc
		kind prometheus.ValueType
		v    float64
	}{
		{placeDue, prometheus.GaugeValue, float64(c.s.archive.Due())},
		{placeBroken, prometheus.GaugeValue, broken},
		{placeUploads, prometheus.CounterValue, float64(n.Uploads)},
		{placeFailures, prometheus.CounterValue, float64(n.Failures)},
		{placeRemovals, prometheus.CounterValue, float64(n.Removals)},
		{placeRead, prometheus.CounterValue, float64(n.Read)},
		{placeCached, prometheus.GaugeValue, float64(n.Cached)},
	} {
		ch <- prometheus.MustNewConstMetric(x.d, x.kind, x.v)
	}
}
