package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"wirebench/server/bus"
	"wirebench/server/store"
	"wirebench/server/supervise"
)

// Names in JetStream. A cluster has the NATS account for itself, with its collectors.
const (
	logStream   = "WIREBENCH_LOG"
	logSubject  = "wirebench.cluster.log"
	liveBucket  = "wirebench-nodes"     // keys with a limited life: the lease, and one of each node
	stateBucket = "wirebench-cluster"   // keys that stay
	copyBucket  = "wirebench-snapshots" // objects: copies of the folder
	leaseKey    = "leader"
	nodePrefix  = "node."
	secretKey   = "secret"
	copyKey     = "snapshot"
)

// Times, in those between two renewals of the lease. Together, from the end of a node to its successor: leaseTime, and what it takes to open the projects.
const (
	renewEvery = time.Second
	leaseTime  = 6   // the life of the lease and of the keys of nodes
	doubtTime  = 2.5 // since the lease was last seen, after which another node tries to get it
	renewTime  = 1.5 // for one renewal
	leaveAfter = 4.5 // since the lease was last renewed for certain: a node that does not know leads no more
)

const (
	askTime    = 2 * time.Second // for an answer of NATS
	askPause   = 100 * time.Millisecond
	retryPause = 2 * time.Second
	wantCopies = 3 // NATS servers that have each message, where there are several
)

// Options are what a node needs.
type Options struct {
	Bus     bus.Options
	Data    *store.Data // claimed
	URL     string      // by which other nodes reach this one: http://HOST:PORT
	Version string      // of the program
	Log     *slog.Logger

	Patience  time.Duration // for the first connection to NATS; 0: any
	CopyAfter uint64        // bytes of the log after which it is cut; 0: as many as are sensible
	Renew     time.Duration // between two renewals of the lease, the same for all nodes; 0: a second
}

// Member is a node as others know it.
type Member struct {
	URL     string `json:"url" doc:"by which other nodes reach it"`
	Version string `json:"version" doc:"of the program"`
	Seq     uint64 `json:"seq" doc:"number of the last message of the log that its copy of the folder has"`
	Problem string `json:"problem,omitempty" doc:"why it cannot follow the log, or lead"`
	Leads   bool   `json:"leads" doc:"it serves; the others forward to it"`

	Instance string `json:"instance" doc:"of the program that runs"`
	at       time.Time
}

// Nodes is what a node knows of its cluster.
type Nodes struct {
	Node      string   `json:"node" doc:"URL of this node"`
	Leader    string   `json:"leader" doc:"URL of the node that leads; empty while none does"`
	Connected bool     `json:"connected" doc:"there is a connection to NATS"`
	Members   []Member `json:"members" doc:"nodes that were there in the last seconds"`
}

// Node is a node of a cluster.
type Node struct {
	Options
	conn    *nats.Conn
	js      jetstream.JetStream
	replica *replica
	secret  string
	count   Counts

	instance string
	began    time.Time

	stream jetstream.Stream
	made   int64 // when the log was made
	live   jetstream.KeyValue
	state  jetstream.KeyValue
	copies jetstream.ObjectStore

	waiting chan struct{} // a semaphore of requests that wait for a leader

	mu      sync.Mutex
	members map[string]Member // by key
	lease   lease
	leaseAt time.Time
	leads   bool
	twin    bool // another node has the same URL
	problem string
	changed chan struct{} // closed when the lease changes
}

// lease is the content of the lease.
type lease struct {
	URL string `json:"url"`
}

// Counts are counts since the start.
type Counts struct {
	Takeovers          atomic.Int64 // times that this node began to lead
	Messages, Bytes    atomic.Int64 // of the log, written by this node
	Followed           atomic.Int64 // messages of the log that were made in its folder
	Copies, CopyFaults atomic.Int64 // of the folder, put into the object store
	Forwarded          atomic.Int64 // requests to the node that leads
	Unanswered         atomic.Int64 // requests for which none was there
}

// Join connects to NATS, makes what a cluster needs there, and opens the folder. It waits for NATS until the context is done.
func Join(ctx context.Context, o Options) (*Node, error) {
	if u, err := url.Parse(o.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, fmt.Errorf("%q must be an address such as http://10.0.0.1:8080, by which other nodes reach this one", o.URL)
	}
	o.URL = strings.TrimSuffix(o.URL, "/")
	replica, err := openReplica(o.Data.Path())
	if err != nil {
		return nil, err
	}
	n, err := connect(ctx, o)
	if err != nil {
		replica.close()
		return nil, err
	}
	n.replica = replica
	return n, nil
}

