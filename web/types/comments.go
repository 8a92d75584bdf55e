package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// comments are the doc comments of structs and their fields in Go, by "path/of/package.Name" and "path/of/package.Name.Field".
type comments map[string]string

// commentsIn reads the comments of the packages in folders of a module.
func commentsIn(module string, root fs.FS, folders ...string) (comments, error) {
	out := comments{}
	for _, folder := range folders {
		err := fs.WalkDir(root, folder, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			out.read(path.Join(module, path.Dir(name)), file)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// read adds the comments of the structs in a file.
func (c comments) read(pkg string, file *ast.File) {
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range decl.Specs {
			spec, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			of, ok := spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			name := pkg + "." + spec.Name.Name
			c[name] = decl.Doc.Text()
			for _, f := range of.Fields.List {
				for _, n := range f.Names {
					c[name+"."+n.Name] = f.Doc.Text() + f.Comment.Text()
				}
			}
		}
	}
}
