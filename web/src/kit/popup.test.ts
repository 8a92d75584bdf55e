import type { MenuItem } from "./menu";
import { firstLines, openMenu } from "./popup";
import { equal, test } from "./testing";

function press(key: string, more: KeyboardEventInit = {}): void {
  document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
}

function pointer(type: string, target: Element): void {
  target.dispatchEvent(new PointerEvent(type, { bubbles: true, cancelable: true, pointerType: "mouse" }));
}

/** The focused item, without its shortcut. */
function focused(): string {
  return document.activeElement?.querySelector(".pop-text")?.textContent ?? document.activeElement?.textContent ?? "";
}

function isOpen(): boolean {
  return document.querySelector('[role="menu"]') !== null;
}

/** A menu of fruit opened from a focused button, the items run, and the previews requested. */
function fruit(): { button: HTMLButtonElement; open(): void; told: string[]; asked: string[] } {
  const button = document.createElement("button");
  button.textContent = "button";
  document.body.append(button);
  button.focus();
  const told: string[] = [];
  const asked: string[] = [];
  const item = (title: string, more: Partial<MenuItem> = {}): MenuItem => ({
    title,
    preview: () => (asked.push(title), `${title}\nnext`),
    run: () => told.push(`${title}, focus on ${focused()}`),
    ...more,
  });
  const items = [
    item("apple", { disabled: true }),
    item("banana", { group: "Yellow", hint: "b" }),
    item("blueberry", { group: "Blue" }),
    item("bilberry", { group: "Blue" }),
    item("cherry"),
  ];
  const open = (): void => openMenu(button, { label: "Fruit", items });
  open();
  return { button, open, told, asked };
}

function shown(): string[] {
  return [...document.querySelectorAll(".pop-line")].map((line) => line.textContent ?? "");
}

test("a menu starts at its first enabled item, and arrow keys wrap around", () => {
  fruit();
  const seen = [focused()];
  for (const key of ["ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown", "End", "Home"]) {
    press(key);
    seen.push(focused());
  }
  equal(seen, ["banana", "blueberry", "banana", "apple", "cherry", "apple", "cherry", "apple"]);
  press("Escape");
});

test("a menu has the roles of a menu with groups of items", () => {
  fruit();
  const menu = document.querySelector('[role="menu"]');
  equal(menu?.getAttribute("aria-label"), "Fruit");
  equal([...(menu?.querySelectorAll('[role="group"]') ?? [])].map((g) => [g.getAttribute("aria-label"), g.querySelectorAll('[role="menuitem"]').length]), [
    ["Yellow", 1], ["Blue", 2],
  ]);
  equal([...(menu?.querySelectorAll('[role="menuitem"]') ?? [])].map((i) => i.getAttribute("aria-disabled")), ["true", null, null, null, null]);
  equal(document.activeElement?.querySelector("kbd")?.textContent, "b");
  press("Escape");
});

test("typing jumps to the next title with that prefix; repeating a letter goes on", () => {
  fruit();
  const seen: string[] = [];
  for (const key of ["b", "b", "b"]) {
    press(key);
    seen.push(focused());
  }
  equal(seen, ["blueberry", "bilberry", "banana"]);
  press("Escape");
  fruit();
  press("b");
  press("i");
  equal(focused(), "bilberry");
  press("x");
  equal(focused(), "bilberry");
  press("Escape");
});

test("an item runs after the menu is closed and the focus has returned", () => {
  const { button, told } = fruit();
  press("Enter");
  equal([isOpen(), told, document.activeElement === button, button.hasAttribute("aria-expanded")], [false, ["banana, focus on button"], true, false]);
});

test("a disabled item does nothing", () => {
  const { told } = fruit();
  press("Home");
  press("Enter");
  document.querySelector<HTMLElement>('[aria-disabled="true"]')?.click();
  equal([isOpen(), told, shown()], [true, [], []]);
  press("Escape");
});

test("Escape closes, returns the focus and is not handled elsewhere", () => {
  const { button } = fruit();
  let others = 0;
  const count = (): void => void others++;
  document.addEventListener("keydown", count);
  press("Escape");
  document.removeEventListener("keydown", count);
  equal([isOpen(), document.activeElement === button, others], [false, true, 0]);
});

test("keys with Ctrl are left to the browser", () => {
  fruit();
  const event = new KeyboardEvent("keydown", { key: "c", ctrlKey: true, bubbles: true, cancelable: true });
  document.activeElement?.dispatchEvent(event);
  equal([event.defaultPrevented, isOpen(), focused()], [false, true, "banana"]);
  press("Escape");
});

test("the item under the pointer has the focus and its preview, which is computed once", () => {
  const { asked } = fruit();
  const [, , , bilberry] = document.querySelectorAll('[role="menuitem"]');
  pointer("pointermove", bilberry ?? document.body);
  equal([focused(), shown(), asked], ["bilberry", ["bilberry", "next"], ["banana", "bilberry"]]);
  press("ArrowUp");
  press("ArrowDown");
  equal(asked, ["banana", "bilberry", "blueberry"]);
  press("Escape");
});

test("a press elsewhere closes the menu", () => {
  fruit();
  pointer("pointerdown", document.body);
  equal(isOpen(), false);
});

test("a press on its own button closes the menu and the click does not open it again; the next does", async () => {
  const { button, open } = fruit();
  button.addEventListener("click", open);
  pointer("pointerdown", button);
  button.click();
  equal(isOpen(), false);
  await new Promise((done) => setTimeout(done));
  pointer("pointerdown", button);
  button.click();
  equal(isOpen(), true);
  press("Escape");
});

test("one menu is open at a time; one without items does not open", () => {
  fruit();
  openMenu({ x: 10, y: 10 }, { label: "Other", items: [{ title: "one", run: () => undefined }] });
  equal([document.querySelectorAll('[role="menu"]').length, focused()], [1, "one"]);
  openMenu({ x: 10, y: 10 }, { label: "None", items: [] });
  equal(isOpen(), false);
});

test("inside a modal dialog the menu is part of it", () => {
  const dialog = document.createElement("dialog");
  document.body.append(dialog);
  dialog.showModal();
  openMenu({ x: 10, y: 10 }, { label: "Menu", items: [{ title: "one", run: () => undefined }] });
  equal([dialog.querySelector('[role="menu"]') !== null, focused()], [true, "one"]);
  press("Escape");
  equal(dialog.open, true);
  dialog.remove();
});

test("the focus goes to the button that replaced the old one", () => {
  const { button } = fruit();
  button.id = "again";
  const other = document.createElement("button");
  other.id = "again";
  button.replaceWith(other);
  press("Escape");
  equal(document.activeElement === other, true);
});

test("a preview has the first lines, truncated", () => {
  equal(firstLines("a\r\nb\n\nc", 6, 10), ["a", "b", "", "c"]);
  equal(firstLines("1\n2\n3\n4\n", 3, 10), ["1", "2", "3", "…"]);
  equal(firstLines("1\n2\n3\n", 3, 10), ["1", "2", "3"]);
  equal(firstLines(`${"x".repeat(11)}\n${"y".repeat(10)}`, 3, 10), [`${"x".repeat(9)}…`, "y".repeat(10)]);
  equal(firstLines("😀".repeat(11), 3, 10), [`${"😀".repeat(9)}…`]);
  equal(firstLines("", 3, 10), []);
});
