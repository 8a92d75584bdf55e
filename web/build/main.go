// Command build makes the files of static/ from web/src: the scripts, app.css and favicon.svg.
//
// Run it by go generate ./static, or from anywhere in the module:
//
//	go run ./web/build          writes what differs and says what is in it
//	go run ./web/build -check   writes nothing; exits 1 when static/ is not what web/src gives
//
// Both install the packages of web/package-lock.json where node_modules has others, and exit 1 when the scripts of a page are heavier than they may be.
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
	check := flag.Bool("check", false, "compare static/ with what would be built, and write nothing")
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
	weights, err := built.weigh()
	fmt.Print(weights)
	if err != nil {
		return err
	}
	static := filepath.Join(root, "static")
	stale := built.stale(static)
	if !check {
		return built.write(static, stale)
	}
	if len(stale) > 0 {
		return fmt.Errorf("not what web/src gives: static/%s; run go generate ./static and commit the result", strings.Join(stale, ", static/"))
	}
	return nil
}

// install runs npm ci where the packages in node_modules are not those of package-lock.json, as after a change that adds one.
func install(web string) error {
	want, err := os.ReadFile(filepath.Join(web, "package-lock.json"))
	if err != nil {
		return fmt.Errorf("read which packages are needed: %w", err)
	}
	marker := filepath.Join(web, "node_modules", ".installed-lock") // .ci/run writes it too
	if have, err := os.ReadFile(marker); err == nil && bytes.Equal(have, want) {
		return nil
	}
	fmt.Fprintln(os.Stderr, "web/build: node_modules is not as package-lock.json says: npm ci")
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir, npm.Stdout, npm.Stderr = web, os.Stderr, os.Stderr
	if err := npm.Run(); err != nil {
		return fmt.Errorf("npm ci in web/: %w", err)
	}
	return os.WriteFile(marker, want, 0o644)
}

// moduleRoot finds the directory of go.mod at or above the working directory: go generate runs commands where the comment is.
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
