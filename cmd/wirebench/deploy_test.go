package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metricsql"
	"github.com/goccy/go-yaml"

	"wirebench/defs/tooltest"
	"wirebench/server/bus/bustest"
	"wirebench/server/supervise"
	"wirebench/web/docs"
)

// Each file is printed as it is, by its name and in the list, and each file of the folder is one of them.
func TestDeploy(t *testing.T) {
	list, _, status := cli(t, "", "deploy")
	if status != 0 || strings.Count(list, "\n") != len(docs.Deployments) {
		t.Errorf("%d %s", status, list)
	}
	entries, err := os.ReadDir("../../web/docs/deploy")
	if err != nil || len(entries) != len(docs.Deployments) {
		t.Errorf("%d files in the folder, %d in the table: %v", len(entries), len(docs.Deployments), err)
	}
	for _, d := range docs.Deployments {
		want, err := os.ReadFile("../../web/docs/deploy/" + d.File)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, status := cli(t, "", "deploy", d.Name); status != 0 || got != string(want) || !strings.Contains(list, d.Name+" ") {
			t.Errorf("%s: %d", d.Name, status)
		}
	}
	if _, text, status := cli(t, "", "deploy", "grafanna"); status != exitUsage || !strings.Contains(text, `did you mean "grafana"?`) {
		t.Errorf("%d %s", status, text)
	}
}

// deployed returns the text of a file.
func deployed(t *testing.T, name string) string {
	t.Helper()
	i := slices.IndexFunc(docs.Deployments, func(d docs.Deployment) bool { return d.Name == name })
	if i < 0 {
		t.Fatal(name)
	}
	return docs.Deployments[i].Text()
}

// expressions returns the queries of the dashboard and of the alert rules, by where they are.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	var board struct {
		Panels []struct {
			Title   string
			GridPos struct{ H, W, X, Y int }
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(deployed(t, "grafana")), &board); err != nil {
		t.Fatal(err)
	}
	for i, p := range board.Panels {
		for n, x := range p.Targets {
			out[p.Title+" "+string(rune('A'+n))] = x.Expr
		}
		for _, o := range board.Panels[:i] {
			a, b := p.GridPos, o.GridPos
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H || a.X+a.W > 24 {
				t.Errorf("%s overlaps %s", p.Title, o.Title)
			}
		}
	}
	var alerts struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.UnmarshalWithOptions([]byte(deployed(t, "alerts")), &alerts, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	for _, g := range alerts.Groups {
		for _, r := range g.Rules {
			if out[r.Alert] != "" || r.Alert == "" || r.Annotations["summary"] == "" || !slices.Contains([]string{"critical", "warning", "info"}, r.Labels["severity"]) {
				t.Errorf("%+v", r)
			}
			out[r.Alert] = r.Expr
		}
	}
	if len(out) < 40 {
		t.Fatalf("%d expressions", len(out))
	}
	return out
}

// functions are those of Prometheus that the files use: the parser knows others, too.
var functions = []string{"rate", "increase", "histogram_quantile", "vector"}

// Every query of the dashboard and of the alerts can be parsed, and every metric and label in them is in /metrics of a running server that has all it
// can have: accounts, quotas, a listener with rules, a fault.
func TestDeployedMetrics(t *testing.T) {
	const token = "a-token-of-an-admin"
	addr, _ := started(t, "serve", "--listen", "127.0.0.1:0", "--token", token, "--project-quota", "1000000000", "--total-quota", "5000000000", "--audit-to", "fd:2", "--lake", filepath.Join(t.TempDir(), "lake"), "--captures", filepath.Join(t.TempDir(), "captures"), "--nats", "nats://127.0.0.1:1", "--cluster", bustest.Start(t).URL, "--data", t.TempDir())
	if err := supervise.Do("test of metrics", func() error { panic("a fault") }); err == nil {
		t.Fatal("no fault")
	}
	if out, text, status := cli(t, "", "call", "start-proxy", "project=tera", "listen=127.0.0.1:0", "upstream=127.0.0.1:9", "operate=true", "--server", "http://"+addr, "--token", token); status != 0 {
		t.Fatal(out, text)
	}
	_, body := get(t, "http://"+addr+"/metrics", "Authorization", "Bearer "+token)
	labels := map[string][]string{"up": {"job", "instance"}} // made by Prometheus
	for _, m := range regexp.MustCompile(`(?m)^(\w+)(?:\{(.*)\})? `).FindAllStringSubmatch(body, -1) {
		labels[m[1]] = append(labels[m[1]], "instance", "job")
		for _, l := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(m[2], -1) {
			labels[m[1]] = append(labels[m[1]], l[1])
		}
	}
	for where, text := range expressions(t) {
		parsed, err := metricsql.Parse(strings.ReplaceAll(strings.ReplaceAll(text, "$__rate_interval", "1m"), "$instance", ".*"))
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		var of []string // metrics of the expression
		metricsql.VisitAll(parsed, func(e metricsql.Expr) {
			switch e := e.(type) {
			case *metricsql.FuncExpr:
				if !slices.Contains(functions, e.Name) {
					t.Errorf("%s: a function %s", where, e.Name)
				}
			case *metricsql.MetricExpr:
				for _, list := range e.LabelFilterss {
					for _, l := range list {
						if l.Label == "__name__" {
							of = append(of, l.Value)
							if labels[l.Value] == nil {
								t.Errorf("%s: the server has no metric %s", where, l.Value)
							}
						}
					}
					for _, l := range list {
						if l.Label != "__name__" && !slices.Contains(labels[of[len(of)-1]], l.Label) {
							t.Errorf("%s: %s has no label %s", where, of[len(of)-1], l.Label)
						}
					}
				}
			}
		})
		metricsql.VisitAll(parsed, func(e metricsql.Expr) {
			if a, ok := e.(*metricsql.AggrFuncExpr); ok {
				for _, name := range a.Modifier.Args {
					if !slices.ContainsFunc(of, func(m string) bool { return slices.Contains(labels[m], name) }) {
						t.Errorf("%s: no metric has the label %s", where, name)
					}
				}
			}
		})
	}
	all := strings.Join(slices.Collect(maps.Values(expressions(t))), " ")
	for name := range labels { // and what the server says of itself is shown somewhere
		if base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, ""); strings.HasPrefix(name, "wirebench_") && !strings.Contains(all, base) {
			t.Errorf("no query has %s", name)
		}
	}
}

