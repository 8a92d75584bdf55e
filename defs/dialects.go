package defs

import (
	"fmt"
	"slices"

	"wirebench/defs/build"
	"wirebench/defs/cstruct"
	"wirebench/defs/diag"
	"wirebench/defs/edit"
	"wirebench/defs/emit"
	"wirebench/defs/kaitai"
	"wirebench/defs/mavlink"
	"wirebench/defs/muta"
	"wirebench/defs/protobuf"
	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/subspace"
	"wirebench/defs/tera"
)

// Dialect is one language of definitions.
type Dialect struct {
	Name  string // as in flags and settings: "tera"
	Title string // shown to users

	// Versions reports whether a file holds one version of one message and is named NAME.VERSION.def. Otherwise a file holds any number
	// of messages, and they have no versions.
	Versions bool

	// IsLine reports whether a line is characteristic of this dialect. If several dialects claim a line, the last row wins.
	IsLine func(line string) bool

	// IsFile reports whether a file name is specific to this dialect; nil if the dialect has no such names.
	IsFile func(name string) bool

	// IsText reports whether a text is in this dialect, for files that Rules.Reads by their names. Nil if files have the extension .def,
	// as those of other dialects.
	IsText func(text string) bool

	// Ext is the extension of new files, with its dot.
	Ext string

	// Rules parse and lower files to messages. They never fail: messages contain everything that was valid.
	Rules *build.Rules

	// Options are the settings that the meaning of definitions depends on.
	Options []schema.Option

	// Format returns a file in canonical form, with its meaning and comments preserved.
	Format func(f *source.File) (string, diag.List)

	// Edits change definitions field by field.
	Edits *edit.Rules

	// Frames describe the common start of all messages, each for the group of its key, so that frames without a definition can be
	// identified. The first one that a frame does not contradict applies. Empty if there is no common start.
	Frames []*schema.Message

	// Guess reports whether codes depend on a group that the bytes of a message do not tell. Without a group, messages are identified by
	// the definition that decodes them exactly.
	Guess bool

	// Alternate is the header that individual frames may have in place of the usual one; nil if all messages have the same header.
	Alternate *Header

	// Codes describes the files with the codes of messages; nil if the codes are part of the definitions.
	Codes *CodeMaps

	// Contents reports that messages are contents alone: the code of an envelope is never in them.
	Contents bool

	// Validity describes the file with the versions of the game that definitions are valid for; nil if there is none.
	Validity *ValidityFile

	// Bundle describes files that have a whole library; nil if there are none.
	Bundle *BundleFile

	// Constants reads the values of constants that definitions use but do not define; nil if the dialect has no such constants.
	Constants func(f *source.File) (map[string]string, diag.List)

	// Sessions finds the groups of messages for dissectors; nil if groups follow the direction.
	Sessions *emit.Sessions

	Language schema.Language // keywords and types, for editors

	New     string       // default name of a new definition
	Begin   string       // initial text of a new definition; $NAME stands for its name
	Example *source.File // a small valid definition in canonical form
}

// Header is a header that messages may have in place of the one in their definitions.
type Header struct {
	Name string                                  // set by transports in Frame.Via
	Of   func(m *schema.Message) *schema.Message // returns m with this header and m as AlternateOf; m itself if it cannot have this header
}

