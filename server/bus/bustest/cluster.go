package bustest

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Times of a cluster.
const (
	usableTime = 2 * time.Minute // until streams can be made; elections take seconds, more on a busy machine
	askTime    = 2 * time.Second // for one answer
	askPause   = 50 * time.Millisecond
)

// clustered makes a server one of a cluster, by its name, the address of its routes and those of all. Clients are not told of other servers: they have the
// addresses that they were given, such as those of a way that can be cut.
func clustered(o *server.Options, name, own string, all []string) {
	o.ServerName = name
	o.Cluster = server.ClusterOpts{Name: "test", NoAdvertise: true}
	o.Cluster.Host, o.Cluster.Port = hostPort(own)
	for _, addr := range all {
		if addr != own {
			o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: addr})
		}
	}
}

// Cluster is a group of NATS servers with JetStream.
type Cluster struct {
	Servers []*Server
	t       testing.TB
}

// StartCluster starts n servers, each with a gigabyte for streams, until the test ends. Streams can be made when it returns.
func StartCluster(t testing.TB, n int) *Cluster { return StartClusterWith(t, n, 1<<30) }

// StartClusterWith starts n servers whose streams may each have a number of bytes.
func StartClusterWith(t testing.TB, n int, most int64) *Cluster {
	t.Helper()
	return startCluster(t, make([]*Host, n), most)
}

// StartClusterOn starts a server on each host, each with a gigabyte for streams.
func StartClusterOn(t testing.TB, hosts []*Host) *Cluster {
	t.Helper()
	return startCluster(t, hosts, 1<<30)
}

func startCluster(t testing.TB, hosts []*Host, most int64) *Cluster {
	t.Helper()
	c := &Cluster{t: t}
	clients, routes := make([]string, len(hosts)), make([]string, len(hosts))
	for i, h := range hosts {
		if clients[i], routes[i] = freeAddr(t), freeAddr(t); h != nil {
			clients[i], routes[i] = "0.0.0.0:"+clientPort, h.Inside+":6222"
		}
	}
	for i, h := range hosts {
		s := &Server{t: t, dir: t.TempDir(), most: most, addr: clients[i], cluster: fmt.Sprintf("test%d %s %s", i, routes[i], strings.Join(routes, " ")), host: h}
		t.Cleanup(s.Kill)
		s.Again()
		c.Servers = append(c.Servers, s)
	}
	c.Usable()
	return c
}

// URLs returns the addresses of all servers, separated by commas.
func (c *Cluster) URLs() string { return c.each(func(s *Server) string { return s.URL }) }

// InsideURLs returns those for other hosts.
func (c *Cluster) InsideURLs() string { return c.each((*Server).Inside) }

func (c *Cluster) each(of func(*Server) string) string {
	all := make([]string, len(c.Servers))
	for i, s := range c.Servers {
		all[i] = of(s)
	}
	return strings.Join(all, ",")
}

// Usable waits until streams can be made, with three copies if there are so many servers.
func (c *Cluster) Usable() {
	c.t.Helper()
	conn, err := nats.Connect(c.URLs(), nats.MaxReconnects(-1), nats.ReconnectWait(askPause), nats.RetryOnFailedConnect(true))
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		c.t.Fatal(err)
	}
	const name = "bustest-usable"
	for end := time.Now().Add(usableTime); ; time.Sleep(askPause) {
		err := func() error {
			ctx, stop := context.WithTimeout(c.t.Context(), askTime)
			defer stop()
			if _, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: name, Subjects: []string{name}, Replicas: min(3, len(c.Servers))}); err != nil {
				return err
			}
			if _, err := js.Publish(ctx, name, nil); err != nil {
				return err
			}
			return js.DeleteStream(ctx, name)
		}()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			c.t.Fatalf("the cluster of NATS servers cannot be used: %v", err)
		}
	}
}
