// Package rooms owns the texts of open definitions. A room is the text of a file while people, or one person, have it open: it orders their
// changes (package collab), stores them before they are confirmed, writes the file when somebody saves, and merges what other programs write
// into it.
//
// What is confirmed is on disk: a log of updates in the folder of the project, synced for all changes that have arrived meanwhile at once.
// The file has what somebody has saved; in projects that save as people type, it follows when typing rests, or after a second, while the text
// has no errors. A room says which lines are not saved, and whose they are. A room without people is closed: what is not saved of its text
// stays in the log, and the next room begins with it. A definition that nobody has saved has a room and no file: see begun.go. How the log and
// the file agree after a crash is in log.go.
package rooms