// The unit starts this program with flags that it has, as a user of its own who can write in one folder.
func TestDeployedUnit(t *testing.T) {
	unit := deployed(t, "systemd")
	said := map[string]string{}
	for line := range strings.Lines(unit) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			said[key] += " " + value
		}
	}
	words := strings.Fields(said["ExecStart"])
	cmd, rest, err := newRoot().Find(words[1:])
	if err != nil || cmd.Name() != "serve" {
		t.Fatalf("%v %v", words, err)
	}
	if err := cmd.ParseFlags(rest); err != nil || cmd.Flags().NArg() > 0 {
		t.Errorf("%v: %v", rest, err)
	}
	if state := "/var/lib/" + strings.TrimSpace(said["StateDirectory"]); cmd.Flag("data").Value.String() != state {
		t.Errorf("the data folder is not %s", state)
	}
	for _, key := range []string{"DynamicUser", "NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectKernelTunables", "ProtectControlGroups", "RestrictNamespaces", "MemoryDenyWriteExecute"} {
		if said[key] != " yes" {
			t.Errorf("%s is %q", key, said[key])
		}
	}
	if said["ProtectSystem"] != " strict" || said["CapabilityBoundingSet"] != " " || said["SystemCallFilter"] == "" {
		t.Error("the unit may do more than it needs")
	}
}

// TestToolDeployedUnit: systemd has nothing to say of the unit.
func TestToolDeployedUnit(t *testing.T) {
	program := tooltest.Path(t, "systemd-analyze")
	file := filepath.Join(t.TempDir(), "wirebench.service")
	self, err := os.Executable() // systemd looks for the program
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(deployed(t, "systemd"), "/usr/local/bin/wirebench", self)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "verify", "--man=no", file).CombinedOutput()
	if err != nil || strings.Contains(string(out), "wirebench.service") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The reverse proxy and Prometheus look where the server listens and says something.
func TestDeployedAddresses(t *testing.T) {
	addr, _ := started(t, "serve", "--listen", "127.0.0.1:0")
	for _, name := range []string{"caddy", "prometheus"} {
		text := deployed(t, name)
		if !strings.Contains(text, defaultListen) {
			t.Errorf("%s: not %s", name, defaultListen)
		}
		paths := regexp.MustCompile(`(?m)(?:path|health_uri|metrics_path:) (/.*)$`).FindAllStringSubmatch(text, -1)
		if len(paths) == 0 {
			t.Errorf("%s: no path", name)
		}
		for _, m := range paths {
			for path := range strings.FieldsSeq(m[1]) {
				if status, _ := get(t, "http://"+addr+path); status != 200 {
					t.Errorf("%s: %s: %d", name, path, status)
				}
			}
		}
	}
	var scrape struct {
		Jobs []struct {
			Name string `yaml:"job_name"`
		} `yaml:"scrape_configs"`
	}
	if err := yaml.Unmarshal([]byte(deployed(t, "prometheus")), &scrape); err != nil || len(scrape.Jobs) != 1 || !strings.Contains(deployed(t, "alerts"), `job="`+scrape.Jobs[0].Name+`"`) {
		t.Errorf("%+v %v", scrape, err)
	}
}
