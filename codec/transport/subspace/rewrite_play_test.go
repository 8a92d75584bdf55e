package subspace_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/schema"
)

// TestRewritePlaybooks plays testdata/rewrite/*.play: datagrams, decisions, and the output.
//
//	# what is shown
//	operate on
//	rule 0741 drop            for messages that begin so: drop, hold, replace HEX, raw HEX
//	> c2s 0001 ...            a datagram from the client, in hex; 10 ms after the one before
//	wait 700ms                and then what is due is done
//	release 1 pass            or drop, replace HEX
//	send c2s unreliable 0742  or raw
//	flush
//	mode
//	= message 0741 (reliable:0) note: a frame
//	< c2s 0003 ...            a datagram to the server; "after" the time since "wait" began
//	! what is wrong
func TestRewritePlaybooks(t *testing.T) {
	files, err := filepath.Glob("testdata/rewrite/*.play")
	if err != nil || len(files) == 0 {
		t.Fatal("no playbooks", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".play"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := playRewrite(t, string(text))
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
			t.Fatalf("lines are missing; got\n%s", got)
		})
	}
}

func playRewrite(t *testing.T, text string) string {
	var out strings.Builder
	rw := subspace.NewRewriter(subspace.Options{})
	at := time.Unix(1000, 0)
	type rule struct {
		prefix string
		then   transport.Decision
	}
	var rules []rule
	decision := func(words []string) (d transport.Decision) {
		switch words[0] {
		case "pass":
		case "drop":
			d.Action = transport.Drop
		case "hold":
			d.Action = transport.Hold
		case "replace", "raw":
			d.Action = transport.Replace
			d.With = transport.Outgoing{Bytes: bytesOf(t, strings.Join(words[1:], " ")), Raw: words[0] == "raw"}
		default:
			t.Fatalf("decide %q?", words[0])
		}
		return d
	}
	short := func(data []byte) string {
		if len(data) > 40 {
			return fmt.Sprintf("%x... %d bytes", data[:16], len(data))
		}
		return hex.EncodeToString(data)
	}
	after := "" // the time since "wait"
	relay := &transport.Relay{
		Emit: func(f *transport.Frame) {
			fmt.Fprintf(&out, "= %s %s %s", f.Kind, dirName(f.Dir), short(f.Bytes))
			if len(f.Via) > 0 {
				fmt.Fprintf(&out, " (%s)", strings.Join(f.Via, " "))
			}
			if f.Note != "" {
				fmt.Fprintf(&out, " | %s", f.Note)
			}
			out.WriteByte('\n')
		},
		Out: func(s transport.Segment) {
			if len(s.Bytes) > 512 {
				t.Errorf("%d bytes go out", len(s.Bytes))
			}
			fmt.Fprintf(&out, "< %s %s%s\n", dirName(s.Dir), short(s.Bytes), after)
		},
		Decide: func(_ uint64, f *transport.Frame) transport.Decision {
			for _, r := range rules {
				if strings.HasPrefix(hex.EncodeToString(f.Bytes), r.prefix) {
					return r.then
				}
			}
			return transport.Decision{}
		},
	}
	failed := func(err error) {
		if err != nil {
			fmt.Fprintln(&out, "!", err)
		}
	}
	dir := func(s string) schema.Dir {
		if s == "s2c" {
			return schema.ToClient
		}
		return schema.ToServer
	}
	for _, in := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(in, "<") || strings.HasPrefix(in, "=") || strings.HasPrefix(in, "!") {
			continue
		}
		fmt.Fprintln(&out, in)
		words := strings.Fields(in)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		switch words[0] {
		case ">":
			at = at.Add(10 * time.Millisecond)
			rw.Feed(transport.Segment{Dir: dir(words[1]), At: at, Bytes: bytesOf(t, strings.Join(words[2:], " "))}, relay)
		case "wait":
			d, err := time.ParseDuration(words[1])
			if err != nil {
				t.Fatal(err)
			}
			begin := at
			for end := at.Add(d); at.Before(end); {
				next := rw.Due()
				if next.IsZero() || next.After(end) {
					next = end
				}
				if !next.After(at) {
					t.Fatal("time stands still")
				}
				at = next
				after = fmt.Sprint(" after ", at.Sub(begin).Round(time.Millisecond))
				rw.Tick(at, relay)
			}
			after = ""
		case "operate":
			rw.Operate(words[1] == "on", at, relay)
		case "rule":
			rules = append([]rule{{words[1], decision(words[2:])}}, rules...)
		case "release":
			var id uint64
			fmt.Sscan(words[1], &id)
			failed(rw.Release(id, decision(words[2:]), at, relay))
		case "send":
			o := transport.Outgoing{Unreliable: words[2] == "unreliable", Raw: words[2] == "raw"}
			rest := words[2:]
			if o.Unreliable || o.Raw {
				rest = words[3:]
			}
			o.Bytes = bytesOf(t, strings.Join(rest, " "))
			failed(rw.Send(dir(words[1]), o, at, relay))
		case "flush":
			rw.Flush(at, relay)
		case "mode":
			m, why := rw.Mode()
			fmt.Fprintln(&out, "=", m, why)
		default:
			t.Fatalf("what is %q?", in)
		}
	}
	return out.String()
}
