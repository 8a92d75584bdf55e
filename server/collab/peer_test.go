package collab

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"wirebench/defs/tooltest"
)

var (
	peerOperations = flag.Int("peer", 1500, "operations of the comparison with the JavaScript of CodeMirror")
	peerSeed       = flag.Int64("seed", 0, "its seed; 0 takes another one each time")
)

// peerMessage is a line of testdata/peer.mjs.
type peerMessage struct {
	Op      string
	Version int
	Client  string
	Changes []Change
	Text    string
	A, B    Change
	Then    Change
	First   bool
	At      int
	Side    int
	Typed   int
	Outside int
}

// The authority and the clients of @codemirror/collab, run by node, agree: on the mapping and joining of random changes, and on the text
// after any order of typing, sending, losing and repeating messages, being away, and writing by other programs.
func TestToolPeers(t *testing.T) {
	tooltest.Path(t, "node")
	modules := tooltest.Packages(t, "../../web", "@codemirror/collab")
	seed := *peerSeed
	if seed == 0 {
		seed = time.Now().UnixNano() & 0x7fffffff
	}
	for clients := 2; clients <= 8; clients += 3 {
		t.Run(strconv.Itoa(clients)+" clients", func(t *testing.T) {
			peers(t, modules, seed+int64(clients), *peerOperations, clients)
		})
	}
}

func peers(t *testing.T, modules string, seed int64, operations, clients int) {
	t.Logf("seed %d", seed)
	cmd := exec.CommandContext(t.Context(), "node", "testdata/peer.mjs", modules, strconv.FormatInt(seed, 10), strconv.Itoa(operations), strconv.Itoa(clients))
	var failed bytes.Buffer
	cmd.Stderr = &failed
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := answerPeers(t, bufio.NewReaderSize(out, 1<<20), in)
	_ = in.Close()
	if err := cmd.Wait(); err != nil || ended.Op != "end" {
		t.Fatalf("%v: %.4000s", err, failed.String())
	}
	if ended.Typed < operations/3 || ended.Outside == 0 && operations >= 10_000 {
		t.Errorf("%d transactions, %d writes of other programs", ended.Typed, ended.Outside)
	}
}

// answerPeers is the authority of the clients. It returns the last message.
func answerPeers(t *testing.T, from *bufio.Reader, to io.Writer) peerMessage {
	start := NewText("uint32 id\nstring name 😀\n")
	d := New(start, 0)
	log := []Update{}
	answer := func(x any) {
		line, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = to.Write(append(line, '\n'))
	}
	take := func(version int, client string, changes []Change) {
		accepted, err := d.Receive(version, client, changes)
		if err != nil {
			answer(map[string]any{"error": err.Error()})
			return
		}
		log = append(log, accepted...)
		answer(map[string]any{})
	}
	for {
		line, err := from.ReadBytes('\n')
		if err != nil {
			return peerMessage{}
		}
		var m peerMessage
		if err := json.Unmarshal(line, &m); err != nil {
			answer(map[string]any{"error": err.Error()})
			continue
		}
		switch m.Op {
		case "text":
			answer(map[string]any{"text": d.Text().String(), "version": d.Version(), "hash": d.Text().Hash()})
		case "push":
			take(m.Version, m.Client, m.Changes)
		case "pull":
			updates, ok := d.Since(m.Version)
			if !ok {
				updates = log[m.Version:] // as from the file of updates
			}
			answer(map[string]any{"updates": append([]Update{}, updates...)})
		case "outside":
			take(d.Version(), m.Client, []Change{Between(d.Text(), NewText(m.Text))})
			if d.Text().String() != m.Text {
				t.Errorf("a write of another program gave %q, not %q", d.Text().String(), m.Text)
			}
		case "compare":
			mapped, err := m.A.Map(m.B, m.First)
			joined, err2 := m.A.Then(m.Then)
			applied, err3 := m.A.Apply(NewText(m.Text))
			if err != nil || err2 != nil || err3 != nil {
				answer(map[string]any{"error": []any{err, err2, err3}})
				continue
			}
			answer(map[string]any{"mapped": mapped, "joined": joined, "applied": applied.String(), "position": m.A.Position(m.At, m.Side)})
		case "end":
			// The updates give the text again.
			text := start
			for _, u := range log {
				var err error
				if text, err = u.Change.Apply(text); err != nil {
					t.Error(err)
				}
			}
			if text.String() != d.Text().String() {
				t.Error("the updates give another text")
			}
			return m
		}
	}
}
