package schema

// Language describes a language of definitions to editors, for highlighting, completion and explanations.
type Language struct {
	Comment string `json:"comment" doc:"start of a comment; it extends to the end of the line"`
	Words   []Word `json:"words"`
	Syntax  string `json:"syntax,omitempty" enum:"json,words" doc:"json: JSON with comments, or YAML; words: words may stand anywhere in a line; default: a line for each field"`
	Names   []Name `json:"names,omitempty" doc:"names of the project that a text may have"`
}

// Name is a name that a text may have besides words.
type Name struct {
	Name string `json:"name"`
	Kind string `json:"kind" enum:"message,group,field"`
	Of   string `json:"of,omitempty" doc:"the message of a field; the group and the direction of a message"`
}

// Word is a keyword or the name of a type.
type Word struct {
	Name   string `json:"name"`
	Kind   string `json:"kind" enum:"type,group,mark,old" doc:"type; group: a type whose fields follow, one level deeper; mark: anything else; old: still read, but no longer written"`
	Doc    string `json:"doc,omitempty" doc:"one sentence"`
	Size   string `json:"size,omitempty" doc:"size in a message, as text"`
	Insert string `json:"insert,omitempty" doc:"text to insert, if other than the name"`
}

// The kinds of words.
const (
	TypeWord  = "type"
	GroupWord = "group" // a type whose fields follow, one level deeper
	MarkWord  = "mark"  // neither a type nor a name
	OldWord   = "old"   // still read, but no longer written
)
