// Package relay runs listeners in workspaces: package proxy forwards the traffic, and this package connects it with definitions, captures
// and pages.
//
// The traffic of a session is recorded as a capture. Its frames are decoded with the current definitions and can be followed live. Users
// operate a session with filters and [Rule]s, which are compiled again when definitions change. A [Game] sends demo traffic through a
// listener. The package does not depend on HTTP.
package relay
