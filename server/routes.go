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
	r.Use(s.told, s.recovered, s.knownHost, access.OwnPages, s.canonical, s.rated, s.guard().Permit(r), s.sending.follow, s.bounded, s.counted, s.streams, middleware.GetHead, compressed())

	r.Get("/livez", alive)
	r.Get("/readyz", s.healthy)
	r.Get("/healthz", s.healthy) // as earlier versions have it
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

// alive answers "ok" while the server answers at all: whoever watches it restarts it if it does not.
func alive(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte("ok\n"))
}

// unready returns why the server cannot work, or will not for long.
func (s *Server) unready() error {
	if s.ended.Load() {
		return errShutting
	}
	return s.Projects.Healthy()
}

var errShutting = errors.New("the server is shutting down")

// healthy answers "ok" if the server can work: whoever distributes requests sends it some. Otherwise it answers why. It says nothing about what is
// stored, or where.
func (s *Server) healthy(w http.ResponseWriter, r *http.Request) {
	err := s.unready()
	if err == nil {
		alive(w, r)
		return
	}
	why := err.Error()
	if !errors.Is(err, errShutting) {
		s.Log.Error("not healthy", "error", err)
		var of *fs.PathError
		if errors.As(err, &of) {
			err = of.Err
		}
		why = fmt.Sprintf("the data folder cannot be written: %v", err)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusServiceUnavailable)
	fmt.Fprintln(w, why)
}