// connect returns a node without a folder.
func connect(ctx context.Context, o Options) (*Node, error) {
	n := &Node{Options: o, instance: rand.Text(), began: time.Now(), members: map[string]Member{}, changed: make(chan struct{}), waiting: make(chan struct{}, mostWaiting)}
	var err error
	if n.conn, err = bus.Connect(o.Bus, "wirebench "+o.URL, o.Log); err != nil {
		return nil, err
	}
	if n.js, err = jetstream.New(n.conn); err == nil {
		err = n.prepare(ctx)
	}
	if err != nil {
		n.conn.Close()
		return nil, err
	}
	return n, nil
}

// Close ends the connection. Run has ended.
func (n *Node) Close() {
	n.conn.Close()
	n.replica.close()
}

// renewals returns a number of the times between two renewals.
func (n *Node) renewals(of float64) time.Duration {
	return time.Duration(of * float64(cmp.Or(n.Renew, renewEvery)))
}

// Counts returns the counts since the start.
func (n *Node) Counts() *Counts { return &n.count }

// again calls do until it succeeds, fails for good or the context is done.
func again(ctx context.Context, log *slog.Logger, what string, do func(ctx context.Context) error) error {
	told := ""
	for {
		one, stop := context.WithTimeout(ctx, askTime)
		err := do(one)
		stop()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return errors.Join(ctx.Err(), err)
		case !bus.Passes(err):
			return err
		}
		if err.Error() != told {
			told = err.Error()
			log.Warn("waiting for NATS", "for", what, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(askPause):
		}
	}
}

// prepare makes what is not there yet.
func (n *Node) prepare(ctx context.Context) error {
	if !n.conn.IsConnected() {
		n.Log.Warn("waiting for NATS", "servers", bus.Redacted(n.Bus.URL))
	}
	for began := time.Now(); !n.conn.IsConnected(); {
		if n.Patience > 0 && time.Since(began) > n.Patience {
			return fmt.Errorf("there is no connection to NATS at %s", bus.Redacted(n.Bus.URL))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(askPause):
		}
	}
	replicas := 1
	if n.conn.ConnectedClusterName() != "" {
		replicas = wantCopies
	} else {
		n.Log.Warn("NATS is one server: what is acknowledged is on one disk, and the cluster stops when it does")
	}
	return errors.Join(
		again(ctx, n.Log, "the log", func(ctx context.Context) (err error) {
			if n.stream, err = n.js.Stream(ctx, logStream); errors.Is(err, jetstream.ErrStreamNotFound) {
				n.stream, err = n.js.CreateStream(ctx, jetstream.StreamConfig{
					Name: logStream, Description: "changes of the data folder of a Wirebench cluster", Subjects: []string{logSubject}, Storage: jetstream.FileStorage,
					Replicas: replicas, Discard: jetstream.DiscardNew, DenyDelete: true, Duplicates: 2 * time.Minute,
				})
			}
			if err == nil {
				n.made = n.stream.CachedInfo().Created.UnixNano()
			}
			return err
		}),
		again(ctx, n.Log, "the lease", func(ctx context.Context) (err error) {
			if n.live, err = n.js.KeyValue(ctx, liveBucket); errors.Is(err, jetstream.ErrBucketNotFound) {
				n.live, err = n.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: liveBucket, Description: "nodes of a Wirebench cluster", TTL: n.renewals(leaseTime), Replicas: replicas})
			}
			return err
		}),
		again(ctx, n.Log, "the state", func(ctx context.Context) (err error) {
			if n.state, err = n.js.KeyValue(ctx, stateBucket); errors.Is(err, jetstream.ErrBucketNotFound) {
				n.state, err = n.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: stateBucket, Description: "state of a Wirebench cluster", Replicas: replicas})
			}
			return err
		}),
		again(ctx, n.Log, "the copies", func(ctx context.Context) (err error) {
			if n.copies, err = n.js.ObjectStore(ctx, copyBucket); errors.Is(err, jetstream.ErrBucketNotFound) {
				n.copies, err = n.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: copyBucket, Description: "copies of the data folder of a Wirebench cluster", Replicas: replicas})
			}
			return err
		}),
		again(ctx, n.Log, "the secret", func(ctx context.Context) error {
			if n.state == nil {
				return nil // its error is among those above
			}
			if _, err := n.state.Create(ctx, secretKey, []byte(rand.Text())); err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
				return err
			}
			e, err := n.state.Get(ctx, secretKey)
			if err == nil {
				n.secret = string(e.Value())
			}
			return err
		}),
	)
}

