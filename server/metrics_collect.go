package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"wirebench/server/collect"
)

// collectCollector collects what was received from collectors.
type collectCollector struct{ receiver *collect.Receiver }

var (
	collectListeners = prometheus.NewDesc("wirebench_collect_listeners", "Running listeners of collectors.", nil, nil)
	collectBatches   = prometheus.NewDesc("wirebench_collect_batches_total", "Batches of collectors, by what became of them.", []string{"as"}, nil)
	collectBytes     = prometheus.NewDesc("wirebench_collect_bytes_total", "Bytes of collectors that were appended to captures.", nil, nil)
	collectLost      = prometheus.NewDesc("wirebench_collect_lost_bytes_total", "Bytes of collectors that were lost on the way.", nil, nil)
	collectConnected = prometheus.NewDesc("wirebench_collect_connected", "1 while there is a connection to NATS.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c *collectCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{collectListeners, collectBatches, collectBytes, collectLost, collectConnected} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. Goroutines of the library call it.
func (c *collectCollector) Collect(ch chan<- prometheus.Metric) {
	x := c.receiver.Received()
	put := func(d *prometheus.Desc, kind prometheus.ValueType, v int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, float64(v), labels...)
	}
	put(collectBatches, prometheus.CounterValue, x.Batches.Load(), "received")
	put(collectBatches, prometheus.CounterValue, x.Doubled.Load(), "doubled")
	put(collectBatches, prometheus.CounterValue, x.Refused.Load(), "refused")
	put(collectBytes, prometheus.CounterValue, x.Bytes.Load())
	put(collectLost, prometheus.CounterValue, x.Lost.Load())
	put(collectListeners, prometheus.GaugeValue, int64(c.receiver.Count()))
	connected := int64(0)
	if c.receiver.Connected() {
		connected = 1
	}
	put(collectConnected, prometheus.GaugeValue, connected)
}
