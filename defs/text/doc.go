// Package text is what the languages of definitions have in common: lines, white space, words and names, and the diagnostics about
// them.
package text
