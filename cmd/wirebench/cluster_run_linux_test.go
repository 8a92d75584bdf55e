package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"wirebench/server/bus/bustest"
)

const (
	clusterToken   = "a-token-of-an-admin"
	clusterChild   = "WIREBENCH_CLUSTER_CHILD"
	clusterMinutes = "WIREBENCH_CLUSTER_MINUTES" // of TestClusterLong
	takeoverMost   = 10 * time.Second
	partTime       = 30 * time.Second
	nodesOfRun     = 2
	lanesOfRun     = 3
)

// clusterRun is a cluster at work: NATS servers, workbenches, collectors with a game each, and people who edit.
type clusterRun struct {
	*testing.T
	nats       *bustest.Cluster
	nodes      []*node
	lanes      []*lane
	hosts      []*bustest.Host // of the collectors
	collectors []*running
	spools     []string
	editors    []*editor
	takeovers  []time.Duration
	measured   bool
}

// newRun starts everything but the games and the people: on a host each, or without a network on this one, with a way of its own from each workbench to
// each server of NATS. folder returns one for a workbench.
func newRun(t *testing.T, lan *bustest.Network, perSecond int, pause time.Duration, folder func() string) *clusterRun {
	t.Helper()
	host := func() *bustest.Host {
		if lan == nil {
			return nil
		}
		return lan.Host()
	}
	r := &clusterRun{T: t, nats: bustest.StartClusterOn(t, []*bustest.Host{host(), host(), host()})}
	for range nodesOfRun {
		n := &node{t: t, host: host(), data: folder(), nats: r.nats.InsideURLs()}
		if n.host != nil {
			n.addr = n.host.Outside + ":8080"
		} else {
			n.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(freePorts(t, "tcp", 1)))
			var urls []string
			for _, s := range r.nats.Servers {
				w := newWay(t, strings.TrimPrefix(s.URL, "nats://"))
				n.ways, urls = append(n.ways, w), append(urls, "nats://"+w.addr)
			}
			n.nats = strings.Join(urls, ",")
		}
		n.start()
		r.nodes = append(r.nodes, n)
	}
	r.makeProject(r.nodes[0].addr)
	for i := range lanesOfRun {
		h := host()
		r.hosts = append(r.hosts, h)
		r.lanes = append(r.lanes, newLane(t, h, fmt.Sprintf("host%d", i), perSecond/lanesOfRun))
		r.spools = append(r.spools, t.TempDir())
		r.collectors = append(r.collectors, r.collector(i))
	}
	for i, n := range r.nodes {
		r.editors = append(r.editors, &editor{T: t, name: fmt.Sprintf("ann%d", i), addr: n.addr, file: "game.def", pause: pause, settings: map[string]string{}})
	}
	return r
}

// makeProject makes the project of a run.
func (r *clusterRun) makeProject(addr string) {
	r.Helper()
	var last error
	ask := func(method, path string, body any) {
		until(r.T, method+" "+path, func() bool {
			last = call(addr, method, path, body, nil, confirmTime)
			return last == nil || strings.Contains(last.Error(), "409") || strings.Contains(last.Error(), "412")
		})
	}
	defer func() {
		if r.Failed() {
			r.Log(last)
		}
	}()
	ask("POST", "", map[string]string{"name": "one", "protocol": "muta"})
	ask("PUT", "/one/definitions/game.def", laneText)
}

func (r *clusterRun) collector(i int) *running {
	r.Helper()
	l := r.lanes[i]
	return startOn(r.T, r.hosts[i], "is relayed to", "collect", "--nats", r.nats.InsideURLs(), "--spool", r.spools[i], "--name", l.name, "--protocol", "muta", "--listener", "one="+l.via+">"+l.game)
}

// leader waits for the node that leads, if it is not another one.
func (r *clusterRun) leader(but *node) *node {
	r.Helper()
	var found *node
	until(r.T, "a node leads", func() bool {
		for _, n := range r.nodes {
			if n != but && n.leads() {
				found = n
				return true
			}
		}
		return false
	})
	return found
}

func (r *clusterRun) other(n *node) *node {
	return r.nodes[(slices.Index(r.nodes, n)+1)%len(r.nodes)]
}

// answers waits until a node answers.
func (r *clusterRun) answers(n *node) {
	r.Helper()
	until(r.T, "the node answers: "+n.addr, func() bool { return call(n.addr, "GET", "/one/settings", nil, nil, time.Second) == nil })
}

