package frames

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/server/live"
	"wirebench/server/workspace"
)

// What a list of frames says of a frame that is no message: what its transport knows of it. Its bytes are none that a definition of the
// game explains.

// maxAboutPackets is how many packets are named.
const maxAboutPackets = 12

// About describes a frame by its transport: what it is, and labels with their texts. It is nil for messages.
type About struct {
	What  string      `json:"what"`
	Facts [][2]string `json:"facts"`
}

// Labels that a page looks for.
const (
	AboutReason = "Reason"
	AboutNote   = "Note"
)

// about describes what is no message.
func about(f *transport.Frame, conn live.Conn) *About {
	if f.Kind == transport.Message {
		return nil
	}
	out := &About{What: whatItIs(f), Facts: [][2]string{}}
	add := func(label, text string) {
		if text != "" {
			out.Facts = append(out.Facts, [2]string{label, text})
		}
	}
	if f.Kind == transport.Problem {
		add(AboutReason, f.Note)
	} else {
		add(AboutNote, f.Note)
	}
	add("Kind", kindText[f.Kind])
	add("Inside", strings.Join(f.Via, " › "))
	add("From", packetsText(f.From))
	if f.Offset >= 0 {
		end := ""
		if n := int64(len(f.Bytes)); n > 0 {
			end = fmt.Sprintf(" to %d", f.Offset+n-1)
		}
		add("Stream", fmt.Sprintf("%s, bytes %d%s", f.Dir, f.Offset, end))
	}
	switch {
	case f.Length > 0:
		add("Missing", countText(f.Length, "byte"))
	case f.Length == transport.Unknown:
		add("Missing", "nobody knows how many bytes")
	}
	if conn.Name != "" {
		name := conn.Name
		if conn.Session > 0 {
			name += fmt.Sprintf(", session %d", conn.Session)
		}
		add("Connection", name)
	}
	return out
}

// kindText says what the kinds are that are no messages.
var kindText = map[transport.Kind]string{
	transport.Control: "said by the protocol for itself, not by the game",
	transport.Opaque:  "enciphered, and the key is not known",
	transport.Problem: "bytes that cannot be right, or that are missing",
}

// whatItIs is a title.
func whatItIs(f *transport.Frame) string {
	switch {
	case f.Kind == transport.Control && len(f.Via) > 0 && f.Via[0] == "handshake":
		return "Key exchange"
	case f.Kind == transport.Control:
		return "Control"
	case f.Kind == transport.Opaque:
		return "Enciphered bytes"
	case f.Length != 0:
		return "Gap"
	}
	return "Problem"
}

// packetsText names the packets that a frame came in.
func packetsText(from []transport.Source) string {
	var names []string
	last, more := uint32(0), 0
	for _, s := range from {
		switch {
		case s.Packet == 0 || s.Packet == last:
		case len(names) == maxAboutPackets:
			more++
		default:
			names = append(names, strconv.FormatUint(uint64(s.Packet), 10))
		}
		last = s.Packet
	}
	switch {
	case len(names) == 0:
		return ""
	case more > 0:
		return fmt.Sprintf("packets %s and %d more", strings.Join(names, ", "), more)
	case len(names) == 1:
		return "packet " + names[0]
	}
	return "packets " + strings.Join(names, ", ")
}

func countText(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// groupOf is the group of messages by which the bytes of a frame are read as far as they go. Of a problem the transport does not say it.
func groupOf(snap *workspace.Snapshot, f *transport.Frame, conn live.Conn) string {
	switch {
	case f.Key.Group != "" || f.Kind != transport.Problem:
		return f.Key.Group
	case len(snap.Dialect.Frames) == 0: // the direction tells it, and the port of the server
		env := &protocols.Env{Definitions: snap}
		return env.Group(serverPort(conn.Name), f.Dir)
	}
	p, _ := protocols.Of(snap.Dialect.Name)
	if l := p.Layers; l != nil && l.Is != nil && l.Is(f.Bytes) && snap.Frame(l.Group) != nil && snap.Frame(l.Group).Key.Group == l.Group {
		return l.Group
	}
	return ""
}

// serverPort is the port at the end of the name of a connection, 0 if there is none.
func serverPort(conn string) uint16 {
	_, server, _ := strings.Cut(conn, "-")
	a, err := netip.ParseAddrPort(server)
	if err != nil {
		return 0
	}
	return a.Port()
}
