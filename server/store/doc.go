// Package store keeps the files of a workspace in a folder on disk, and unpacks uploads.
//
// The folder is the only state: people edit the same files with other programs and keep them in version control. So nothing is cached, a
// change names the revision of the file that it replaces, and Watch reports changes by any program.
//
// A file is replaced as a whole: its new text is written to a temporary file beside it, synced and renamed. Whatever happens in between,
// the file has its old text or its new one, and after Write has returned without an error it has the new one even if the power fails.
//
// An act that changes several files has a commit point, and the next start completes or removes what a crash has left of it: the history of
// a project says which step is being done, and a capture is there once its file has its name. The tests TestEveryStep... of the packages
// kill such acts before each step of each write; package storetest has what they share.
//
// Data is the folder of a server, with the folders of all its workspaces. Only one server at a time can open it. Its format has a version,
// and an upgrade converts an older folder to the format of the program. A damaged file costs only its own content: it is logged, and its
// text is set aside before the file is overwritten.
package store
