// Package server is the HTTP side of the workbench: JSON under /api for programs, pages for people. A handler translates and calls;
// what it calls knows nothing of HTTP.
package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/workspace"
)

// Config is what a server is made of.
type Config struct {
	Workspaces []Workspace
	Log        *slog.Logger
	Version    string
	Hosts      []string // names under which the server may be asked, without port; empty = any. A server for this machine alone
	// names those of the machine, so that no page on the web can reach it under a name of its own.
}

// Workspace is a set of definitions with its protocol and settings.
type Workspace struct {
	Name     string // in the address
	Title    string // for people
	Snapshot *workspace.Snapshot
	Samples  []Sample // the first is what the first visit shows
}

// Sample is a message to look at.
type Sample struct {
	Message string // NAME.VERSION
	Hex     string
	About   string // one sentence for people
}

// Bounds of what a request may bring.
const (
	maxDecodeBody = 8 << 20
	maxBody       = 4 << 20
	maxDefinition = 1 << 20
)

// server is the state of the handlers. It is immutable once New has returned.
type server struct {
	Config
	byName   map[string]*Workspace
	document *huma.OpenAPI
}

// New makes the handler of all routes.
func New(cfg Config) (http.Handler, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &server{Config: cfg, byName: map[string]*Workspace{}}
	for i := range cfg.Workspaces {
		w := &cfg.Workspaces[i]
		if w.Name == "" || w.Name == "docs" || w.Name == "openapi.json" || s.byName[w.Name] != nil || w.Snapshot == nil {
			return nil, fmt.Errorf("workspace %q: the name is taken, or it has no definitions", w.Name)
		}
		s.byName[w.Name] = w
	}
	if len(cfg.Workspaces) == 0 {
		return nil, fmt.Errorf("a server without workspaces")
	}
	return s.routes(), nil
}

// NewHTTPServer makes a server with time-outs, so that no client can hold a connection for nothing.
func NewHTTPServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 16,
	}
}
