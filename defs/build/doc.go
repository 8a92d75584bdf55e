// Package build turns files of definitions into messages, and does so again at the cost of the files that changed.
//
// A Set is immutable. Set.With makes another one with some files exchanged: these are parsed and lowered, as are the files whose
// lowering asked for something in them (an included file, an earlier owner of a group). Everything else is shared by pointer, so
// that whatever callers keep by *schema.Message stays valid. Neither time nor memory of With depends on the number of files.
//
// What a dialect contributes is a Rules.
package build
