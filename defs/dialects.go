package defs

import (
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tera"
)

// Dialect is one language of definitions.
type Dialect struct {
	Name  string // "tera", as on the command line
	Title string // for people

	// Parse makes a schema of a set of files. It never fails: the schema has what could be understood.
	Parse func(files []*source.File, o schema.Options) (*schema.Schema, diag.List)

	// Format writes one file in its canonical form. It keeps the meaning and the comments.
	Format func(f *source.File) (string, diag.List)

	// Frame reads what every message starts with, for messages without a definition. Nil if nothing tells where such a one ends.
	Frame *schema.Message

	Language schema.Language // its words, for editors

	Example *source.File // a small definition without mistakes, already in its canonical form
}

// Dialects are the languages that can be read.
var Dialects = []Dialect{
	{
		Name:     "tera",
		Title:    "TERA .def",
		Parse:    tera.Parse,
		Format:   tera.Format,
		Frame:    tera.Frame(),
		Language: tera.Language(),
		Example:  source.New("C_EDIT_PRIVATE_CHANNEL.1.def", teraExample),
	},
}

const teraExample = `# the members, name and password of a private chat channel

uint16 password

array    members
- uint32 playerId

string name # without the number of the channel
`

// Find returns the dialect of that name.
func Find(name string) (Dialect, bool) {
	for _, d := range Dialects {
		if d.Name == name {
			return d, true
		}
	}
	return Dialect{}, false
}