// takeover measures how long it takes after something until the other node answers, and leads.
func (r *clusterRun) takeover(what string, of *node, do func()) {
	r.Helper()
	next := r.other(of)
	begin := time.Now()
	do()
	until(r.T, "takeover after "+what, func() bool {
		return next.leads() && call(next.addr, "GET", "/one/settings", nil, nil, time.Second) == nil
	})
	took := time.Since(begin)
	r.Logf("%s: another node answers after %.1f s", what, took.Seconds())
	r.takeovers = append(r.takeovers, took)
	if r.measured && took > takeoverMost { // beside other tests, a second is no measure
		r.Errorf("%s: the takeover took %v", what, took)
	}
}

// recorded waits until the frames that were sent so far are in captures, or those after them where a collector was killed.
func (r *clusterRun) recorded(what string) {
	r.Helper()
	for _, l := range r.lanes {
		sent, last := l.counted(), -1
		until(r.T, fmt.Sprintf("frames of %s are recorded: %s", l.name, what), func() bool {
			if n, err := l.newest(r.leader(nil).addr); err == nil {
				last = n
			}
			if last >= sent-1 {
				return true
			}
			time.Sleep(200 * time.Millisecond)
			return false
		})
	}
}

// progress waits until games have gone on, and people whose node is there.
func (r *clusterRun) progress(what string) {
	r.Helper()
	var frames, lines []int
	for _, l := range r.lanes {
		frames = append(frames, l.counted()+l.most*25)
	}
	for _, e := range r.editors {
		lines = append(lines, e.confirmed()+2)
	}
	until(r.T, "games and people go on: "+what, func() bool {
		for i, l := range r.lanes {
			if l.counted() < frames[i] {
				return false
			}
		}
		for i, e := range r.editors {
			if !r.nodes[i].down && e.confirmed() < lines[i] {
				return false
			}
		}
		return true
	})
}

// killLeader kills the node that leads, and starts it again when the other one has taken over.
func (r *clusterRun) killLeader() {
	r.Helper()
	n := r.leader(nil)
	r.takeover("kill -9 of the node that leads", n, n.kill)
	r.progress("one node")
	n.start()
	r.answers(n)
	r.progress("both nodes")
}

// killFollower kills a node that does not lead.
func (r *clusterRun) killFollower() {
	r.Helper()
	n := r.other(r.leader(nil))
	n.kill()
	n.start()
	r.answers(n)
	r.progress("a node that follows was killed")
}

// part cuts the node that leads from NATS for a time.
func (r *clusterRun) part(lasting time.Duration) {
	r.Helper()
	n := r.leader(nil)
	begin := time.Now()
	r.takeover("a node that leads is cut from NATS", n, func() { n.cut(true) })
	time.Sleep(lasting - time.Since(begin))
	n.cut(false)
	r.answers(n)
	r.progress("the way is mended")
}

// partOthers cuts something else from the network for a time. Games and people go on.
func (r *clusterRun) partOthers(what string, cut func(is bool) error, lasting time.Duration) {
	r.Helper()
	if err := cut(true); err != nil {
		r.Fatal(err)
	}
	end := time.Now().Add(lasting)
	r.progress(what + " is cut off")
	time.Sleep(time.Until(end))
	if err := cut(false); err != nil {
		r.Fatal(err)
	}
	r.nats.Usable()
	r.recorded(what + " is there again")
	r.progress(what + " is there again")
}

// killNATS kills a server of NATS.
func (r *clusterRun) killNATS(i int) {
	r.Helper()
	r.nats.Servers[i].Kill()
	r.progress("two servers of NATS")
	r.nats.Servers[i].Again()
	r.nats.Usable()
	r.progress("three servers of NATS")
}

// killCollector kills a collector.
func (r *clusterRun) killCollector(i int) {
	r.Helper()
	r.lanes[i].kill(r.leader(nil).addr, r.collectors[i].kill)
	r.collectors[i] = r.collector(i)
	r.progress("a collector was killed")
}

