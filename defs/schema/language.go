package schema

// Language is what an editor has to know of a language of definitions to colour it, to complete it and to explain it.
type Language struct {
	Comment string `json:"comment" doc:"what starts a comment that ends with the line"`
	Words   []Word `json:"words"`
}

// Word is one word with a meaning of its own.
type Word struct {
	Name   string `json:"name"`
	Kind   string `json:"kind" enum:"type,group,mark,old" doc:"type; group: a type whose fields follow, one level deeper; mark: anything else; old: still read, but no longer written"`
	Doc    string `json:"doc,omitempty" doc:"one sentence"`
	Size   string `json:"size,omitempty" doc:"what it takes in a message, for people"`
	Insert string `json:"insert,omitempty" doc:"what to write for it, where that is not its name"`
}

// The kinds of words.
const (
	TypeWord  = "type"
	GroupWord = "group" // a type whose fields follow, one level deeper
	MarkWord  = "mark"  // neither a type nor a name
	OldWord   = "old"   // still read, but no longer written
)
