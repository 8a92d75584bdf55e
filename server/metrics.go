package server

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"wirebench/server/logs"
	"wirebench/server/projects"
	"wirebench/server/proxy"
	"wirebench/server/retain"
	"wirebench/server/store"
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
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.requests, &nowCollector{s: s},
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "wirebench_build_info", Help: "1; the label is the version of the program.", ConstLabels: prometheus.Labels{"version": s.Version},
		}, func() float64 { return 1 }))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// took counts a request by the pattern of its route: with paths, every capture would have a metric of its own.
func (m *metrics) took(r *http.Request, route string, status int, time time.Duration) {
	if status == http.StatusSwitchingProtocols {
		return // the time that a page was open is not a duration of a request
	}
	if status == 0 {
		status = http.StatusOK
	}
	m.requests.WithLabelValues(knownMethod(r.Method), routeOf(r.URL.Path, route), strconv.Itoa(status)).Observe(time.Seconds())
}

func routeOf(path, pattern string) string {
	if path == "/access" || strings.HasPrefix(path, "/access/") {
		return "/access"
	}
	if pattern == "" || pattern == "/*" {
		return "none"
	}
	return pattern
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
type nowCollector struct {
	s *Server

	mu    sync.Mutex
	read  time.Time
	usage map[string]store.Usage // by project
}

var (
	pagesOpen     = prometheus.NewDesc("wirebench_pages_open", "Open websockets.", nil, nil)
	capturesOpen  = prometheus.NewDesc("wirebench_captures_open", "Captures whose frames are in memory.", nil, nil)
	framesKept    = prometheus.NewDesc("wirebench_frames_kept", "Frames in memory, of all open captures.", nil, nil)
	bytesKept     = prometheus.NewDesc("wirebench_frames_kept_bytes", "Memory of the frames of all open captures.", nil, nil)
	faultsSeen    = prometheus.NewDesc("wirebench_faults_total", "Panics of the program, each of which ended one part.", []string{"part"}, nil)
	replaysListed = prometheus.NewDesc("wirebench_replays_running", "Running replays.", nil, nil)

	ready     = prometheus.NewDesc("wirebench_ready", "1 if GET /readyz says so, else 0.", nil, nil)
	projectsN = prometheus.NewDesc("wirebench_projects", "Projects by state; failed ones are open and could not be loaded.", []string{"state"}, nil)

	roomsOpen    = prometheus.NewDesc("wirebench_texts_open", "Definitions that people have open together.", nil, nil)
	roomsPeople  = prometheus.NewDesc("wirebench_texts_people", "People in these definitions, each once in each.", nil, nil)
	roomsUnsaved = prometheus.NewDesc("wirebench_texts_unsaved", "Open definitions with a text that is not saved.", nil, nil)

	scoreBoards = prometheus.NewDesc("wirebench_scores_projects", "Projects whose messages are in memory to judge definitions.", nil, nil)
	scoreFrames = prometheus.NewDesc("wirebench_scores_messages", "Messages in memory to judge definitions.", nil, nil)
	scoreBytes  = prometheus.NewDesc("wirebench_scores_bytes", "Memory of these messages.", nil, nil)
	scoreReads  = prometheus.NewDesc("wirebench_scores_reading", "Captures still to be read for them.", nil, nil)

	memoryTotal   = prometheus.NewDesc("wirebench_memory_budget_bytes", "Memory that the work of all requests may use.", nil, nil)
	memoryUsed    = prometheus.NewDesc("wirebench_memory_admitted_bytes", "Memory that admitted work may use, by kind.", []string{"kind"}, nil)
	memoryWaiting = prometheus.NewDesc("wirebench_memory_waiting", "Pieces of work that wait for memory.", nil, nil)
	memoryRefused = prometheus.NewDesc("wirebench_memory_refused_total", "Pieces of work that were refused as there was no memory.", nil, nil)

	diskFree  = prometheus.NewDesc("wirebench_data_disk_free_bytes", "Room on the disk of the data folder.", nil, nil)
	diskSize  = prometheus.NewDesc("wirebench_data_disk_bytes", "Size of that disk.", nil, nil)
	diskUsed  = prometheus.NewDesc("wirebench_frames_disk_bytes", "Disk of the frames of open captures that do not fit in memory.", nil, nil)
	diskMost  = prometheus.NewDesc("wirebench_frames_disk_most_bytes", "What these may take: --capture-bytes.", nil, nil)
	storedN   = prometheus.NewDesc("wirebench_captures_stored", "Stored captures.", []string{"workspace"}, nil)
	storedB   = prometheus.NewDesc("wirebench_captures_stored_bytes", "Bytes of stored captures.", []string{"workspace"}, nil)
	quotaEach = prometheus.NewDesc("wirebench_captures_quota_bytes", "What the captures of a project may take: --project-quota. Absent without one.", []string{"workspace"}, nil)
	removedN  = prometheus.NewDesc("wirebench_captures_removed_total", "Captures that were removed by themselves: for their age, or for room.", []string{"why"}, nil)
	removedB  = prometheus.NewDesc("wirebench_captures_removed_bytes_total", "Bytes of these captures.", nil, nil)
	quotaAll  = prometheus.NewDesc("wirebench_captures_total_quota_bytes", "What all captures may take: --total-quota. Absent without one.", nil, nil)

	guessesWrong   = prometheus.NewDesc("wirebench_sign_ins_wrong_total", "Wrong passwords and tokens.", nil, nil)
	guessesDelayed = prometheus.NewDesc("wirebench_sign_ins_delayed_total", "Passwords and tokens that had to wait, as wrong ones came before.", nil, nil)
	guessesRefused = prometheus.NewDesc("wirebench_sign_ins_refused_total", "Passwords and tokens that were not looked at, as too many waited.", nil, nil)

	auditSent = prometheus.NewDesc("wirebench_audit_sent_total", "Events of the audit log that --audit-to has taken.", nil, nil)
	auditLost = prometheus.NewDesc("wirebench_audit_lost_total", "Events of the audit log that --audit-to has not taken.", nil, nil)

	logLines   = prometheus.NewDesc("wirebench_log_lines_total", "Lines of the log, by level.", []string{"level"}, nil)
	logLeftOut = prometheus.NewDesc("wirebench_log_left_out_total", "Lines of the log that were left out of a flood.", nil, nil)

	listenersRun  = prometheus.NewDesc("wirebench_listeners_running", "Running listeners.", nil, nil)
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
	for _, d := range []*prometheus.Desc{
		pagesOpen, capturesOpen, framesKept, bytesKept, faultsSeen, replaysListed, ready, projectsN, roomsOpen, roomsPeople, roomsUnsaved,
		scoreBoards, scoreFrames, scoreBytes, scoreReads, memoryTotal, memoryUsed, memoryWaiting, memoryRefused, diskFree, diskSize, diskUsed, diskMost,
		storedN, storedB, quotaEach, quotaAll, removedN, removedB, guessesWrong, guessesDelayed, guessesRefused, auditSent, auditLost, logLines, logLeftOut, listenersRun,
		relayOpen, relayTotal, relayRefused, relayFailed, relayBytes, relayFrames, relayLost, relayMissed, relayHeld,
	} {
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
	c.work(ch, gauge)
	c.stored(gauge)
	listeners := c.s.relays.Of("")
	gauge(listenersRun, float64(len(listeners)))
	for _, one := range listeners {
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

// work collects what is at work: texts, scores, memory, sign-ins, the log.
func (c *nowCollector) work(ch chan<- prometheus.Metric, gauge func(d *prometheus.Desc, v float64, labels ...string)) {
	count := func(d *prometheus.Desc, v int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	texts := c.s.rooms.Counts()
	gauge(roomsOpen, float64(texts.Rooms))
	gauge(roomsPeople, float64(texts.People))
	gauge(roomsUnsaved, float64(texts.Unsaved))
	boards, size := c.s.scores.States()
	frames, reading := 0, 0
	for _, b := range boards {
		frames, reading = frames+b.Frames, reading+b.Reading
	}
	gauge(scoreBoards, float64(len(boards)))
	gauge(scoreFrames, float64(frames))
	gauge(scoreBytes, float64(size))
	gauge(scoreReads, float64(reading))
	memory := c.s.budget.Usage()
	gauge(memoryTotal, float64(memory.Total))
	for kind, n := range memory.Used {
		gauge(memoryUsed, float64(n), kind)
	}
	gauge(memoryWaiting, float64(memory.Waiting))
	count(memoryRefused, memory.Refused)
	forAge, forBytes, removed := c.s.retention.Counts()
	count(removedN, forAge, retain.ForAge)
	count(removedN, forBytes, retain.ForBytes)
	count(removedB, removed)
	if c.s.Door != nil {
		g := c.s.Door.Guesses()
		count(guessesWrong, g.Wrong)
		count(guessesDelayed, g.Delayed)
		count(guessesRefused, g.Refused)
		if sent, lost, ok := c.s.Door.Audit.Forwarded(); ok {
			count(auditSent, sent)
			count(auditLost, lost)
		}
	}
	if lines, ok := logs.CountsOf(c.s.Log); ok {
		for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
			count(logLines, lines.Lines[level], strings.ToLower(level.String()))
		}
		count(logLeftOut, lines.LeftOut)
	}
}

// stored collects what is on the disk. Folders are read at most once in usageAge.
func (c *nowCollector) stored(gauge func(d *prometheus.Desc, v float64, labels ...string)) {
	isReady := 0.0
	if c.s.unready() == nil {
		isReady = 1
	}
	gauge(ready, isReady)
	states := map[string]int{string(projects.Open): 0, "failed": 0}
	for _, p := range c.s.Projects.Seen(everywhere).List() {
		state := string(p.State)
		if p.Trouble != "" {
			state = "failed"
		}
		states[state]++
	}
	for state, n := range states {
		gauge(projectsN, float64(n), state)
	}
	if free, size, err := c.s.Projects.Space(); err == nil {
		gauge(diskFree, float64(free))
		gauge(diskSize, float64(size))
	}
	if c.s.Disk != nil {
		gauge(diskUsed, float64(c.s.Disk.Used()))
		gauge(diskMost, float64(c.s.Disk.Most()))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.read) >= usageAge {
		c.read, c.usage = time.Now(), map[string]store.Usage{}
		for _, ws := range c.s.Projects.Seen(everywhere).All() {
			if ws.Captures != nil {
				c.usage[ws.Name] = ws.Captures.Usage()
			}
		}
	}
	most := int64(0)
	for name, u := range c.usage {
		gauge(storedN, float64(u.Captures), name)
		gauge(storedB, float64(u.Bytes), name)
		if u.Quota.Each > 0 {
			gauge(quotaEach, float64(u.Quota.Each), name)
		}
		most = u.Quota.All
	}
	if most > 0 {
		gauge(quotaAll, float64(most))
	}
}

// everywhere is what somebody sees who may ask for metrics.
func everywhere(string) bool { return true }

// usageAge is how long the sizes of folders are taken as those of now.
const usageAge = 10 * time.Second

// listenOf returns the first listening address of a session, which is unique among running sessions.
func listenOf(x proxy.State) string {
	if len(x.Pairs) == 0 {
		return ""
	}
	return x.Pairs[0].Listen
}
