package emit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

// bitfieldType returns the type of a bitfield.
func (k *ksyMessage) bitfieldType(f *schema.Field, p *schema.Bitfield) string {
	if id := k.bitfields[p]; id != "" {
		return id
	}
	want := f.TypeText
	if !isName(want) {
		want = f.Name + "_parts"
	}
	t := newKsyType(k.names.take(want))
	t.bigBits = p.Order == schema.Big
	k.bitfields[p] = t.id
	k.types = append(k.types, t)
	ids := map[string]string{}
	for _, name := range p.Names {
		ids[name] = t.names.take(name)
	}
	if len(p.Forms) == 1 {
		for _, a := range k.formAttrs(&p.Forms[0], p, ids) {
			t.add(a)
		}
		return t.id
	}
	// Each form has a type at the same position; the first form that applies provides the values.
	var chosen []string
	for i := range p.Forms {
		form := newKsyType(k.names.take(fmt.Sprintf("%s_form_%d", want, i+1)))
		form.bigBits = t.bigBits
		form.doc = p.Forms[i].When
		form.seq = k.formAttrs(&p.Forms[i], p, ids)
		k.types = append(k.types, form)
		id := t.names.take(fmt.Sprintf("form_%d", i+1))
		t.instances = append(t.instances, yamlPair{id, yamlMap{{"pos", "0"}, {"type", form.id}}})
		chosen = append(chosen, id)
	}
	fits := make([]string, len(p.Forms))
	for i := range p.Forms[:len(p.Forms)-1] {
		if p.Forms[i].Mask == 0 {
			fits[i] = "true"
			continue
		}
		mask := newKsyType(k.names.take(fmt.Sprintf("%s_mask_%d", want, i+1)))
		mask.bigBits = t.bigBits
		mask.doc = "The bits that determine whether form " + strconv.Itoa(i+1) + " applies."
		id := t.names.take(fmt.Sprintf("mask_%d", i+1))
		fits[i] = maskAttrs(mask, &p.Forms[i], p, id)
		k.types = append(k.types, mask)
		t.instances = append(t.instances, yamlPair{id, yamlMap{{"pos", "0"}, {"type", mask.id}}})
		own := t.names.take(fmt.Sprintf("is_form_%d", i+1))
		t.instances = append(t.instances, yamlPair{own, yamlMap{{"value", fits[i]}}})
		fits[i] = own
	}
	for _, name := range p.Names {
		value := ""
		for i := len(p.Forms) - 1; i >= 0; i-- {
			isBool := slices.ContainsFunc(p.Forms, func(f schema.Form) bool {
				return slices.ContainsFunc(f.Parts, func(part schema.Part) bool { return part.Name == name && part.Kind == schema.Bool })
			})
			one := "0"
			if isBool {
				one = "false"
			}
			for _, part := range p.Forms[i].Parts {
				if part.Name == name {
					one = chosen[i] + "." + ids[name]
					switch {
					case part.Kind == schema.Bool && part.Bits > 1:
						one += " != 0"
					case part.Kind != schema.Bool && part.Bits == 1:
						one += ".to_i"
					}
					if part.Ones > 0 {
						one = fmt.Sprintf("%s * %d", one, schema.Mask(part.Ones))
					}
				}
			}
			if value == "" {
				value = one
			} else {
				value = fmt.Sprintf("%s ? %s : %s", fits[i], one, parens(value))
			}
		}
		t.instances = append(t.instances, yamlPair{ids[name], yamlMap{{"-orig-id", yamlQuoted(name)}, {"value", value}}})
	}
	return t.id
}

func parens(s string) string {
	if strings.Contains(s, " ") {
		return "(" + s + ")"
	}
	return s
}

// formAttrs returns the parts of one form, in the order of the bits.
func (k *ksyMessage) formAttrs(form *schema.Form, p *schema.Bitfield, ids map[string]string) []yamlMap {
	parts := slices.Clone(form.Parts)
	slices.SortFunc(parts, func(a, b schema.Part) int { return a.Shift - b.Shift })
	if p.Order == schema.Big {
		slices.Reverse(parts)
	}
	var out []yamlMap
	for _, part := range parts {
		if part.Bits > 32 {
			fail("the part %q has %d bits", part.Name, part.Bits)
		}
		out = append(out, yamlMap{{"id", ids[part.Name]}, {"-orig-id", yamlQuoted(part.Name)}, {"type", "b" + strconv.Itoa(part.Bits)}})
	}
	return out
}

// maskAttrs adds the bits of a form's mask, and returns the condition that they match.
func maskAttrs(t *ksyType, form *schema.Form, p *schema.Bitfield, at string) string {
	type run struct {
		from, bits int
		masked     bool
	}
	var runs []run
	for i := range p.Bits {
		masked := form.Mask>>i&1 == 1
		if n := len(runs); n > 0 && runs[n-1].masked == masked && runs[n-1].bits < 32 {
			runs[n-1].bits++
		} else {
			runs = append(runs, run{i, 1, masked})
		}
	}
	if p.Order == schema.Big {
		slices.Reverse(runs)
	}
	var all []string
	for _, r := range runs {
		if !r.masked {
			t.seq = append(t.seq, yamlMap{{"id", t.names.take("wb_other")}, {"type", "b" + strconv.Itoa(r.bits)}})
			continue
		}
		id := t.names.take(fmt.Sprintf("bits_%d", r.from))
		t.seq = append(t.seq, yamlMap{{"id", id}, {"type", "b" + strconv.Itoa(r.bits)}})
		want := form.Match >> r.from & (1<<r.bits - 1)
		switch {
		case r.bits > 1:
			all = append(all, fmt.Sprintf("%s.%s == %d", at, id, want))
		case want == 1:
			all = append(all, at+"."+id)
		default:
			all = append(all, "not "+at+"."+id)
		}
	}
	return strings.Join(all, " and ")
}
