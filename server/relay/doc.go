// Package relay runs listeners in workspaces: package proxy relays bytes, and this package gives each session what makes its traffic
// readable.
//
// A session is recorded as a capture, whose frames are cut by the definitions of the moment and are followed while they come. People
// operate it with filters and with [Rule]s, which are compiled anew when definitions change. A [Game] between both ends of a listener
// shows all that without a game of one's own. Nothing here knows of HTTP.
package relay
