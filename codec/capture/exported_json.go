package capture

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Packets of tshark as JSON:
//
//	[{"_index":…,"_source":{"layers":{"frame_raw":["0102…",0,46,0,1],"frame":{"frame.time_epoch":"…","frame.number":"1",…},…}}},…]
//	{"timestamp":"…","layers":{"frame_raw":"0102…","frame":{"frame_frame_time_epoch":"…",…},…}}    (ek: a line each, with one about it before)
//
// Without -x there is no frame_raw; then the text is none of these forms, but rows whose columns hold the payload.

func sniffJSON(head []byte) bool {
	b := startsLikeText(head)
	return bytes.HasPrefix(b, []byte("[")) && bytes.Contains(b, []byte(`"_source"`)) && bytes.Contains(b, []byte(`"layers"`)) && bytes.Contains(b, []byte(`"frame_raw"`))
}

func sniffEK(head []byte) bool {
	b := startsLikeText(head)
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
		object, why := r.in.nextObject(maxExportPacket)
		if why != "" {
			return false, r.torn("%s", why)
		}
		if object == nil {
			return false, nil
		}
		to.pos = r.in.pos
		var x layersJSON
		err := json.Unmarshal(object, &x)
		r.in.skipSeen(len(object))
		layers := x.Layers
		if x.Source != nil {
			layers = x.Source.Layers
		}
		if err != nil || layers == nil {
			continue // the line about the next one, or what is none
		}
		if !to.hex(firstString(layers["frame_raw"])) {
			continue
		}
		var frame map[string]json.RawMessage
		_ = json.Unmarshal(layers["frame"], &frame) // without it there is less to say
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

// layered tells the link type by the names of the layers: jsonraw has no values.
func (x *exported) layered(layers map[string]json.RawMessage) {
	for _, l := range []struct {
		layer string
		link  LinkType
	}{{"eth_raw", LinkEthernet}, {"null_raw", LinkNull}, {"sll_raw", LinkSLL}, {"raw_raw", LinkRaw}, {"ppp_raw", LinkPPP}} {
		raw := layers[l.layer]
		if raw == nil {
			continue
		}
		x.link, x.linked = l.link, true
		if l.link == LinkSLL && len(firstString(raw)) == 2*20 {
			x.link = LinkSLL2
		}
		return
	}
}

// firstString is a string, a number, or the first of a list that is one; else "".
func firstString(raw json.RawMessage) string {
	for range 4 { // frames of several layers of a name are lists of lists
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
		case isDigit(raw[0]):
			return string(raw)
		default:
			return ""
		}
	}
	return ""
}

// nextObject finds the next JSON object, whatever stands between objects of a list or of lines. It is in the input still. It is nil at
// the end, of the list too. why says that it has no end, or is too large.
func (in *input) nextObject(most int) (object []byte, why string) {
	for {
		b := in.peek(1)
		if len(b) == 0 {
			return nil, ""
		}
		if b[0] == '{' {
			break
		}
		if b[0] == ']' {
			return nil, ""
		}
		if b[0] == '"' {
			return nil, "a string stands where an object was expected"
		}
		in.skip(1)
	}
	want, depth, quoted := 4<<10, 0, false
	for at := 0; ; want *= 2 {
		b := in.peek(min(want, most))
		for ; at < len(b); at++ {
			switch c := b[at]; {
			case quoted && c == '\\':
				at++
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '{':
				depth++
			case c == '}':
				if depth--; depth == 0 {
					return b[:at+1], ""
				}
			}
		}
		if len(b) >= most {
			return nil, "an object is larger than is read"
		}
		if len(b) < want {
			return nil, "the file ends in an object"
		}
	}
}

// seek passes over JSON up to the list that a name stands before, and reports whether there is one.
func (in *input) seekList(name string) bool {
	var said strings.Builder
	found := false // the last thing was the name
	for {
		b := in.peek(1)
		if len(b) == 0 {
			return false
		}
		c := b[0]
		in.skip(1)
		switch c {
		case ' ', '\t', '\r', '\n', ':':
		case '[':
			if found {
				return true
			}
		case '"':
			said.Reset()
			for closed := false; !closed; {
				b := in.peek(1)
				if len(b) == 0 {
					return false
				}
				c := b[0]
				in.skip(1)
				switch {
				case c == '"':
					closed = true
				case c == '\\':
					in.skip(1)
				case said.Len() <= len(name):
					said.WriteByte(c)
				}
			}
			found = said.String() == name
			continue
		default:
			found = false
		}
	}
}
