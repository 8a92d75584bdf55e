package frames

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"wirebench/codec/transport"
	"wirebench/server/live"
	"wirebench/server/workspace"
)

// Descriptions of frames that are not messages, from the properties that their transport gives. Definitions of the game do not apply to
// their bytes.

// maxAboutPackets is the number of packets listed in a description.
const maxAboutPackets = 12

// About describes a frame that is not a message: a title, and labels with their texts.
type About struct {
	What  string      `json:"what"`
	Facts [][2]string `json:"facts"`
}

// Labels that pages depend on.
const (
	AboutReason = "Reason"
	AboutNote   = "Note"
)

// about describes a frame, nil for a message.
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
	add("Inside", strings.Join(f.Around(), " › "))
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
		add("Missing", "an unknown number of bytes")
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

// kindText describes the kinds of frames other than messages.
var kindText = map[transport.Kind]string{
	transport.Control: "control data of the protocol, not of the game",
	transport.Opaque:  "encrypted; the key is unknown",
	transport.Problem: "invalid or missing bytes",
	transport.Packet:  "an event of the connection, without a message",
}

// whatItIs returns the title of a description.
func whatItIs(f *transport.Frame) string {
	switch {
	case f.Kind == transport.Control && len(f.Via) > 0 && f.Via[0] == "handshake":
		return "Key exchange"
	case f.Kind == transport.Control:
		return "Control"
	case f.Kind == transport.Opaque:
		return "Encrypted bytes"
	case f.Kind == transport.Packet:
		return "Packet"
	case f.Length != 0:
		return "Gap"
	}
	return "Problem"
}

// packetsText lists the packets that carried a frame.
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

// groupOf returns the group of messages for decoding the bytes of a frame. Transports do not set it for problems.
func groupOf(snap *workspace.Snapshot, f *transport.Frame, conn live.Conn) string {
	switch {
	case f.Key.Group != "" || f.Kind != transport.Problem:
		return f.Key.Group
	case len(snap.Dialect.Frames) == 0: // the direction and the server port determine it
		return snap.Env().Group(serverPort(conn.Name), f.Dir)
	}
	p, _ := snap.Protocol()
	if l := p.Layers; l != nil && l.Is != nil && l.Is(f.Bytes) && snap.Frame(l.Group) != nil && snap.Frame(l.Group).Key.Group == l.Group {
		return l.Group
	}
	return ""
}

// serverPort returns the port at the end of the name of a connection, 0 if there is none.
func serverPort(conn string) uint16 {
	_, server, _ := strings.Cut(conn, "-")
	a, err := netip.ParseAddrPort(server)
	if err != nil {
		return 0
	}
	return a.Port()
}
