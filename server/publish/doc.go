// Package publish makes pages about a project that need no server: they open from a file, and have relative links only.
//
// A [Capsule] is a finding: messages with the definitions that explain them, as one page, from which secret values were taken.
// A [Site] is a reference of all definitions, with search, diagrams, the differences between versions, and decoded samples.
package publish
