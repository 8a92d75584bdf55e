package protobuf

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"wirebench/defs/schema"
)

// setOf returns the descriptor set of definitions, with what they import.
func setOf(t testing.TB, texts map[string]string, names ...string) []byte {
	t.Helper()
	c := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(texts)}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := c.Compile(context.Background(), names...)
	if err != nil {
		t.Fatal(err)
	}
	set, seen := &descriptorpb.FileDescriptorSet{}, map[string]bool{}
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i))
		}
		set.File = append(set.File, protodesc.ToFileDescriptorProto(f))
	}
	for _, f := range files {
		add(f)
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The texts of a descriptor set mean what the files mean that it was made of, and have their comments.
func TestSetsMeanTheSame(t *testing.T) {
	texts := map[string]string{"harbor/log.proto": "syntax = \"proto3\";\npackage harbor;\nimport \"two.proto\";\n// a ship\nmessage Ship {\n  two.All all = 1; // everything\n}\n"}
	for name, text := range peers {
		texts[name] = text
	}
	data := setOf(t, texts, "two.proto", "three.proto", "edition.proto", "harbor/log.proto")
	if !IsSet("x.PB", data) || !IsSet("x.PB", data[:64]) {
		t.Error("it is not recognized")
	}
	if IsSet("x.bin", data) {
		t.Error("a file of any name is one")
	}
	b, err := ReadSet(data, 10)
	if err != nil || len(b.Left) > 0 || len(b.Files) != 4 {
		t.Fatalf("%v, %v", err, b)
	}
	had, _ := Parse(sources(texts), schema.Options{})
	now, diags := Parse(b.Files, schema.Options{})
	if len(diags) > 0 {
		t.Fatal(diags.Render())
	}
	was := map[string]string{}
	for _, m := range had.Messages {
		was[m.Name] = (&schema.Schema{Messages: []*schema.Message{m}}).String()
	}
	for _, m := range now.Messages {
		if got := (&schema.Schema{Messages: []*schema.Message{m}}).String(); got != was[m.Name] {
			t.Errorf("%s is\n%s\nwas\n%s", m.Name, got, was[m.Name])
		}
		delete(was, m.Name)
	}
	if len(was) > 0 {
		t.Errorf("%d messages are missing", len(was))
	}
	for _, f := range b.Files {
		if f.Name == "harbor/log.proto" && (!strings.Contains(f.Text, "// a ship\n") || !strings.Contains(f.Text, "// everything")) {
			t.Errorf("without comments:\n%s", f.Text)
		}
	}
}

// What is wrong with a descriptor set is said.
func TestSetsWithMistakes(t *testing.T) {
	marshal := func(files ...*descriptorpb.FileDescriptorProto) []byte {
		data, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: files})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	field := func(typ string) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{
			Name: proto.String("a"), Number: proto.Int32(1), Type: descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), TypeName: proto.String(typ),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		}
	}
	file := func(name, typ string) *descriptorpb.FileDescriptorProto {
		return &descriptorpb.FileDescriptorProto{Name: proto.String(name), Syntax: proto.String("proto3"), MessageType: []*descriptorpb.DescriptorProto{
			{Name: proto.String("A"), Field: []*descriptorpb.FieldDescriptorProto{field(typ)}},
		}}
	}
	for _, c := range []struct {
		what   string
		data   []byte
		files  int
		reason string
	}{
		{"a type that is missing", marshal(file("a.proto", ".Far")), 1, ""},
		{"a name outside", marshal(file("../a.proto", ".A")), 0, "not the name of a definition"},
		{"two of a name", marshal(file("a.proto", ".A"), file("a.proto", ".A")), 1, "a file of this name is in the set before"},
		{"a message twice", marshal(file("a.proto", ".A"), file("b.proto", ".A")), 2, ""},
		{"a field without a type", marshal(file("a.proto", "")), 0, "invalid"},
	} {
		b, err := ReadSet(c.data, 10)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		reason := ""
		if len(b.Left) > 0 {
			reason = b.Left[0].Reason
		}
		if len(b.Files) != c.files || !strings.Contains(reason, c.reason) || (reason == "") != (c.reason == "") {
			t.Errorf("%s: %d files, %q", c.what, len(b.Files), reason)
		}
	}
	if _, err := ReadSet(marshal(file("a.proto", ".A"), file("b.proto", ".B")), 1); !errors.Is(err, schema.ErrBundle) {
		t.Errorf("too many: %v", err)
	}
	for _, data := range []string{"", "\x0a", "\x0a\x0a\x0a\x09", "\x0a\x06Petrel", "\x0a\x05\x0a\x03log"} {
		if IsSet("a.pb", []byte(data)) {
			t.Errorf("%q is a set", data)
		}
	}
}

// FuzzReadSet reads any bytes as a descriptor set.
func FuzzReadSet(f *testing.F) {
	f.Add(setOf(f, map[string]string{"a.proto": "message A { optional A a = 1; oneof o { E e = 2; } enum E { Z = 0; } }"}, "a.proto"))
	f.Fuzz(func(t *testing.T, data []byte) {
		IsSet("a.pb", data)
		if b, err := ReadSet(data, 10); err == nil {
			for _, x := range b.Files {
				formatChecked(t, x.Name, x.Text)
			}
		}
	})
}

// Files that only have enums or imports are definitions, and enums of other languages are not.
func TestIsText(t *testing.T) {
	for text, want := range map[string]bool{
		"enum Color {\n  // the first\n  RED = 0;\n}\n": true, "enum E { option allow_alias = true; A = 0; }": true, "enum E { A = -1 [deprecated = true]; }": true,
		"import public \"a.proto\";\n": true, "package a.b;\n": true, "extend a.B {\n": true, "service S {\n": true, "message M {}": true,
		"enum race { HUMAN, ELF = 2, DWARF };\n": false, "enum race {\n  HUMAN = 0,\n  ELF\n};\n": false, "import \"fmt\"\n": false, "struct message {\n": false, "": false,
	} {
		if got := IsText(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
