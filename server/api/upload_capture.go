package api

import (
	"bytes"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"wirebench/codec/capture"
	"wirebench/codec/logs"
	"wirebench/codec/paste"
	"wirebench/codec/pcap"
	"wirebench/codec/scan"
	"wirebench/server/captures"
	"wirebench/server/store"

	"github.com/danielgtaylor/huma/v2"
)

// capture stores a part of a form that is a capture: a capture file, a text with a conversation or packets, an archive of captures, or
// raw bytes if the form has a framing. taken is false for other files; then only head was read of the part.
func (u *upload) capture(name string, head []byte, part io.Reader) (taken bool, err error) {
	switch {
	case isCapture(head):
		return true, u.keep(name, "", bytes.NewReader(head), part)
	case isZip(head):
		return true, u.archive(name, "zip", head, part)
	case logs.Sniff(head, len(head) < 512) != "": // mitmproxy's files have no extension, and start like text
		return true, u.keep(name, "", bytes.NewReader(head), part)
	case isOurs(name, head):
		return false, nil
	case isRaw(head) && u.framing != "" && scan.Packed(head) == "" && capture.SniffArchive(head) == "":
		return true, u.keep(name, u.framing, bytes.NewReader(head), part)
	}
	// The rest is consumed in any case, so that more of it can be examined.
	most := logs.Head
	if scan.Packed(head) != "" {
		most = scan.PackedHead
	}
	more, err := io.ReadAll(io.LimitReader(part, int64(most-len(head))))
	if err != nil {
		return true, err
	}
	start := slices.Concat(head, more)
	switch {
	case capture.IsCapture(start):
		return true, u.keep(name, "", bytes.NewReader(start), part)
	case capture.SniffArchive(start) != "":
		return true, u.archive(name, capture.SniffArchive(start), start, part)
	case isRaw(plainHead(start)) && u.framing != "":
		return true, u.keep(name, u.framing, bytes.NewReader(start), part)
	case isRaw(plainHead(start)):
		u.skip(name, "", "not a definition or a capture: it looks like "+looksLike(plainHead(start))+"; to store it as a capture, set a framing, such as ?framing=prefixed:2le+self")
		return true, discardRest(part)
	}
	// Only the whole text shows whether it is a conversation.
	text := bytes.NewBuffer(start)
	p, _, err := capture.ReadText(start, io.TeeReader(part, text), nil)
	var noText *paste.Error
	switch {
	case err == nil && p.Conversation():
		return true, u.keep(name, "", text, part)
	case err != nil && !errors.As(err, &noText) && !scan.IsDamage(err):
		return true, err
	}
	reason := otherKind(name, head)
	if reason == "" {
		reason = "neither a definition nor the text of a conversation"
		if noText != nil && noText.Message == paste.TooLarge {
			reason = paste.TooLarge
		}
	}
	u.skip(name, "", reason)
	return true, discardRest(part)
}

// isOurs reports whether a file name belongs to a library, which has precedence.
func isOurs(name string, head []byte) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".def", ".map", store.EnvelopeEnding, ".zip":
		return true
	case ".txt", "":
		return !isRaw(head) || isZip(head)
	}
	return isZip(head) || strings.HasSuffix(name, store.SamplesEnding) || path.Base(name) == store.ValidityName
}

// isCapture reports whether a file starts like a capture file, also a compressed one.
func isCapture(head []byte) bool { return pcap.SniffPacked(head) != "" }

// errNoCapture is the error for a file that cannot be read as a capture.
var errNoCapture = huma.Error422UnprocessableEntity("this is not a capture: neither packets, nor a log or a text with messages. For raw bytes set a framing, such as ?framing=prefixed:2le+self")

// onlyCapture returns a file from its start if it can be read as a capture, else errNoCapture. An empty file can: it grows.
func onlyCapture(file io.Reader) (io.Reader, error) {
	head, err := io.ReadAll(io.LimitReader(file, logs.Head))
	if err == nil && scan.Packed(head) != "" {
		var more []byte
		more, err = io.ReadAll(io.LimitReader(file, scan.PackedHead-logs.Head))
		head = append(head, more...)
	}
	if err != nil {
		return nil, err
	}
	if len(head) > 0 && !capture.IsCapture(head) && capture.SniffArchive(head) == "" {
		if isRaw(plainHead(head)) { // before more of it is read
			return nil, errNoCapture
		}
		text := bytes.NewBuffer(head) // only the whole text shows whether it holds messages
		_, _, err := capture.ReadText(head, io.TeeReader(file, text), nil)
		var noText *paste.Error
		switch {
		case errors.As(err, &noText) && noText.Message == paste.TooLarge:
			return nil, huma.Error413RequestEntityTooLarge("this is neither packets nor a log, and as a text with messages it is too large: " + paste.TooLarge)
		case errors.As(err, &noText) || scan.IsDamage(err):
			return nil, errNoCapture
		case err != nil:
			return nil, err
		}
		head = text.Bytes()
	}
	return io.MultiReader(bytes.NewReader(head), file), nil
}

// plainHead returns the first bytes of a file of which these are the first, decompressed.
func plainHead(start []byte) []byte {
	if inner, _ := scan.UnpackHead(start, 512, false); len(inner) > 0 {
		return inner
	}
	return start[:min(len(start), 512)]
}

// isRaw reports whether bytes are not text. UTF-16 and Latin-1 are text.
func isRaw(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return false
	}
	return bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", r) })
}

// isConversation reports whether a text can be read as a capture.
func isConversation(text []byte) bool {
	if isRaw(text[:min(len(text), 512)]) {
		return false
	}
	p, err := paste.Recognise(string(text))
	return err == nil && p.Conversation()
}

// keep stores a capture. The error is of reading the form; errors of storing are in the report.
func (u *upload) keep(name, framing string, head, part io.Reader) error {
	if u.captures == nil {
		u.skip(name, "", "a capture, which is not stored here: upload it to the project")
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

// takeBack deletes the captures stored from an incomplete form.
func (u *upload) takeBack() {
	for _, id := range u.kept {
		_ = u.captures.Remove(id) // the client gets the error of the form
	}
	u.kept = nil
}

func discardRest(part io.Reader) error {
	_, err := io.Copy(io.Discard, part)
	return err
}

// remembered records the errors of a reader, to tell them from errors of its caller.
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
