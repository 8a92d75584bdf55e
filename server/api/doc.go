// Package api is the JSON routes of the workbench, below /api: one file a resource. A handler translates a request, calls what owns the thing,
// and translates the answer and its error; [API] has what the handlers call.
//
// Each file registers its operations, which describes them in the OpenAPI document, too. What can't be told from types is added by
// functions called describe.
package api