// play runs games and people while do makes trouble, and then counts.
func (r *clusterRun) play(do func()) {
	r.Helper()
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	var games, people sync.WaitGroup
	for _, l := range r.lanes {
		games.Go(func() { l.play(ctx) })
	}
	for _, e := range r.editors {
		people.Go(func() { e.run(ctx) })
	}
	begin := time.Now()
	r.progress("at the beginning")
	do()
	took := time.Since(begin)
	stop()
	games.Wait()
	people.Wait()
	r.recorded("at the end")
	for i, c := range r.collectors {
		_ = c.Process.Signal(syscall.SIGINT)
		if status := ended(r.T, c.Cmd); status.ExitStatus() != 0 {
			r.Errorf("collector %d: %v\n%s", i, status, c.out)
		}
	}
	for _, n := range r.nodes { // each, through the one that leads or not
		r.count(n, took)
	}
}

// count counts everything that is in the workbench, as a node shows it.
func (r *clusterRun) count(n *node, took time.Duration) {
	r.Helper()
	for _, l := range r.lanes {
		until(r.T, "the recording of "+l.name+" is whole", func() bool {
			own, err := l.captures(n.addr)
			return err == nil && l.whole(own)
		})
	}
	frames := 0
	for _, l := range r.lanes {
		frames += l.check(n.addr)
	}
	var text string
	ctx, stop := context.WithTimeout(r.Context(), confirmTime)
	defer stop()
	c, err := channelOf(ctx, n.addr, "text", `{"file":"game.def","have":{},"name":"last"}`)
	if err != nil {
		r.Fatal(err)
	}
	defer c.Drop()
	var m struct{ Start *struct{ Text string } }
	for m.Start == nil {
		if err := hear(ctx, c, &m); err != nil {
			r.Fatal(err)
		}
	}
	text = m.Start.Text
	var threads struct {
		Threads []json.RawMessage
	}
	if err := call(n.addr, "GET", "/one/threads?file=game.def", nil, &threads, confirmTime); err != nil {
		r.Fatal(err)
	}
	comments := ""
	for _, one := range threads.Threads {
		comments += string(one)
	}
	var settings struct {
		Settings struct{ Constants map[string]string }
	}
	if err := call(n.addr, "GET", "/one/settings", nil, &settings, confirmTime); err != nil {
		r.Fatal(err)
	}
	lines, remarks, set := 0, 0, 0
	for _, e := range r.editors {
		for i := range e.lines {
			if many := strings.Count(text, e.line(i)); many != 1 {
				r.Errorf("%s: line %d is there %d times", e.name, i, many)
			}
		}
		if beyond := strings.Count(text, "# "+e.name+" "); beyond != e.lines && beyond != e.lines+1 { // one may not have been confirmed
			r.Errorf("%s: %d lines, %d were confirmed", e.name, beyond, e.lines)
		}
		for _, comment := range e.comments {
			if many := strings.Count(comments, comment); many != 1 {
				r.Errorf("%s: %q is there %d times", e.name, comment, many)
			}
		}
		for name, v := range e.settings {
			if settings.Settings.Constants[name] != v {
				r.Errorf("%s: the setting %s is %q, not %q", e.name, name, settings.Settings.Constants[name], v)
			}
		}
		lines, remarks, set = lines+e.lines, remarks+len(e.comments), set+len(e.settings)
	}
	if lines == 0 || remarks == 0 || set == 0 || frames == 0 {
		r.Errorf("nothing was done: %d frames, %d lines, %d comments, %d settings", frames, lines, remarks, set)
	}
	r.Logf("%s: %d frames in %.0f s (%.0f a second), %d lines, %d comments and %d settings are there once", n.addr, frames, took.Seconds(), float64(frames)/took.Seconds(), lines, remarks, set)
}

// Two workbenches share a folder by NATS: the one that leads is killed twice and cut from NATS once, a server of NATS and a collector are killed. What was
// confirmed to people, and each message that the collectors relayed, is there once.
func TestCluster(t *testing.T) {
	perSecond := 600
	if testing.Short() {
		perSecond = 150
	}
	r := newRun(t, nil, perSecond, 100*time.Millisecond, t.TempDir)
	r.play(func() {
		r.killLeader()
		r.killNATS(rand.IntN(3))
		r.part(0)
		r.killCollector(0)
		r.killLeader()
	})
}

