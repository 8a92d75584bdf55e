package protobuf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/jhump/protoreflect/v2/protoprint"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// SetExts are the usual extensions of descriptor sets.
var SetExts = []string{".pb", ".binpb", ".desc", ".protoset", ".fds", ".fdset"}

// maxSet is the size of a descriptor set in bytes.
const maxSet = 16 << 20

// IsSet reports whether a file is a descriptor set, as protoc --descriptor_set_out writes: files in binary form, each of which begins with its
// name. It looks at the start only.
func IsSet(name string, data []byte) bool {
	if len(data) == 0 || !slices.Contains(SetExts, strings.ToLower(path.Ext(name))) || data[0] != 1<<3|wireBytes {
		return false
	}
	size, n := binary.Uvarint(data[1:])
	if n <= 0 || size < 4 || size > maxSet || len(data) < 1+n+2 || data[1+n] != 1<<3|wireBytes {
		return false
	}
	rest := data[2+n:]
	length, k := binary.Uvarint(rest)
	if k <= 0 || length > 1000 || length+2 > size || uint64(len(rest)-k) < length {
		return false
	}
	return IsFile(string(rest[k : k+int(length)]))
}

// ReadSet writes the files of a descriptor set as text, at most that many; those that are built in are left out.
func ReadSet(data []byte, most int) (b *schema.Bundle, err error) {
	defer func() { // the libraries expect what a compiler wrote
		if x := recover(); x != nil {
			b, err = nil, fmt.Errorf("the descriptor set cannot be read: %v", x)
		}
	}()
	if len(data) > maxSet {
		return nil, fmt.Errorf("the descriptor set is longer than %d bytes", maxSet)
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: maxDepth}).Unmarshal(data, set); err != nil {
		return nil, fmt.Errorf("the descriptor set cannot be read: %w", err)
	}
	if len(set.File) > most {
		return nil, fmt.Errorf("%w: more than %d", schema.ErrBundle, most)
	}
	b = &schema.Bundle{}
	known := &protoregistry.Files{}
	names := map[string]bool{}
	for _, d := range set.File {
		name := d.GetName()
		switch {
		case strings.HasPrefix(name, "google/protobuf/") && standard(name) != nil:
			if _, err := file(d, known); err == nil {
				continue // it is built in
			}
			b.Left = append(b.Left, schema.Left{Name: name, Reason: "another file than the one that is built in"})
			continue
		case !fs.ValidPath(name) || !IsFile(name):
			b.Left = append(b.Left, schema.Left{Name: name, Reason: "not the name of a definition"})
			continue
		case names[name]:
			b.Left = append(b.Left, schema.Left{Name: name, Reason: "a file of this name is in the set before"})
			continue
		}
		names[name] = true
		text := ""
		f, err := file(d, known)
		if err == nil {
			text, err = (&protoprint.Printer{}).PrintProtoToString(f)
		}
		if err != nil {
			b.Left = append(b.Left, schema.Left{Name: name, Reason: err.Error()})
			continue
		}
		b.Files = append(b.Files, source.New(path.Clean(name), text))
	}
	if len(b.Files) == 0 && len(b.Left) == 0 {
		return nil, errors.New("the descriptor set has no files")
	}
	return b, nil
}

// file returns a file, and adds it to those that others may import. Types that are missing are named as they are.
func file(d *descriptorpb.FileDescriptorProto, known *protoregistry.Files) (protoreflect.FileDescriptor, error) {
	f, err := protodesc.FileOptions{AllowUnresolvable: true}.New(d, known)
	if err != nil {
		return nil, err
	}
	_ = known.RegisterFile(f) // a name that another file has, too, is that one's for the others
	return f, nil
}
