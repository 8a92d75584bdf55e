package main

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"wirebench/codec/pcap"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/diag"
	"wirebench/server/workspace"
)

// scoring scores definitions on captures.
type scoring struct {
	captureFlags
	library *libraryFlags
	against []string
	junit   string
	json    bool
}

func (x *scoring) add(cmd *cobra.Command) {
	x.captureFlags.add(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&x.against, "against", nil, "score the definitions on the messages of this capture (repeatable)")
	flags.StringVar(&x.junit, "junit", "", "with --against: also write the scores to this file, as JUnit XML")
}

// run scores the definitions of the paths, except for captures among them.
func (x *scoring) run(cmd *cobra.Command, args []string) error {
	if err := x.valid(cmd); err != nil {
		return err
	}
	var paths []string
	for _, path := range args {
		if isCaptureFile(path) {
			x.against = append(x.against, path)
		} else {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 && !x.library.isRemote() {
		return errors.New("check --against needs a path of definitions, too")
	}
	lib, err := x.library.named(cmd, paths)
	if err != nil {
		return err
	}
	snap, err := x.library.build(cmd, lib)
	if err != nil {
		return err
	}
	if err := x.knows(snap); err != nil {
		return err
	}
	broken := false
	for _, d := range snap.Diagnostics() {
		if d.Severity == diag.Error {
			broken = true
			note(cmd, "%s", d)
		}
	}
	scorer := workspace.NewScorer(snap)
	for _, path := range x.against {
		sum, err := x.read(cmd, snap, path, func(f *transport.Frame) { scorer.Take(path, f) })
		if err != nil {
			return err
		}
		x.summary(cmd, sum)
	}
	scores := scorer.Scores()
	if err := x.write(cmd, scores); err != nil {
		return err
	}
	for i := range scores {
		broken = broken || scores[i].Clean < scores[i].Frames
	}
	if broken {
		return errInput
	}
	return nil
}

// isCaptureFile reports whether a file starts like a capture file.
func isCaptureFile(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head, _ := io.ReadAll(io.LimitReader(file, scan.PackedHead))
	return pcap.SniffPacked(head) != ""
}

// write writes the scores.
func (x *scoring) write(cmd *cobra.Command, scores []workspace.Score) error {
	out := bufio.NewWriter(cmd.OutOrStdout())
	for i := range scores {
		s := &scores[i]
		if x.json {
			writeJSON(out, s)
		} else {
			fmt.Fprintln(out, s.Name(), s.Frames, s.Clean, s.Leftover, s.Over, s.Differ, s.Doubtful)
		}
		if s.First != nil {
			note(cmd, "%s: frame %d of %s: %s", s.Name(), s.First.Frame, s.First.Capture, s.First.Reason)
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if len(scores) == 0 {
		note(cmd, "note: no message of the captures has a definition")
	}
	if x.junit == "" {
		return nil
	}
	text, err := junitOf(scores)
	if err != nil {
		return err
	}
	return os.WriteFile(x.junit, text, 0o666)
}

// junitOf returns the scores as JUnit XML: a test for each definition, which fails unless all frames are clean.
func junitOf(scores []workspace.Score) ([]byte, error) {
	type failure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *failure `xml:"failure"`
	}
	suite := struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Cases    []testcase `xml:"testcase"`
	}{Name: "wirebench check", Tests: len(scores)}
	for i := range scores {
		s := &scores[i]
		c := testcase{Class: "definitions", Name: s.Name()}
		if defects := s.Defects(); defects != "" {
			suite.Failures++
			c.Failure = &failure{fmt.Sprintf("of %d frames: %s", s.Frames, defects), fmt.Sprintf("frame %d of %s: %s", s.First.Frame, s.First.Capture, s.First.Reason)}
		}
		suite.Cases = append(suite.Cases, c)
	}
	text, err := xml.MarshalIndent(suite, "", "\t")
	if err != nil {
		return nil, err
	}
	return append(append([]byte(xml.Header), text...), '\n'), nil
}
