package api

import (
	"bytes"
	"compress/gzip"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"wirebench/codec/capture"
	"wirebench/codec/logs"
	"wirebench/codec/paste"
	"wirebench/codec/pcap"
	"wirebench/server/captures"
	"wirebench/server/store"
)

// capture takes in a part of a form that is a capture: a capture file, a text that shows a conversation or packets, an archive of captures, or
// raw bytes if the form says how they are cut. taken is false for what it leaves to others; then no more than head was read of the part.
func (u *upload) capture(name string, head []byte, part io.Reader) (taken bool, err error) {
	switch {
	case isCapture(head):
		return true, u.keep(name, "", bytes.NewReader(head), part)
	case isZip(head):
		return true, u.archive(name, "zip", head, part)
	case logs.Sniff(head, len(head) < 512) != "": // mitmproxy's files have no ending, and start as texts
		return true, u.keep(name, "", bytes.NewReader(head), part)
	case isOurs(name, head):
		return false, nil
	case isRaw(head) && u.framing != "" && capture.SniffArchive(head) == "":
		return true, u.keep(name, u.framing, bytes.NewReader(head), part)
	}
	// The rest is taken in any case, so that more of it can be looked at.
	more, err := io.ReadAll(io.LimitReader(part, int64(logs.Head-len(head))))
	if err != nil {
		return true, err
	}
	start := slices.Concat(head, more)
	switch {
	case capture.IsCapture(start):
		return true, u.keep(name, "", bytes.NewReader(start), part)
	case capture.SniffArchive(start) != "":
		return true, u.archive(name, capture.SniffArchive(start), start, part)
	case isRaw(head):
		u.skip(name, "", "raw bytes that are nothing known: to keep them as a capture, say how messages are cut, as in ?framing=prefixed:2le+self")
		return true, discardRest(part)
	}
	// A text: whether it is a conversation is seen from the whole of it.
	text, err := io.ReadAll(io.LimitReader(part, paste.MaxText))
	if err != nil {
		return true, err
	}
	if text = slices.Concat(start, text); isConversation(text) {
		return true, u.keep(name, "", bytes.NewReader(text), part)
	}
	reason := otherKind(name, head)
	if reason == "" {
		reason = "neither a definition nor a text that shows a conversation"
	}
	u.skip(name, "", reason)
	return true, discardRest(part)
}

// isOurs tells by its name what can be of a library, and is left to that.
func isOurs(name string, head []byte) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".def", ".map", ".zip":
		return true
	case ".txt", "":
		return !isRaw(head) || isZip(head)
	}
	return isZip(head) || strings.HasSuffix(name, store.SamplesEnding)
}

// isCapture tells a capture file by its first bytes, a packed one too.
func isCapture(head []byte) bool {
	form := pcap.SniffCapture(head)
	if form != "gzip" {
		return form != ""
	}
	z, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return false
	}
	var inner [4]byte
	_, err = io.ReadFull(z, inner[:])
	form = pcap.SniffCapture(inner[:])
	return err == nil && form != "" && form != "gzip"
}

// isRaw reports whether bytes are no text: UTF-16 and Latin-1 are texts too.
func isRaw(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return false
	}
	return bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", r) })
}

// isConversation reports whether a text is as good as a capture.
func isConversation(text []byte) bool {
	if isRaw(text[:min(len(text), 512)]) {
		return false
	}
	p, err := paste.Recognise(string(text))
	return err == nil && p.Conversation()
}

// keep stores a capture. The error is of reading the form; what is wrong with storing is said in the report.
func (u *upload) keep(name, framing string, head, part io.Reader) error {
	if u.captures == nil {
		u.skip(name, "", "this workspace keeps no captures")
		return discardRest(part)
	}
	in := &remembered{r: io.MultiReader(head, part)}
	x, err := u.captures.AddFramed(path.Base(name), framing, time.Now(), in)
	switch {
	case in.err != nil:
		return in.err
	case err != nil:
		u.fail(name, "", err.Error())
		u.all[len(u.all)-1].err = err
		return discardRest(part)
	}
	captures.TakeTold(u.captures, x)
	u.kept = append(u.kept, x.ID)
	u.all = append(u.all, &UploadedFile{File: name, Result: "new", Capture: x.ID})
	return nil
}

// takeBack deletes what was stored of a form that did not come whole.
func (u *upload) takeBack() {
	for _, id := range u.kept {
		_ = u.captures.Remove(id) // whoever sent it is told of another error
	}
	u.kept = nil
}

func discardRest(part io.Reader) error {
	_, err := io.Copy(io.Discard, part)
	return err
}

// remembered tells an error of reading from those of whoever reads.
type remembered struct {
	r   io.Reader
	err error
}

func (r *remembered) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}
