package emit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// Kaitai Struct descriptions, for its compiler from version 0.11 and its Web IDE.
//
// The Web IDE parses data with the first type of a file, so a file describes one stream of bytes: all messages of a group that have codes,
// or a single message. "-orig-id" is the name of a value in the definition; other numbers, offsets and counts on the wire have none. A
// value without a corresponding Kaitai type (a boolean of a byte, a scaled number) is an instance, and the name of its wire value ends in
// "_raw". Contents at an offset are instances; each element of a chained list has an entry, whose position is the next offset of the
// previous entry.

// emitKsy writes one file per group of messages, and one for each message without a code.
func emitKsy(s *schema.Schema, o Options) ([]File, []Loss) {
	losses := slices.Clone(o.lost)
	var sets []*ksySet
	byKey := map[ksyPlace]*ksySet{}
	var single []*ksyMessage
	many := len(s.Messages) > 1
	enums := map[*schema.Enum]string{}
	for _, m := range s.Messages {
		k := losses.newKsyMessage(m, enums)
		if k == nil {
			continue
		}
		place, ok := k.codePlace()
		if !ok || !many || s.ByKey[m.Key] != m {
			single = append(single, k)
			continue
		}
		if byKey[place] == nil {
			byKey[place] = &ksySet{place: place}
			sets = append(sets, byKey[place])
		}
		byKey[place].messages = append(byKey[place].messages, k)
	}
	var split []*ksySet
	for _, set := range sets {
		split = append(split, set.byDirection()...)
	}
	files := newKsyNames()
	var out []File
	left := losses.ofFeatures() // written in the first file
	for _, set := range split {
		want := o.name()
		if len(split) > 1 {
			want = strings.Trim(want+"_"+set.place.group+set.suffix, "_")
		}
		out = append(out, ksyFile(files.take(want), set.messages, set.root, left))
		left = nil
	}
	for _, k := range single {
		want := k.id
		if len(split) == 0 && len(single) == 1 && many {
			want = o.name()
		}
		out = append(out, ksyFile(files.take(want), []*ksyMessage{k}, nil, left))
		left = nil
	}
	if len(out) == 0 && len(left) > 0 { // only the reasons
		id := files.take(o.name())
		meta := yamlMap{{"meta", yamlMap{{"id", id}, {"ks-version", yamlQuoted("0.11")}}}}
		var b strings.Builder
		meta.write(&b, "")
		out = append(out, around(id+".ksy", head("# ", "ksy", &schema.Schema{}, left.kinds()), b.String(), ""))
	}
	return out, losses.kinds()
}

// ofFeatures returns the losses of messages that are omitted for their features.
func (l losses) ofFeatures() (out losses) {
	for _, x := range l {
		if slices.Contains(omitted[:], x.kind) {
			out = append(out, x)
		}
	}
	return out
}

// ksyPlace is the common header of messages that one switch can choose from. Positions are in bytes from the start of the message.
type ksyPlace struct {
	group       string
	code, bits  int
	order       schema.Order
	length      int // -1: the message has no length
	lengthBits  int
	lengthOrder schema.Order
	measured    bool
}

// codePlace returns the positions of the code of a message and of the length.
func (k *ksyMessage) codePlace() (p ksyPlace, ok bool) {
	p = ksyPlace{group: k.m.Key.Group, length: -1, measured: k.m.Measured}
	native := func(at wire.Place) bool { return at.Off%8 == 0 && isNative(at.Bits) }
	code, length := k.wire.Code, k.wire.Length
	if length.Off < code.Off && native(length) {
		p.length, p.lengthBits, p.lengthOrder = length.Off/8, length.Bits, length.Order
	}
	p.code, p.bits, p.order = code.Off/8, code.Bits, code.Order
	return p, native(code) && k.m.HasKey
}

// ksySet is messages that are distinguished by their code.
type ksySet struct {
	place    ksyPlace
	suffix   string
	messages []*ksyMessage
}

// byDirection splits a set if a code means different messages in the two directions.
func (set *ksySet) byDirection() []*ksySet {
	codes := map[uint32]bool{}
	clash := false
	for _, k := range set.messages {
		clash = clash || codes[k.m.Key.Code]
		codes[k.m.Key.Code] = true
	}
	if !clash {
		return []*ksySet{set}
	}
	var out []*ksySet
	for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
		part := &ksySet{place: set.place, suffix: "_" + dir.String()}
		taken := map[uint32]int{}
		for _, own := range []bool{true, false} { // messages of this direction only take precedence over those of both
			for _, k := range set.messages {
				if _, ok := taken[k.m.Key.Code]; !ok && (own && k.m.Key.Dir == dir || !own && k.m.Key.Dir == schema.Both) {
					taken[k.m.Key.Code] = len(part.messages)
					part.messages = append(part.messages, k)
				}
			}
		}
		if len(part.messages) > 0 {
			out = append(out, part)
		}
	}
	return out
}

