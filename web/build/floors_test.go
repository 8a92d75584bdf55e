package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// floors are the folders of web/src, from the lowest floor to the highest. A file imports files of its folder and of lower floors: features are
// beside each other, and what two of them need is in kit.
var floors = [][]string{
	{"api"},
	{"kit"},
	{"text", "message", "frames", "library", "live", "projects"},
	{"app"},
}

// exception is an import against the floors, or one that closes a circle of files.
type exception struct {
	from, to string
	why      string
}

// exceptions are all such imports of web/src.
var exceptions = []exception{
	{"kit/dialogs.ts", "app/dialogs.ts", "on demand: the less common dialogs of all features are one file, which is loaded with the first of them"},
}

// reference is an import of a file by another, the import of a type and the import of a module on demand included.
type reference struct{ from, to string }

var (
	commentLine = regexp.MustCompile(`(?m)^\s*(?://|/?\*).*$`)
	specifier   = regexp.MustCompile(`\bfrom\s*"(\.[^"]+)"|\bimport\s*\(?\s*"(\.[^"]+)"`)
)

// referencesOf returns the scripts of a folder, sorted, and their imports of each other.
func referencesOf(src fs.FS) (files []string, refs []reference, err error) {
	err = fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for _, from := range files {
		if ext := path.Ext(from); ext != ".ts" && ext != ".tsx" {
			continue
		}
		text, err := fs.ReadFile(src, from)
		if err != nil {
			return nil, nil, err
		}
		for _, m := range specifier.FindAllStringSubmatch(commentLine.ReplaceAllString(string(text), ""), -1) {
			at := path.Join(path.Dir(from), m[1]+m[2])
			i := slices.IndexFunc([]string{".ts", ".tsx"}, func(ext string) bool { return slices.Contains(files, at+ext) })
			if i < 0 {
				return nil, nil, fmt.Errorf("%s imports %s, which is not a script", from, at)
			}
			if r := (reference{from, at + []string{".ts", ".tsx"}[i]}); !slices.Contains(refs, r) {
				refs = append(refs, r)
			}
		}
	}
	return files, refs, nil
}

// folderOf returns the first folder of a path, and its floor; -1 if there is none.
func folderOf(name string) (folder string, floor int) {
	folder, _, _ = strings.Cut(name, "/")
	return folder, slices.IndexFunc(floors, func(f []string) bool { return slices.Contains(f, folder) })
}

// faultsOf returns what is wrong with files and their imports, and with the exceptions.
func faultsOf(files []string, refs []reference, allowed []exception) []string {
	var found []string
	for _, name := range files {
		if _, floor := folderOf(name); floor < 0 {
			found = append(found, name+" is in no folder of floors")
		}
	}
	against := func(r reference) string {
		from, a := folderOf(r.from)
		to, b := folderOf(r.to)
		switch {
		case a < b:
			return fmt.Sprintf("%s imports %s, which is above it", r.from, r.to)
		case a == b && from != to:
			return fmt.Sprintf("%s imports %s, of another feature", r.from, r.to)
		}
		return ""
	}
	var kept []reference // without exceptions
	for _, r := range refs {
		if slices.ContainsFunc(allowed, func(e exception) bool { return r == reference{e.from, e.to} }) {
			continue
		}
		kept = append(kept, r)
		if fault := against(r); fault != "" {
			found = append(found, fault)
		}
	}
	for _, name := range files {
		if circle := circleFrom(name, kept); circle != nil && slices.Min(circle) == name {
			found = append(found, "circle: "+strings.Join(append(circle, name), " → "))
		}
	}
	for _, e := range allowed {
		r := reference{e.from, e.to}
		if !slices.Contains(refs, r) || against(r) == "" && circleFrom(e.from, append(slices.Clip(kept), r)) == nil {
			found = append(found, fmt.Sprintf("the exception of %s for %s is not used", e.from, e.to))
		}
	}
	return found
}

// circleFrom returns the files of a shortest circle that begins with a file, nil without one.
func circleFrom(name string, refs []reference) []string {
	paths := [][]string{{name}}
	seen := map[string]bool{}
	for len(paths) > 0 {
		p := paths[0]
		paths = paths[1:]
		for _, r := range refs {
			switch {
			case r.from != p[len(p)-1]:
			case r.to == name:
				return p
			case !seen[r.to]:
				seen[r.to] = true
				paths = append(paths, append(slices.Clip(p), r.to))
			}
		}
	}
	return nil
}

