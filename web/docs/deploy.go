package docs

import (
	"embed"
	"fmt"
)

//go:embed deploy
var deploy embed.FS

// Deployment is a file for the programs around a server.
type Deployment struct {
	Name  string // for people
	File  string // its usual name
	About string
}

// Deployments are the files for operators.
var Deployments = []Deployment{
	{"systemd", "wirebench.service", "a hardened unit of systemd"},
	{"caddy", "Caddyfile", "a reverse proxy with TLS"},
	{"prometheus", "prometheus.yml", "the job that reads the metrics"},
	{"alerts", "alerts.yml", "alert rules for Prometheus"},
	{"grafana", "grafana.json", "a dashboard for Grafana"},
}

// Text returns the text of the file.
func (d Deployment) Text() string {
	text, err := deploy.ReadFile("deploy/" + d.File)
	if err != nil {
		panic(fmt.Sprintf("docs: %v", err)) // a test reads each
	}
	return string(text)
}
