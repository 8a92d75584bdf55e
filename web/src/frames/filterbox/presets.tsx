// Presets as buttons below the box, and the form that saves one.

import type { Anchor, MenuOptions } from "../../kit/menu";
import { roleItem } from "../../kit/role";
import { h, type Signal, useLayoutEffect, useRef } from "../../kit/ui";
import { isPresetName, nameRule, type Preset } from "./stored";
import type { How } from "./syntax";

/** The box of the presets. */
interface PresetBox {
  readonly typed: Signal<string>;
  readonly presets: Signal<readonly Preset[]>;
  readonly naming: Signal<boolean>; // the form is open
  readonly stored: { save(name: string, text: string): string; drop(name: string): void; readonly shares: boolean; share(preset: Preset, on: boolean): Promise<void> };
  usePreset(name: string, how: How): Promise<void>;
  /** The text to save as a preset, or why it cannot be saved. */
  textToSave(): Promise<{ text: string } | { why: string }>;
  put(text: string): void;
  recheck(): void;
  focus(): void;
}

type OpenMenu = (anchor: Anchor, options: MenuOptions) => void;

function items(box: PresetBox, preset: Preset): MenuOptions["items"] {
  const { name, text, shared = false } = preset;
  const use = (how: How) => (): void => void box.usePreset(name, how);
  const preview = (): string => text;
  return [
    { title: "Apply", group: "", run: use("replace"), preview },
    { title: "And", group: "", run: use("and"), preview: () => `… && @${name}` },
    { title: "Or", group: "", run: use("or"), preview: () => `… || @${name}` },
    { title: "And not", group: "", run: use("and not"), preview: () => `… && !(@${name})` },
    { title: "Expand in the box", group: "Preset", run: () => box.put(text), preview },
    ...(shared ? [] : [{ title: "Delete", group: "Preset", preview, run: () => (box.stored.drop(name), box.recheck()) }]),
    ...(box.stored.shares ? [{ title: shared ? "Remove from the project" : "Save for the project", group: "Preset", preview, ...roleItem(), run: () => void box.stored.share(preset, !shared).then(() => box.recheck()) }] : []),
  ];
}

/** The presets; the one that is the whole text of the box is pressed. */
export function Presets({ box, menu }: { box: PresetBox; menu: OpenMenu }) {
  const presets = box.presets.value;
  const open = (anchor: EventTarget, preset: Preset): void => menu(anchor as HTMLElement, { label: `@${preset.name}`, items: items(box, preset) });
  return (
    <div class="filterbox-presets" role="group" aria-label="Presets" hidden={presets.length === 0}>
      {presets.map((p) => (
        <span key={p.name} class="filterbox-preset" onContextMenu={(event) => (event.preventDefault(), open(event.currentTarget, p))}>
          <button class="btn" type="button" title={p.shared === true ? `${p.text}, of the project` : p.text} aria-pressed={box.typed.value.trim() === `@${p.name}`} onClick={() => void box.usePreset(p.name, "replace")}>@{p.name}</button>
          <button class="btn" type="button" aria-label={`More of @${p.name}`} aria-haspopup="menu" onClick={(event) => open(event.currentTarget, p)}>▾</button>
        </span>
      ))}
    </div>
  );
}

/** Asks for the name of a new preset. */
export function SaveForm({ box }: { box: PresetBox }) {
  const name = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const why = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => name.current?.focus(), []);
  const written = (): string => (name.current?.value ?? "").trim().replace(/^@/, "");
  const close = (): void => {
    box.naming.value = false;
    box.focus();
  };
  const say = (problem: string, save = button.current?.textContent ?? ""): void => {
    if (why.current !== null && button.current !== null) {
      why.current.textContent = problem;
      button.current.textContent = save;
    }
  };
  const submit = async (): Promise<void> => {
    const saved = isPresetName(written()) ? await box.textToSave() : { why: nameRule };
    const problem = "why" in saved ? saved.why : box.stored.save(written(), saved.text);
    if (problem === "") {
      close();
      box.recheck();
    } else {
      say(problem);
      name.current?.focus();
    }
  };
  return (
    <form
      class="filterbox-save"
      onSubmit={(event) => (event.preventDefault(), void submit())}
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          event.preventDefault();
          event.stopPropagation();
          close();
        }
      }}
    >
      <label>Save as @ <input ref={name} maxLength={30} spellcheck={false} autocomplete="off" onInput={() => say("", box.presets.value.some((p) => p.name === written()) ? "Replace" : "Save")} /></label>
      <button class="btn primary" ref={button}>Save</button>
      <button class="btn quiet" type="button" onClick={close}>Cancel</button>
      <span class="err" role="status" ref={why} />
    </form>
  );
}