// TestClusterLong is TestCluster for minutes, with all faults in turn, and a full disk if a small one can be mounted: on hosts of their own, of which one
// or the other is cut off for half a minute, if there can be network namespaces. Before, it measures how long a
// message takes from the game to a page at the node that does not lead, and what it costs, beside a server without a cluster:
// WIREBENCH_CLUSTER_MINUTES=10 go test -v -run TestClusterLong -timeout 60m ./cmd/wirebench
func TestClusterLong(t *testing.T) {
	minutes := 0.0
	if _, err := fmt.Sscan(os.Getenv(clusterMinutes), &minutes); err != nil {
		t.Skip(clusterMinutes + " is not set")
	}
	var lan *bustest.Network
	why := bustest.NetworkLacks()
	if why == nil {
		if os.Getenv(clusterChild) == "" {
			if why = apart(t); why == nil {
				return
			}
		} else {
			lan = bustest.NewNetwork(t)
		}
	}
	if lan == nil {
		t.Logf("everything is on this host, and ways through this program are cut: %v", why)
	}
	rate := 5100
	measureAlone(t, rate)
	disk := ""
	r := newRun(t, lan, rate, 250*time.Millisecond, func() string {
		dir := t.TempDir()
		if disk == "" && syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4g") == nil {
			t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
			disk = dir
		}
		return dir
	})
	r.measured = true
	r.play(func() {
		r.measure()
		end := time.Now().Add(time.Duration(minutes * float64(time.Minute)))
		for i := 0; time.Now().Before(end); i++ {
			if lan == nil && i%10 > 6 {
				continue
			}
			switch i % 10 {
			case 0, 4:
				r.killLeader()
			case 1:
				r.killNATS(rand.IntN(3))
			case 2:
				r.part(partTime)
			case 3:
				r.killCollector(rand.IntN(lanesOfRun))
			case 5:
				r.killFollower()
			case 6:
				if disk != "" {
					r.fill(disk)
				}
			case 7:
				r.partOthers("a server of NATS", r.nats.Servers[rand.IntN(3)].Host().Cut, partTime)
			case 8:
				r.partOthers("a collector", r.hosts[rand.IntN(lanesOfRun)].Cut, partTime)
			case 9:
				var all []*bustest.Host
				for _, s := range r.nats.Servers {
					all = append(all, s.Host())
				}
				h := all[rand.IntN(3)]
				r.partOthers("a server of NATS, from the other two", func(is bool) error { return h.CutFrom(all, is) }, partTime)
			}
		}
	})
	slices.Sort(r.takeovers)
	t.Logf("%d takeovers: median %.1f s, at most %.1f s", len(r.takeovers), r.takeovers[len(r.takeovers)/2].Seconds(), r.takeovers[len(r.takeovers)-1].Seconds())
}

// apart runs a test in a network of its own, in which nothing else notices its hosts. The error says that there can be none.
func apart(t *testing.T) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=0")
	cmd.Env = append(os.Environ(), clusterChild+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return nil
}

// fill fills the disk of a node for some seconds.
func (r *clusterRun) fill(disk string) {
	r.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(disk, &s); err != nil {
		r.Fatal(err)
	}
	used := (s.Blocks - s.Bfree) * uint64(s.Bsize)
	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", used+64<<10)); err != nil {
		r.Fatal(err)
	}
	filler := filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 128<<10), 0o600); !errors.Is(err, syscall.ENOSPC) { // it has as much as fits
		r.Errorf("the disk is not full: %v", err)
	}
	time.Sleep(5 * time.Second)
	_ = os.Remove(filler)
	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=4g"); err != nil {
		r.Fatal(err)
	}
	for _, n := range r.nodes {
		r.answers(n)
	}
	r.progress("a disk was full")
}

// page is the list of a capture in a page, which asks for the rows of each message as it comes.
type page struct {
	latencies []time.Duration
}

