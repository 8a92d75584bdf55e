// Package rooms lets several people edit a definition at once. A room is the shared text of a file while people have it open: it orders
// their changes (package collab), stores them before they are confirmed, writes the file, and merges what other programs write into it.
//
// What is confirmed is on disk: a log of updates in the folder of the project, synced for all changes that have arrived meanwhile at once.
// The file follows when typing rests, or after a second. A room without people is closed: then its file has its text, unless the library
// refuses it; such a text stays in the log, and the next room begins with it. A log is removed when its text is in the file, or else in the
// history; log.go says how the log and the file agree after a crash.
package rooms
