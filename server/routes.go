package server

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"wirebench/server/access"
	"wirebench/server/relay"
	"wirebench/static"
)

// routes is the whole route table.
func (s *Server) routes() chi.Router {
	r := chi.NewRouter()
	r.Use(s.logged, s.recovered, s.knownHost, access.OwnPages, access.Permit(r, s.refused), bounded, s.counted, middleware.GetHead, middleware.Compress(5))

	r.Get("/healthz", healthy)
	r.Method(http.MethodGet, "/metrics", s.metrics.handler())
	r.Method(http.MethodGet, "/static/*", static.Handler())

	r.Get("/", s.home)
	r.Get("/docs", s.manual)
	r.Get("/docs/{page}", s.manual)
	r.Get("/w/{ws}", s.workbench)
	r.Post("/w/{ws}", s.workbench)
	r.Post("/w/{ws}/settings", s.changeSettings)
	r.Post("/w/{ws}/upload", s.uploadPage)
	r.Get("/w/{ws}/captures/{id}", s.capturePage)
	r.Get("/ws/{ws}/page", s.pageSocket)
	r.Get("/ws/{ws}/live", s.liveSocket)
	r.Get("/api/docs", s.docs)
	r.NotFound(s.notFound)
	r.MethodNotAllowed(s.notAllowed)

	api := humachi.New(r, apiConfig(s.Version)) // GET /api/openapi.json, and the same as YAML
	s.api(api)
	s.document = api.OpenAPI()
	return r
}

