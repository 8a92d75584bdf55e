package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	composecli "github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
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
