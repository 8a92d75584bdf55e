package defs

import (
	"fmt"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/muta"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/subspace"
	"wirebench/defs/tera"
)

// Dialect is one language of definitions.
type Dialect struct {
	Name  string // "tera", as on the command line
	Title string // for people

	// Versions says that a file is one version of one message and is named NAME.VERSION.def. Else a file has as many messages as it
	// likes, and they have no versions.
	Versions bool

	// IsLine tells lines that no other dialect has, or hardly ever. Of dialects that take the same line for theirs the later row wins.
	IsLine func(line string) bool

	// IsFile tells names of files that this dialect alone has; nil if it has none.
	IsFile func(name string) bool

	// Rules make messages of files. They never fail: the messages have what could be understood.
	Rules *build.Rules

	// Options are what the meaning of definitions depends on beside their text.
	Options []schema.Option

	// Format writes one file in its canonical form. It keeps the meaning and the comments.
	Format func(f *source.File) (string, diag.List)

	// Frames read what every message starts with, each for the group of its key, so that messages without a definition can be told.
	// Of several the first that a message does not contradict is the right one. None if definitions alone say what messages start with.
	Frames []*schema.Message

	// Alternate is the header that single frames are recognised to have in place of the usual one; nil if all messages have one header.
	Alternate *Header

	// Codes are the files with the codes of messages; nil if the definitions give them.
	Codes *CodeMaps

	// Constants reads values of the named numbers that definitions use without giving their values; nil if there are no such numbers.
	Constants func(f *source.File) (map[string]string, diag.List)

	Language schema.Language // its words, for editors

	New     string       // name of a new definition
	Begin   string       // what a new definition starts with; $NAME in it is its name
	Example *source.File // a small definition without mistakes, already in its canonical form
}

// Header is a header that messages may have in place of the one that their definitions give them.
type Header struct {
	Name string                                  // by which transports mark its frames in Frame.Via
	Of   func(m *schema.Message) *schema.Message // m behind this header, with m in AlternateOf; m itself if it cannot have it
}

// Dialects are the languages that can be read. The first is what is meant where nothing tells.
var Dialects = []Dialect{
	{
		Name:      "tera",
		Title:     "TERA .def",
		Versions:  true,
		IsLine:    tera.IsLine,
		IsFile:    func(name string) bool { _, ok := tera.ParseFileName(name); return ok },
		Codes:     &CodeMaps{Is: tera.IsCodeMap, Read: tera.ParseMap},
		Rules:     &tera.Rules,
		Options:   tera.Options,
		Format:    tera.Format,
		Frames:    []*schema.Message{tera.Frame()},
		Alternate: &Header{Name: "integrity", Of: tera.LongHeader},
		Language:  tera.Language(),
		New:       "C_NEW_MESSAGE",
		Begin:     "# what $NAME says\n\n",
		Example:   source.New("C_EDIT_PRIVATE_CHANNEL.1.def", teraExample),
	},
	{
		Name:      "muta",
		Title:     "MUTA packetwriter",
		IsLine:    muta.IsHeader,
		Rules:     &muta.Rules,
		Format:    muta.Format,
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
		Rules:    &subspace.Rules,
		Format:   subspace.Format,
		Frames:   subspace.Frames(),
		Language: subspace.Language(),
		New:      "new_packets",
		Begin:    subspaceBegin,
		Example:  source.New("game_c2s.def", subspaceExample),
	},
}

const teraExample = `# the members, name and password of a private chat channel

uint16 password

array    members
- uint32 playerId

string name # without the number of the channel
`

const mutaBegin = `# what $NAME says

group: $NAME

packet: first_packet
   __group = $NAME
`

const mutaExample = `# what the server says

group: svmsg

packet: character_created
   __group = svmsg
   id      = uint64
   name    = char {16}
   race    = uint8
   sex     = uint8
   map_id  = uint32
`

const subspaceBegin = `# what $NAME is about

direction c2s

0x40 first packet
offset size comment
1      1    u8 kind
2      ?    text words
`

const subspaceExample = `# what clients say to each other

0x06 chat (c2s)
offset size comment
0      1    type 0x06
1      1    u8 kind (arena = 0, public = 2, private = 5)
2      1    u8 sound
3      2    i16 target (-1..)
5      ?    cstr text
`

// Options are those of all dialects. Their names differ.
func Options() []schema.Option {
	var all []schema.Option
	for _, d := range Dialects {
		all = append(all, d.Options...)
	}
	return all
}

// CheckOption reads the value of an option by its name.
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
