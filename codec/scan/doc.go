// Package scan has building blocks for readers of files and texts: input with look-ahead, JSON objects one by one, UTF-16, hex digits, and
// timestamps.
package scan