// Run follows the log until the context is done, and calls lead while this node leads: with a context that is done when it does so no more, and the journal
// of the folder. When lead returns, another node may lead.
func (n *Node) Run(ctx context.Context, lead func(ctx context.Context, j store.Journal) error) {
	var group supervise.Group
	defer group.Wait()
	group.Go("cluster", nil, func() { n.watch(ctx) })
	group.Go("cluster", nil, func() { n.appear(ctx) })
	for ctx.Err() == nil {
		rev, err := n.follow(ctx)
		if err == nil {
			err = n.lead(ctx, rev, lead)
		}
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			n.tell(err)
			n.Log.Warn("this node cannot follow or lead; trying again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryPause):
		}
	}
}

// tell sets the problem of this node, nil for none.
func (n *Node) tell(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.problem = ""
	if err != nil {
		n.problem = err.Error()
	}
}

// watch keeps what is known of the nodes.
func (n *Node) watch(ctx context.Context) {
	for ctx.Err() == nil {
		if err := n.watchOnce(ctx); err != nil && ctx.Err() == nil {
			n.Log.Warn("the nodes of the cluster are not known", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryPause):
		}
	}
}

func (n *Node) watchOnce(ctx context.Context) error {
	w, err := n.live.WatchAll(ctx)
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return errors.New("the watch has ended")
			case e == nil: // all that was there has come
			default:
				n.hear(e)
			}
		}
	}
}

// hear takes a change of a key.
func (n *Node) hear(e jetstream.KeyValueEntry) {
	n.mu.Lock()
	defer n.mu.Unlock()
	gone := e.Operation() != jetstream.KeyValuePut
	if e.Key() == leaseKey {
		var l lease
		if !gone && json.Unmarshal(e.Value(), &l) != nil {
			return
		}
		n.leaseAt = time.Now()
		if l != n.lease {
			n.lease = l
			close(n.changed)
			n.changed = make(chan struct{})
		}
		return
	}
	var m Member
	if gone || json.Unmarshal(e.Value(), &m) != nil {
		delete(n.members, e.Key())
		return
	}
	if n.twin = m.URL == n.URL && m.Instance != n.instance && time.Since(n.began) > n.renewals(2*leaseTime); n.twin { // not what was there before it started
		n.Log.Error("another node has the address of this one: give each its own --advertise", "address", m.URL)
	}
	m.at = time.Now()
	n.members[e.Key()] = m
}

// appear says that this node is there.
func (n *Node) appear(ctx context.Context) {
	doubts := bus.NewDoubts(n.conn, n.Log)
	for {
		n.mu.Lock()
		m := Member{URL: n.URL, Version: n.Version, Problem: n.problem, Leads: n.leads, Instance: n.instance}
		n.mu.Unlock()
		m.Seq = n.replica.at().Seq
		if text, err := json.Marshal(m); err == nil && n.conn.IsConnected() {
			one, stop := context.WithTimeout(ctx, askTime)
			began := time.Now()
			_, err := n.live.Put(one, nodePrefix+keyOf(n.URL), text) // if not, with the next
			if stop(); ctx.Err() == nil {
				doubts.Note(began, err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(n.renewals(1)):
		}
	}
}

// keyOf returns a text as a part of a key.
func keyOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-') {
			return r
		}
		return '_'
	}, text)
}

// Nodes returns what is known of the cluster.
func (n *Node) Nodes() Nodes {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := Nodes{Node: n.URL, Connected: n.conn.IsConnected(), Members: []Member{}}
	s.Leader = n.leader()
	for _, m := range n.members {
		if time.Since(m.at) <= n.renewals(leaseTime) {
			m.Leads = m.URL == s.Leader
			s.Members = append(s.Members, m)
		}
	}
	slices.SortFunc(s.Members, func(a, b Member) int { return strings.Compare(a.URL, b.URL) })
	return s
}

// leader returns the URL of the node that leads, "" if none is known. The caller holds mu.
func (n *Node) leader() string {
	if n.leads {
		return n.URL
	}
	if time.Since(n.leaseAt) > n.renewals(leaseTime+1) {
		return ""
	}
	return n.lease.URL
}

