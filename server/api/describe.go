package api

import (
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/access"
)

// DescribeAll completes the document with the parts common to all operations: authentication, and the errors of the middleware.
func DescribeAll(api huma.API) {
	doc := api.OpenAPI()
	doc.Info.License = &huma.License{Name: "MIT", Identifier: "MIT"}
	doc.Servers = []*huma.Server{{URL: "/", Description: "this server"}}
	doc.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token":  {Type: "http", Scheme: "bearer", Description: "An access token of the server. None is needed at a loopback address, unless --token or --viewer-token is given."},
		"cookie": {Type: "apiKey", In: "cookie", Name: access.Cookie, Description: "Set by the page /access in exchange for a token."},
	}
	doc.Security = []map[string][]string{{"token": {}}, {"cookie": {}}, {}}

	refusal := map[string]*huma.MediaType{"application/problem+json": {Schema: SchemaOf[huma.ErrorModel](api, "ErrorModel")}}
	wait := map[string]*huma.Param{"Retry-After": {Description: "seconds after which to retry", Schema: &huma.Schema{Type: huma.TypeInteger}}}
	add := func(op *huma.Operation, status int, about string, headers map[string]*huma.Param) {
		code := strconv.Itoa(status)
		if op.Responses[code] == nil {
			op.Responses[code] = &huma.Response{Description: about, Content: refusal}
		}
		for name, h := range headers {
			if op.Responses[code].Headers == nil {
				op.Responses[code].Headers = map[string]*huma.Param{}
			}
			op.Responses[code].Headers[name] = h
		}
	}
	for path, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Patch, item.Post, item.Delete} {
			if op == nil {
				continue
			}
			add(op, http.StatusUnauthorized, "the request has no valid token",
				map[string]*huma.Param{"WWW-Authenticate": {Description: "Bearer", Schema: &huma.Schema{Type: huma.TypeString}}})
			add(op, http.StatusTooManyRequests, "too many wrong tokens from this address", wait)
			if op != item.Get {
				about := "the request comes from a page of another site"
				if access.Needs(op.Method+" "+path) == access.Operator {
					about += ", or the token is a viewer token"
				}
				add(op, http.StatusForbidden, about, nil)
			}
			if op.RequestBody != nil {
				add(op, http.StatusBadRequest, "the body cannot be read", nil)
				add(op, http.StatusRequestEntityTooLarge, "the body is too large", nil)
				add(op, http.StatusUnsupportedMediaType, "the body is of another type", nil)
			}
			if working[op.OperationID] {
				add(op, http.StatusServiceUnavailable, "not enough memory at the moment", wait)
			}
		}
	}
}

// working lists the operations that take memory from the budget.
var working = map[string]bool{
	"decode": true, "encode": true, "layout": true, "paste": true, "filter": true, "emit": true, "upload": true,
}