// Dialects are the supported languages. The first is the default.
var Dialects = []Dialect{
	{
		Name:      "tera",
		Title:     "TERA .def",
		Versions:  true,
		IsLine:    tera.IsLine,
		IsFile:    func(name string) bool { _, ok := tera.ParseFileName(name); return ok },
		Codes:     &CodeMaps{Is: tera.IsCodeMap, Read: tera.ParseMap, Set: tera.SetCodes, Rename: tera.RenameInMap, Options: tera.MapOptions, Versions: tera.Revisions, Build: tera.BuildOfMap, NameOf: tera.MapOfBuild, Max: 0xFFFF, New: "protocol.map"},
		Validity:  &ValidityFile{Is: tera.IsDeprecated, Read: tera.ParseDeprecated, Rename: tera.RenameDeprecated},
		Bundle:    &BundleFile{Exts: []string{".json"}, Is: tera.IsBundle, Read: tera.ReadBundle},
		Ext:       ".def",
		Rules:     &tera.Rules,
		Options:   tera.Options,
		Format:    tera.Format,
		Edits:     &tera.Edits,
		Frames:    []*schema.Message{tera.Frame()},
		Alternate: &Header{Name: "integrity", Of: tera.LongHeader},
		Language:  tera.Language(),
		New:       "C_NEW_MESSAGE",
		Begin:     "# description of $NAME\n\n",
		Example:   source.New("C_EDIT_PRIVATE_CHANNEL.1.def", teraExample),
	},
	{
		Name:      "muta",
		Title:     "MUTA packetwriter",
		IsLine:    muta.IsHeader,
		Ext:       ".def",
		Rules:     &muta.Rules,
		Options:   []schema.Option{schema.Encoding},
		Format:    muta.Format,
		Edits:     &muta.Edits,
		Constants: muta.ParseConstants,
		Language:  muta.Language(),
		New:       "new_protocol",
		Begin:     mutaBegin,
		Example:   source.New("login.def", mutaExample),
	},
	{
		Name:     "subspace",
		Title:    "SubSpace offset tables",
		IsLine:   subspace.IsTableLine,
		Ext:      ".def",
		Rules:    &subspace.Rules,
		Options:  []schema.Option{schema.Encoding},
		Format:   subspace.Format,
		Edits:    &subspace.Edits,
		Frames:   subspace.Frames(),
		Sessions: &emit.Sessions{Lua: subspace.Sessions, Named: subspace.Untyped()},
		Language: subspace.Language(),
		New:      "new_packets",
		Begin:    subspaceBegin,
		Example:  source.New("game_c2s.def", subspaceExample),
	},
	{
		Name:     "protodef",
		Title:    "ProtoDef",
		IsLine:   protodef.IsLine,
		IsText:   protodef.IsText,
		Ext:      ".json",
		Rules:    &protodef.Rules,
		Format:   protodef.Format,
		Edits:    &protodef.Edits,
		Frames:   protodef.Frames(),
		Guess:    true,
		Language: protodef.Language(),
		New:      "protocol",
		Begin:    protodefBegin,
		Example:  source.New("protocol.json", protodefExample),
	},
	{
		Name:     "mavlink",
		Title:    "MAVLink",
		IsLine:   mavlink.IsLine,
		IsText:   mavlink.IsText,
		Ext:      ".xml",
		Rules:    &mavlink.Rules,
		Options:  []schema.Option{schema.Encoding},
		Format:   mavlink.Format,
		Edits:    &mavlink.Edits,
		Language: mavlink.Language(),
		New:      "vehicle",
		Begin:    mavlinkBegin,
		Example:  source.New("boat.xml", mavlinkExample),
	},
	{
		Name:      "c",
		Title:     "C structs",
		IsLine:    cstruct.IsLine,
		IsText:    cstruct.IsText,
		Ext:       ".h",
		Rules:     &cstruct.Rules,
		Options:   []schema.Option{cstruct.Endian, cstruct.DataModel, schema.Encoding},
		Format:    cstruct.Format,
		Edits:     &cstruct.Edits,
		Guess:     true,
		Codes:     &plainCodes,
		Constants: muta.ParseConstants,
		Language:  cstruct.Language(),
		New:       "messages",
		Begin:     cBegin,
		Example:   source.New("login.h", cExample),
	},
	{
		Name:     "kaitai",
		Title:    "Kaitai Struct",
		IsLine:   kaitai.IsLine,
		IsText:   kaitai.IsText,
		Ext:      ".ksy",
		Rules:    &kaitai.Rules,
		Format:   kaitai.Format,
		Edits:    &kaitai.Edits,
		Guess:    true,
		Codes:    &plainCodes,
		Language: kaitai.Language(),
		New:      "new_format",
		Begin:    kaitaiBegin,
		Example:  source.New("chat.ksy", kaitaiExample),
	},
	{
		Name:     "protobuf",
		Title:    "Protocol Buffers",
		IsLine:   protobuf.IsLine,
		IsText:   protobuf.IsText,
		Ext:      ".proto",
		Contents: true,
		Rules:    &protobuf.Rules,
		Format:   protobuf.Format,
		Edits:    &protobuf.Edits,
		Guess:    true,
		Codes:    &plainCodes,
		Bundle:   &BundleFile{Exts: protobuf.SetExts, Is: protobuf.IsSet, Read: protobuf.ReadSet},
		Language: protobuf.Language(),
		New:      "messages",
		Begin:    protobufBegin,
		Example:  source.New("chat.proto", protobufExample),
	},
}

// plainCodes are the code maps of languages whose definitions need not have codes.
var plainCodes = CodeMaps{Is: tera.IsCodeMap, Read: tera.ParseMap, Set: tera.SetCodes, Rename: tera.RenameInMap, Options: anyVersion, Build: noBuild, NameOf: noBuild, Max: 0xFFFF, New: "opcodes.map"}

// anyVersion and noBuild are for code maps that tell nothing of the game.
func anyVersion(*source.File, []byte) map[string]string { return nil }

func noBuild(string) string { return "" }

const cBegin = `// description of $NAME
#pragma once
#include <stdint.h>

#pragma pack(push, 1)

struct first_message {
    uint16_t level;
    char     name[16];
};

#pragma pack(pop)
`

const cExample = `#include <stdint.h>

#define NAME_SIZE 16

enum race { HUMAN, ELF = 2, DWARF };

#pragma pack(push, 1)

// answers a login
struct login_result {
    uint32_t account;
    uint8_t  count;
    struct {
        char      name[NAME_SIZE];
        enum race race : 8;
        uint8_t   level : 7;
        uint8_t   dead : 1;
        float     position[3];
    } characters[]; // @count count
};

#pragma pack(pop)
`

