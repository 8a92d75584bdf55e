// Package projects holds the projects of a server. A project is a library of definitions with its protocol, code maps, settings and
// captures. Projects are opened, made, renamed, archived and deleted while the server runs.
//
// Each has a folder in the data folder, of its name:
//
//	project.json   title, protocol, state: see Record
//	definitions/   the library, unless it is a folder elsewhere
//	settings.json  the settings
//	captures/      the captures
//
// The samples that ship with the program are projects of their own, one for each protocol, made once.
package projects
