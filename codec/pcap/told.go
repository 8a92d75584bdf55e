package pcap

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"wirebench/codec/packet"
)

// Wirebench stores its own data in a pcapng, so that a file can be read back: text for people, and after it on the same line, in one fixed
// form, the same as JSON.
//
//	frame 7, marked: the first loot wirebench-frame: {"n":7,"mark":true,"note":"the first loot"}
//	raid.pcapng wirebench-capture: {"v":1,"name":"raid.pcapng"}
//
// The first is about a packet, the second about a section. The text is a comment, the data an option (optionTold), or both are a comment, for
// programs that drop the options that they do not know.
const (
	toldFrame   = "wirebench-frame: "
	toldCapture = "wirebench-capture: "
	frameStart  = toldFrame + `{"n":`   // an unescaped quote cannot occur inside a JSON string, so the last match is the real one
	capStart    = toldCapture + `{"v":` // likewise
)

// maxToldText is the maximum length in bytes of the text in one comment of a section: as JSON it can be six times as long.
const maxToldText = maxOption/6 - 1000

// FrameTold is the data of a frame in an export.
type FrameTold struct {
	N uint64 `json:"n"` // its number when it was exported

	// For frames with made-up packets: the properties that their bytes do not have.
	Made    bool     `json:"made,omitempty"`
	Len     int      `json:"len,omitempty"`  // bytes, from this packet on
	Kind    string   `json:"kind,omitempty"` // "" is message
	Both    bool     `json:"both,omitempty"` // the direction is not known
	Untimed bool     `json:"untimed,omitempty"`
	Code    *uint32  `json:"code,omitempty"`
	Group   string   `json:"group,omitempty"`
	Name    string   `json:"name,omitempty"`
	Via     []string `json:"via,omitempty"`
	Offset  int64    `json:"offset,omitempty"`
	Length  int64    `json:"length,omitempty"`
	Resumed bool     `json:"resumed,omitempty"`
	Flags   []string `json:"flags,omitempty"`
	Says    string   `json:"says,omitempty"` // note of the transport
	Conn    uint32   `json:"conn,omitempty"`
	Client  string   `json:"client,omitempty"` // in the first frame of a connection, like the next three
	Server  string   `json:"server,omitempty"`
	Session int      `json:"session,omitempty"`
	Proto   string   `json:"proto,omitempty"`

	// Entered by users.
	Mark bool   `json:"mark,omitempty"`
	Note string `json:"note,omitempty"`
}

// MarkerTold is a marked moment.
type MarkerTold struct {
	N     uint64    `json:"n"` // of the first frame after it
	At    time.Time `json:"at"`
	Text  string    `json:"text"`
	Value string    `json:"value,omitempty"`
}

// CaptureTold is the data of a capture in an export.
type CaptureTold struct {
	Version int          `json:"v"`
	Made    bool         `json:"made,omitempty"` // the packets of the section are made up, one or more per frame: they need no transport
	Name    string       `json:"name,omitempty"`
	Text    string       `json:"text,omitempty"` // texts of several comments are concatenated
	Frames  []FrameTold  `json:"frames,omitempty"`
	Markers []MarkerTold `json:"markers,omitempty"`
}

// Line returns a line of a comment: words for people, then the data.
func (t *FrameTold) Line() string {
	text, err := json.Marshal(t)
	if err != nil { // a year above 9999
		return t.Words()
	}
	return t.Words() + " " + toldFrame + string(text)
}

// Comments returns the comments of the section. The words are in the first one.
func (t CaptureTold) Comments(words string) (out []string) {
	t.Version = 1
	text, frames, markers := t.Text, t.Frames, t.Markers
	for first := true; first || len(text)+len(frames)+len(markers) > 0; first = false {
		n := min(len(text), maxToldText)
		for n < len(text) && n > 0 && text[n]&0xc0 == 0x80 {
			n--
		}
		t.Text, text = text[:n], text[n:]
		if n == 0 { // lists have comments of their own, as one comment could be too long
			n = min(len(frames), 2) // notes of 4 KiB
			t.Frames, frames = frames[:n], frames[n:]
			if n == 0 {
				n = min(len(markers), 8) // with two texts of 400 bytes each
				t.Markers, markers = markers[:n], markers[n:]
			}
		} else {
			t.Frames, t.Markers = nil, nil
		}
		b, err := json.Marshal(t)
		if err != nil {
			b = []byte(`{"v":1}`)
		}
		out = append(out, strings.TrimLeft(oneLine(words)+" "+toldCapture+string(b), " "))
		words, t = "", CaptureTold{Version: 1}
	}
	return out
}

