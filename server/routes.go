package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"

	"wirebench/server/access"
	"wirebench/server/api"
	"wirebench/static"
)

// routes returns the route table.
func (s *Server) routes() chi.Router {
	r := chi.NewRouter()
	r.Use(s.logged, s.recovered, s.knownHost, access.OwnPages, s.canonical, s.rated, s.guard().Permit(r), s.sending.follow, s.bounded, s.counted, s.streams, middleware.GetHead, compressed())

	r.Get("/healthz", s.healthy)
	r.Method(http.MethodGet, "/metrics", s.metrics.handler())
	r.Method(http.MethodGet, "/static/*", static.Handler())

	r.Get("/", s.workbench.Home)
	r.Get("/docs", s.manual)
	r.Get("/docs/{page}", s.manual)
	r.Get("/projects", s.workbench.ProjectsPage)
	r.Post("/projects", s.workbench.MakeProject)
	r.Post("/projects/{project}", s.workbench.ChangeProject)
	r.Get("/p/{project}", s.workbench.Definitions)
	r.Get("/p/{project}/definitions", s.workbench.Page)
	r.Post("/p/{project}/definitions", s.workbench.Page)
	r.Get("/p/{project}/definitions.json", s.workbench.Rows)
	r.Get("/p/{project}/definitions/{message}", s.workbench.Page)
	r.Post("/p/{project}/settings", s.workbench.Settings)
	r.Post("/p/{project}/upload", s.workbench.Upload)
	r.Get("/p/{project}/captures", s.workbench.Place("captures", "Captures"))
	r.Get("/p/{project}/captures/{id}", s.workbench.Capture)
	r.Get("/p/{project}/capsules/{id}", s.workbench.Capsule)
	r.Get("/p/{project}/live", s.workbench.Place("live", "Live traffic"))
	r.Get("/ws/{project}/page", s.pageSocket)
	r.Get("/ws/{project}/live", s.liveSocket)
	r.Get("/api/docs", s.docs)
	r.Method(http.MethodPost, "/mcp", s.agents())
	r.NotFound(s.notFound)
	r.MethodNotAllowed(s.notAllowed)

	rows := humachi.New(r, api.Config(s.Version)) // GET /api/openapi.json, and the same as YAML
	s.api.Register(rows, static.Base())
	s.document = rows.OpenAPI()
	return r
}

// leastCompressed is the size in bytes below which compressing an answer takes longer than sending it.
const leastCompressed = 1400

// compressibles are the types of compressed answers. The middleware ignores what is not a whole type, such as "text/".
var compressibles = []string{
	"text/html", "text/plain", "text/csv", "text/tab-separated-values", "text/xml",
	"application/json", "application/problem+json", "application/javascript", "application/yaml", "application/openapi", "application/x-ndjson", "image/svg+xml",
}

// compressed compresses answers of texts.
func compressed() func(http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(leastCompressed), gzhttp.CompressionLevel(gzip.DefaultCompression), gzhttp.ContentTypes(compressibles))
	if err != nil {
		panic(err) // a wrong option
	}
	return func(next http.Handler) http.Handler { return wrap(next) }
}

// healthy answers "ok", or why the server cannot work. It says nothing about what is stored, or where.
func (s *Server) healthy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err := s.Projects.Healthy(); err != nil {
		s.Log.Error("not healthy", "error", err)
		w.WriteHeader(http.StatusServiceUnavailable)
		var of *fs.PathError
		if errors.As(err, &of) {
			err = of.Err
		}
		fmt.Fprintf(w, "the data folder cannot be written: %v\n", err)
		return
	}
	w.Write([]byte("ok\n"))
}
