package api

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/view"
	"wirebench/server/access"
	"wirebench/server/cluster"
	"wirebench/server/git"
	"wirebench/server/history"
	"wirebench/server/projects"
	"wirebench/server/proxy"
	"wirebench/server/publish"
	"wirebench/server/relay"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// kind is why a request is refused.
type kind struct {
	status int
	is     func(error) bool
	more   string // what is said besides the error
}

// kinds are the statuses of errors of lower packages. The first row that fits counts.
var kinds = []kind{
	{404, oneOf(git.ErrNone, git.ErrMissing, history.ErrNoRevision, history.ErrNone, workspace.ErrNoCapsule, proxy.ErrNotHeld, proxy.ErrNoConn, access.ErrNoAccount, access.ErrRevoked, access.ErrExpired), ""},
	{404, like[*workspace.NotFoundError](), ""},
	{404, like[*projects.NotFoundError](), ""},
	{404, like(func(e *workspace.SampleError) bool { return e.Gone }), ""},
	{404, like(func(e *workspace.ThreadError) bool { return e.Gone }), ""},
	{409, oneOf(projects.ErrFixed, proxy.ErrNotOperated, proxy.ErrOff, access.ErrLastAdmin, access.ErrTooMany), ""},
	{409, like[*git.Error](), ""},
	{409, like(func(e *workspace.SampleError) bool { return e.There }), ""},
	{409, like(func(e *workspace.CodeError) bool { return e.Other != "" }), ""},
	{409, like(func(e *workspace.RenameError) bool { return e.Taken }), ""},
	{507, like(func(e *workspace.ThreadError) bool { return e.Full }), ""},
	{422, like[*store.NameError](), ""},
	{422, like[*workspace.NameError](), ""},
	{422, like[*workspace.SampleError](), ""},
	{422, like[*workspace.CodeError](), ""},
	{422, like[*workspace.RenameError](), ""},
	{422, like[*workspace.ThreadError](), ""},
	{422, like[*publish.CapsuleError](), ""},
	{422, like[*projects.NameError](), ""},
	{422, like[*projects.InvalidError](), ""},
	{413, oneOf(store.ErrTooLarge), ""},
	{507, oneOf(store.ErrFull, workspace.ErrNoRoom, cluster.ErrFull), "; nothing was changed"},
	{503, oneOf(cluster.ErrLeadsNoMore), ""},
	{403, oneOf(store.ErrReadOnly), "; nothing was changed. The server has no write permission there: ask its operator"},
	{404, oneOf(fs.ErrNotExist), ""},
}

// oneOf fits some errors.
func oneOf(list ...error) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(list, func(of error) bool { return errors.Is(err, of) })
	}
}

// like fits errors of a type, those for which all of which hold.
func like[E error](which ...func(E) bool) func(error) bool {
	return func(err error) bool {
		var e E
		return errors.As(err, &e) && !slices.ContainsFunc(which, func(is func(E) bool) bool { return !is(e) })
	}
}

// ofKind converts an error of a lower package to an error with the status of its kind, or else with another one; nil stays nil.
func ofKind(err error, or int) error {
	var known huma.StatusError
	if err == nil || errors.As(err, &known) {
		return err
	}
	for _, k := range kinds {
		if k.is(err) {
			return huma.NewError(k.status, err.Error()+k.more)
		}
	}
	return huma.NewError(or, err.Error())
}

// asHTTP converts an error of a lower package: what has no kind is about the request.
func asHTTP(err error) error {
	var value *relay.ValueError
	if errors.As(err, &value) {
		return refused(value.Problems)
	}
	return ofKind(err, http.StatusUnprocessableEntity)
}

// valueProblem is the error body for values that cannot be encoded.
type valueProblem struct {
	huma.ErrorModel
	Problems []view.ProblemInfo `json:"problems" doc:"the problem of each value"`
}

// refused returns the error for values that cannot be encoded, each with path, code and reason.
func refused(problems []view.ProblemInfo) error {
	e := &valueProblem{Problems: problems, ErrorModel: huma.ErrorModel{
		Title: http.StatusText(http.StatusUnprocessableEntity), Status: http.StatusUnprocessableEntity, Detail: "the value cannot be encoded",
	}}
	for _, p := range problems {
		e.Add(&huma.ErrorDetail{Message: p.Message, Location: p.Path, Value: p.Code})
	}
	return e
}

// ConflictProblem is the error body for a file that has changed since the client read it.
type ConflictProblem struct {
	huma.ErrorModel
	Revision string `json:"revision" doc:"current revision; empty if the file is gone"`
	Text     string `json:"text" doc:"current text of the file"`
}

// olderProblem is the error body for a change that would move bytes of an older version.
type olderProblem struct {
	huma.ErrorModel
	Newest int `json:"newest" doc:"highest version of the message"`
}

func errorModel(status int, detail string) huma.ErrorModel {
	return huma.ErrorModel{Title: http.StatusText(status), Status: status, Detail: detail}
}

// statusOf returns the status of a handler's error.
func statusOf(err error) int {
	var known huma.StatusError
	if errors.As(err, &known) {
		return known.GetStatus()
	}
	return http.StatusInternalServerError
}

// maxEchoed is the maximum size in bytes of a refused value in an error response.
const maxEchoed = 200

// Errors completes the error of an invalid request: unknown names are answered by the nearest known one. It shortens the refused values, which
// can be as large as the body.
func Errors(schemas huma.Registry) huma.Transformer {
	return func(ctx huma.Context, _ string, v any) (any, error) {
		e, ok := v.(*huma.ErrorModel)
		if !ok {
			return v, nil
		}
		for _, d := range e.Errors {
			brief(d)
			if where, name, ok := unknownName(d); ok && ctx.Operation() != nil {
				d.Message += didYouMean(name, knownNames(schemas, ctx.Operation(), where))
			}
		}
		return v, nil
	}
}

// brief shortens the refused value of an error.
func brief(d *huma.ErrorDetail) {
	switch d.Value.(type) {
	case map[string]any, []any: // what else was sent is nobody's business, and may be a secret
		d.Value = nil
	}
	if text := fmt.Sprint(d.Value); len(text) > maxEchoed {
		d.Value = strings.ToValidUTF8(text[:maxEchoed], "") + "…"
	}
}

// StoreProblem converts an error of reading or changing files: what has no kind is a failure of the server.
func StoreProblem(err error) error {
	var moved *store.ConflictError
	var older *workspace.OlderError
	var step *history.StepError
	switch {
	case errors.As(err, &moved):
		return &ConflictProblem{errorModel(http.StatusPreconditionFailed, moved.Error()), string(moved.Have), string(moved.Text)}
	case errors.As(err, &step):
		return stepProblem(step)
	case errors.As(err, &older):
		return &olderProblem{errorModel(http.StatusConflict, older.Error()+": POST it to …/versions"), older.Newest}
	}
	return ofKind(err, http.StatusInternalServerError)
}

// saveProblem is StoreProblem for a text that may have been stored despite the error, under revision rev.
func saveProblem(rev store.Revision, err error) error {
	if rev == "" {
		return StoreProblem(err)
	}
	return huma.Error500InternalServerError(fmt.Sprintf("the text is stored as revision %s, but a later step failed: %s", rev, err))
}
