package server

import (
	"github.com/prometheus/client_golang/prometheus"
)

// lakeCollector collects what the lake has of the projects.
type lakeCollector struct{ s *Server }

var (
	lakeRows    = prometheus.NewDesc("wirebench_lake_rows", "Messages in the lake.", []string{"workspace"}, nil)
	lakeFiles   = prometheus.NewDesc("wirebench_lake_files", "Files in the lake.", []string{"workspace"}, nil)
	lakeBytes   = prometheus.NewDesc("wirebench_lake_bytes", "Bytes of these files.", []string{"workspace"}, nil)
	lakePending = prometheus.NewDesc("wirebench_lake_pending_rows", "Messages that were read and are not in the lake yet.", []string{"workspace"}, nil)
	lakeWaiting = prometheus.NewDesc("wirebench_lake_waiting_captures", "Captures that are being read for the lake, or are to be read.", []string{"workspace"}, nil)
	lakeFailed  = prometheus.NewDesc("wirebench_lake_failed_captures", "Captures that cannot be read for the lake.", []string{"workspace"}, nil)
	lakeBroken  = prometheus.NewDesc("wirebench_lake_broken", "1 while the lake cannot be written.", []string{"workspace"}, nil)
)

// Describe implements prometheus.Collector.
func (c *lakeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{lakeRows, lakeFiles, lakeBytes, lakePending, lakeWaiting, lakeFailed, lakeBroken} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. Goroutines of the library call it.
func (c *lakeCollector) Collect(ch chan<- prometheus.Metric) {
	for _, ws := range c.s.Projects.Seen(everywhere).All() {
		x, ok := c.s.lake.Numbers(ws.Name)
		if !ok {
			continue
		}
		put := func(d *prometheus.Desc, v int64) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), ws.Name)
		}
		put(lakeRows, int64(x.Rows))
		put(lakeFiles, int64(x.Files))
		put(lakeBytes, x.Bytes)
		put(lakePending, int64(x.Pending))
		put(lakeWaiting, int64(x.Waiting))
		put(lakeFailed, int64(len(x.Failed)))
		broken := int64(0)
		if x.Problem != "" {
			broken = 1
		}
		put(lakeBroken, broken)
	}
}