// api registers the JSON routes, and so describes them at /api/openapi.json.
func (s *Server) api(api huma.API) {
	post := func(path, id, summary string, most int64) huma.Operation {
		return huma.Operation{OperationID: id, Method: http.MethodPost, Path: path, Summary: summary, MaxBodyBytes: most, Errors: []int{400, 404, 413, 422}}
	}
	huma.Register(api, post("/api/{ws}/decode", "decode", "Say what is in messages", maxDecodeBody), s.decode)
	huma.Register(api, post("/api/{ws}/encode", "encode", "Turn values into a message", maxBody), s.encode)
	describeRefusal(api, "/api/{ws}/encode")
	huma.Register(api, post("/api/{ws}/layout", "layout", "The byte layout of a definition, and its mistakes", maxBody), s.layout)
	huma.Register(api, post("/api/{ws}/paste", "paste", "Say what a pasted text is, and the bytes in it", maxBody), s.paste)

	huma.Register(api, post("/api/{ws}/filter", "filter", "Say what a filter means, what is wrong with it and how it may go on", maxBody), s.checkFilter)
	huma.Register(api, post("/api/{ws}/emit", "emit", "Write definitions as code, as a dissector or as documentation", maxBody), s.emit)

	call := func(method, path, id, summary string, errors ...int) huma.Operation {
		return huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, MaxBodyBytes: maxDecodeBody, Errors: append(errors, 404)}
	}
	made := func(op huma.Operation) huma.Operation {
		op.DefaultStatus = http.StatusCreated
		return op
	}
	const file = "/api/{ws}/definitions/{file}"
	huma.Register(api, call("GET", "/api/{ws}", "workspace", "A workspace and its settings"), s.readWorkspace)
	huma.Register(api, call("PATCH", "/api/{ws}", "settings", "Change settings: null takes back what was chosen, what is missing stays", 400, 403, 413, 507), s.changeWorkspace)
	huma.Register(api, call("GET", "/api/{ws}/definitions", "definitions", "The definitions and code maps of a workspace"), s.listDefinitions)
	huma.Register(api, call("GET", file, "read", "A definition or code map, as JSON or, with Accept: text/plain, its bare text", 409), s.readDefinition)
	huma.Register(api, call("PUT", file, "write", "Store a definition or code map", 400, 403, 409, 412, 413, 415, 428, 507), s.writeDefinition)
	huma.Register(api, call("DELETE", file, "delete", "Delete a definition or code map; its samples stay", 400, 403, 409, 412, 428, 507), s.deleteDefinition)
	huma.Register(api, call("POST", file+"/versions", "version", "Store a text as the next version of a message", 400, 403, 409, 413, 507), s.addVersion)
	huma.Register(api, call("GET", file+"/samples", "samples", "The messages that are kept beside a definition", 409), s.listSamples)
	huma.Register(api, call("POST", file+"/samples", "add-sample", "Keep a message beside a definition", 400, 403, 409, 413, 507), s.addSample)
	huma.Register(api, call("DELETE", file+"/samples", "drop-sample", "Remove a sample", 400, 403, 409, 412, 507), s.dropSample)
	huma.Register(api, call("POST", "/api/{ws}/upload", "upload", "Store many definitions, code maps and samples, also from zips", 400, 403, 413, 415, 507), s.upload)
	const oneCapture = "/api/{ws}/captures/{id}"
	huma.Register(api, call("GET", "/api/{ws}/captures", "captures", "The captures of a workspace"), s.listCaptures)
	huma.Register(api, post("/api/{ws}/framing", "framing", "The first messages of raw bytes as a framing cuts them", maxBody), s.tryFraming)
	huma.Register(api, call("POST", "/api/{ws}/captures", "add-capture", "Store a capture as it is: pcap, pcapng, or a text that holds one", 400, 403, 413, 507), s.addCapture)
	huma.Register(api, call("GET", oneCapture, "capture", "The file of a capture as it came or, with Accept: application/json, what is known of it"), s.readCapture)
	huma.Register(api, call("DELETE", oneCapture, "drop-capture", "Delete a capture", 403, 409), s.dropCapture)
	huma.Register(api, call("PATCH", oneCapture, "patch-capture", "Change what is known of a capture: its name, text, marks, notes, framing and keys", 400, 403, 409, 413, 422, 507), s.patchCapture)
	huma.Register(api, call("POST", oneCapture+"/append", "append-capture", "Go on with a capture that comes in pieces", 400, 403, 409, 413, 422, 507), s.appendCapture)
	describeAppend(api, oneCapture+"/append")
	huma.Register(api, call("GET", oneCapture+"/export", "export", "Frames of a capture as a file", 422, 503), s.exportCapture)
	huma.Register(api, call("GET", oneCapture+"/packets", "packets", "Captured packets by their numbers, which frames name", 422), s.packets)
	huma.Register(api, call("GET", oneCapture+"/elsewhere", "elsewhere", "Other workspaces whose protocol finds messages in a capture"), s.elsewhereOf)
	huma.Register(api, made(call("POST", oneCapture+"/copy", "copy-capture", "Store a capture in another workspace, too", 403, 422, 507)), s.copyCapture)
	huma.Register(api, call("GET", oneCapture+"/frames", "frames", "Frames of a capture, in the order in which they were whole", 422), s.listFrames)
	huma.Register(api, call("GET", oneCapture+"/frames/{n}", "frame", "One frame: its bytes, where they came from and what it is", 422, 503), s.readOneFrame)
	huma.Register(api, call("GET", oneCapture+"/rows", "rows", "Frames as rows of a list: filtered, sorted by any column, with columns of fields", 422, 503), s.listRows)
	huma.Register(api, call("GET", oneCapture+"/find", "find", "The next frame with a text, a value, bytes, or that fits a filter, and where in it that is", 422, 503), s.findFrame)
	huma.Register(api, call("GET", oneCapture+"/types", "types", "The types of frames, with how many there are of each", 422, 503), s.countTypes)
	huma.Register(api, call("GET", oneCapture+"/timeline", "timeline", "Numbers of frames over the time", 422, 503), s.timeline)
	huma.Register(api, call("GET", oneCapture+"/map", "map", "What the rows of a list are, part by part: problems, unknown ones, hits, marks and notes", 422, 503), s.mapFrames)
	huma.Register(api, call("GET", oneCapture+"/fields", "fields", "The fields of all frames of a type: their values, trends and, without a definition, guesses", 422, 503), s.tableOfFields)
	huma.Register(api, call("GET", oneCapture+"/compare", "compare", "Two frames side by side: by their fields, or by their bytes", 422, 503), s.compareFrames)
	huma.Register(api, call("GET", "/api/{ws}/proxies", "proxies", "The running listeners of the proxy, and where it may connect to"), s.listProxies)
	huma.Register(api, made(call("POST", "/api/{ws}/proxies", "start-proxy", "Start a listener that relays to a server, and record what passes", 403, 422, 507)), s.startProxy)
	huma.Register(api, call("DELETE", "/api/{ws}/proxies", "stop-proxies", "Stop listeners; their captures stay", 422), s.stopProxies)
	huma.Register(api, made(call("POST", "/api/{ws}/demo", "start-demo", "Start the demo game with a listener between its client and its server", 422, 507)), s.startDemo)
	huma.Register(api, made(call("POST", oneCapture+"/markers", "add-marker", "Mark a moment, of running traffic this one", 409, 422, 507)), s.addMarker)
	huma.Register(api, call("PATCH", oneCapture+"/markers/{at}", "patch-marker", "Change a marker: its text, its value, its frame", 422, 507), s.patchMarker)
	huma.Register(api, call("DELETE", oneCapture+"/markers/{at}", "drop-marker", "Take a marker away", 422, 507), s.dropMarker)
	huma.Register(api, call("GET", oneCapture+"/related", "related", "What goes with a marker: messages, and fields that have its value", 422), s.related)
	const session = "/api/{ws}/proxies/{id}"
	huma.Register(api, call("GET", session, "proxy", "A running listener"), s.readProxy)
	huma.Register(api, call("DELETE", session, "stop-proxy", "Stop a listener; its capture stays"), s.stopProxy)
	huma.Register(api, call("POST", session+"/operate", "operate", "Turn on that messages can be changed, and say which are held", 409, 422), s.operate)
	huma.Register(api, call("GET", session+"/held", "held", "The messages that wait for a person"), s.held)
	huma.Register(api, call("POST", session+"/held", "decide", "Forward, drop or replace a held message", 409, 422), s.decide)
	huma.Register(api, call("POST", session+"/send", "send", "Send a message of one's own", 409, 422), s.send)
	huma.Register(api, call("GET", session+"/rules", "rules", "What is done to messages without a person"), s.rules)
	huma.Register(api, call("PUT", session+"/rules", "set-rules", "Exchange the rules", 409, 422), s.setRules)
	huma.Register(api, call("POST", oneCapture+"/script", "make-script", "The script that a connection of a capture makes: what is sent, waited for and taken over", 422, 503), s.makeScript)
	huma.Register(api, made(call("POST", oneCapture+"/replay", "start-replay", "Play a recorded conversation against a server, or the server to a client", 403, 409, 413, 422, 503)), s.startReplay)
	huma.Register(api, call("GET", "/api/{ws}/replays", "replays", "The replays that run, and the last ones"), s.listReplays)
	huma.Register(api, call("GET", "/api/{ws}/replays/{id}", "replay", "How a replay stands: its steps so far, what was different, its report"), s.readReplay)
	huma.Register(api, call("DELETE", "/api/{ws}/replays/{id}", "stop-replay", "Stop a replay; its results stay", 503), s.stopReplay)
	describeFiles(api)
	describeLive(api)
	describeAll(api)
}

func apiConfig(version string) huma.Config {
	c := huma.DefaultConfig("Wirebench", version)
	c.OpenAPIPath, c.SchemasPath = "/api/openapi", "/api/schemas"
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	c.DocsPath = ""     // its page loads scripts from elsewhere; ours is /api/docs
	c.CreateHooks = nil // no $schema in every answer
	c.Info.Description = "Decode, encode and lay out the messages of binary protocols. Ranges are in bits, lines and columns count from 1."
	return c
}

// renamed are types that are called otherwise in the document than in their packages.
var renamed = map[reflect.Type]string{
	reflect.TypeFor[relay.Config](): "ProxyConfig", reflect.TypeFor[relay.Info](): "ProxyInfo", reflect.TypeFor[relay.Rule](): "RuleBody",
}

func schemaName(t reflect.Type, hint string) string {
	if name := renamed[t]; name != "" {
		return name
	}
	return huma.DefaultSchemaNamer(t, hint)
}

func healthy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte("ok\n"))
}
