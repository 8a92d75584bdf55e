package server

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"

	"wirebench/static"
)

// routes is the whole route table.
func (s *server) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(secured, s.logged, s.recovered, s.knownHost, ownPages, bounded)

	r.Get("/healthz", healthy)
	r.Handle("/static/*", static.Handler())

	r.Get("/", s.home)
	r.Get("/w/{ws}", s.workbench)
	r.Post("/w/{ws}", s.workbench)
	r.Get("/api/docs", s.docs)
	r.NotFound(s.notFound)
	r.MethodNotAllowed(s.notAllowed)

	api := humachi.New(r, apiConfig(s.Version)) // GET /api/openapi.json, and the same as YAML
	s.api(api)
	s.document = api.OpenAPI()
	return r
}

// api registers the JSON routes, and so describes them at /api/openapi.json.
func (s *server) api(api huma.API) {
	post := func(path, id, summary string, most int64) huma.Operation {
		return huma.Operation{OperationID: id, Method: http.MethodPost, Path: path, Summary: summary, MaxBodyBytes: most, Errors: []int{400, 404, 413, 422}}
	}
	huma.Register(api, post("/api/{ws}/decode", "decode", "Say what is in messages", maxDecodeBody), s.decode)
	huma.Register(api, post("/api/{ws}/encode", "encode", "Turn values into a message", maxBody), s.encode)
	describeRefusal(api, "/api/{ws}/encode")
	huma.Register(api, post("/api/{ws}/layout", "layout", "The byte layout of a definition, and its mistakes", maxBody), s.layout)
	huma.Register(api, post("/api/{ws}/paste", "paste", "Say what a pasted text is, and the bytes in it", maxBody), s.paste)
}

func apiConfig(version string) huma.Config {
	c := huma.DefaultConfig("Wirebench", version)
	c.OpenAPIPath, c.SchemasPath = "/api/openapi", "/api/schemas"
	c.DocsPath = ""     // its page loads scripts from elsewhere; ours is /api/docs
	c.CreateHooks = nil // no $schema in every answer
	c.Info.Description = "Decode, encode and lay out the messages of binary protocols. Ranges are in bits, lines and columns count from 1."
	return c
}

func healthy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte("ok\n"))
}
