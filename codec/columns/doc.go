// Package columns reads the values of many messages of one program by field: a loop for each column instead of one for each message.
package columns
