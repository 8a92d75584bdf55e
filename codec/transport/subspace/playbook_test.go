package subspace_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packettest"
	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/schema"
)

var update = flag.Bool("update", false, "write what comes out into the playbooks, and fail")

// TestPlaybooks plays testdata/*.play: datagrams, and the frames that result from each.
//
//	# what is shown
//	options key=01020304 schedule=unsigned
//	> c2s 0001 ...      a datagram, in hex; 10 ms after the one before
//	> c2s vie 0003 ...  the same, encrypted with the last "key"
//	> c2s cut 0003 ...  the same, of which the capture lacks the last 5 bytes
//	key 01020304        for "vie"; with "unsigned" after it by that schedule
//	wait 31s
//	flush
//	new                 another transport; packets are numbered on
//	< c2s message game:06 via cluster:0 from 1+3:5 resumed 0601020304 | note
func TestPlaybooks(t *testing.T) {
	files, err := filepath.Glob("testdata/*.play")
	if err != nil || len(files) == 0 {
		t.Fatal("no playbooks", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".play"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := playBook(t, string(text))
			if got == string(text) {
				return
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, have := strings.Split(string(text), "\n"), strings.Split(got, "\n")
			for i := range have {
				if i >= len(want) || want[i] != have[i] {
					t.Fatalf("line %d: got\n%s\nof\n%s", i+1, have[i], got)
				}
			}
			t.Fatalf("frames are missing; got\n%s", got)
		})
	}
}

// playBook returns the text of a playbook with the actual frames.
func playBook(t *testing.T, text string) string {
	var out strings.Builder
	var cipher *subspace.Cipher
	var options subspace.Options
	trans := subspace.New(options)
	at := time.Unix(1000, 0)
	packet := uint32(0)
	emit := func(f *transport.Frame) { fmt.Fprintln(&out, "<", line(f)) }
	for _, in := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(in, "<") {
			continue
		}
		fmt.Fprintln(&out, in)
		verb, rest, _ := strings.Cut(in, " ")
		switch verb {
		case "", "#":
		case "options":
			options = optionsOf(t, rest)
			trans = subspace.New(options)
		case "new":
			trans = subspace.New(options)
		case "wait":
			d, err := time.ParseDuration(rest)
			if err != nil {
				t.Fatal(err)
			}
			at = at.Add(d)
		case "flush":
			trans.Flush(at, emit)
		case "key":
			key, unsigned, _ := strings.Cut(rest, " ")
			n, err := strconv.ParseUint(key, 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			cipher = subspace.NewCipher(uint32(n), subspace.Signed)
			if unsigned != "" {
				cipher = subspace.NewCipher(uint32(n), subspace.Unsigned)
			}
		case ">":
			way, body, _ := strings.Cut(rest, " ")
			body, cut := strings.CutPrefix(body, "cut ")
			body, encrypted := strings.CutPrefix(body, "vie ")
			data := bytesOf(t, body)
			if encrypted {
				cipher.Encrypt(data, data)
			}
			packet++
			at = at.Add(10 * time.Millisecond)
			dir := map[string]schema.Dir{"c2s": schema.ToServer, "s2c": schema.ToClient}[way]
			if dir == schema.Both {
				t.Fatalf("%s: no direction", in)
			}
			seg := transport.Segment{Dir: dir, At: at, Packet: packet, Bytes: data}
			if cut {
				seg.Lost = 5
			}
			trans.Feed(seg, emit)
		default:
			t.Fatalf("%q is nothing to play", in)
		}
	}
	return out.String()
}

// bytesOf parses hex with spaces; "41x100" is 100 bytes of 41.
func bytesOf(t *testing.T, text string) []byte {
	data := []byte{}
	for _, word := range strings.Fields(text) {
		if one, times, many := strings.Cut(word, "x"); many {
			n, err := strconv.Atoi(times)
			if err != nil {
				t.Fatal(err)
			}
			data = append(data, bytes.Repeat(packettest.Unhex(t, one), n)...)
			continue
		}
		data = append(data, packettest.Unhex(t, word)...)
	}
	return data
}

func optionsOf(t *testing.T, text string) (o subspace.Options) {
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "key":
			n, err := strconv.ParseUint(value, 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			o.Key, o.HasKey = uint32(n), true
		case "schedule":
			o.Schedule = map[string]subspace.Schedule{"signed": subspace.Signed, "unsigned": subspace.Unsigned}[value]
		}
	}
	return o
}

// line formats a frame on one line.
func line(f *transport.Frame) string {
	words := []string{dirName(f.Dir), f.Kind.String()}
	switch {
	case f.HasKey:
		words = append(words, fmt.Sprintf("%s:%02x", f.Key.Group, f.Key.Code))
	case f.Key.Group != "":
		words = append(words, f.Key.Group+":"+f.Name)
	}
	if len(f.Via) > 0 {
		words = append(words, "via", strings.Join(f.Via, ","))
	}
	if len(f.From) > 0 {
		words = append(words, "from")
		for _, s := range f.From {
			words = append(words, fmt.Sprintf("%d+%d:%d", s.Packet, s.Off, s.Len))
		}
	}
	if f.Length != 0 {
		words = append(words, fmt.Sprintf("length %d", f.Length))
	}
	if f.Begins {
		words = append(words, "begins")
	}
	if f.Resumed {
		words = append(words, "resumed")
	}
	switch {
	case len(f.Bytes) > 40:
		words = append(words, fmt.Sprintf("%x...", f.Bytes[:16]))
	case len(f.Bytes) > 0:
		words = append(words, hex.EncodeToString(f.Bytes))
	}
	if f.Note != "" {
		words = append(words, "|", f.Note)
	}
	return strings.Join(words, " ")
}
