package browsertest

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

//go:embed find.js
var find string

// Page operates a page through roles and accessible names, as a screen reader presents it (find.js). Mouse and keyboard events are real.
// Every method waits for its element, and fails the test if the element does not appear.
//
// A name is the whole accessible name, or its beginning followed by "…". In narrows the search to a named part of the page.
type Page struct {
	*testing.T
	Ctx   context.Context
	where string
}

// In narrows the page to a named part: a region, a dialog, a table.
func (p Page) In(name string) Page {
	p.where = name
	return p
}

// found is a JavaScript expression for the elements with a role and a name.
func (p Page) found(role, name string) string {
	return fmt.Sprintf("%s(%s, %s, %s)", strings.TrimSpace(find), quote(role), quote(name), quote(p.where))
}

func (p Page) what(role, name string) string {
	what := fmt.Sprintf("%s %q", role, name)
	if p.where != "" {
		what += fmt.Sprintf(" in %q", p.where)
	}
	return what
}

func quote(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// spot is a position for clicking an element, or the reason why it cannot be clicked.
type spot struct {
	X, Y float64
	Why  string
}

// spotOf scrolls an element into view and returns a position for clicking it. An element cannot be clicked while another one covers it, or if
// the page itself, which fills the window, would have to scroll.
func (p Page) spotOf(role, name string) spot {
	p.Helper()
	var at spot
	expression := fmt.Sprintf(`(() => {
		const all = %s;
		if (all.length === 0) return { Why: "there is none; these can be seen: " + %s.slice(0, 20).map((e) => JSON.stringify(e.textContent.slice(0, 60))).join(" ") };
		if (all.length !== 1) return { Why: all.length + " of them: " + all.slice(0, 5).map((e) => e.outerHTML.slice(0, 120)).join(" ") };
		const e = all[0];
		if (e.disabled || e.getAttribute("aria-disabled") === "true") return { Why: "disabled" };
		if (performance.getEntriesByName("first-contentful-paint").length === 0) return { Why: "the page is not painted yet" }; // until then the browser drops clicks
		e.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
		for (const r of e.getClientRects()) {
			const x = r.x + Math.min(r.width / 2, 200), y = r.y + r.height / 2;
			const hit = document.elementFromPoint(x, y);
			if (hit !== null && (e.contains(hit) || hit.contains(e) && hit.closest("label") !== null || e.labels !== undefined && [...e.labels ?? []].some((l) => l.contains(hit)))) return { X: x, Y: y, Why: "" };
			if (hit !== null) return { Why: "covered by " + hit.outerHTML.slice(0, 120) };
		}
		return { Why: "outside the window" };
	})()`, p.found(role, name), p.found(role, ""))
	rests := func(s spot) bool { // a list that has just changed may move it once more
		was := at
		at = s
		return s.Why == "" && s == was
	}
	if err := poll(p.Ctx, expression, rests); err != nil {
		p.Fatalf("%s cannot be clicked: %s (%v)", p.what(role, name), at.Why, err)
	}
	return at
}

// Click clicks an element with the mouse.
func (p Page) Click(role, name string) {
	p.Helper()
	p.mouse(role, name, 1, chromedp.ButtonLeft)
}

// DoubleClick clicks an element twice.
func (p Page) DoubleClick(role, name string) {
	p.Helper()
	p.mouse(role, name, 2, chromedp.ButtonLeft)
}

// RightClick opens the menu of an element.
func (p Page) RightClick(role, name string) {
	p.Helper()
	p.mouse(role, name, 1, chromedp.ButtonRight)
}

func (p Page) mouse(role, name string, times int, button chromedp.MouseOption) {
	p.Helper()
	at := p.spotOf(role, name)
	for n := 1; n <= times; n++ {
		Run(p.T, p.Ctx, chromedp.MouseClickXY(at.X, at.Y, button, chromedp.ClickCount(n)))
	}
}

// Point moves the mouse to an element.
func (p Page) Point(role, name string) {
	p.Helper()
	at := p.spotOf(role, name)
	Run(p.T, p.Ctx, chromedp.MouseEvent(input.MouseMoved, at.X, at.Y))
}

// Wheel turns the mouse wheel over an element, by dy pixels down.
func (p Page) Wheel(role, name string, dy float64) {
	p.Helper()
	at := p.spotOf(role, name)
	Run(p.T, p.Ctx, input.DispatchMouseEvent(input.MouseWheel, at.X, at.Y).WithDeltaX(0).WithDeltaY(dy))
}

// Fill clicks a text field and replaces its text.
func (p Page) Fill(role, name, text string) {
	p.Helper()
	p.Click(role, name)
	p.Press("Ctrl+A")
	if text == "" {
		p.Press("Delete")
		return
	}
	p.Type(text)
}

// Type types text into the focused element.
func (p Page) Type(text string) {
	p.Helper()
	Run(p.T, p.Ctx, chromedp.KeyEvent(text))
}

var keyCodes = map[string]int64{"Backspace": 8, "Tab": 9, "Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Insert": 45, "Delete": 46, "F2": 113, "F6": 117, "F8": 119, ".": 190, ",": 188, "/": 191}

// Press presses keys that type no text: "Ctrl+S", "ArrowDown", "?".
func (p Page) Press(keys ...string) {
	p.Helper()
	for _, k := range keys {
		var mods input.Modifier
		parts := strings.Split(k, "+")
		key := parts[len(parts)-1]
		for _, m := range parts[:len(parts)-1] {
			mods |= map[string]input.Modifier{"Ctrl": input.ModifierCtrl, "Shift": input.ModifierShift, "Alt": input.ModifierAlt}[m]
		}
		code, known := keyCodes[key]
		if !known {
			code = int64(strings.ToUpper(key)[0])
		}
		name, physical := key, key
		if len(key) == 1 {
			if mods != 0 && mods&input.ModifierShift == 0 {
				name = strings.ToLower(key)
			}
			if key >= "A" && key <= "z" {
				physical = "Key" + strings.ToUpper(key)
			}
		}
		down := input.DispatchKeyEvent(input.KeyRawDown).WithKey(name).WithCode(physical).WithWindowsVirtualKeyCode(code).WithModifiers(mods)
		switch k {
		case "Enter": // as text too, to submit forms and press buttons
			down.Type, down.Text, down.UnmodifiedText = input.KeyDown, "\r", "\r"
		case "Ctrl+A":
			down = down.WithCommands([]string{"selectAll"})
		}
		Run(p.T, p.Ctx, down, input.DispatchKeyEvent(input.KeyUp).WithKey(name).WithCode(physical).WithWindowsVirtualKeyCode(code).WithModifiers(mods))
	}
}

// Visible waits until an element can be seen: inside the window, and not covered.
func (p Page) Visible(role, name string) {
	p.Helper()
	var why string
	expression := fmt.Sprintf(`(() => {
		const all = %s;
		const seen = all.filter((e) => {
			const r = e.getBoundingClientRect();
			const hit = document.elementFromPoint(r.x + Math.min(r.width / 2, 200), r.y + r.height / 2);
			return hit !== null && (e.contains(hit) || hit.contains(e));
		});
		const dialogs = [...document.querySelectorAll("dialog[open]")].map((e) => e.ariaLabel + ": " + e.innerText.replace(/\s+/g, " ").slice(0, 500));
		return seen.length > 0 ? "" : all.length + " found, none visible; open dialogs: " + JSON.stringify(dialogs) + ", said: " + (document.querySelector(".toasts")?.innerText ?? "");
	})()`, p.found(role, name))
	if err := poll(p.Ctx, expression, func(s string) bool { why = s; return s == "" }); err != nil {
		p.Fatalf("%s: %s (%v)", p.what(role, name), why, err)
	}
}

// Gone waits until no such element exists.
func (p Page) Gone(role, name string) {
	p.Helper()
	if err := poll(p.Ctx, p.found(role, name)+".length", func(n int) bool { return n == 0 }); err != nil {
		p.Fatalf("%s still exists (%v)", p.what(role, name), err)
	}
}

// Count returns the current number of such elements.
func (p Page) Count(role, name string) int {
	p.Helper()
	return Value[int](p.T, p.Ctx, p.found(role, name)+".length")
}

// Text returns the text of an element.
func (p Page) Text(role, name string) string {
	p.Helper()
	var text string
	expression := fmt.Sprintf(`(() => { const e = %s[0]; return e === undefined ? null : "=" + (e.value ?? e.innerText) })()`, p.found(role, name))
	if err := poll(p.Ctx, expression, func(s *string) bool {
		if s != nil {
			text = strings.TrimPrefix(*s, "=")
		}
		return s != nil
	}); err != nil {
		p.Fatalf("%s does not exist (%v)", p.what(role, name), err)
	}
	return text
}

// Has waits until the text of an element equals text.
func (p Page) Has(role, name, text string) {
	p.Helper()
	var has string
	expression := p.found(role, name) + `.map((e) => {
		if (!e.isContentEditable) return e.value ?? e.innerText;
		const copy = e.cloneNode(true);
		for (const other of copy.querySelectorAll("[contenteditable=false]")) other.remove();
		return [...copy.children].map((line) => line.textContent).join("\n");
	}).join("\n")`
	if err := poll(p.Ctx, expression, func(s string) bool { has = s; return s == text }); err != nil {
		p.Fatalf("%s has %q, not %q (%v)", p.what(role, name), has, text, err)
	}
}

// Says waits until a status or an alert contains a text; with a dialog open, one in the dialog.
func (p Page) Says(text string) {
	p.Helper()
	var says string
	all := fmt.Sprintf(`[...%s, ...%s].map((e) => e.innerText).join("\n")`, p.found("status", ""), p.found("alert", ""))
	if err := poll(p.Ctx, all, func(s string) bool { says = s; return strings.Contains(s, text) }); err != nil {
		p.Fatalf("no status or alert contains %q; they are: %s (%v)", text, says, err)
	}
}

// Chosen waits until the selected option of a select contains a text.
func (p Page) Chosen(name, text string) {
	p.Helper()
	var chosen string
	if err := poll(p.Ctx, p.found("combobox", name)+`.map((e) => e.selectedOptions?.[0]?.text ?? "").join()`, func(s string) bool { chosen = s; return strings.Contains(s, text) }); err != nil {
		p.Fatalf("%s has %q, not %q (%v)", p.what("combobox", name), chosen, text, err)
	}
}

// Enabled waits until an element is enabled.
func (p Page) Enabled(role, name string) { p.Helper(); p.able(role, name, true) }

// Disabled waits until an element is disabled.
func (p Page) Disabled(role, name string) { p.Helper(); p.able(role, name, false) }

func (p Page) able(role, name string, want bool) {
	p.Helper()
	expression := fmt.Sprintf(`(all => all.length > 0 && all.every((e) => !(e.disabled || e.ariaDisabled === "true") === %t))(%s)`, want, p.found(role, name))
	if err := poll(p.Ctx, expression, func(is bool) bool { return is }); err != nil {
		p.Fatalf("%s: enabled is not %t (%v)", p.what(role, name), want, err)
	}
}

// Focused waits until an element has the focus.
func (p Page) Focused(role, name string) {
	p.Helper()
	if err := poll(p.Ctx, p.found(role, name)+".includes(document.activeElement)", func(is bool) bool { return is }); err != nil {
		p.Fatalf("%s does not have the focus (%v)", p.what(role, name), err)
	}
}

// Choose selects an option of a select by its text. The list of options belongs to the operating system, so the mouse cannot be used.
func (p Page) Choose(name, option string) {
	p.Helper()
	var why string
	expression := fmt.Sprintf(`(() => {
		const all = %s.filter((e) => e.localName === "select" && !e.disabled);
		if (all.length !== 1) return all.length + " of them";
		const at = [...all[0].options].findIndex((o) => o.text === %s);
		if (at < 0) return "options: " + [...all[0].options].map((o) => o.text).join(", ");
		all[0].focus();
		all[0].selectedIndex = at;
		all[0].dispatchEvent(new Event("input", { bubbles: true }));
		all[0].dispatchEvent(new Event("change", { bubbles: true }));
		return "";
	})()`, p.found("combobox", name), quote(option))
	if err := poll(p.Ctx, expression, func(s string) bool { why = s; return s == "" }); err != nil {
		p.Fatalf("%q of %s: %s (%v)", option, p.what("combobox", name), why, err)
	}
}
