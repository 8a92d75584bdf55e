// Package text has the lexical rules that the languages of definitions share: lines, white space, words and names, and the diagnostics
// about them.
package text
