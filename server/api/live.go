package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/frames"
	"wirebench/server/workspace"
)

// LiveBatch is a message of a live stream with new frames.
type LiveBatch struct {
	Session  string                `json:"session" doc:"id of the capture that records it"`
	Frames   []workspace.FrameInfo `json:"frames" doc:"matching frames"`
	Next     int                   `json:"next" doc:"value of since to continue after these frames"`
	Missed   int                   `json:"missed,omitempty" doc:"number of frames skipped before these: this reader was too slow, or they were discarded"`
	Mistakes *[]frames.ViewMistake `json:"mistakes,omitempty" doc:"mistakes of the filter after a change of definitions, with places in UTF-16 code units; nothing matches from here on. [] = the filter is valid again. Missing = unchanged"`
}

// describeLive adds the stream to the document. It is not a JSON route, but its messages are JSON.
func describeLive(api huma.API, op huma.Operation) {
	query := func(name, about string, kind string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: about, Schema: &huma.Schema{Type: kind}}
	}
	body := SchemaOf[LiveBatch](api, "")
	refusal := func(status int) *huma.Response {
		return &huma.Response{Description: http.StatusText(status), Content: map[string]*huma.MediaType{"application/problem+json": {Schema: SchemaOf[huma.ErrorModel](api, "")}}}
	}
	op.Parameters = []*huma.Param{
		{Name: "project", In: "path", Required: true, Description: "name of the project", Schema: &huma.Schema{Type: huma.TypeString}},
		query("session", "id of the session; default: the one started last", huma.TypeString),
		query("filter", "only frames that match this filter", huma.TypeString),
		query("since", "frames after the one with this number, which must be of the session; default: new frames only", huma.TypeInteger),
		query("value", "any text: include the values of messages", huma.TypeString),
	}
	op.Responses = map[string]*huma.Response{
		"101": {Description: http.StatusText(http.StatusSwitchingProtocols), Content: map[string]*huma.MediaType{"application/json": {Schema: body}}},
		"404": refusal(http.StatusNotFound), "422": refusal(http.StatusUnprocessableEntity),
	}
	api.OpenAPI().AddOperation(&op)
}
