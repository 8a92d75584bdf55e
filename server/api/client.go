package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
)

// Client calls the operations of a server by their names, by the table of operations of this program.
type Client struct {
	Base  string // http://HOST:PORT or https://HOST/PATH, without a slash at its end
	Token string // "" for none
	HTTP  *http.Client
	rows  *API // the table, once it is asked for
}

// maxAnswer is the maximum size in bytes of an answer that is decoded, or kept in a [bytes.Buffer].
const maxAnswer = 64 << 20

// Body is the body of a request and its media type.
type Body struct {
	Type string
	Data io.Reader
}

// JSONBody returns a value as a body.
func JSONBody(v any) Body {
	text, err := json.Marshal(v)
	if err != nil {
		return Body{"application/json", errorReader{err}}
	}
	return Body{"application/json", bytes.NewReader(text)}
}

type errorReader struct{ error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.error }

// RefusedError is the refusal of a request.
type RefusedError struct {
	Status int
	Detail string                          `json:"detail"`
	Errors []huma.ErrorDetail              `json:"errors"`
	Files  []struct{ File, Reason string } `json:"files"` // of an upload
}

func (e *RefusedError) Error() string {
	text := e.Detail
	for _, d := range e.Errors {
		text += "; " + strings.TrimPrefix(d.Location+": "+d.Message, ": ")
	}
	return text
}

// table returns the table of operations, with their parameters and bodies.
func (c *Client) table() *API {
	if c.rows == nil {
		c.rows = New(API{})
		to := humachi.New(chi.NewRouter(), Config(""))
		c.rows.Register(to, "")
		c.rows.schemas = to.OpenAPI().Components.Schemas
	}
	return c.rows
}

// Groups returns the operations in their groups.
func (c *Client) Groups() []Group { return c.table().groups }

// Member returns the JSON type of a member of the body of an operation, and of its elements if it is a list; "" if there is none, or it has several.
func (c *Client) Member(o *Operation, name string) (kind, element string) {
	if o.RequestBody == nil || o.RequestBody.Content["application/json"] == nil {
		return "", ""
	}
	schemas := c.table().schemas
	body := resolved(schemas, o.RequestBody.Content["application/json"].Schema)
	if body == nil || body.Properties[name] == nil {
		return "", ""
	}
	member := resolved(schemas, body.Properties[name])
	if member.Items != nil {
		element = resolved(schemas, member.Items).Type
	}
	return member.Type, element
}

// Operation returns an operation by its name.
func (c *Client) Operation(id string) (*Operation, error) {
	rows := c.table()
	if o := rows.byID[id]; o != nil {
		return o, nil
	}
	return nil, fmt.Errorf("unknown operation %q%s", id, didYouMean(id, slices.Sorted(maps.Keys(rows.byID))))
}

// Call calls an operation with parameters of its address, its query and its header. The answer is copied to v if that is an [io.Writer], or else
// decoded into it, if it is not nil. A refusal is a *RefusedError.
func (c *Client) Call(ctx context.Context, id string, given url.Values, body Body, v any) error {
	o, err := c.Operation(id)
	if err != nil {
		return err
	}
	r, err := o.request(ctx, c.Base, given, body)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	to, copies := v.(io.Writer)
	if !copies {
		r.Header.Set("Accept", "application/json")
	}
	res, err := c.HTTP.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusMultipleChoices {
		refused := &RefusedError{Status: res.StatusCode}
		if text, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer)); json.Unmarshal(text, refused) != nil || refused.Detail == "" {
			refused.Detail = "the server responded " + res.Status
		}
		return refused
	}
	if kept, inMemory := v.(*bytes.Buffer); inMemory {
		if n, err := kept.ReadFrom(io.LimitReader(res.Body, maxAnswer+1)); err != nil || n <= maxAnswer {
			return err
		}
		return fmt.Errorf("%s: the answer has more than %d bytes", id, maxAnswer)
	}
	if copies {
		_, err := io.Copy(to, res.Body)
		return err
	}
	if v == nil || res.StatusCode == http.StatusNoContent {
		return nil
	}
	return json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(v)
}

// request returns a request of an operation. A parameter that it needs and lacks is an error, as is one that it does not have.
func (o *Operation) request(ctx context.Context, base string, given url.Values, body Body) (*http.Request, error) {
	if o.Input == nil {
		return nil, fmt.Errorf("%s is no request: it needs a websocket", o.Path)
	}
	path, query, header, known := o.Path, url.Values{}, http.Header{}, []string{}
	for _, p := range append(o.Parameters[:len(o.Parameters):len(o.Parameters)], &huma.Param{Name: "Accept", In: "header"}) {
		known = append(known, p.Name)
		values, ok := given[p.Name]
		switch {
		case !ok && p.Required:
			return nil, fmt.Errorf("needs %s: %s", p.Name, p.Description)
		case !ok:
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(values[0]))
		case p.In == "query":
			query[p.Name] = values
		case p.In == "header":
			header[http.CanonicalHeaderKey(p.Name)] = values
		}
	}
	if wrong := UnknownParameter(given, known...); wrong != "" {
		return nil, fmt.Errorf("%s", wrong)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, o.Method, base+path, body.Data)
	if err != nil {
		return nil, err
	}
	r.Header = header
	if body.Type != "" {
		r.Header.Set("Content-Type", body.Type)
	}
	return r, nil
}

// InProcess returns a transport that sends requests to a handler, without a network. Answers are kept in memory until they are whole.
func InProcess(h http.Handler) http.RoundTripper { return inProcess{h} }

type inProcess struct{ h http.Handler }

// RoundTrip implements [http.RoundTripper].
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := &kept{header: http.Header{}, status: http.StatusOK}
	p.h.ServeHTTP(w, r)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Header: w.header, Body: io.NopCloser(&w.body), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(w.body.Len()),
	}, nil
}

// kept is a response in memory.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header         { return k.header }
func (k *kept) WriteHeader(status int)      { k.status = status }
func (k *kept) Write(b []byte) (int, error) { return k.body.Write(b) }
