package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirebench/codec/capture"
	"wirebench/codec/packet"
	"wirebench/codec/packettest"
	"wirebench/codec/transport"
)

// segmentsOf returns the traffic of the connection of a capture.
func segmentsOf(t *testing.T, path string) []transport.Segment {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	streams, _, err := capture.Samples(file, packet.Options{})
	if err != nil || len(streams) != 1 {
		t.Fatalf("%d connections, %v", len(streams), err)
	}
	return streams[0]
}

// messagesIn returns direction, kind, name, status and bytes of the frames that a command lists.
func messagesIn(t *testing.T, args ...string) (out []string) {
	t.Helper()
	text, errs, status := cli(t, "", append([]string{"frames", "--json"}, args...)...)
	if status != exitOK {
		t.Fatalf("%v: %d %s", args, status, errs)
	}
	for line := range strings.Lines(text) {
		var f struct{ Dir, Kind, Message, Status, Hex, Note string }
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.Join([]string{f.Dir, f.Kind, f.Message, f.Status, f.Hex, f.Note}, " "))
	}
	return out
}

// The bytes that one end sent have the messages that a capture of the connection has in that direction, and those of both ends, in an
// archive in order, all of them: in the states of the envelope, decompressed. The state that the other end's messages lead to is found.
func TestFramesOfRawFilesByEnvelope(t *testing.T) {
	library := filepath.Join("..", "..", "defs", "library", "protodef")
	pcap := filepath.Join(library, "demo.pcapng")
	all := messagesIn(t, "--library", library, pcap)
	of := func(dir string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !strings.HasPrefix(s, dir) })
	}
	same := func(what string, got, want []string) {
		t.Helper()
		for i := range got {
			got[i] = strings.Replace(got[i], `the message fits; the state is "play"`, "", 1)
		}
		if len(want) < 50 || !slices.Equal(got, want) {
			t.Errorf("%s: %s", what, cmp.Diff(want, got))
		}
	}
	sent := map[string][]byte{}
	var files bytes.Buffer
	z := zip.NewWriter(&files)
	for i, s := range segmentsOf(t, pcap) {
		dir := s.Dir.String()
		sent[dir] = append(sent[dir], s.Bytes...)
		w, err := z.Create(fmt.Sprintf("%d-%s.bin", i, dir))
		if err == nil {
			_, err = w.Write(s.Bytes)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for dir, data := range sent {
		file := aFile(t, "sent.bin", data)
		same(dir, messagesIn(t, "--library", library, "--framing", "envelope+"+dir, file), of(dir))
		file = aFile(t, "sent.bin.gz", packettest.Gzipped(data))
		same(dir+", compressed", messagesIn(t, "--library", library, "--framing", "envelope+"+dir, file), of(dir))
	}
	same("an archive", messagesIn(t, "--library", library, "--framing", "envelope", aFile(t, "sent.zip", files.Bytes())), all)
	same("a capture", messagesIn(t, "--library", library, "--framing", "envelope", pcap), all)
}

// A header and its checksum are read in raw bytes as in a connection.
func TestFramesOfRawFilesWithHeader(t *testing.T) {
	library := write(t, map[string]string{
		"game.def":          "group: clmsg\n\npacket: say\n   __group = clmsg\n   text    = char {1, 300}\n\npacket: ping\n   __group = clmsg\n",
		"protocol.envelope": "frame length u16 le including all at 2 keep\ncode u8 at 1\nfield magic hex ff at 0\nchecksum sum sum8 at -1 over 0 to -1\n",
	})
	file := aFile(t, "sent.bin", []byte("\xff\x01\x09\x00\x02\x00hi\xdc\xff\x02\x05\x00\x00"))
	out, errs, status := cli(t, "", "frames", "--library", library, "--framing", "envelope+c2s", "--columns", "name,.header.length,.text,.tail.sum,note", file)
	if want := []string{"name .header.length .text .tail.sum note", "say 9 hi 220 ", "ping 5  0 the checksum sum is 0x00; that of the bytes is 0x06"}; status != exitOK {
		t.Errorf("%d %s", status, errs)
	} else if got := strings.ReplaceAll(strings.TrimSuffix(out, "\n"), "\t", " "); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
}

// Protocols without an envelope read raw bytes, too, if they are streams.
func TestFramesOfRawFilesByProtocol(t *testing.T) {
	for _, c := range []struct {
		protocol, framing, data string
		want                    []string
	}{
		{"muta", "envelope+s2c", "\x02\x00\x01\x01\x02\x03\x04\x05\x06\x07\x08", []string{
			"s2c message heroes ok 02000101020304050607 ", "s2c problem   08 no message of group svmsg has this id; 1 byte not read; no message was found in them",
		}},
		{"tera", "envelope", "\x12\x00\x2b\x4e\x08\x00\x39\x30\x4c\x00\x61\x00\x6e\x00\x6e\x00\x00\x00", []string{"c2s message C_JOIN_PRIVATE_CHANNEL ok 12002b4e080039304c0061006e006e000000 "}},
	} {
		if got := messagesIn(t, "--protocol", c.protocol, "--framing", c.framing, aFile(t, "sent.bin", []byte(c.data))); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", c.protocol, got)
		}
	}
	mistaken := write(t, map[string]string{"protocol.envelope": "frame lenght u8\ncode u8\n", "game.def": "group: clmsg\n\npacket: ping\n   __group = clmsg\n"})
	if _, errs, status := cli(t, "", "frames", "--library", mistaken, "--framing", "envelope", aFile(t, "x.bin", []byte("abc"))); status == exitOK || !strings.Contains(errs, `did you mean "length"?`) {
		t.Errorf("%d %s", status, errs)
	}
	datagrams := write(t, map[string]string{"protocol.envelope": "carrier udp\nframe datagram\ncode u8\n", "game.def": "group: clmsg\n\npacket: ping\n   __group = clmsg\n"})
	for _, args := range [][]string{{"--protocol", "subspace"}, {"--library", datagrams}, {"--protocol", "subspace", "--framing", "envelope+c2s"}} {
		if _, errs, status := cli(t, "", append([]string{"frames", "--framing", "envelope", aFile(t, "x.bin", []byte("abc"))}, args...)...); status != exitUsage || !strings.Contains(errs, "no envelope or protocol that reads a stream") {
			t.Errorf("%v: %d %s", args, status, errs)
		}
	}
}
