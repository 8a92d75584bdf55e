package flows

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/chromedp/chromedp"

	"wirebench/server/projects"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// A project is made of a zip of 1,192 definitions by mouse and keyboard, renamed and deleted on one page while another page shows it, and
// brought back; nothing typed is lost.
func TestFlowProjects(t *testing.T) {
	t.Parallel()
	browsertest.Require(t)
	s := projectServer(t, t.TempDir(), projects.Options{})
	srv := serve(t, s)
	files := map[string]string{"protocol.1.map": "C_M7 7\n"}
	for i := range 1192 {
		files[fmt.Sprintf("C_M%d.1.def", i)] = "uint32 number\nstring text\n"
	}
	zipped := filepath.Join(t.TempDir(), "my game.zip")
	if err := os.WriteFile(zipped, []byte(servertest.Zip(t, servertest.FilesOf(files)...)), 0o666); err != nil {
		t.Fatal(err)
	}

	ctx := browsertest.OpenAllowing(t, srv.URL, openSelector, regexp.MustCompile(`404`))
	f := flow{T: t, ctx: ctx}
	p := f.page()
	f.shows("#definition-head", "C_EDIT_PRIVATE_CHANNEL") // of the samples
	// Definitions dropped on the samples become a project of their own.
	browsertest.Run(t, ctx, chromedp.SetUploadFiles("#files", []string{zipped}), chromedp.Evaluate(`document.querySelector("#upload").requestSubmit()`, nil))
	p.Visible("dialog", "Make a project of these definitions?")
	p.Click("button", "Make the project")
	f.arrives("the project", `location.pathname === "/p/my-game/definitions"`)
	browsertest.Arrive(t, ctx, openSelector)
	if _, err := s.Projects.Edit("my-game", projects.Change{Name: "dropped"}, nil); err != nil {
		t.Fatal(err)
	}
	f.arrives("its new name", `location.pathname === "/p/dropped/definitions"`)
	browsertest.Arrive(t, ctx, openSelector)

	f.click(`.views summary`)
	p.Click("link", "All projects, new project …")
	browsertest.Arrive(t, ctx, ".projects")
	p.Visible("textbox", "Title") // optional: the zip names the project
	browsertest.Run(t, ctx, chromedp.SetUploadFiles("#new-files", []string{zipped}))
	p.Click("button", "Make the project")
	browsertest.Arrive(t, ctx, openSelector)
	f.is("the definitions of the project", `location.pathname === "/p/my-game/definitions"`)
	f.is("its title", `document.querySelector(".views summary").textContent === "my game"`)
	if n := s.Projects.Find("my-game").Now().Count(); n != 1192 {
		t.Errorf("%d messages", n)
	}
	f.open("C_M7.1")
	f.caret(1)
	f.types("_typed")
	f.shows("#layout-rows", "number_typed")

	// Renamed on another page: this page follows, with its unsaved text.
	if _, err := s.Projects.Edit("my-game", projects.Change{Name: "game", Title: "The game"}, nil); err != nil {
		t.Fatal(err)
	}
	f.arrives("it is at its new address", `location.pathname === "/p/game/definitions/C_M7.1"`)
	browsertest.Arrive(t, ctx, openSelector)
	f.is("its new title", `document.querySelector(".views summary").textContent === "The game"`)
	f.says("what was typed", "uint32 number_typed\nstring text\n")

	// Deleted on another page: this one says so and stores nothing.
	if _, err := s.Projects.Edit("game", projects.Change{State: projects.Deleted}, nil); err != nil {
		t.Fatal(err)
	}
	f.shows(".toasts", "has been archived or deleted")
	f.says("the text", "uint32 number_typed\nstring text\n")
	if _, err := s.Projects.Edit("game", projects.Change{State: projects.Open}, nil); err != nil {
		t.Fatal(err)
	}
	f.shows(".toasts", "open again")
	f.press("Ctrl+S")
	f.shows(".toasts", "Saved C_M7.1.def")
}

// The list of projects renames, archives, deletes and opens them again, and makes a copy, by mouse.
func TestFlowProjectsList(t *testing.T) {
	t.Parallel()
	browsertest.Require(t)
	s := projectServer(t, t.TempDir(), projects.Options{})
	srv := serve(t, s)
	if code := servertest.Call(t, t.Context(), srv.URL, "POST", "/api/v1/projects", `{"title":"First","protocol":"tera"}`, nil); code != 201 {
		t.Fatal(code)
	}
	if code := servertest.Call(t, t.Context(), srv.URL, "PUT", "/api/v1/first/definitions/C_ONE.1.def", `{"text":"byte a\n"}`, nil); code/100 != 2 {
		t.Fatal(code)
	}
	f := flow{T: t, ctx: browsertest.Open(t, srv.URL+"/projects", ".projects")}
	p := f.page()
	card := func(title string) string { return fmt.Sprintf(`li:has(a[href="/p/%s/definitions"])`, title) }
	f.click(card("first") + " summary")
	f.focus("#title-first")
	f.press("Ctrl+A")
	f.types("Second")
	f.focus("#name-first")
	f.press("Ctrl+A")
	f.types("second")
	p.Click("button", "Rename")
	browsertest.Arrive(t, f.ctx, card("second"))
	p.Visible("link", "Second")
	if s.Projects.Find("second") == nil || s.Projects.Find("second").Title() != "Second" {
		t.Error("it was not renamed")
	}

	browsertest.Run(t, f.ctx, chromedp.SetValue("[name=copy]", "second"))
	f.focus("#new-title")
	f.types("Third")
	p.Click("button", "Make the project")
	browsertest.Arrive(t, f.ctx, openSelector)
	f.is("the copy", `location.pathname.startsWith("/p/third/")`)
	f.shows("#rail-list", "C_ONE")

	for _, button := range []string{"Archive", "Delete"} {
		f.visit(srv.URL+"/projects", card("third"))
		f.click(card("third") + " summary")
		p.Click("button", button)
		f.arrives("the list", `document.querySelector('.project-list:not(.closed) a[href="/p/third/definitions"]') === null`)
		if s.Projects.Find("third") != nil {
			t.Errorf("%s: still open", button)
		}
		p.Click("button", "Open again: Third")
		browsertest.Arrive(t, f.ctx, card("third"))
		if w := s.Projects.Find("third"); w == nil || w.Now().Count() != 1 {
			t.Errorf("%s: its definition is gone", button)
		}
	}
}
