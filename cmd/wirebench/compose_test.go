package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	composecli "github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"

	"wirebench/server/bus/bustest"
)

// compose loads docker-compose.yml with variables and profiles.
func compose(t *testing.T, env []string, profiles ...string) *types.Project {
	t.Helper()
	o, err := composecli.NewProjectOptions([]string{"../../docker-compose.yml"}, composecli.WithEnv(env), composecli.WithProfiles(profiles))
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The compose file is valid, alone and for a team; its variables are flags of serve, and the published ports are those of listeners.
func TestCompose(t *testing.T) {
	alone := compose(t, nil)
	w := alone.Services["wirebench"]
	if len(alone.Services) != 1 || !w.ReadOnly || !slices.Equal(w.CapDrop, []string{"ALL"}) || w.HealthCheck == nil {
		t.Errorf("%+v", w)
	}
	tcp, udp := 0, 0
	for _, p := range w.Ports {
		if p.HostIP != "127.0.0.1" {
			t.Errorf("port %s is open to the network", p.Published)
		}
		if p.Target >= 17800 && p.Target <= 17809 {
			tcp, udp = tcp+strings.Count(p.Protocol, "tcp"), udp+strings.Count(p.Protocol, "udp")
		}
	}
	if tcp != 10 || udp != 10 || *w.Environment["WIREBENCH_SERVE_LISTENER_PORTS"] != "17800-17809" {
		t.Errorf("%d tcp ports, %d udp ports", tcp, udp)
	}
	for _, name := range []string{"WIREBENCH_SERVE_BASE_URL", "WIREBENCH_SERVE_TRUSTED_PROXY", "WIREBENCH_SERVE_TOKEN"} {
		if v := w.Environment[name]; v != nil && *v != "" {
			t.Errorf("%s is %q", name, *v)
		}
	}
	team := compose(t, []string{"SITE=wirebench.example", "OIDC_ISSUER=https://id.example"}, "team")
	w = team.Services["wirebench"]
	if len(team.Services) != 2 || *w.Environment["WIREBENCH_SERVE_BASE_URL"] != "https://wirebench.example" || *w.Environment["WIREBENCH_SERVE_TRUSTED_PROXY"] == "" {
		t.Errorf("%+v", w.Environment)
	}
	if c := team.Configs["caddy"].Content; !strings.HasPrefix(c, "wirebench.example {") || !strings.Contains(c, "reverse_proxy wirebench:8080") {
		t.Errorf("%q", c)
	}
	known := variables(newRoot())
	for name := range w.Environment {
		if !strings.HasPrefix(name, "WIREBENCH_SERVE_") || !known[name] {
			t.Errorf("%s is no variable of serve", name)
		}
	}
}

// Of a cluster, any workbench and any server of NATS may fail: each has a volume and an address of its own, messages have three copies, and are on disk when
// they are acknowledged. Nothing is open to the network, and the rest is that of the server alone.
func TestComposeCluster(t *testing.T) {
	p := compose(t, []string{"WIREBENCH_SERVE_TOKEN=0123456789abcdef", "S3_SECRET=a long secret"}, "cluster")
	if len(p.Services) != 8 {
		t.Errorf("%d services", len(p.Services))
	}
	const servers = "nats://nats1:4222,nats://nats2:4222,nats://nats3:4222"
	alone, known := p.Services["wirebench"], variables(newRoot())
	used := map[string]bool{}
	once := func(s types.ServiceConfig) {
		for _, v := range s.Volumes {
			if used[v.Source] {
				t.Errorf("%s shares the volume %s", s.Name, v.Source)
			}
			used[v.Source] = true
		}
		for _, port := range s.Ports {
			if used[port.Published] || port.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %s of %q", s.Name, port.Published, port.HostIP)
			}
			used[port.Published] = true
		}
	}
	for i := range 3 {
		w, bus := p.Services[fmt.Sprintf("wirebench%d", i+1)], p.Services[fmt.Sprintf("nats%d", i+1)]
		once(w)
		once(bus)
		for name, want := range map[string]string{
			"WIREBENCH_SERVE_CLUSTER": servers, "WIREBENCH_SERVE_NATS": servers, "WIREBENCH_SERVE_NATS_REPLICAS": "3", "WIREBENCH_SERVE_TOKEN": "0123456789abcdef",
			"WIREBENCH_SERVE_ADVERTISE": "http://" + w.Name + ":8080", "AWS_SECRET_ACCESS_KEY": *p.Services["s3"].Environment["ROOT_SECRET_KEY"],
		} {
			if v := w.Environment[name]; v == nil || *v != want {
				t.Errorf("%s: %s is %v", w.Name, name, v)
			}
		}
		for name := range w.Environment {
			if !known[name] && !strings.HasPrefix(name, "AWS_") {
				t.Errorf("%s is no variable of serve", name)
			}
		}
		if !w.ReadOnly || !slices.Equal(w.CapDrop, alone.CapDrop) || w.Image != alone.Image || w.HealthCheck == nil || len(w.Ports) != 1 || len(w.DependsOn) != 4 {
			t.Errorf("%+v", w)
		}
		if len(bus.Ports) != 0 || !slices.Contains(bus.Command, bus.Name) || bus.Volumes[0].Target != "/data" {
			t.Errorf("%+v", bus)
		}
	}
	o := bustest.Options(t, p.Configs["nats"].Content)
	if !o.JetStream || !o.SyncAlways || o.StoreDir != "/data" || o.Port != 4222 || o.MaxPayload != 1<<20 || len(o.Routes) != 3 || o.Routes[2].Host != "nats3:6222" || o.Cluster.Port != 6222 {
		t.Errorf("%+v", o)
	}
	if s3 := p.Services["s3"]; s3.Volumes[0].Target != "/buckets/wirebench" || len(s3.Ports) != 0 {
		t.Errorf("%+v", s3)
	}
}

// The image has defaults of its own in the program, and sets no variable: it would be one of everything that runs in the container. Its
// version is the one that compose was given, or the commit of the folder.
func TestImage(t *testing.T) {
	image, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"-X main.defaultListen=0.0.0.0:8080 -X main.defaultData=/data -X main.defaultPorts=17800-17809", "EXPOSE 8080 17800-17809/tcp 17800-17809/udp",
		"-X main.released=$version", "VERSION:-${commit:+source-", `image.version="${VERSION:-`,
	} {
		if !strings.Contains(string(image), want) {
			t.Errorf("the image lacks %s", want)
		}
	}
	if strings.Contains(string(image), "ENV ") {
		t.Error("the image sets variables")
	}
	if args := compose(t, []string{"VERSION=1.2.3"}).Services["wirebench"].Build.Args; args["VERSION"] == nil || *args["VERSION"] != "1.2.3" {
		t.Errorf("compose passes %v", args)
	}
	// The variables of the linker exist; it ignores others.
	flags := newServe().Flags()
	for _, f := range []struct {
		name  string
		value *string
	}{{"listen", &defaultListen}, {"data", &defaultData}, {"listener-ports", &defaultPorts}} {
		if got := flags.Lookup(f.name).DefValue; got != *f.value {
			t.Errorf("--%s is %q without a value, not %q", f.name, got, *f.value)
		}
	}
}
