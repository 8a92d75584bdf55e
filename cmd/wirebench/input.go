package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// eachInput opens the named files, or standard input for "-" or without names.
func eachInput(cmd *cobra.Command, names []string, f func(name string, r io.Reader) error) error {
	if len(names) == 0 {
		names = []string{"-"}
		sayTyping(cmd)
	}
	for _, name := range names {
		if name == "-" {
			if err := f("standard input", cmd.InOrStdin()); err != nil {
				return err
			}
			continue
		}
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		err = f(name, file)
		file.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// inputText returns at most the first bytes of a file, or of standard input for "-".
func inputText(cmd *cobra.Command, name string, most int64) (text []byte, err error) {
	err = eachInput(cmd, []string{name}, func(_ string, r io.Reader) error {
		text, err = io.ReadAll(io.LimitReader(r, most))
		return err
	})
	return text, err
}

// errTwoInputs reports that two inputs of a command are standard input.
var errTwoInputs = errors.New("--keys and the capture cannot both be standard input")

// errUnreadable marks an input that cannot be read, as opposed to an input with errors.
var errUnreadable = errors.New("unreadable")

// unreadable makes an error match errUnreadable.
func unreadable(err error) error { return unreadableError{err} }

type unreadableError struct{ error }

func (unreadableError) Is(target error) bool { return target == errUnreadable }

func (e unreadableError) Unwrap() error { return e.error }

// sayTyping tells the user of a terminal that the command reads standard input.
func sayTyping(cmd *cobra.Command) {
	if file, ok := cmd.InOrStdin().(*os.File); ok && isTerminal(file) {
		note(cmd, "reading standard input; Ctrl+D ends it")
	}
}

// isTerminal reports whether a file is a character device other than the null device.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// eachLine calls f with every line, without its line break. The slice is valid only during the call. A line break at the end of the input
// does not start another line.
func eachLine(in *bufio.Reader, f func(line []byte) error) error {
	var long []byte // a line longer than the buffer of the reader
	for {
		line, err := in.ReadSlice('\n')
		if len(long)+len(line) > maxLine {
			return fmt.Errorf("a line of more than %d bytes", maxLine)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, line...)
			continue
		}
		if len(long) > 0 {
			line = append(long, line...)
			long = line[:0]
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return unreadable(err)
		}
		if len(line) > 0 {
			if e := f(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))); e != nil {
				return e
			}
		}
		if err != nil {
			return nil
		}
	}
}
