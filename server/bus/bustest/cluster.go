package bustest

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
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

// clustered makes a server one of a cluster, by its name, the port of its routes and those of all. Clients are not told of other servers: they have the
// addresses that they were given, such as those of a way that can be cut.
func clustered(o *server.Options, name, own string, all []string) {
	o.ServerName = name
	o.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", NoAdvertise: true}
	o.Cluster.Port, _ = strconv.Atoi(own)
	for _, port := range all {
		if port != own {
			o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: "127.0.0.1:" + port})
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
	c := &Cluster{t: t}
	routes := make([]string, n)
	for i := range routes {
		routes[i] = strconv.Itoa(freePort(t))
	}
	for i := range n {
		s := &Server{t: t, dir: t.TempDir(), most: most, port: freePort(t), cluster: fmt.Sprintf("test%d %s %s", i, routes[i], strings.Join(routes, " "))}
		t.Cleanup(s.Kill)
		s.Again()
		c.Servers = append(c.Servers, s)
	}
	c.Usable()
	return c
}

// URLs returns the addresses of all servers, separated by commas.
func (c *Cluster) URLs() string {
	all := make([]string, len(c.Servers))
	for i, s := range c.Servers {
		all[i] = s.URL
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
