// Package scan holds what readers of files and texts share: an input with a look ahead, JSON objects one by one, UTF-16, hex digits, and times
// as programs write them.
package scan
