package pcap

import (
	"bytes"
	"encoding/json"

	"wirebench/codec/packet"
	"wirebench/codec/scan"
)

// Packets of tshark as JSON:
//
//	[{"_index":…,"_source":{"layers":{"frame_raw":["0102…",0,46,0,1],"frame":{"frame.time_epoch":"…","frame.number":"1",…},…}}},…]
//	{"timestamp":"…","layers":{"frame_raw":"0102…","frame":{"frame_frame_time_epoch":"…",…},…}}    (ek: one per line, each after an index line)
//
// Without -x there is no frame_raw; such a text is read as rows whose columns hold the payload.

func sniffJSON(head []byte) bool {
	b := scan.StartsLikeText(head)
	return bytes.HasPrefix(b, []byte("[")) && bytes.Contains(b, []byte(`"_source"`)) && bytes.Contains(b, []byte(`"layers"`)) && bytes.Contains(b, []byte(`"frame_raw"`))
}

func sniffEK(head []byte) bool {
	b := scan.StartsLikeText(head)
	return bytes.HasPrefix(b, []byte("{")) && bytes.Contains(b, []byte(`"layers"`)) && bytes.Contains(b, []byte(`"frame_raw"`)) && bytes.Contains(b, []byte(`"timestamp"`))
}

// layersJSON is an object of either form.
type layersJSON struct {
	Timestamp string
	Layers    map[string]json.RawMessage
	Source    *struct {
		Layers map[string]json.RawMessage
	} `json:"_source"`
}

func nextJSON(r *Reader, to *exported) (bool, error) { return r.nextLayers(to) }

func nextEK(r *Reader, to *exported) (bool, error) { return r.nextLayers(to) }

// nextLayers reads the next object that has layers.
func (r *Reader) nextLayers(to *exported) (bool, error) {
	for {
		object, why := r.in.NextObject(maxExportPacket)
		if why != "" {
			return false, r.torn("%s", why)
		}
		if object == nil {
			return false, nil
		}
		to.pos = r.in.Offset()
		var x layersJSON
		err := json.Unmarshal(object, &x)
		r.in.SkipSeen(len(object))
		layers := x.Layers
		if x.Source != nil {
			layers = x.Source.Layers
		}
		if err != nil || layers == nil {
			continue // the index line of the next packet, or another object
		}
		if !to.hex(firstString(layers["frame_raw"])) {
			continue
		}
		var frame map[string]json.RawMessage
		_ = json.Unmarshal(layers["frame"], &frame) // without it there are only the bytes
		said := func(name string) string {
			for _, prefix := range []string{"frame.", "frame_frame_", "frame_"} {
				if v := firstString(frame[prefix+name]); v != "" {
					return v
				}
			}
			return ""
		}
		to.took(said("time_epoch"))
		to.took(x.Timestamp)
		to.number, to.orig = number(said("number")), number(said("len"))
		to.encapsulated(said("encap_type"))
		if !to.linked {
			to.layered(layers)
		}
		return true, nil
	}
}

// layered infers the link type from the names of the layers: jsonraw has no values.
func (x *exported) layered(layers map[string]json.RawMessage) {
	for _, l := range []struct {
		layer string
		link  packet.LinkType
	}{{"eth_raw", packet.LinkEthernet}, {"null_raw", packet.LinkNull}, {"sll_raw", packet.LinkSLL}, {"raw_raw", packet.LinkRaw}, {"ppp_raw", packet.LinkPPP}} {
		raw := layers[l.layer]
		if raw == nil {
			continue
		}
		x.link, x.linked = l.link, true
		if l.link == packet.LinkSLL && len(firstString(raw)) == 2*20 {
			x.link = packet.LinkSLL2
		}
		return
	}
}

// firstString returns a string, a number, or the first of a list if that is one; else "".
func firstString(raw json.RawMessage) string {
	for range 4 { // several layers of one name are nested lists
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 {
			return ""
		}
		switch {
		case raw[0] == '"':
			var s string
			if json.Unmarshal(raw, &s) != nil {
				return ""
			}
			return s
		case raw[0] == '[':
			var list []json.RawMessage
			if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
				return ""
			}
			raw = list[0]
		case scan.IsDigit(raw[0]):
			return string(raw)
		default:
			return ""
		}
	}
	return ""
}
