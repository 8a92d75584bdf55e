// Package view says what a page shows, as data: pure functions of a snapshot, the text of a definition and an input. It has no sockets,
// clocks, files or users.
package view
