package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"wirebench/codec"
	"wirebench/defs/schema"
	"wirebench/server/access"
	"wirebench/server/api"
	"wirebench/server/workspace"
)

// Bounds of a stream of messages.
const (
	streamType  = "application/x-ndjson"
	streamLine  = 4*codec.MaxMessage + 1024 // bytes of a line
	streamBatch = 64 << 10                  // bytes of answers sent at once, while there is more to read
	streamStall = time.Minute               // for a client to take an answer
)

var streamParameters = []string{"message", "dir", "group", "fields"}

// streams decodes bodies of many messages, one a line, while they arrive: of the operations that take streams. A line is the message in hex, bare or as a
// JSON string, or {"hex":…, "dir":…}. Each line is answered by a line, as by the command decode --json.
func (s *Server) streams(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isStream(r) {
			next.ServeHTTP(w, r)
			return
		}
		o, at := s.operation(r)
		if o == nil || !o.Streams {
			next.ServeHTTP(w, r)
			return
		}
		name := at.URLParam("project")
		found := s.Projects.Find(name)
		if found == nil {
			problem(w, http.StatusNotFound, access.NoProject(name))
			return
		}
		s.decodeStream(w, r, found.Now())
	})
}

// decodeStream answers a stream. Mistakes of a line are in its answer.
func (s *Server) decodeStream(w http.ResponseWriter, r *http.Request, snap *workspace.Snapshot) {
	q := r.URL.Query()
	if wrong := api.UnknownParameter(q, streamParameters...); wrong != "" {
		problem(w, http.StatusUnprocessableEntity, wrong)
		return
	}
	if dir := q.Get("dir"); dir != "" && schema.DirNamed(dir) == schema.Both {
		problem(w, http.StatusUnprocessableEntity, fmt.Sprintf("dir is c2s or s2c, not %q", dir))
		return
	}
	req := workspace.Request{Group: q.Get("group"), Dir: schema.DirNamed(q.Get("dir")), Fields: q.Has("fields"), Session: codec.Session{Counter: 1}}
	if name := q.Get("message"); name != "" {
		m, err := snap.FindIn(name, req.Group, req.Dir)
		if err != nil {
			problem(w, http.StatusUnprocessableEntity, err.Error())
			return
		}
		req.Message = m
	}
	control := http.NewResponseController(w)
	_ = control.EnableFullDuplex()           // answers come before the body has ended; HTTP/2 has it anyway
	_ = control.SetReadDeadline(time.Time{}) // messages may come at any time, such as those of tail -f; a client that is gone ends its connection
	w.Header().Set("Content-Type", streamType)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // of nginx
	in := bufio.NewReaderSize(r.Body, streamBatch)
	out := make([]byte, 0, streamBatch+streamBatch/4)
	send := func() error {
		if len(out) == 0 {
			return nil
		}
		_ = control.SetWriteDeadline(time.Now().Add(streamStall))
		_, err := w.Write(out)
		out = out[:0]
		if err == nil {
			err = control.Flush()
		}
		return err
	}
	d := &streamDecoder{snap: snap, req: req}
	for {
		if in.Buffered() == 0 { // before waiting for the client
			if send() != nil {
				return
			}
		}
		line, err := readStreamLine(in, &d.long)
		if len(bytes.TrimSpace(line)) > 0 {
			out = d.line(out, bytes.TrimSpace(line))
		}
		if len(out) >= streamBatch && send() != nil {
			return
		}
		if errors.Is(err, io.EOF) {
			_ = send()
			return
		}
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) { // see server.ending, access.lasting
				err = errors.New("the server has ended the stream")
			}
			out = appendStreamError(out, "unreadable", err.Error())
			_ = send()
			return
		}
	}
}

// streamDecoder decodes lines.
type streamDecoder struct {
	snap *workspace.Snapshot
	req  workspace.Request
	rec  codec.Record
	data []byte
	long []byte // a line longer than the buffer of the reader
}

// line appends the answer of a line.
func (d *streamDecoder) line(out, line []byte) []byte {
	req := d.req
	data, wrong := req.AppendLine(d.data[:0], line)
	if wrong.Code != "" {
		return appendStreamError(out, wrong.Code, wrong.Message)
	}
	d.data = data
	out, _ = d.snap.AppendDecoded(out, &d.rec, data, req)
	return out
}

// readStreamLine reads a line. It is valid until the next call.
func readStreamLine(in *bufio.Reader, long *[]byte) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	*long = (*long)[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		if *long = append(*long, line...); len(*long) > streamLine {
			return nil, fmt.Errorf("a line of more than %d bytes", streamLine)
		}
		line, err = in.ReadSlice('\n')
	}
	*long = append(*long, line...)
	return *long, err
}

func appendStreamError(out []byte, code, message string) []byte {
	text, err := json.Marshal(workspace.ErrorResult(code, message))
	if err != nil {
		return out
	}
	return append(append(out, text...), '\n')
}

// isStream reports whether the body of a request is a stream, whose size is not bounded.
func isStream(r *http.Request) bool {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return r.Method == http.MethodPost && strings.TrimSpace(kind) == streamType
}
