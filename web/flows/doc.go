// Package flows has the tests that use the workbench in a browser, as people do. It consists of tests: this file only says how they are
// written and run.
//
// A flow is a page in a browser, and the steps of a person on it. A test starts a server (start_test.go: of files, of a capture, with a data
// folder), opens its page and takes steps. Steps find elements by role and name, as assistive technology does: f.page() returns those of
// [wirebench/web/browsertest.Page]. The methods in steps_test.go that take CSS selectors are for what has no role, such as cells, carets and
// colors. A step waits until the page shows what it expects; a test does not sleep. A file has the flows of one topic, with the steps that only
// they take.
//
// A server is what a program can have of it: [wirebench/server.New] and its handler. Projects, captures and games are those of
// [wirebench/server/servertest], which the tests of package server have, too.
//
// One flow, with the messages of the page if it fails:
//
//	go test ./web/flows -run '^TestFlowPaste$'
//
// All, as .ci/run does; WIREBENCH_BROWSER=off skips them, and without Chromium they skip themselves unless it is "required":
//
//	WIREBENCH_BROWSER=required go test ./web/flows -parallel 3
//
// Those with -figures measure, and those with WIREBENCH_LOOK=DIR write pictures, to be looked at.
package flows