// Problem returns why this node is of no use now, nil if it is of use.
func (n *Node) Problem() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case !n.conn.IsConnected():
		return errors.New("there is no connection to NATS")
	case n.twin:
		return errors.New("another node has the address of this one: give each its own --advertise")
	case n.leader() == "":
		return errors.New("no node leads")
	case n.problem != "" && !n.leads:
		return errors.New(n.problem)
	}
	return nil
}

// lead leads, with a lease of a revision, until that is lost or do returns.
func (n *Node) lead(ctx context.Context, rev uint64, do func(ctx context.Context, j store.Journal) error) error {
	leading, end := context.WithCancelCause(context.WithoutCancel(ctx)) // what do does at its end is kept, too
	var group supervise.Group
	defer group.Wait()
	defer end(nil) // before the wait
	doing, stopDoing := context.WithCancel(ctx)
	defer stopDoing()
	defer supervise.After(leading, "cluster", stopDoing)()
	epoch := rev
	group.Go("cluster", end, func() { rev = n.renew(leading, epoch, end) })
	w, err := n.fence(doing, epoch)
	if err == nil {
		w.ctx, w.end = leading, end
		n.count.Takeovers.Add(1)
		n.tell(nil)
		n.setLeads(true)
		group.Go("cluster", end, func() { w.write(leading) })
		group.Go("cluster", end, func() { n.saveAndCut(leading, w, end) })
		err = supervise.Do("cluster", func() error { return do(doing, w) })
		n.setLeads(false)
		if err == nil && ctx.Err() == nil {
			err = context.Cause(leading)
		}
	} else if cause := context.Cause(leading); cause != nil {
		err = errors.Join(err, cause)
	}
	end(nil)
	group.Wait()
	if err := n.replica.save(); err != nil {
		n.Log.Warn("what the folder has of the log is not noted: it is made again", "error", err)
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer stop()
	_ = n.live.Delete(last, leaseKey, jetstream.LastRevision(rev)) // else it ends by itself
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lease.URL == n.URL {
		n.lease = lease{}
	}
	return err
}

func (n *Node) setLeads(leads bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.leads = leads
	close(n.changed)
	n.changed = make(chan struct{})
}

// renew keeps the lease until the context is done, or it is lost. It returns its revision.
func (n *Node) renew(ctx context.Context, rev uint64, end func(error)) uint64 {
	text, _ := json.Marshal(lease{n.URL})
	sure := time.Now()
	for {
		select {
		case <-ctx.Done():
			return rev
		case <-time.After(n.renewals(1)):
		}
		if time.Since(sure) > n.renewals(leaveAfter) {
			end(errors.New("the lease could not be renewed in time: this node leads no more"))
			return rev
		}
		began := time.Now()
		limit := began.Add(n.renewals(renewTime)) // the next one may go to another server
		if last := sure.Add(n.renewals(leaveAfter)); last.Before(limit) {
			limit = last
		}
		one, stop := context.WithDeadline(context.WithoutCancel(ctx), limit) // whoever leaves must know the revision
		next, err := n.live.Update(one, leaseKey, text, rev)
		stop()
		switch {
		case err == nil:
			rev, sure = next, began
		case errors.Is(err, jetstream.ErrKeyExists) || wrongSequence(err): // or an answer was lost
			one, stop := context.WithTimeout(ctx, askTime)
			e, err := n.live.Get(one, leaseKey)
			stop()
			if err == nil && string(e.Value()) == string(text) && e.Revision() > rev {
				rev, sure = e.Revision(), began
			} else if err == nil || errors.Is(err, jetstream.ErrKeyNotFound) {
				end(errors.New("another node has the lease"))
				return rev
			}
		}
	}
}

// wrongSequence reports whether an error says that something else came before.
func wrongSequence(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == 10071 || api.ErrorCode == 10164)
}

// acquire tries to get the lease; rev is 0 if another node has it.
func (n *Node) acquire(ctx context.Context) (rev uint64, err error) {
	text, _ := json.Marshal(lease{n.URL})
	one, stop := context.WithTimeout(ctx, askTime)
	defer stop()
	rev, err = n.live.Create(one, leaseKey, text)
	if errors.Is(err, jetstream.ErrKeyExists) || wrongSequence(err) {
		return 0, nil
	}
	return rev, err
}
