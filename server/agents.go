package server

import (
	"context"
	"net/http"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"wirebench/server/access"
	"wirebench/server/agents"
	"wirebench/server/api"
	"wirebench/server/supervise"
)

// maxAgentRequest is the size in bytes of a request of an agent, which may have the text of a definition.
const maxAgentRequest = 4 << 20

// agents returns the handler of the Model Context Protocol. Each request stands for itself: it has the principal of its own token, and so have
// the operations that its tools call.
func (s *Server) agents() http.Handler {
	return mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		who := access.From(r.Context())
		caller := sameClient{&api.Client{HTTP: &http.Client{Transport: api.InProcess(s)}, Base: "http://" + r.Host}, who}
		return agents.New(caller, agents.Options{Version: s.Version, Suggest: who.May("tool suggest", "")})
	}, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxAgentRequest, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // knownHost and OwnPages do that, with the names that the operator has chosen
	})
}

// sameClient calls operations for the principal of a request.
type sameClient struct {
	*api.Client
	who access.Principal
}

// Call implements agents.Caller. The request has a context of its own, as that of the outer one says which route it has taken.
func (c sameClient) Call(ctx context.Context, operation string, given url.Values, body api.Body, v any) error {
	inner, cancel := context.WithCancel(access.With(context.Background(), c.who))
	defer cancel()
	defer supervise.After(ctx, "call", cancel)()
	return c.Client.Call(inner, operation, given, body, v)
}
