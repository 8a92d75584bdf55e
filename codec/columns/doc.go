// Package columns reads the values of many messages of one program by field: a loop for each column instead of one for each message.
//
// A group that contains itself has columns for its first level only: values of groups nested in it are in no column, but for SelectWhole. A number without a
// value, text, bytes and lists that are null, and the fields of an alternative that does not apply are missing in their rows.
package columns
