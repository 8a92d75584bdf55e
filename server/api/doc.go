// Package api implements the JSON routes of the workbench, below /api: one file per resource. A handler translates a request, calls the
// package responsible, and translates its result or error. [API] holds the dependencies of the handlers.
//
// Each file registers its operations, which also describes them in the OpenAPI document. Functions called describe add the details that
// types do not express.
package api
