// Package defstest runs golden tests that a person can read: one txtar file a case, with the inputs as sections, and what a
// user would see of them as further sections.
//
// The text before the first section says what the case shows. Lines "name=value" in it are settings of the case. A section
// whose name ends in ".quoted" holds Go string literals, one a line, for texts that a file cannot show: byte order marks,
// "\r\n", a missing last line break; it stands for a file of the name without the ending.
//
// A section that is missing is expected to be empty. With -update the golden sections are rewritten and the run fails, so that
// the flag cannot stay on unnoticed.
package defstest
