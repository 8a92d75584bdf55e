package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wirebench/server/servertest"
	"wirebench/server/wsconn"
)

// One person with many connections of many channels holds a bounded number of panes, and of bytes in queues; a page of another person works.
func TestOnePersonHoldsABoundedShare(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	h := httptest.NewServer(s)
	defer h.Close()
	var opened, refused atomic.Int64
	const connections, channels = 130, 15
	for range connections {
		c, err := wsconn.Dial(t.Context(), "ws"+strings.TrimPrefix(h.URL, "http")+"/ws/one/page", http.Header{"Origin": {h.URL}}, 8<<20)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Drop()
		go func() {
			for {
				text, err := c.Read(context.Background())
				if err != nil {
					return
				}
				var m struct {
					Message json.RawMessage
					Closed  *string
				}
				switch {
				case json.Unmarshal(text, &m) != nil:
				case m.Closed != nil && (strings.Contains(*m.Closed, "of this kind") || strings.Contains(*m.Closed, "close some first")):
					refused.Add(1)
				case m.Message != nil:
					opened.Add(1)
				}
			}
		}()
		for id := range channels {
			for _, text := range []string{fmt.Sprintf(`{"id":%d,"open":"page"}`, id+1), fmt.Sprintf(`{"id":%d,"message":{"n":1,"set":{"definition":"int32 x\n","input":"00","value":"","edits":{}}}}`, id+1)} {
				if err := c.Write(t.Context(), []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for end := time.Now().Add(60 * time.Second); opened.Load()+refused.Load() < connections*channels; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d panes are open, %d refused", opened.Load(), refused.Load())
		}
	}
	if opened.Load() != maxPanes {
		t.Errorf("%d panes are open, %d refused; at most %d", opened.Load(), refused.Load(), maxPanes)
	}
	if leave, err := s.panes.enter("another", "x"); err != nil {
		t.Errorf("another person: %v", err)
	} else {
		leave()
	}
}
