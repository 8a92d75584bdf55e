package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"wirebench/server/access"
)

// Operation is a row of the table of operations. Its route, its permission, the limits of its body, its part of the document and the requests of
// clients are made of it.
type Operation struct {
	huma.Operation                  // once it is registered, with its parameters, bodies and answers
	Needs          access.Operation // what a person needs for it
	Example        Example
	Most           int64        // bytes of its body
	Streams        bool         // its body may also be messages, one a line, without an end; see streamed
	Input, Output  reflect.Type // structs in the form of package huma; nil if it is not of JSON

	works    bool // takes memory of the budget
	register func(huma.API, huma.Operation)
	details  []detail
}

// Group is a group of operations in the document.
type Group struct {
	Name, About string
	Operations  []*Operation
}

// Example holds the parts of a request to try besides its address: a query, options of curl, a JSON body. Words in capitals stand for values of
// other answers.
type Example struct{ Query, Options, Body string }

// detail adds to the document what the types of an operation do not express.
type detail func(huma.API, *huma.Operation)

// handler is what serves an operation.
type handler struct {
	in, out  reflect.Type
	register func(huma.API, huma.Operation)
}

func on[I, O any](serve func(context.Context, *I) (*O, error)) handler {
	return handler{reflect.TypeFor[I](), reflect.TypeFor[O](), func(api huma.API, op huma.Operation) { huma.Register(api, op, serve) }}
}

// op returns a row: "POST /api/v1/decode", its name, the role that it needs in the project, its handler, and a summary. Bodies of JSON have at
// most MaxBody bytes, unless more says something else.
func op(route, id string, role access.Role, h handler, summary string, more ...func(*Operation)) *Operation {
	o := &Operation{Needs: access.Operation{Name: route, Role: role}, Most: MaxBody + 1, Input: h.in, Output: h.out, register: h.register}
	o.OperationID, o.Summary, o.MaxBodyBytes, o.Errors = id, summary, MaxBody, []int{http.StatusNotFound}
	o.Method, o.Path, _ = strings.Cut(route, " ")
	for _, change := range more {
		change(o)
	}
	return o
}

// says describes an operation beyond its summary.
func says(text string) func(*Operation) { return func(o *Operation) { o.Description = text } }

// fails adds statuses of refusals.
func fails(statuses ...int) func(*Operation) {
	return func(o *Operation) { o.Errors = append(statuses, o.Errors...) }
}

// created makes 201 the status of an operation.
func created(o *Operation) { o.DefaultStatus = http.StatusCreated }

// small lowers the limit of a JSON body.
func small(o *Operation) { o.MaxBodyBytes = MaxSmallBody }

// most is the limit of a body that is not JSON.
func most(bytes int64) func(*Operation) { return func(o *Operation) { o.Most = bytes + 1 } }

// works marks operations that take memory of the budget.
func works(o *Operation) { o.works = true }

// inAll marks operations whose role is needed in all projects.
func inAll(o *Operation) { o.Needs.All = true }

// stores marks operations that change something although viewers may do them.
func stores(o *Operation) { o.Needs.Stores = true }

// by limits an operation to kinds of credentials.
func by(kinds access.Kind) func(*Operation) {
	return func(o *Operation) { o.Needs.Kinds = kinds }
}

// try sets the body of the example.
func try(body string) func(*Operation) { return Example{Body: body}.of }

func (x Example) of(o *Operation) { o.Example = x }

// as adds a detail of the document.
func as(d detail) func(*Operation) { return func(o *Operation) { o.details = append(o.details, d) } }

// answers names the body of an answer that is JSON only where it is asked for.
func answers[T any](o *Operation) { o.Output = reflect.TypeFor[struct{ Body T }]() }

// refuses says that refusals with these statuses have the body T.
func refuses[T any](statuses ...int) func(*Operation) {
	return as(func(api huma.API, op *huma.Operation) {
		for _, status := range statuses {
			op.Responses[strconv.Itoa(status)].Content = map[string]*huma.MediaType{"application/problem+json": {Schema: SchemaOf[T](api, "")}}
		}
	})
}

// also adds a status with which an operation may succeed instead; what is made has its address in the answer.
func also(status int) func(*Operation) {
	return as(func(_ huma.API, op *huma.Operation) {
		usual := op.Responses[strconv.Itoa(cmp.Or(op.DefaultStatus, http.StatusOK))]
		other := &huma.Response{Description: http.StatusText(status), Content: usual.Content}
		if status == http.StatusCreated {
			other.Headers = usual.Headers
		}
		op.Responses[strconv.Itoa(status)] = other
	})
}

// Operation returns an operation by its name; nil if there is none.
func (s *API) Operation(id string) *Operation { return s.byID[id] }