const teraExample = `# the members, name and password of a private chat channel

uint16 password

array    members
- uint32 playerId

string name # without the number of the channel
`

const mutaBegin = `# description of $NAME

group: $NAME

packet: first_packet
   __group = $NAME
`

const mutaExample = `# messages of the server

group: svmsg

packet: character_created
   __group = svmsg
   id      = uint64
   name    = char {16}
   race    = uint8
   sex     = uint8
   map_id  = uint32
`

const subspaceBegin = `# description of $NAME

direction c2s

0x40 first packet
offset size comment
1      1    u8 kind
2      ?    text words
`

const subspaceExample = `# chat between clients

0x06 chat (c2s)
offset size comment
0      1    type 0x06
1      1    u8 kind (arena = 0, public = 2, private = 5)
2      1    u8 sound
3      2    i16 target (-1..)
5      ?    cstr text
`

const protodefBegin = `// description of $NAME
{
  "types": {
    "string": ["pstring", {"countType": "varint"}]
  },
  "toServer": {
    "types": {
      "hello": ["container", [
        {"name": "name", "type": "string"}
      ]],
      "packet": ["container", [
        {"name": "name", "type": ["mapper", {"type": "varint", "mappings": {"0": "hello"}}]},
        {"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"hello": "hello"}}]}
      ]]
    }
  }
}
`

const protodefExample = `{
  "types": {"string": ["pstring", {"countType": "varint"}]},
  "toServer": {
    "types": {
      "chat": ["container", [
        {"name": "channel", "type": ["mapper", {"type": "u8", "mappings": {"0": "world", "1": "group"}}]},
        {"name": "group", "type": ["switch", {"compareTo": "channel", "fields": {"group": "varint"}}]},
        {"name": "text", "type": "string"},
        {"name": "reply_to", "type": ["option", "varint"]}
      ]],
      "packet": ["container", [
        {"name": "name", "type": ["mapper", {"type": "varint", "mappings": {"0x05": "chat"}}]},
        {"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"chat": "chat"}}]}
      ]]
    }
  }
}
`

const mavlinkBegin = `<?xml version="1.0"?>
<!-- description of $NAME -->
<mavlink>
  <messages>
    <message id="180" name="STATUS">
      <description>What the message is for.</description>
      <field type="uint16_t" name="voltage" units="mV">battery voltage</field>
    </message>
  </messages>
</mavlink>
`

const mavlinkExample = `<?xml version="1.0"?>
<mavlink>
  <enums>
    <enum name="SAIL" bitmask="true">
      <entry value="1" name="SAIL_FORE"/>
      <entry value="2" name="SAIL_MAIN"/>
    </enum>
  </enums>
  <messages>
    <message id="180" name="BOAT">
      <description>The state of a boat.</description>
      <field type="uint8_t" name="sails" enum="SAIL">sails that are set</field>
      <field type="uint16_t" name="heading" units="cdeg">heading</field>
      <field type="float[2]" name="wind" units="m/s">wind from north and east</field>
      <field type="char[10]" name="name">name of the boat</field>
    </message>
  </messages>
</mavlink>
`

const protobufBegin = `// description of $NAME
syntax = "proto3";

message FirstMessage {
  uint32 level = 1;
  string name = 2;
}
`

const protobufExample = `syntax = "proto3";

// a line of a chat between clients
message Chat {
  Channel channel = 1;
  string text = 2;
  repeated uint32 seen_by = 3;
  double heard = 4; // how far away, in meters

  enum Channel {
    WORLD = 0;
    GROUP = 1;
  }
}
`

const kaitaiBegin = `meta:
  id: $NAME
  endian: le
doc: description of $NAME
seq:
  - id: first
    type: u4
`

const kaitaiExample = `meta:
  id: chat
  endian: be
  encoding: UTF-8
doc: a line of a chat between clients
seq:
  - id: channel
    type: u1
    enum: channel
  - id: group
    type: u2
    if: channel == channel::group
  - id: len_text
    type: u1
  - id: text
    type: str
    size: len_text
  - id: num_seen
    type: u1
  - id: seen_by
    type: u4
    repeat: expr
    repeat-expr: num_seen
enums:
  channel:
    0: world
    1: group
`

// Options returns the options of all dialects. Their names are unique: dialects may share an option.
func Options() []schema.Option {
	var all []schema.Option
	for _, d := range Dialects {
		for _, o := range d.Options {
			if !slices.ContainsFunc(all, func(x schema.Option) bool { return x.Name == o.Name }) {
				all = append(all, o)
			}
		}
	}
	return all
}

// CheckOption returns the canonical form of a value of the named option.
func CheckOption(name, value string) (string, error) {
	for _, o := range Options() {
		if o.Name == name {
			return o.Check(value)
		}
	}
	return "", fmt.Errorf("there is no option %s", name)
}

// Find returns the dialect of that name.
func Find(name string) (Dialect, bool) {
	for _, d := range Dialects {
		if d.Name == name {
			return d, true
		}
	}
	return Dialect{}, false
}
