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

// eachInput opens the files named, or standard input if none is or a name is "-".
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

// errUnreadable says that an input could not be read: it is not known what is in it.
var errUnreadable = errors.New("unreadable")

// unreadable marks an error as of reading.
func unreadable(err error) error { return unreadableError{err} }

type unreadableError struct{ error }

func (unreadableError) Is(target error) bool { return target == errUnreadable }

func (e unreadableError) Unwrap() error { return e.error }

// sayTyping tells a person who gave no file that the command waits for what they type, and does not hang.
func sayTyping(cmd *cobra.Command) {
	if file, ok := cmd.InOrStdin().(*os.File); ok && isTerminal(file) {
		note(cmd, "reading what is typed; Ctrl+D ends it")
	}
}

// isTerminal reports whether a file is a device that a person sits at, as well as that can be told without asking it.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// eachLine calls f with every line, without its line break, in memory that the next line uses again. A last line break ends the last line
// and starts no other.
func eachLine(in *bufio.Reader, f func(line []byte) error) error {
	var long []byte // a line that does not fit into the buffer of the reader
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
