// Package api implements the JSON routes of the workbench, below /api: one file per resource. A handler translates a request, calls the
// package responsible, and translates its result or error. [API] holds the dependencies of the handlers.
//
// operations.go is the table of operations: a row has everything that is said of one. Routes, permissions, limits, the OpenAPI document and
// clients are made of it.
package api