// root returns the first type of a set's file, and its types other than the messages: a stream of frames, a stream of messages, or one
// datagram.
func (set *ksySet) root(names *ksyNames, ids []string) (seq []yamlMap, types yamlMap) {
	p := set.place
	message := names.take("message")
	unknown := names.take("unknown")
	cases := yamlMap{}
	for i, k := range set.messages {
		cases = append(cases, yamlPair{strconv.FormatUint(uint64(k.m.Key.Code), 10), ids[i]})
	}
	slices.SortFunc(cases, func(a, b yamlPair) int {
		x, _ := strconv.ParseUint(a.key, 10, 32)
		y, _ := strconv.ParseUint(b.key, 10, 32)
		return int(int64(x) - int64(y))
	})
	cases = append(cases, yamlPair{"_", unknown})
	peek := func(at string, bits int, order schema.Order) yamlMap {
		return yamlMap{{"pos", at}, {"type", ksyInt("u", bits, order)}}
	}
	at := strconv.Itoa(p.code)
	if p.measured && p.length < 0 {
		at = "_io.pos"
		if p.code > 0 {
			at += " + " + strconv.Itoa(p.code)
		}
	}
	types = yamlMap{
		{message, yamlMap{
			{"doc", "A message, selected by its code."},
			{"seq", []yamlMap{{{"id", "body"}, {"type", yamlMap{{"switch-on", "code"}, {"cases", cases}}}}}},
			{"instances", yamlMap{{"code", peek(at, p.bits, p.order)}}},
		}},
		{unknown, yamlMap{
			{"doc", "A message whose code has no definition."},
			{"seq", []yamlMap{{{"id", "rest"}, {"size-eos", yamlTrue}}}},
		}},
	}
	switch {
	case p.length >= 0:
		frame := names.take("frame")
		at := "_io.pos"
		if p.length > 0 {
			at += " + " + strconv.Itoa(p.length)
		}
		types = append(yamlMap{{frame, yamlMap{
			{"doc", "A message with the size given by its length. All offsets are relative to its first byte."},
			{"seq", []yamlMap{{{"id", "message"}, {"type", message}, {"size", "length"}}}},
			{"instances", yamlMap{{"length", peek(at, p.lengthBits, p.lengthOrder)}}},
		}}}, types...)
		return []yamlMap{{{"id", "frames"}, {"type", frame}, {"repeat", "eos"}}}, types
	case p.measured:
		return []yamlMap{{{"id", "messages"}, {"type", message}, {"repeat", "eos"}}}, types
	}
	return []yamlMap{{{"id", "message"}, {"type", message}}}, types
}

// ksyFile writes one file. Without a root it describes a single message. lost are losses of other messages.
func ksyFile(id string, messages []*ksyMessage, root func(*ksyNames, []string) ([]yamlMap, yamlMap), lost losses) File {
	part := &schema.Schema{}
	for _, k := range messages {
		part.Messages = append(part.Messages, k.m)
		lost = append(lost, k.losses...)
	}
	title := fmt.Sprintf("%d messages", len(messages))
	if root == nil {
		title = messageName(messages[0].m)
	}
	doc := yamlMap{{"meta", yamlMap{
		{"id", id}, {"title", title}, {"ks-version", yamlQuoted("0.11")}, {"endian", "le"}, {"bit-endian", "le"},
	}}}
	if root == nil {
		doc = append(doc, messages[0].yaml()...)
	} else {
		var from []string
		names := newKsyNames()
		names.take(id)
		var ids []string
		own := yamlMap{}
		for _, k := range messages {
			from = append(from, messageName(k.m))
			ids = append(ids, names.take(k.id))
			own = append(own, yamlPair{ids[len(ids)-1], k.yaml()})
		}
		seq, types := root(names, ids)
		doc = append(doc, yamlPair{"doc", "Generated by wirebench from the definitions of " + strings.Join(from, ", ") + "."},
			yamlPair{"seq", seq}, yamlPair{"types", append(types, own...)})
	}
	var b strings.Builder
	doc.write(&b, "")
	return around(id+".ksy", head("# ", "ksy", part, lost.kinds()), b.String(), "")
}
