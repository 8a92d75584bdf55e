// Package templates draws the pages, one component per pane. The components take the values that the JSON routes return, so that the page
// and the API agree. Everything works without scripts.
package templates

//go:generate go -C .. tool templ generate -log-level warn
