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
//
// A project that is made or removed has a temporary name until it is complete or gone; what a crash leaves of it is removed at the next start.
// A new name has no such commit point: if the program is killed between writing project.json and renaming the folder, the project has its old
// name, with the new title and state.
package projects
