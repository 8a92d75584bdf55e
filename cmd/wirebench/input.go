package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// eachInput opens the files named, or standard input if none is or a name is "-".
func eachInput(cmd *cobra.Command, names []string, f func(name string, r io.Reader) error) error {
	if len(names) == 0 {
		names = []string{"-"}
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

// eachLine calls f with every line, without its line break. A last line break ends the last line and starts no other.
func eachLine(in *bufio.Reader, f func(line string) error) error {
	var line strings.Builder
	for {
		part, err := in.ReadSlice('\n')
		line.Write(part)
		if line.Len() > maxLine {
			return fmt.Errorf("a line of more than %d bytes", maxLine)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		text := line.String()
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read input: %w", err)
		}
		if text != "" {
			if e := f(strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")); e != nil {
				return e
			}
		}
		if err != nil {
			return nil
		}
		line.Reset()
	}
}
