// Dialogs: a title, controls and buttons. Errors are shown inside, since the page's messages are behind the dialog.
//
//   dialog.operate(.question .framing) > form > h2, .field, .row, .operate-says

import { type ComponentChildren, Fragment, h, render, type RenderableProps, type Signal, signal } from "./ui";

export function arrow(dir: string): string {
  return dir === "c2s" ? "C→S" : "S→C";
}

/** An open dialog. */
export interface Open {
  readonly box: HTMLDialogElement;
  readonly says: Signal<{ text: string; wrong: boolean }>;
  say(text: string, wrong?: boolean): void;
  close(): void;
  readonly closed: Promise<void>;
}

/** Opens a dialog and removes it when closed. `label` is its accessible name, if other than the title. */
export function dialog(title: string, body: (d: Open) => ComponentChildren, { label = title, kind = "" } = {}): Open {
  const box = document.createElement("dialog");
  box.className = `operate ${kind}`.trim();
  box.setAttribute("aria-label", label);
  const says = signal({ text: "", wrong: false });
  const closed = new Promise<void>((resolve) => box.addEventListener("close", () => {
    box.remove();
    render(null, box);
    resolve();
  }));
  const d: Open = { box, says, closed, say: (text, wrong = true) => { says.value = { text, wrong }; }, close: () => box.close() };
  // Keys in a dialog belong to its fields. Enter presses the first button, unless the field uses Enter itself.
  box.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const { target } = event;
    const single = target instanceof HTMLInputElement && target.type === "text" && target.list === null;
    if (event.key === "Enter" && !event.isComposing && (single || (target instanceof HTMLTextAreaElement && (event.ctrlKey || event.metaKey)))) {
      event.preventDefault();
      box.querySelector<HTMLButtonElement>(".btn.primary")?.click();
    }
  });
  document.body.append(box);
  box.showModal();
  const Body = (): h.JSX.Element => <>{body(d)}</>;
  render(<form method="dialog" onSubmit={(event) => event.preventDefault()}><h2>{title}</h2><Body /></form>, box);
  box.querySelector<HTMLElement>("[data-focus]")?.focus();
  return d;
}

/** The status or error message of a dialog. */
export function Says({ d }: { d: Open }) {
  const { text, wrong } = d.says.value;
  return <p class={wrong ? "operate-says err" : "operate-says"} role="status">{text}</p>;
}

/** A label over a control. */
export function Field({ label, hidden = false, children }: RenderableProps<{ label: string; hidden?: boolean }>) {
  return <label class="field" hidden={hidden}><span>{label}</span>{children}</label>;
}

/** A select of values with texts. */
export function Select({ options, value, change, ...more }: { options: readonly (readonly [string, string])[]; value: string; change(value: string): void } & { name?: string; disabled?: boolean; "aria-label"?: string; "data-focus"?: string }) {
  return (
    <select {...more} value={value} onChange={(event) => change(event.currentTarget.value)}>
      {options.map(([v, text]) => <option key={v} value={v} selected={v === value}>{text}</option>)}
    </select>
  );
}

/** A button; the title is also its accessible name if the text is only a sign. */
export function Button({ text, title, run, primary = false, kind = "", ...more }: { text: string; title?: string; run(): void; primary?: boolean; kind?: string; disabled?: boolean; "aria-label"?: string; "data-focus"?: string }) {
  const label = title !== undefined && !/\p{L}{2}/u.test(text) ? { "aria-label": title } : {};
  return <button type="button" class={`btn ${primary ? "primary" : "quiet"} ${kind}`} title={title} {...label} {...more} onClick={run}>{text}</button>;
}

/** Asks for confirmation; resolves to whether it was given. */
export async function confirmDialog(question: string, action: string): Promise<boolean> {
  let yes = false;
  await dialog(action, (d) => (
    <>
      <p>{question}</p>
      <div class="row">
        <Button text={action} primary run={() => { yes = true; d.close(); }} />
        <Button text="Cancel" data-focus="" run={d.close} />
      </div>
    </>
  ), { label: question, kind: "question" }).closed;
  return yes;
}

/** Asks for a line of text; `wrong` returns the mistake in a text, or "". Resolves to undefined on cancel. */
export async function askDialog(title: string, hint: string, action: string, wrong: (text: string) => string): Promise<string | undefined> {
  let answer: string | undefined;
  await dialog(title, (d) => {
    const act = (): void => {
      const text = d.box.querySelector("input")?.value.trim() ?? "";
      const why = wrong(text);
      if (why === "") {
        answer = text;
        d.close();
      } else {
        d.say(why);
      }
    };
    return (
      <>
        <Field label={hint}><input type="text" autocomplete="off" spellcheck={false} data-focus="" /></Field>
        <div class="row"><Button text={action} primary run={act} /><Button text="Cancel" run={d.close} /></div>
        <Says d={d} />
      </>
    );
  }, { kind: "question" }).closed;
  return answer;
}
