// Package git commits and merges the definitions of a folder that is in a git repository. It calls the git program; where there is none, or the
// folder is in no repository, [Open] says so.
//
// A repository is hostile input: its configuration and its attributes can name programs to run. So only configurations are accepted that do
// not, which is an allow list, hooks are off, and the configuration of the user and of the system is not read. Nothing asks for a password.
// Names come after "--" as literal paths, calls have a time limit and a limit of output, and remotes other than the one that the operator
// has chosen are not used.
package git
