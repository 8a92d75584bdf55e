import { equal, test } from "../testing";
import { beginning, copyBytesMenu, copyValueMenu } from "./menus";

/** Replaces the clipboard of the page, or removes it, as on pages without HTTPS. */
async function withClipboard(writeText: ((text: string) => Promise<void>) | undefined, run: () => Promise<void>): Promise<void> {
  Object.defineProperty(navigator, "clipboard", { configurable: true, value: writeText && { writeText } });
  try {
    await run();
  } finally {
    Reflect.deleteProperty(navigator, "clipboard");
  }
}

function item(title: string): HTMLElement {
  const found = [...document.querySelectorAll<HTMLElement>('[role="menuitem"]')].find((row) => row.textContent === title);
  if (found === undefined) {
    throw new Error(`no item ${title}`);
  }
  return found;
}

function later(): Promise<void> {
  return new Promise((done) => setTimeout(done));
}

const at = { x: 20, y: 20 };
const data = Uint8Array.of(1, 2, 0xff);

test("bytes are copied as chosen, and the page is notified", async () => {
  const told: string[] = [];
  await withClipboard(
    (text) => Promise.resolve(void told.push(text)),
    async () => {
      for (const title of ["Hex stream", "Python bytes", "TERA log line"]) {
        copyBytesMenu(at, data, { offset: 0, name: "C_CHAT.2", dir: "", notify: (text) => told.push(text) });
        item(title).click();
        await later();
      }
    },
  );
  equal(told, [
    "0102ff", "Copied 3 bytes as hex stream",
    "c_chat_2_bytes = bytes([\n    0x01, 0x02, 0xff\n])\n", "Copied 3 bytes as Python bytes",
    "[00:00:00.000] -> C_CHAT.2\n0102ff\n", "Copied 3 bytes as TERA log line",
  ]);
});

test("without a clipboard a selection is copied by a command", async () => {
  const told: string[] = [];
  const command = document.execCommand.bind(document);
  document.execCommand = (name: string): boolean => {
    const clipboardData = new DataTransfer();
    document.activeElement?.dispatchEvent(new ClipboardEvent("copy", { clipboardData, bubbles: true, cancelable: true }));
    told.push(`${name}: ${clipboardData.getData("text/plain")}`);
    return true;
  };
  const button = document.createElement("button");
  document.body.append(button);
  button.focus();
  await withClipboard(undefined, async () => {
    copyValueMenu(button, { path: "a[0]", name: "[0]", message: "C_CHAT", value: { x: 1 }, type: "" }, { notify: (text) => told.push(text) });
    item("CSV row").click();
    await later();
  });
  equal([told, document.activeElement === button, document.querySelector("textarea.copy-out")], [["copy: x\r\n1\r\n", "Copied a[0] as CSV row"], true, null]);
  document.execCommand = () => false;
  await withClipboard(
    () => Promise.reject(new Error("not allowed")),
    async () => {
      copyBytesMenu(button, data, { offset: 0, name: "", dir: "", notify: (text, kind) => told.push(`${kind ?? ""} ${text}`) });
      item("Base64").click();
      await later();
    },
  );
  document.execCommand = command;
  equal(told.at(-1), "err The browser does not allow copying here");
});

test("a list has no filter expression, so its item cannot be chosen", () => {
  copyValueMenu(at, { path: "a", name: "a", message: "C_CHAT", value: [], type: "array" }, { notify: () => undefined });
  equal(
    [...document.querySelectorAll('[role="menuitem"][aria-disabled="true"]')].map((row) => row.textContent),
    ["Filter expression", "CSV row", "Markdown table"],
  );
  document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
});

test("no bytes open no menu", () => {
  const told: string[] = [];
  copyBytesMenu(at, new Uint8Array(), { offset: 0, name: "x", dir: "", notify: (text) => told.push(text) });
  equal([told, document.querySelector('[role="menu"]')], [["No bytes to copy"], null]);
});

test("the preview of a large value shows its beginning", () => {
  const large = { first: [1, 2], list: Array.from({ length: 100_000 }, (_, i) => ({ i })), after: 1 };
  const short = JSON.stringify(beginning(large));
  equal([short.length < 10_000, short.startsWith('{"first":[1,2],"list":[{"i":0},{"i":1}')], [true, true]);
  equal(beginning({ a: [1, null, "b"], c: {} }), { a: [1, null, "b"], c: {} });
  equal(JSON.stringify(beginning(JSON.parse('{"__proto__":1}'))), '{"__proto__":1}');
});
