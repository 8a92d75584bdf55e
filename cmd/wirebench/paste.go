package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"wirebench/codec/paste"
)

func newPaste() *cobra.Command {
	asJSON := false
	form, pattern := "", ""
	cmd := &cobra.Command{
		Use:   "paste [FILE]",
		Short: "Recognize pasted text and print its bytes",
		Long: `Paste reads a text with bytes in it: a hex dump, an array in a programming
language, base64, a log, text copied from Wireshark. It prints the recognized form,
and each message as a line of hex. What was not read is named.

A text of no known form is read by --pattern, a regular expression. Each match is a
message, and named groups are its parts: data, the bytes in hex, or base64; and time,
dir, name and seqno.`,
		Example: `  wirebench paste dump.txt
  wirebench paste --pattern '^(?<time>\S+) (?<dir>tx|rx) (?<data>.*)$' my.log`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := knownForm(form); err != nil {
				return err
			}
			own, err := parsePattern(pattern)
			if err != nil {
				return err
			}
			if own != nil && form != "" {
				return errFormAndPattern
			}
			return eachInput(cmd, args, func(name string, r io.Reader) error {
				p, err := readPaste(r, form, own)
				if errors.Is(err, errUnreadable) {
					return err
				}
				if err != nil {
					note(cmd, "%s: %v", name, err)
					return errInput
				}
				return printPaste(cmd, name, p, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object instead of lines of hex")
	cmd.Flags().StringVar(&form, "form", "", "form of the text (default: recognized)")
	cmd.Flags().StringVar(&pattern, "pattern", "", "regular expression for messages, instead of a known form: "+patternUsage)
	complete(cmd, "form", completeForm)
	return cmd
}

var errFormAndPattern = errors.New("give --form or --pattern, not both")

const patternUsage = "groups (?<data>...), time, dir, name, seqno"

// parsePattern reads --pattern; nil if it is not given.
func parsePattern(text string) (*paste.Pattern, error) {
	if text == "" {
		return nil, nil
	}
	p, err := paste.ParsePattern(text)
	if err != nil {
		return nil, fmt.Errorf("--pattern: %w", err)
	}
	return p, nil
}

func completeForm(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, f := range paste.Forms() {
		out = append(out, f.ID+"\t"+f.Title)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// knownForm returns an error for an unknown form, which is wrong usage and not an error in the text.
func knownForm(id string) error {
	if id == "" {
		return nil
	}
	var known []string
	for _, f := range paste.Forms() {
		known = append(known, f.ID)
	}
	if !slices.Contains(known, id) {
		return fmt.Errorf("--form %s: must be one of %s", shown(id), strings.Join(known, ", "))
	}
	return nil
}

// maxPaste bounds pasted text, in bytes.
const maxPaste = 64 << 20

// readPaste reads pasted text. An error that is errUnreadable concerns the file, any other error the text.
func readPaste(r io.Reader, form string, own *paste.Pattern) (*paste.Paste, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxPaste+1))
	if err != nil {
		return nil, unreadable(err)
	}
	if own != nil {
		return own.Read(string(text))
	}
	if form != "" {
		return paste.RecogniseAs(string(text), form)
	}
	return paste.Recognise(string(text))
}

func printPaste(cmd *cobra.Command, name string, p *paste.Paste, asJSON bool) error {
	out := bufio.NewWriter(cmd.OutOrStdout())
	if asJSON {
		writeJSON(out, p.Info())
		return out.Flush()
	}
	note(cmd, "%s: %s", name, p.Title)
	if p.Why != "" {
		note(cmd, "  %s", p.Why)
	}
	for _, n := range p.Notes {
		note(cmd, "  %s", n)
	}
	for _, m := range p.Messages {
		fmt.Fprintf(out, "%s\n", hex.EncodeToString(m.Bytes))
	}
	return out.Flush()
}
