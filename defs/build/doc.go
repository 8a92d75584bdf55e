// Package build compiles files of definitions to messages incrementally: a rebuild costs only the files that changed.
//
// A Set is immutable. Set.With returns a set with some files replaced: these are parsed and lowered, as are the files that depend on them
// (through an included file, or an earlier owner of a group). Everything else is shared by pointer, so that data that callers keep by
// *schema.Message stays valid. Neither time nor memory of With depends on the number of files.
//
// A dialect provides its Rules.
package build
