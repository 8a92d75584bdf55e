package proxy

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/server/live"
)

// withFrames makes a session with a rewriter record its frames, into a temporary folder if it has no recording.
func withFrames(t *testing.T, cfg *Config) {
	record := Record{Create: folder(t.TempDir())}
	if cfg.Record != nil {
		record = *cfg.Record
	}
	record.Cut = func() string { return "so" }
	cfg.Record = &record
}

// sameAgain checks, at the end of a test, that the recording of a session contains the frames of its log: their numbers, bytes, flags and
// notes, including dropped ones.
func sameAgain(t *testing.T, s *Session) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_ = s.Stop(ctx)
		<-s.Done()
		state := s.State().Record
		if t.Failed() || s.Log().Base() > 0 || state.Why != "" || state.Missed > 0 {
			return
		}
		n := 0
		for i, data := range files(t, s) {
			_, err := pcap.Read(bytes.NewReader(data), packet.Options{Recorded: func(cut string) bool { return cut == "so" }}, func(f *transport.Frame) {
				e, want, ok := s.Log().Get(n)
				if n++; !ok {
					t.Errorf("%d frames are recorded, and %d are in the log", n, s.Log().Len())
					return
				}
				x := s.Log().Extra(e)
				conn := s.Log().Conns()[e.Conn]
				got, had := toldFrame(f, f.Marks, f.Conn.Name(), f.Conn.Session), toldFrame(&transport.Frame{
					Kind: e.Kind, Dir: e.Dir, At: e.Time(), HasKey: e.HasKey, Name: x.Name, Bytes: want, Via: x.Via, Offset: x.Offset, Length: x.Length, Note: x.Note,
					Resumed: e.Flags&live.Resumed != 0,
				}, e.Flags.Marks(), conn.Name, conn.Session)
				if got += fmt.Sprint(f.Key.Group, f.Key.Code); got != had+fmt.Sprint(s.Log().Group(e), e.Code) {
					t.Errorf("frame %d is recorded as\n%s and is\n%s", n, got, had)
				}
				from := append([]transport.Source(nil), f.From...)
				for j := range from {
					from[j].Packet += uint32(state.Files[i].First) - 1
				}
				if len(from) > 0 && !reflect.DeepEqual(from, x.From) || len(from) == 0 && len(x.From) > 0 && i == 0 {
					t.Errorf("frame %d is recorded from %v and is from %v", n, from, x.From)
				}
			})
			if err != nil {
				t.Error(err)
			}
		}
		if n != s.Log().Len() {
			t.Errorf("%d frames are recorded, and %d are in the log", n, s.Log().Len())
		}
	})
}

func toldFrame(f *transport.Frame, marks transport.Marks, conn string, session int) string {
	return fmt.Sprint(f.Kind, f.Dir, f.At.UnixNano(), f.HasKey, f.Name, " ", strings.Join(f.Via, ","), " ", f.Offset, f.Length, f.Resumed, marks, conn, session, f.Note, fmt.Sprintf("%x", f.Bytes))
}
