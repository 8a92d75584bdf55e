package codec

import "wirebench/defs/schema"

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

// Family is the kind of the bits that a field has in a role.
func (p *Program) Family(field uint16, role Role) Family {
	switch role {
	case RoleLength, RoleCode, RoleConst, RoleCounter, RoleCheck:
		return FamilyHead
	case RoleCount, RoleOffset:
		return FamilyPtr
	case RoleHere, RoleNext:
		return FamilyChain
	case RolePad, RoleGap:
		return FamilyGap
	}
	if field == noIndex {
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
