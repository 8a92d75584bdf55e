package api

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/server/captures"
	"wirebench/server/store"
)

// Limits of the packets in one answer, in captured bytes.
const (
	maxPacketShown  = 256 << 10
	maxPacketsShown = 4 << 20
	maxClearAtOnce  = 2 // requests that decrypt packets again
)

type packetsInput struct {
	CapturePath
	N     []uint32 `query:"n" required:"true" minItems:"1" maxItems:"100" doc:"numbers of packets, from 1"`
	Clear bool     `query:"clear" doc:"also return their decrypted payloads"`
	Conn  string   `query:"conn" maxLength:"200" doc:"with clear: their connection, client-server, so that no others are read"`
}

type packetsOutput struct{ Body PacketList }

// PacketList lists packets of a capture.
type PacketList struct {
	Packets []PacketInfo `json:"packets" doc:"the requested packets that the file has, by number"`
	Note    string       `json:"note,omitempty" doc:"why there are none"`
}

// PacketInfo is a captured packet.
type PacketInfo struct {
	N        uint32 `json:"n" doc:"number in the file, from 1"`
	Link     uint32 `json:"link" doc:"link type, a number of tcpdump.org/linktypes.html"`
	Time     string `json:"time,omitempty"`
	Captured int    `json:"captured" doc:"captured bytes"`
	Size     uint32 `json:"size" doc:"original size in bytes"`
	Payload  *int   `json:"payload,omitempty" doc:"offset of the TCP or UDP payload; missing if there is none or it is incomplete"`
	Length   int    `json:"length,omitempty" doc:"captured bytes of the payload"`
	Comment  string `json:"comment,omitempty" doc:"of the file"`
	Hex      string `json:"hex" doc:"the packet, from its first byte"`
	Clear    string `json:"clear,omitempty" doc:"its decrypted payload; missing unless requested, encrypted and the key is known"`
	Cut      bool   `json:"cut,omitempty" doc:"hex is truncated"`
}

// packets answers with captured packets by number.
func (s *API) packets(ctx context.Context, in *packetsInput) (*packetsOutput, error) {
	ws, x, err := s.captureAt(in.CapturePath)
	if err != nil {
		return nil, err
	}
	out := &packetsOutput{}
	out.Body.Packets = []PacketInfo{}
	want := slices.Clone(in.N)
	slices.Sort(want)
	want = slices.Compact(want)
	left := maxPacketsShown
	payloads := map[uint32][]byte{}
	err = ws.Captures.Packets(ctx, in.ID, want, func(p *packet.Packet) bool {
		_, comment := pcap.FramesTold(p)
		info := PacketInfo{N: p.N, Link: uint32(p.Link), Captured: len(p.Data), Size: max(p.Orig, uint32(len(p.Data))), Comment: comment}
		if !p.At.IsZero() {
			info.Time = p.At.Format("2006-01-02T15:04:05.000000000Z")
		}
		if off, size, ok := p.Payload(); ok {
			info.Payload, info.Length = &off, size
			if in.Clear && size > 0 && size <= min(maxPacketShown, left) {
				payloads[p.N] = slices.Clone(p.Data[off : off+size])
			}
		}
		shown := p.Data[:min(len(p.Data), maxPacketShown, left)]
		left -= len(shown)
		info.Hex, info.Cut = hex.EncodeToString(shown), len(shown) < len(p.Data)
		out.Body.Packets = append(out.Body.Packets, info)
		return true
	})
	if errors.Is(err, pcap.ErrFormat) {
		if out.Body.Note = "the file is a text, without packets"; x.Framing != "" {
			out.Body.Note = "the file is raw bytes, without packets"
		}
		return out, nil
	}
	if err == nil && len(payloads) > 0 {
		err = s.putClear(ctx, ws, x, in.Conn, out.Body.Packets, payloads)
	}
	if err != nil {
		return nil, captureProblem(err)
	}
	return out, nil
}

// putClear adds the decrypted payloads to the packets of an answer.
func (s *API) putClear(ctx context.Context, ws *space, x store.Capture, conn string, packets []PacketInfo, data map[uint32][]byte) error {
	select { // each reads a file from its start, so their number is limited
	case s.clearing <- struct{}{}:
		defer func() { <-s.clearing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	done, err := captures.Decipher(ctx, ws.Captures, ws.Snapshot, x, conn, data)
	for i := range packets {
		if p := &packets[i]; done[p.N] {
			p.Clear = hex.EncodeToString(data[p.N])
		}
	}
	return err
}