// Scripts import downwards, and not in circles.
func TestFloors(t *testing.T) {
	files, refs, err := referencesOf(os.DirFS("../src"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 200 || len(refs) < 900 {
		t.Fatalf("only %d files with %d imports", len(files), len(refs))
	}
	for _, fault := range faultsOf(files, refs, exceptions) {
		t.Error(fault)
	}
}

func TestFloorsFindFaults(t *testing.T) {
	for _, test := range []struct {
		name    string
		src     map[string]string
		allowed []exception
		want    []string
	}{
		{
			name: "downwards and in a folder",
			src: map[string]string{
				"app/main.ts":    `import { a } from "../text/a";` + "\n" + `import "./part";`,
				"app/part.ts":    `import type { T } from "../api/types";`,
				"text/a.ts":      `export { b } from "./deep/b";`,
				"text/deep/b.ts": `import * as c from "../../kit/c";` + "\nimport \"preact\";",
				"kit/c.ts":       "",
				"api/types.ts":   "",
			},
		},
		{
			name: "upwards",
			src:  map[string]string{"kit/a.ts": `import { b } from "../text/b";`, "text/b.ts": ""},
			want: []string{"kit/a.ts imports text/b.ts, which is above it"},
		},
		{
			name: "a type, upwards",
			src:  map[string]string{"api/a.ts": "import type {\n  B,\n} from \"../kit/b\";", "kit/b.tsx": ""},
			want: []string{"api/a.ts imports kit/b.tsx, which is above it"},
		},
		{
			name: "on demand, upwards",
			src:  map[string]string{"text/a.ts": `const b = () => import("../app/b");`, "app/b.ts": ""},
			want: []string{"text/a.ts imports app/b.ts, which is above it"},
		},
		{
			name: "passed on, upwards",
			src:  map[string]string{"kit/a.ts": `export * from "../app/b";`, "app/b.ts": ""},
			want: []string{"kit/a.ts imports app/b.ts, which is above it"},
		},
		{
			name: "for its effects, upwards",
			src:  map[string]string{"kit/a.ts": `import "../app/b";`, "app/b.ts": ""},
			want: []string{"kit/a.ts imports app/b.ts, which is above it"},
		},
		{
			name: "between features, also by a test",
			src:  map[string]string{"text/a.test.ts": `import { b } from "../live/deep/b";`, "live/deep/b.ts": ""},
			want: []string{"text/a.test.ts imports live/deep/b.ts, of another feature"},
		},
		{
			name:    "an exception is for one direction and one file",
			src:     map[string]string{"kit/a.ts": `import { b } from "../text/b";`, "kit/c.ts": `import { b } from "../text/b";`, "text/b.ts": `import "../live/d";`, "live/d.ts": ""},
			allowed: []exception{{"kit/a.ts", "text/b.ts", "for a reason"}, {"live/d.ts", "text/b.ts", "for a reason"}},
			want: []string{
				"kit/c.ts imports text/b.ts, which is above it",
				"text/b.ts imports live/d.ts, of another feature",
				"the exception of live/d.ts for text/b.ts is not used",
			},
		},
		{
			name: "a circle of three",
			src:  map[string]string{"kit/a.ts": `import "./b";`, "kit/b.ts": `import type { C } from "./c";`, "kit/c.ts": `import "./a";`, "kit/d.ts": `import "./a";`},
			want: []string{"circle: kit/a.ts → kit/b.ts → kit/c.ts → kit/a.ts"},
		},
		{
			name: "a file of itself",
			src:  map[string]string{"kit/a.ts": `import "./a";`},
			want: []string{"circle: kit/a.ts → kit/a.ts"},
		},
		{
			name: "a circle on demand",
			src:  map[string]string{"kit/a.ts": `const b = () => import("./b");`, "kit/b.ts": `import { a } from "./a";`},
			want: []string{"circle: kit/a.ts → kit/b.ts → kit/a.ts"},
		},
		{
			name:    "a circle with an exception, beside one without",
			src:     map[string]string{"kit/a.ts": `import "./b";`, "kit/b.ts": `import "./a";`, "kit/c.ts": `import "./d";`, "kit/d.ts": `import "./c";`},
			allowed: []exception{{"kit/b.ts", "kit/a.ts", "for a reason"}},
			want:    []string{"circle: kit/c.ts → kit/d.ts → kit/c.ts"},
		},
		{
			name:    "exceptions that are not needed",
			src:     map[string]string{"kit/a.ts": `import "../api/b";`, "api/b.ts": ""},
			allowed: []exception{{"kit/a.ts", "api/b.ts", "for a reason"}, {"kit/gone.ts", "api/b.ts", "for a reason"}},
			want:    []string{"the exception of kit/a.ts for api/b.ts is not used", "the exception of kit/gone.ts for api/b.ts is not used"},
		},
		{
			name: "files and folders that have no place",
			src:  map[string]string{"a.ts": "", "style.css": "", "util/b.ts": "", "kit/c.css": ""},
			want: []string{"a.ts is in no folder of floors", "style.css is in no folder of floors", "util/b.ts is in no folder of floors"},
		},
		{
			name: "imports in comments",
			src:  map[string]string{"kit/a.ts": "// import(\"../app/b\")\n/** import \"../app/b\" */\n * from \"../app/b\"\n", "app/b.ts": ""},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			src := fstest.MapFS{}
			for name, text := range test.src {
				src[name] = &fstest.MapFile{Data: []byte(text)}
			}
			files, refs, err := referencesOf(src)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, faultsOf(files, refs, test.allowed)); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
	if _, _, err := referencesOf(fstest.MapFS{"kit/a.ts": {Data: []byte(`import "./missing";`)}}); err == nil {
		t.Error("an import of nothing is not found")
	}
}
