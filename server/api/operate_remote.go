package api

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/relay"
)

// Remote are the listeners of collectors, on other hosts.
type Remote interface {
	// Listeners describes those of a project.
	Listeners(project string) []relay.Info

	// Call has a collector execute an operation with a listener. ok is false if there is no such listener. The answer is that of Operate.
	Call(project, id, operation, who string, body []byte) (answer []byte, ok bool, err error)
}

// operations are what is done with a listener where it runs, by the ids of the operations of the API.
var operations = map[string]func(one *relay.Session, who string, body []byte) (any, error){
	"operate":   with(operateHere, func(in *operateInput) any { return &in.Body }),
	"held":      with(heldHere, func(*SessionPath) any { return nil }),
	"decide":    with(decideHere, func(in *decideInput) any { return &in.Body }),
	"send":      with(sendHere, func(in *sendInput) any { return &in.Body }),
	"rules":     with(rulesHere, func(*SessionPath) any { return nil }),
	"set-rules": with(setRulesHere, func(in *rulesInput) any { return &in.Body }),
}

// with returns an operation that reads the body of a request for a handler.
func with[In, Out any](do func(*relay.Session, *In, string) (Out, error), body func(*In) any) func(*relay.Session, string, []byte) (any, error) {
	return func(one *relay.Session, who string, text []byte) (any, error) {
		var in In
		if into := body(&in); into != nil {
			if err := json.Unmarshal(text, into); err != nil {
				return nil, huma.Error422UnprocessableEntity(err.Error())
			}
		}
		return do(one, &in, who)
	}
}

// remoteAnswer is an answer of Operate.
type remoteAnswer struct {
	Body   json.RawMessage `json:"body,omitempty"`
	Failed json.RawMessage `json:"failed,omitempty"` // the body of an error
	Status int             `json:"status,omitempty"` // of it
}

// Operate executes an operation of the API with a listener that runs here, for a workbench elsewhere. It never fails: the answer has the
// error.
func Operate(one *relay.Session, operation, who string, body []byte) []byte {
	var answer remoteAnswer
	do := operations[operation]
	var out any
	err := error(huma.Error404NotFound("this collector does not know the operation " + operation))
	if do != nil {
		out, err = do(one, who, body)
	}
	if err == nil {
		answer.Body, err = json.Marshal(out)
	}
	if err != nil {
		answer.Status = http.StatusInternalServerError
		var of huma.StatusError
		if errors.As(err, &of) {
			answer.Status = of.GetStatus()
		} else {
			m := errorModel(answer.Status, err.Error())
			err = &m
		}
		answer.Failed, _ = json.Marshal(err)
	}
	text, _ := json.Marshal(answer) // of raw JSON, so it never fails
	return text
}

// remoteProblem is the body of an error of a listener elsewhere, as it was there.
type remoteProblem struct {
	huma.ErrorModel
	text json.RawMessage
}

// MarshalJSON implements json.Marshaler.
func (p *remoteProblem) MarshalJSON() ([]byte, error) { return p.text, nil }

// relayed executes an operation with a listener: here, or where it runs. body is that of the request.
func relayed[In, Out any](s *API, at SessionPath, operation, who string, in *In, body any, here func(*relay.Session, *In, string) (Out, error)) (out Out, err error) {
	ws, err := s.workspaceNamed(at.Workspace)
	if err != nil {
		return out, err
	}
	if one := s.Relays.Get(ws.Name, at.ID); one != nil {
		return here(one, in, who)
	}
	gone := huma.Error404NotFound("no such session, or it has ended")
	if s.Remote == nil {
		return out, gone
	}
	text, err := json.Marshal(body)
	if err != nil {
		return out, err
	}
	text, ok, err := s.Remote.Call(ws.Name, at.ID, operation, who, text)
	switch {
	case !ok:
		return out, gone
	case err != nil:
		return out, huma.NewError(http.StatusBadGateway, err.Error())
	}
	var answer remoteAnswer
	if err := json.Unmarshal(text, &answer); err != nil {
		return out, huma.NewError(http.StatusBadGateway, "the collector gave no answer that makes sense")
	}
	if answer.Failed == nil {
		if err := json.Unmarshal(answer.Body, &out); err != nil {
			return out, huma.NewError(http.StatusBadGateway, "the collector gave no answer that makes sense")
		}
		return out, nil
	}
	p := &remoteProblem{text: answer.Failed}
	if json.Unmarshal(answer.Failed, &p.ErrorModel) != nil || answer.Status < 400 || answer.Status > 599 {
		return out, huma.NewError(http.StatusBadGateway, "the collector gave no answer that makes sense")
	}
	p.Status = answer.Status
	return out, p
}

// Collects reports whether a listener runs at a collector.
func (s *API) Collects(project, id string) bool { return s.atCollector(project, id) != nil }

// atCollector returns an error if a listener is that of a collector, which alone starts and stops it.
func (s *API) atCollector(project, id string) error {
	if s.Remote == nil {
		return nil
	}
	for _, x := range s.Remote.Listeners(project) {
		if x.ID == id {
			return huma.Error409Conflict("this listener runs on collector " + x.Collector + ": stop it there")
		}
	}
	return nil
}
