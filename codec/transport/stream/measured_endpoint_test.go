package stream_test

import (
	"errors"
	"slices"
	"testing"

	"wirebench/codec/transport"
	"wirebench/codec/transport/stream"
	"wirebench/defs/schema"
)

// TestEndpoints runs two endpoints, with the stream split at every byte.
func TestEndpoints(t *testing.T) {
	client := stream.NewEndpoint(stream.Measured(measure), schema.ToServer)
	server := stream.NewEndpoint(stream.Measured(measure), schema.ToClient)
	var got []string
	r := &transport.Relay{Emit: func(f *transport.Frame) { got = append(got, f.Kind.String()+" "+f.Dir.String()+" "+string(f.Bytes)) }}
	send := &transport.Relay{Out: func(s transport.Segment) {
		for i := range s.Bytes {
			server.Feed(s.Bytes[i:i+1], false, at, r)
		}
	}}
	for _, m := range []string{"\x01\x01a", "\x03\x03xyz"} {
		if err := client.Send(transport.Outgoing{Bytes: []byte(m)}, at, send); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range []string{"", "\x01\x02a", "\x01\x01ab"} {
		if err := client.Send(transport.Outgoing{Bytes: []byte(m)}, at, send); err == nil {
			t.Errorf("%q is sent", m)
		}
	}
	if want := []string{"message c2s \x01\x01a", "message c2s \x03\x03xyz"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	client.Close(at, send)
	if err := client.Send(transport.Outgoing{Bytes: []byte("\x01\x01a")}, at, send); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("a closed end sends: %v", err)
	}
	if ok, never, _ := client.Ready(); ok || !never {
		t.Error("a closed end is ready")
	}
}