// At returns the operation of a route; nil if there is none.
func (s *API) At(route string) *Operation { return s.at[route] }

// Needs returns what each operation needs, by its route.
func (s *API) Needs() map[string]access.Operation {
	out := map[string]access.Operation{}
	for route, o := range s.at {
		out[route] = o.Needs
	}
	return out
}

// Register registers the operations and completes the document. base is the path of the server at its host, "" at the top.
func (s *API) Register(api huma.API, base string) {
	describeSettings(api)
	api.UseMiddleware(func(ctx huma.Context, next func(huma.Context)) {
		if r, _ := humachi.Unwrap(ctx); ctx.Operation().RequestBody == nil && r.ContentLength != 0 {
			_ = huma.WriteErr(api, ctx, http.StatusUnprocessableEntity, "this operation takes no body")
			return
		}
		next(ctx)
	})
	doc := api.OpenAPI()
	for _, g := range s.groups {
		doc.Tags = append(doc.Tags, &huma.Tag{Name: g.Name, Description: g.About})
		for _, o := range g.Operations {
			o.Tags = []string{g.Name}
			o.register(api, o.Operation)
		}
	}
	describeServer(doc, base)
	for _, g := range s.groups {
		for _, o := range g.Operations {
			item := doc.Paths[o.Path]
			op := map[string]*huma.Operation{"GET": item.Get, "PUT": item.Put, "PATCH": item.Patch, "POST": item.Post, "DELETE": item.Delete}[o.Method]
			o.complete(api, op)
			o.Operation = *op
		}
	}
}

// complete adds to the document of an operation what its types do not express, what it needs, and the refusals of the middleware.
func (o *Operation) complete(api huma.API, op *huma.Operation) {
	for _, d := range o.details {
		d(api, op)
	}
	if op.Description == "" {
		op.Description = op.Summary + "."
	}
	op.Description += " " + o.needs()
	describeParameters(op)
	wait := map[string]*huma.Param{"Retry-After": {Description: "seconds after which to retry", Schema: &huma.Schema{Type: huma.TypeInteger}}}
	refusal(api, op, http.StatusUnauthorized, "the request has no valid token", map[string]*huma.Param{"WWW-Authenticate": {Description: "Bearer", Schema: &huma.Schema{Type: huma.TypeString}}})
	refusal(api, op, http.StatusUnprocessableEntity, "a parameter or a field is unknown, or its value is not valid", nil)
	refusal(api, op, http.StatusTooManyRequests, "too many requests, or too many wrong tokens from this address", wait)
	if op.Method != http.MethodGet || o.Needs.InAll() || o.Needs.Kinds != 0 {
		about := "the request comes from a page of another site, or has another kind of credential"
		if o.Needs.Kinds == 0 {
			about = "the request comes from a page of another site"
		}
		if o.Needs.Role > access.Viewer {
			about += ", or the role is below " + o.Needs.Role.String()
		}
		refusal(api, op, http.StatusForbidden, about, nil)
	}
	if op.RequestBody != nil {
		refusal(api, op, http.StatusBadRequest, "the body cannot be read", nil)
		refusal(api, op, http.StatusRequestEntityTooLarge, "the body is too large", nil)
		refusal(api, op, http.StatusUnsupportedMediaType, "the body is of another type", nil)
		var body any
		if media := op.RequestBody.Content["application/json"]; media != nil && json.Unmarshal([]byte(strings.ReplaceAll(o.Example.Body, "{file}", "FILE")), &body) == nil {
			media.Example = body
		}
	}
	if o.works {
		refusal(api, op, http.StatusServiceUnavailable, "not enough memory at the moment", wait)
	}
}

// needs says what role an operation needs.
func (o *Operation) needs() string {
	where := " in the project."
	switch {
	case o.Needs.InAll():
		where = " in all projects."
	case !strings.Contains(o.Path, "{"):
		where = " in a project."
	}
	switch o.Needs.Kinds {
	case access.BySession:
		where += " For people who have signed in, not for tokens."
	case access.BySession | access.ByServer:
		where += " Not for tokens that people have made for programs."
	}
	return "Needs the role " + o.Needs.Role.String() + where
}

// refusal adds a refusal to an operation, or headers to the one that it has.
func refusal(api huma.API, op *huma.Operation, status int, about string, headers map[string]*huma.Param) {
	code := strconv.Itoa(status)
	if op.Responses[code] == nil {
		op.Responses[code] = &huma.Response{Description: about, Content: map[string]*huma.MediaType{"application/problem+json": {Schema: SchemaOf[huma.ErrorModel](api, "")}}}
	}
	for name, h := range headers {
		if op.Responses[code].Headers == nil {
			op.Responses[code].Headers = map[string]*huma.Param{}
		}
		op.Responses[code].Headers[name] = h
	}
}
