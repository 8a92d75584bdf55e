// Package defs turns the text of definitions into a schema, whatever language they are written in.
//
// The languages are rows of the table Dialects; each is a package of its own with the same shape: Parse makes a schema of a set
// of files, Format writes one file in its canonical form. Load does the whole way from files to a linked schema, and Detect
// tells the language of a file. Below them stand source (text and places in it), diag (what is wrong and where) and schema
// (what definitions mean).
//
// To add a language: copy the package of one, write its testdata, add its row.
package defs
