package capture

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/defs/corpora"
	"wirebench/defs/tooltest"
)

// packetsOf reads all packets of a file.
func packetsOf(t testing.TB, data []byte) (string, []packet.Packet, error) {
	t.Helper()
	r, err := pcap.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var out []packet.Packet
	for {
		p, err := r.Next()
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return r.Format(), out, err
		}
		x := *p
		x.Data = bytes.Clone(p.Data)
		out = append(out, x)
	}
}

// Texts written by tshark hold the packets of the original file: their bytes and, where the text has them, their times and numbers.
func TestToolTsharkExportsTheSamePackets(t *testing.T) {
	tshark := tooltest.Path(t, "tshark")
	// tshark takes half a second to start, so it reads the first packets of all captures from one file.
	dir, corpus := t.TempDir(), corpora.Largest(t).Dir(t)
	merged := filepath.Join(dir, "merged.pcapng")
	merge := []string{"-a", "-w", merged}
	for i, file := range []string{"subspace/plain-session.pcap", "subspace/vie-session.pcap", "captures/tera-session.pcapng", "captures/muta-session.pcapng"} {
		file = filepath.Join(corpus, file)
		start := filepath.Join(dir, fmt.Sprint("start", i))
		merge = append(merge, start)
		if out, err := exec.Command("editcap", "-r", file, start, "1-60").CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", file, err, out)
		}
	}
	if out, err := exec.Command("mergecap", merge...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	whole, err := os.ReadFile(merged)
	if err != nil {
		t.Fatal(err)
	}
	_, want, err := packetsOf(t, whole)
	if err != nil || len(want) != 240 {
		t.Fatalf("%d packets: %v", len(want), err)
	}
	for _, form := range []struct {
		id    string
		args  []string
		times bool
	}{
		{"tshark-json", []string{"-T", "json", "-x"}, true},
		{"tshark-json", []string{"-T", "json", "-x", "--no-duplicate-keys"}, true},
		{"tshark-json", []string{"-T", "jsonraw"}, false},
		{"tshark-ek", []string{"-T", "ek", "-x"}, true},
		{"pdml", []string{"-T", "pdml"}, true},
		{"wireshark-text", []string{"-V", "-x"}, true},
		{"wireshark-text", []string{"-P", "-x", "-t", "e"}, false}, // to the microsecond
		{"wireshark-text", []string{"-P", "-V", "-x"}, true},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		text, err := exec.CommandContext(ctx, tshark, append([]string{"-r", merged}, form.args...)...).Output()
		cancel()
		if err != nil {
			t.Fatalf("%v: %v", form.args, err)
		}
		if id := pcap.SniffExport(text); id != form.id {
			t.Errorf("%s %v: detected as %q", form.id, form.args, id)
			continue
		}
		_, got, err := packetsOf(t, text)
		if err != nil || len(got) != len(want) {
			t.Errorf("%s %v: %d packets, %d expected, %v", form.id, form.args, len(got), len(want), err)
			continue
		}
		for i, p := range got {
			w := want[i]
			if p.N != w.N || p.Link != w.Link || !bytes.Equal(p.Data, w.Data) || p.Orig != w.Orig || form.times && !p.At.Equal(w.At) {
				t.Errorf("%s %v: packet %d %v link %d orig %d at %v\n%x, expected %d %d %v\n%x", form.id, form.args, p.N, i, p.Link, p.Orig, p.At, p.Data, w.N, w.Orig, w.At, w.Data)
				break
			}
		}
	}
}
