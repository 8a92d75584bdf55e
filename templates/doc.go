// Package templates draws the pages. One component a pane; each takes the values that the JSON routes return, so that page and
// API cannot say different things. Everything works without a script.
package templates

//go:generate go -C .. tool templ generate -log-level warn
