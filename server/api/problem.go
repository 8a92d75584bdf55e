package api

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/view"
	"wirebench/server/history"
	"wirebench/server/relay"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// asHTTP converts an error of a lower package to an error with a status.
func asHTTP(err error) error {
	var known huma.StatusError
	if errors.As(err, &known) {
		return err
	}
	var missing *workspace.NotFoundError
	var value *relay.ValueError
	if errors.As(err, &value) {
		return refused(value.Problems)
	}
	if errors.As(err, &missing) {
		return huma.Error404NotFound(err.Error())
	}
	return huma.Error422UnprocessableEntity(err.Error())
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

// storeProblem converts an error of reading or changing files to an error with a status.
func storeProblem(err error) error {
	var known huma.StatusError
	var moved *store.ConflictError
	var older *workspace.OlderError
	var name *store.NameError
	var kind *workspace.NameError
	var sample *workspace.SampleError
	var code *workspace.CodeError
	var step *history.StepError
	var rename *workspace.RenameError
	var missing *workspace.NotFoundError
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &moved):
		return &ConflictProblem{errorModel(http.StatusPreconditionFailed, moved.Error()), string(moved.Have), string(moved.Text)}
	case errors.As(err, &step):
		return stepProblem(step)
	case errors.As(err, &older):
		return &olderProblem{errorModel(http.StatusConflict, older.Error()+": POST it to …/versions"), older.Newest}
	case errors.As(err, &missing), errors.As(err, &sample) && sample.Gone:
		return huma.Error404NotFound(err.Error())
	case errors.As(err, &sample) && sample.There, errors.As(err, &code) && code.Other != "", errors.As(err, &rename) && rename.Taken:
		return huma.Error409Conflict(err.Error())
	case errors.As(err, &name), errors.As(err, &kind), errors.As(err, &sample), errors.As(err, &code), errors.As(err, &rename):
		return huma.Error422UnprocessableEntity(err.Error())
	case errors.Is(err, store.ErrTooLarge):
		return huma.NewError(http.StatusRequestEntityTooLarge, err.Error())
	case errors.Is(err, store.ErrFull), errors.Is(err, workspace.ErrNoRoom):
		return huma.NewError(http.StatusInsufficientStorage, err.Error()+"; nothing was changed")
	case errors.Is(err, store.ErrReadOnly):
		return huma.Error403Forbidden(err.Error() + "; nothing was changed. The server has no write permission there: ask its operator")
	case errors.Is(err, fs.ErrNotExist):
		return huma.Error404NotFound(err.Error())
	}
	return huma.Error500InternalServerError(err.Error())
}

// saveProblem is storeProblem for a text that may have been stored despite the error, under revision rev.
func saveProblem(rev store.Revision, err error) error {
	if rev == "" {
		return storeProblem(err)
	}
	return huma.Error500InternalServerError(fmt.Sprintf("the text is stored as revision %s, but a later step failed: %s", rev, err))
}
