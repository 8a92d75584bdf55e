package server

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"wirebench/server/cluster"
)

// clusterCollector collects the state of a node.
type clusterCollector struct{ node *cluster.Node }

var (
	clusterLeads     = prometheus.NewDesc("wirebench_cluster_leads", "1 on the node that serves, 0 on those that follow.", nil, nil)
	clusterConnected = prometheus.NewDesc("wirebench_cluster_connected", "1 while there is a connection to NATS.", nil, nil)
	clusterNodes     = prometheus.NewDesc("wirebench_cluster_nodes", "Nodes that were there in the last seconds, as this one knows.", nil, nil)
	clusterBehind    = prometheus.NewDesc("wirebench_cluster_behind_messages", "Messages of the log that the folder of this node lacks, compared with the node that has most.", nil, nil)
	clusterTakeovers = prometheus.NewDesc("wirebench_cluster_takeovers_total", "Times that this node began to lead.", nil, nil)
	clusterMessages  = prometheus.NewDesc("wirebench_cluster_messages_total", "Messages of the log, by what this node did: written, followed.", []string{"as"}, nil)
	clusterBytes     = prometheus.NewDesc("wirebench_cluster_written_bytes_total", "Bytes of the log that this node has written.", nil, nil)
	clusterCopies    = prometheus.NewDesc("wirebench_cluster_copies_total", "Copies of the folder for the cut of the log, by result.", []string{"result"}, nil)
	clusterRequests  = prometheus.NewDesc("wirebench_cluster_requests_total", "Requests that this node did not serve itself: forwarded, unanswered.", []string{"as"}, nil)
)

// Describe implements prometheus.Collector.
func (c *clusterCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{clusterLeads, clusterConnected, clusterNodes, clusterBehind, clusterTakeovers, clusterMessages, clusterBytes, clusterCopies, clusterRequests} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. Goroutines of the library call it.
func (c *clusterCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	counter := func(d *prometheus.Desc, v int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	is := func(x bool) float64 {
		if x {
			return 1
		}
		return 0
	}
	s, n := c.node.Nodes(), c.node.Counts()
	most, own := uint64(0), uint64(0)
	for _, m := range s.Members {
		most = max(most, m.Seq)
		if m.URL == s.Node {
			own = m.Seq
		}
	}
	gauge(clusterLeads, is(s.Leader == s.Node))
	gauge(clusterConnected, is(s.Connected))
	gauge(clusterNodes, float64(len(s.Members)))
	gauge(clusterBehind, float64(most-own))
	counter(clusterTakeovers, n.Takeovers.Load())
	counter(clusterMessages, n.Messages.Load(), "written")
	counter(clusterMessages, n.Followed.Load(), "followed")
	counter(clusterBytes, n.Bytes.Load())
	counter(clusterCopies, n.Copies.Load(), "made")
	counter(clusterCopies, n.CopyFaults.Load(), "failed")
	counter(clusterRequests, n.Forwarded.Load(), "forwarded")
	counter(clusterRequests, n.Unanswered.Load(), "unanswered")
}

// ClusterRoutes answers what each node of a cluster answers itself: whether it is there and of use, and, while it does not lead, its metrics. local returns
// what serves while it leads, else nil.
func ClusterRoutes(node *cluster.Node, local func() http.Handler) func(http.ResponseWriter, *http.Request) bool {
	registry := prometheus.NewRegistry()
	registry.MustRegister(&clusterCollector{node})
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !isProbe(r.URL.Path) {
			return false
		}
		if h := local(); h != nil {
			h.ServeHTTP(w, r)
			return true
		}
		switch r.URL.Path {
		case "/livez":
			alive(w, r)
		case "/metrics":
			metrics.ServeHTTP(w, r)
		default:
			if err := node.Problem(); err != nil {
				problem(w, http.StatusServiceUnavailable, err.Error())
				return true
			}
			alive(w, r)
		}
		return true
	}
}
