package view

import (
	"wirebench/codec"
	"wirebench/defs/schema"
)

// Family is a broad category of bits, for colours.
type Family string

// The families.
const (
	FamilyHead  Family = "head"  // length, code, constants, counter, checksum
	FamilyInt   Family = "int"   // integers, booleans, enums
	FamilyFloat Family = "float" // floats and angles
	FamilyPtr   Family = "ptr"   // counts, sizes, offsets and selectors
	FamilyText  Family = "text"  // text and bytes
	FamilyChain Family = "chain" // numbers about elements, and lists
	FamilyGap   Family = "gap"   // unexplained bits and padding
)

// FamilyOf returns the family of a field's bits in a role.
func FamilyOf(p *codec.Program, field uint16, role codec.Role) Family {
	switch role {
	case codec.RoleLength, codec.RoleCode, codec.RoleConst, codec.RoleCounter, codec.RoleCheck:
		return FamilyHead
	case codec.RoleCount, codec.RoleOffset, codec.RoleBytes, codec.RolePresent:
		return FamilyPtr
	case codec.RoleHere, codec.RoleNext, codec.RoleMore, codec.RoleEnd:
		return FamilyChain
	case codec.RolePacked:
		return FamilyText
	case codec.RolePad, codec.RoleGap:
		return FamilyGap
	}
	if field == codec.NoField {
		return FamilyInt
	}
	switch t := p.Fields[field].Schema.Type.(type) {
	case *schema.Number:
		if t.Kind == schema.Float || t.Scale != 0 {
			return FamilyFloat
		}
	case *schema.Text, *schema.Blob:
		return FamilyText
	case *schema.List:
		return FamilyChain
	}
	return FamilyInt
}