// watch reads the rows of a lane's messages at an address until the context is done.
func (p *page) watch(ctx context.Context, addr, capture string, l *lane) error {
	c, err := channelOf(ctx, addr, "frames", fmt.Sprintf(`{"capture":%q}`, capture))
	if err != nil {
		return err
	}
	defer c.Drop()
	if err := c.Write(ctx, []byte(`{"id":1,"message":{"view":{"seq":1,"filter":"kind == message","chips":[],"columns":[],"colors":[],"highlight":""}}}`)); err != nil {
		return err
	}
	seq, fit, have, asked := 0, 0, -1, 0
	for ctx.Err() == nil {
		var m struct {
			State *struct{ Seq, Fit *int }
			Rows  *json.RawMessage
		}
		if err := hear(ctx, c, &m); err != nil {
			return err
		}
		if m.State != nil {
			if m.State.Seq != nil {
				seq = *m.State.Seq
			}
			if m.State.Fit != nil {
				fit = *m.State.Fit
			}
		}
		if m.Rows != nil && asked > 0 {
			now := time.Now().UnixNano()
			l.mu.Lock()
			for n := have; n < asked; n++ {
				p.latencies = append(p.latencies, time.Duration(now-l.sent[n]))
			}
			l.mu.Unlock()
			have, asked = asked, 0
		}
		if seq == 1 && have < 0 {
			have = fit // what was there before
		}
		if have >= 0 && asked == 0 && fit > have {
			asked = min(fit, have+500)
			if err := c.Write(ctx, fmt.Appendf(nil, `{"id":1,"message":{"rows":{"id":1,"seq":1,"from":%d,"count":%d}}}`, have, asked-have)); err != nil {
				return err
			}
		}
	}
	return nil
}

const measureTime = 15 * time.Second

// measured watches a capture, and prints how long its messages took and what all processes cost. lanes are those that run.
func measured(t *testing.T, what, addr, capture string, lanes []*lane, pids func() []int) {
	t.Helper()
	all := func() (sum time.Duration, frames int) {
		for _, pid := range pids() {
			sum += computed(pid)
		}
		for _, l := range lanes {
			frames += l.counted()
		}
		return sum, frames
	}
	cost, frames := all()
	ctx, stop := context.WithTimeout(t.Context(), measureTime)
	defer stop()
	begin := time.Now()
	p := &page{}
	if err := p.watch(ctx, addr, capture, lanes[0]); err != nil && ctx.Err() == nil {
		t.Error(err)
	}
	took := time.Since(begin)
	after, sent := all()
	if len(p.latencies) == 0 {
		t.Fatalf("%s: no rows have come", what)
	}
	slices.Sort(p.latencies)
	at := func(share float64) float64 {
		return p.latencies[int(share*float64(len(p.latencies)-1))].Seconds() * 1000
	}
	t.Logf("%s: %.0f frames a second; from the client to a row in a page %.0f ms (p50), %.0f ms (p99), %d rows; %.0f µs of processors a frame", what, float64(sent-frames)/took.Seconds(),
		at(0.5), at(0.99), len(p.latencies), (after-cost).Seconds()*1e6/float64(sent-frames))
}

// measure measures the run while it has no trouble, at the node that does not lead.
func (r *clusterRun) measure() {
	r.Helper()
	n := r.other(r.leader(nil))
	var own []keptCaptureOf
	until(r.T, "a capture", func() bool {
		var err error
		own, err = r.lanes[0].captures(n.addr)
		return err == nil && len(own) > 0
	})
	measured(r.T, "two workbenches", n.addr, own[0].ID, r.lanes, func() (pids []int) {
		for _, s := range r.nats.Servers {
			pids = append(pids, s.Pid())
		}
		for _, n := range r.nodes {
			pids = append(pids, n.proc.Process.Pid)
		}
		for _, c := range r.collectors {
			pids = append(pids, c.Process.Pid)
		}
		return pids
	})
}

// measureAlone measures a server without a cluster, NATS and collectors, with listeners of its own.
func measureAlone(t *testing.T, perSecond int) {
	t.Helper()
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(freePorts(t, "tcp", 1)))
	s := start(t, "Wirebench is at", "serve", "--token", clusterToken, "--listen", addr, "--data", t.TempDir())
	defer s.kill()
	(&clusterRun{T: t}).makeProject(addr)
	ctx, stop := context.WithCancel(t.Context())
	var lanes []*lane
	var games sync.WaitGroup
	defer games.Wait()
	defer stop()
	capture := ""
	for i := range lanesOfRun {
		l := newLane(t, nil, fmt.Sprintf("alone%d", i), perSecond/lanesOfRun)
		var p struct{ ID string }
		if err := call(addr, "POST", "/one/proxies", map[string]string{"listen": l.via, "upstream": l.game}, &p, confirmTime); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			capture = p.ID
		}
		lanes = append(lanes, l)
		games.Go(func() { l.play(ctx) })
	}
	until(t, "frames", func() bool { return lanes[0].counted() > 100 })
	measured(t, "one server, without NATS", addr, capture, lanes, func() []int { return []int{s.Process.Pid} })
}
