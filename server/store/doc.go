// Package store keeps the files of a workspace in a folder on disk, and takes apart what people upload.
//
// The folder is the only state: people edit the same files with other programs and keep them in version control. So nothing is
// cached, a change says which revision of a file it is for, and Watch tells when something has changed.
//
// A file is replaced as a whole: its new text is written to a temporary file beside it, brought to the disk and renamed. Whatever
// happens in between, the file has its old text or its new one, and after Write has returned without an error it has the new one
// even if the power fails.
//
// Data is the folder of a server, with the folders of all its workspaces: one server at a time has it, and it has a format, which an upgrade
// brings to that of the program. A damaged file costs what it says: the log names it, and its text is kept when another is written.
package store
