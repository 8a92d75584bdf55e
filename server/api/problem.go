package api

import (
	"errors"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/view"
	"wirebench/server/relay"
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

// describeRefusal adds the body of refused to the document.
func describeRefusal(api huma.API, path string) {
	doc := api.OpenAPI()
	body := doc.Components.Schemas.Schema(reflect.TypeFor[valueProblem](), true, "ValueProblem")
	doc.Paths[path].Post.Responses["422"].Content["application/problem+json"].Schema = body
}
