// Package defstest runs readable golden tests: one txtar file per case, with the inputs and the expected results as sections.
//
// The text before the first section describes the case. Lines "name=value" in it are settings of the case. A section whose name ends in
// ".quoted" contains Go string literals, one per line, for texts that are not visible in a file: byte order marks, "\r\n", a missing
// final line break; its file has the name without that suffix.
//
// A missing section is expected to be empty. With -update the golden sections are rewritten and the run fails, so that the flag cannot
// stay on unnoticed.
package defstest
