package view

import (
	"wirebench/codec"
	"wirebench/defs/schema"
)

// Family is a broad kind of bits, for colours.
type Family string

// The families.
const (
	FamilyHead  Family = "head"  // length, code, constants, counter, checksum
	FamilyInt   Family = "int"   // integers, truth values, enums
	FamilyFloat Family = "float" // and angles
	FamilyPtr   Family = "ptr"   // counts and offsets
	FamilyText  Family = "text"  // and bytes
	FamilyChain Family = "chain" // places of elements
	FamilyGap   Family = "gap"   // unexplained, and padding
)

// FamilyOf is the kind of the bits that a field has in a role.
func FamilyOf(p *codec.Program, field uint16, role codec.Role) Family {
	switch role {
	case codec.RoleLength, codec.RoleCode, codec.RoleConst, codec.RoleCounter, codec.RoleCheck:
		return FamilyHead
	case codec.RoleCount, codec.RoleOffset:
		return FamilyPtr
	case codec.RoleHere, codec.RoleNext:
		return FamilyChain
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