// Words is the text of a mark and note for people.
func (t *FrameTold) Words() string {
	words := fmt.Sprintf("frame %d", t.N)
	if t.Mark {
		words += ", marked"
	}
	if t.Note != "" {
		words += ": " + t.Note
	}
	return oneLine(words)
}

// splitTold returns the text for people and the data in the lines of a comment.
func splitTold(comment string) (words string, data []string) {
	var lines []string
	for line := range strings.SplitSeq(comment, "\n") {
		at := max(strings.LastIndex(line, frameStart), strings.LastIndex(line, capStart))
		if at < 0 || !json.Valid([]byte(line[at+strings.IndexByte(line[at:], '{'):])) {
			lines = append(lines, line)
			continue
		}
		data = append(data, line[at:])
		if line = strings.TrimSuffix(line[:at], " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n"), data
}

// oneLine is a text without line breaks.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " / ")
}

// FramesTold returns the data of frames of a packet, and its comment without them.
func FramesTold(p *packet.Packet) (told []FrameTold, rest string) {
	if len(p.Told) == 0 && !strings.Contains(p.Comment, frameStart) {
		return nil, p.Comment
	}
	words, data := p.Comment, p.Told
	if len(data) == 0 {
		words, data = splitTold(p.Comment)
	}
	for _, line := range data {
		var t FrameTold
		if text, ok := strings.CutPrefix(line, toldFrame); ok && json.Unmarshal([]byte(text), &t) == nil {
			told = append(told, t)
		}
	}
	var others []string
	for line := range strings.SplitSeq(words, "\n") {
		if !slices.ContainsFunc(told, func(t FrameTold) bool { return t.Words() == line }) {
			others = append(others, line)
		}
	}
	return told, strings.Join(others, "\n")
}

// sectionTold returns the data in a comment of a section.
func sectionTold(comment string) (t CaptureTold, ok bool) {
	at := strings.LastIndex(comment, capStart)
	ok = at >= 0 && json.Unmarshal([]byte(comment[at+len(toldCapture):]), &t) == nil
	return t, ok
}

// Bounds of the data accepted from a file.
const (
	MaxToldFrames  = 1 << 17
	maxToldMarkers = 1 << 12
	maxToldWhole   = 1 << 20 // bytes of the text of a capture
)

// SectionsTold reads the data that an export of Wirebench stored in a pcapng. ok is false if the file is not one, or has no such data.
func SectionsTold(text io.Reader) (out CaptureTold, ok bool, err error) {
	in, err := NewReader(text)
	if errors.Is(err, ErrFormat) {
		return out, false, nil
	}
	if err != nil {
		return out, false, err
	}
	seen, n := 0, uint64(0)
	add := func(t FrameTold) {
		if (t.Mark || t.Note != "") && t.N > 0 && t.N <= maxPacketCount && len(out.Frames) < MaxToldFrames {
			out.Frames = append(out.Frames, FrameTold{N: t.N, Mark: t.Mark, Note: t.Note})
		}
	}
	for {
		p, e := in.Next()
		for ; seen < len(in.told); seen++ {
			t, told := sectionTold(in.told[seen])
			if ok = ok || told; !told {
				continue
			}
			if out.Name == "" {
				out.Name = t.Name
			}
			if len(out.Text)+len(t.Text) <= maxToldWhole {
				out.Text += t.Text
			}
			for _, f := range t.Frames {
				add(f)
			}
			if len(out.Markers)+len(t.Markers) <= maxToldMarkers {
				out.Markers = append(out.Markers, t.Markers...)
			}
		}
		var torn *packet.Torn
		switch {
		case errors.Is(e, io.EOF) || errors.As(e, &torn):
			return out, ok, nil
		case e != nil:
			return out, ok, e
		case !ok:
			return out, false, nil
		}
		frames, _ := FramesTold(p)
		if !in.made {
			for _, f := range frames {
				add(f)
			}
		} else if len(frames) > 0 && frames[0].Made { // frames are renumbered
			n++
			frames[0].N = n
			add(frames[0])
		}
	}
}
