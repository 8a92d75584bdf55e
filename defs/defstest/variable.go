package defstest

import _ "embed"

// Variable is a ProtoDef definition of messages with every kind of contents: numbers of variable size, choices, groups with a size, groups
// that contain themselves, and computed counts.
//
//go:embed variable.json
var Variable string
