package subspace

import (
	"encoding/binary"
	"strconv"
	"strings"

	"wirebench/codec/transport"
)

// Layers are the packets of the core protocol.
var Layers = transport.Layers{
	Group: "core",
	Is:    func(data []byte) bool { return len(data) > 0 && data[0] == 0 },
	Fields: []transport.LayerField{
		{Name: "ack_id", Doc: "numbers of the frame's own, enclosing or acknowledged reliable packets", Value: func(x *transport.Frame, i int) (v int64, there, more bool) {
			return layerNumber(x, i, true)
		}},
		{Name: "reliable_id", Doc: "numbers of the frame's own and enclosing reliable packets", Value: func(x *transport.Frame, i int) (v int64, there, more bool) {
			return layerNumber(x, i, false)
		}},
		{Name: "type", Doc: "codes of the frame's own and enclosing core packets: 3 reliable, 8 and 9 chunk, 0x0a stream, 0x0e cluster", Codes: true, Value: layerCode},
	},
}

// layerCode returns the code of the frame itself, if it is a core packet, then the codes of each layer.
func layerCode(x *transport.Frame, i int) (v int64, there, more bool) {
	if i == 0 {
		return int64(x.Key.Code), isCore(x), true
	}
	i--
	if i/2 >= len(x.Via) {
		return 0, false, false
	}
	code := layerCodes(x.Via[i/2])[i%2]
	return int64(code), code != 0, true
}

// layerCodes returns the codes of a layer by its name in Via, up to the colon; 0 means none. Chunks end with a separate packet type.
func layerCodes(via string) (codes [2]byte) {
	name, _, _ := strings.Cut(via, ":")
	switch name {
	case "reliable":
		codes[0] = coreReliable
	case "chunk":
		codes = [2]byte{coreChunk, coreChunkTail}
	case "stream":
		codes[0] = coreStream
	case "cluster":
		codes[0] = coreCluster
	}
	return codes
}

// layerNumber returns the number of the frame itself, if it is a reliable packet, or an ack if acks is true, then the numbers of the
// layers.
func layerNumber(x *transport.Frame, i int, acks bool) (v int64, there, more bool) {
	if i == 0 {
		if isCore(x) && len(x.Bytes) >= 6 && (x.Key.Code == coreReliable || acks && x.Key.Code == coreAck) {
			return int64(int32(binary.LittleEndian.Uint32(x.Bytes[2:]))), true, true
		}
		return 0, false, true
	}
	if i > len(x.Via) {
		return 0, false, false
	}
	number, is := strings.CutPrefix(x.Via[i-1], "reliable:")
	if !is {
		return 0, false, true
	}
	v, err := strconv.ParseInt(number, 10, 64)
	return v, err == nil, true
}

func isCore(x *transport.Frame) bool { return x.HasKey && x.Key.Group == "core" }
