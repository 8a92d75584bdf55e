// Command build makes the files of static/ from web/src: the scripts, app.css and favicon.svg.
//
// Run it by go generate ./static, or from anywhere in the module:
//
//	go run ./web/build          writes the changed files and lists their contents
//	go run ./web/build -check   writes nothing; exits 1 if static/ is not up to date
//
// Both run npm ci if node_modules does not match web/package-lock.json.
//
// The same sources give the same bytes on every machine, so the result is committed and users need no Node.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	check := flag.Bool("check", false, "compare static/ with a new build, and write nothing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintf(os.Stderr, "web/build: %v\n", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	if err := install(filepath.Join(root, "web")); err != nil {
		return err
	}
	built, err := bundle(filepath.Join(root, "web"))
	if err != nil {
		return err
	}
	fmt.Print(built.summary)
	static := filepath.Join(root, "static")
	stale := built.stale(static)
	if !check {
		return built.write(static, stale)
	}
	if len(stale) > 0 {
		return fmt.Errorf("out of date: static/%s; run go generate ./static and commit the result", strings.Join(stale, ", static/"))
	}
	return nil
}

// install runs npm ci if the packages in node_modules are not those of package-lock.json.
func install(web string) error {
	want, err := os.ReadFile(filepath.Join(web, "package-lock.json"))
	if err != nil {
		return fmt.Errorf("read the required packages: %w", err)
	}
	marker := filepath.Join(web, "node_modules", ".installed-lock") // .ci/run writes it too
	if have, err := os.ReadFile(marker); err == nil && bytes.Equal(have, want) {
		return nil
	}
	fmt.Fprintln(os.Stderr, "web/build: node_modules does not match package-lock.json: npm ci")
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir, npm.Stdout, npm.Stderr = web, os.Stderr, os.Stderr
	if err := npm.Run(); err != nil {
		return fmt.Errorf("npm ci in web/: %w", err)
	}
	return os.WriteFile(marker, want, 0o644)
}

// moduleRoot finds the directory of go.mod at or above the working directory: go generate runs commands in the directory of the comment.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("find the module: no go.mod here or above")
		}
		dir = parent
	}
}
