// The dialog of the settings by which bytes are decoded: of a capture ("Decode as"), of its project, or of a listener to be started. It shows
// what is in force, where it comes from, and resets it. The protocol is that of a project: choosing another one leads there.
//
//   dialog.operate.settings > form > .setting > .field, .setting-source > button

import { root } from "../../kit/address";
import type { CapturesProposal, ProjectsInfo, SettingsInUse } from "../../api/api";
import { Button, dialog, Field, Says, Select } from "../../kit/dialog";
import { openElsewhere } from "../../kit/elsewhere";
import { counted, sentence } from "../../kit/frametext";
import { type At, failure, request } from "../../kit/http";
import { lookOnly, lookOnlyWhy } from "../../kit/role";
import { computed, type ComponentChildren, Fragment, h, type ReadonlySignal, type RenderableProps, type Signal, signal } from "../../kit/ui";

/** Chosen values as text by name; "" is inherited. */
type Values = Readonly<Record<string, string>>;

/** The chosen settings, as in the API. */
interface Chosen {
  map?: string;
  constants?: Record<string, string>;
  groups?: string[];
  ports?: number[];
  direction?: string;
  keep?: { age?: string; bytes?: number };
}

const units: readonly (readonly [string, number])[] = ["k", "M", "G", "T"].flatMap((u, i): [string, number][] => [[`${u}B`, 1000 ** (i + 1)], [`${u}iB`, 1024 ** (i + 1)]]).reverse();

/** A number of bytes as it may be typed, exactly; "" for 0. */
function sizeText(n: number): string {
  const [unit, size] = units.find(([, size]) => n % size === 0) ?? ["", 1];
  return n === 0 ? "" : `${n / size} ${unit}`.trim();
}

/** Reads 5 GB, 500 MiB or 5000000000; a text that is none is left to the server, which says so. */
function sizeOf(text: string): number | string {
  const [, number, unit = ""] = /^([\d.]+)\s*([kmgt]i?b?|b)?$/i.exec(text.trim()) ?? [];
  const size = unit === "" || /^b$/i.test(unit) ? 1 : units.find(([name]) => name.toLowerCase() === unit.toLowerCase().replace(/b?$/, "b"))?.[1];
  return number === undefined || size === undefined || !Number.isFinite(Number(number)) ? text : Math.round(Number(number) * size);
}

function lines(list: readonly string[] | undefined): string {
  return (list ?? []).join("\n");
}

function constantLines(all: Record<string, string> | undefined): string {
  return lines(Object.entries(all ?? {}).map(([name, value]) => `${name} = ${value}`));
}

/** The values of an answer as text. */
export function valuesOf(answer: SettingsInUse): Values {
  const chosen = answer.settings as Chosen & Record<string, unknown>;
  const out: Record<string, string> = {
    map: chosen.map ?? "", constants: constantLines(chosen.constants), groups: lines(chosen.groups), ports: (chosen.ports ?? []).join(", "),
    direction: chosen.direction ?? "", framing: answer.framing ?? "", keys: "", keep_age: chosen.keep?.age ?? "", keep_bytes: sizeText(chosen.keep?.bytes ?? 0),
  };
  for (const { name } of answer.options) {
    out[name] = String(chosen[name] ?? "");
  }
  return out;
}

const words = (text: string): string[] => text.split(/[\s,;]+/).filter((word) => word !== "");

/** Constants as a merge patch: those that are no longer listed are reset. */
function constantsPatch(text: string, was: string): Record<string, string | null> {
  const read = (of: string): Record<string, string> => Object.fromEntries(of.split("\n").flatMap((line) => {
    const [, name, value] = /^\s*(?:#define\s+)?(\w+)(?:\s*=\s*|\s+)(.+?)\s*$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  }));
  const now = read(text);
  return { ...Object.fromEntries(Object.keys(read(was)).filter((name) => !(name in now)).map((name) => [name, null])), ...now };
}

/** The merge patch that changes values; an empty one changes nothing. */
export function patchOf(was: Values, now: Values): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(now)) {
    const old = was[name] ?? "";
    if (text.trim() === old || name === "framing" || name === "keys") {
      continue;
    }
    if (name === "keep_age" || name === "keep_bytes") {
      const value = text.trim() === "" ? null : name === "keep_age" ? text.trim() : sizeOf(text);
      out["keep"] = { ...(out["keep"] as object | undefined), [name.slice(5)]: value };
      continue;
    }
    out[name] = name === "constants" ? constantsPatch(text, old)
      : text.trim() === "" ? null
        : name === "groups" ? text.split(/[\s,;]+/).filter((rule) => rule !== "")
          : name === "ports" ? words(text).map((word) => (/^\d+$/.test(word) ? Number(word) : 0))
            : text.trim();
  }
  return out;
}

/** A control with the origin of its value and a button that resets it. */
function Setting({ name, label, now, was, from, reset, children }: RenderableProps<{ name: string; label: string; now: Values; was: Values; from: string; reset(name: string): void }>) {
  const own = (now[name] ?? "").trim() !== "";
  const changed = (now[name] ?? "") !== (was[name] ?? "");
  return (
    <div class={`setting${own ? " own" : ""}`}>
      <Field label={label}>{children}</Field>
      <span class="setting-source">
        {own ? "chosen here" : from}{changed ? ", not applied yet" : ""}
        {own && !lookOnly() ? <Button text="Reset" title={`To the value ${from}`} aria-label={`Reset ${label}`} run={() => reset(name)} /> : null}
      </span>
    </div>
  );
}

/** The settings that a dialog shows and changes. */
interface Form {
  answer: SettingsInUse;
  now: Signal<Values>;
  was: ReadonlySignal<Values>;
  from: string; // where values come from that are not chosen here
  traffic: boolean; // of a capture or listener, not of a project
}

const unset = (doc: string): string => /\(default: ([^)]+)\)/.exec(doc)?.[1] ?? "not set";

/** The controls of all settings. */
function Settings({ answer: a, now, was, from, traffic }: Form) {
  const put = (name: string, value: string): void => {
    now.value = { ...now.value, [name]: value };
  };
  const shared = { now: now.value, was: was.value, from, reset: (name: string) => put(name, "") };
  const disabled = lookOnly();
  const inherited = (name: string, value: string, none = "none"): string => {
    const text = value === "" || value === "0" ? none : value;
    return (now.value[name] ?? "") === "" ? text : `${text}, ${from}`;
  };
  const setting = (name: string, label: string, control: ComponentChildren) => <Setting key={name} name={name} label={label} {...shared}>{control}</Setting>;
  const text = (name: string, label: string, placeholder: string) => setting(name, label, (
    <input type="text" name={name} value={now.value[name] ?? ""} placeholder={placeholder} disabled={disabled} spellcheck={false} autocomplete="off" onInput={(event) => put(name, event.currentTarget.value)} />
  ));
  const area = (name: string, label: string, placeholder: string, rows = 3) => setting(name, label, (
    <textarea name={name} rows={rows} value={now.value[name] ?? ""} placeholder={placeholder} disabled={disabled} spellcheck={false} autocomplete="off" onInput={(event) => put(name, event.currentTarget.value)} />
  ));
  const pick = (name: string, label: string, without: string, values: readonly string[]) => setting(name, label, (
    <Select name={name} disabled={disabled} options={[["", without], ...values.map((v): readonly [string, string] => [v, v])]} value={now.value[name] ?? ""} change={(to) => put(name, to)} />
  ));
  const up = a.inherited as Chosen;
  return (
    <>
      {a.codes ? pick("map", "Code map", inherited("map", a.inherited_map ?? ""), a.maps) : null}
      {a.options.map((o) => (o.choices.length === 0 ? text(o.name, o.title, inherited(o.name, o.inherited, unset(o.doc))) : pick(o.name, o.title, inherited(o.name, o.inherited, unset(o.doc)), o.choices.filter((v) => v !== "0"))))}
      {a.groups.length > 0 && !a.codes ? area("groups", "Groups of messages, by port and direction", lines(up.groups) === "" ? `c2s=${a.groups[0] ?? ""}\n4000/s2c=${a.groups[1] ?? a.groups[0] ?? ""}\nthe groups are ${a.groups.join(", ")}` : lines(up.groups)) : null}
      {a.has_constants ? area("constants", "Constants", constantLines(up.constants) === "" ? "NAME = 16" : constantLines(up.constants)) : null}
      {text("ports", "Ports of the server", (up.ports ?? []).join(", ") || "the end that did not open the connection")}
      {setting("direction", "Direction, where a file does not tell it", (
        <Select name="direction" disabled={disabled} options={[["", inherited("direction", up.direction ?? "", "unknown")], ["c2s", "C→S, to the server"], ["s2c", "S→C, to the client"]]} value={now.value["direction"] ?? ""} change={(to) => put("direction", to)} />
      ))}
      {traffic ? null : text("keep_age", "Captures go after", "such as 12h, 30d or 8w; what has notes, marks or comments stays")}
      {traffic ? null : text("keep_bytes", "Captures take at most", "such as 5 GB; the oldest go first")}
      {traffic && a.framing !== undefined ? text("framing", "Framing of the raw bytes", "not raw bytes") : null}
      {traffic && a.has_keys ? (
        <div class="setting">
          <Field label={a.keyed ? "Cipher keys (stored; they are not shown)" : "Cipher keys"}>
            <textarea name="keys" rows={2} value={now.value["keys"] ?? ""} disabled={disabled} spellcheck={false} autocomplete="off" placeholder={`${a.keyed ? "type - to remove them; " : ""}10.0.0.2:4000-10.0.0.1:7801  ${a.protocol}  KEY`} onInput={(event) => put("keys", event.currentTarget.value)} />
          </Field>
          <span class="setting-source">{a.keyed ? "chosen here" : "none; a recorded handshake is enough"}</span>
        </div>
      ) : null}
    </>
  );
}

/** The choice of the protocol, which is that of a project: "" is the present project. */
function Protocol({ project, others, chosen, changed, note }: { project: string; others: readonly ProjectsInfo[]; chosen: Signal<string>; changed?(to: string): void; note: ComponentChildren }) {
  const options: (readonly [string, string])[] = [["", project], ...others.map((p): readonly [string, string] => [p.name, `${p.protocol}: ${p.title}`])];
  return (
    <div class="setting">
      <Field label="Protocol and project"><Select name="protocol" disabled={lookOnly()} options={options} value={chosen.value} change={(to) => {
        chosen.value = to;
        changed?.(to);
      }} /></Field>
      <span class="setting-source">{note}</span>
    </div>
  );
}

/** The title of the page's project. */
function titleOf(workspace: string): string {
  return document.querySelector(".views summary")?.textContent.trim() ?? workspace;
}

/** The open projects besides one, those of other protocols first. */
async function projectsBesides(workspace: string, protocol: string): Promise<readonly ProjectsInfo[]> {
  const reply = await request("GET /projects", {});
  const all = reply.ok ? reply.answer.projects.filter((p) => p.state === "open" && p.trouble === undefined && p.name !== workspace) : [];
  return [...all.filter((p) => p.protocol !== protocol), ...all.filter((p) => p.protocol === protocol)];
}

/** The names of the captures that bounds remove at once. */
async function leaving(project: string, { keep_age: age = "", keep_bytes: bytes = "" }: Values): Promise<readonly string[]> {
  const reply = await request("GET retention", { project, age: age.trim() || undefined, bytes: bytes.trim() === "" ? undefined : sizeOf(bytes) });
  return reply.ok ? reply.answer.leaving.filter((x) => Date.parse(x.at) <= Date.now()).map((x) => x.name) : [];
}

/** Opens the dialog for a capture, or for the project if `capture` is undefined. `name` is that of the capture, `focus` a setting. */
export async function settingsDialog(workspace: string, capture: string | undefined, name = "", focus = "scope"): Promise<void> {
  const project = titleOf(workspace);
  const scope = signal<"capture" | "project">(capture === undefined ? "project" : "capture");
  const answer = signal<SettingsInUse | undefined>(undefined);
  const was = signal<Values>({});
  const now = signal<Values>({});
  const others = signal<readonly ProjectsInfo[]>([]);
  const found = signal<readonly CapturesProposal[]>([]); // to open it in another project
  const other = signal(""); // the project to open it in
  const at: At = { project: workspace, id: capture ?? "" };
  let warned = ""; // bounds of captures for which it was said what they remove
  // What resets a project: only what is shown here, since it has settings that others make elsewhere, such as the filters that people have in common.
  const none = (): Record<string, unknown> => patchOf(was.value, Object.fromEntries(Object.keys(was.value).map((name) => [name, ""])));

  const d = dialog(capture === undefined ? `Settings of ${project}` : `Decode ${name} as`, (d) => {
    const a = answer.value;
    const ofCapture = scope.value === "capture";
    const from = ofCapture ? "from the project" : "from the server";
    const disabled = lookOnly() || a === undefined;
    const leaves = ofCapture && other.value !== "";
    const open = (to: string, text: string, why?: string) => (
      <Button key={to} primary={why === undefined} disabled={disabled} text={text} {...(why === undefined ? {} : { title: why })} run={() => void openElsewhere(at, to)} />
    );
    return (
      <>
        {capture === undefined ? null : (
          <Field label="Settings of">
            <Select name="scope" options={[["capture", "this capture"], ["project", `the project ${project}, for all its captures and definitions`]]} value={scope.value} change={(to) => {
              scope.value = to === "project" ? "project" : "capture";
              void read();
            }} />
          </Field>
        )}
        {a === undefined ? null : (
          <div class="settings-list">
            {ofCapture ? <Protocol project={`${a.protocol}: ${project}`} others={others.value} chosen={other} note={leaves ? null : found.value.length > 0 ? found.value.map((p) => open(p.project ?? "", sentence(p.text), sentence(p.evidence))) : others.value.length === 0 ? <a href={`${root()}/projects#new-project`}>New project …</a> : "this project"} /> : null}
            {leaves ? null : <Settings answer={a} now={now} was={was} from={from} traffic={ofCapture} />}
          </div>
        )}
        <Says d={d} />
        <div class="row">
          {leaves ? others.value.filter((p) => p.name === other.value).map((p) => open(p.name, `Open it in ${p.title}`)) : (
            <>
              <Button text="Apply" primary disabled={disabled} {...(lookOnly() ? { title: lookOnlyWhy() } : {})} run={() => void apply()} />
              <Button text={ofCapture ? "Reset to the project" : "Reset all"} title={`Use the values ${from}`} disabled={disabled || (ofCapture ? Object.keys(a.settings).length === 0 : Object.keys(none()).length === 0)} run={() => void reset()} />
            </>
          )}
          <Button text="Cancel" run={d.close} />
        </div>
      </>
    );
  }, { kind: "settings" });

  const read = async (): Promise<void> => {
    const of = scope.value;
    const reply = await (of === "capture" ? request("GET captures/{id}/settings", at) : request("GET settings/in-force", { project: workspace }));
    if (of !== scope.value) {
      return;
    }
    if (!reply.ok) {
      d.say(failure("The settings cannot be read", reply));
      return;
    }
    d.say("", false);
    answer.value = reply.answer;
    was.value = valuesOf(reply.answer);
    now.value = was.value;
  };

  const send = async (body: object): Promise<void> => {
    const reply = await (scope.value === "capture" ? request("PATCH captures/{id}", at, { body }) : request("PATCH settings", { project: workspace }, { body }));
    if (reply.ok) {
      d.close();
    } else {
      d.say(reply.why);
    }
  };

  const apply = async (): Promise<void> => {
    const patch = patchOf(was.value, now.value);
    const { framing = "", keys = "" } = now.value;
    if (scope.value === "project") {
      const bounds = `${now.value["keep_age"] ?? ""} ${now.value["keep_bytes"] ?? ""}`;
      if ("keep" in patch && warned !== bounds) {
        const left = await leaving(workspace, now.value);
        if (left.length > 0) {
          warned = bounds;
          d.say(`${counted(left.length, "capture")} will be removed for good within a minute, ${left[0]} first. Apply again to do so.`);
          return;
        }
      }
      await (Object.keys(patch).length === 0 ? d.close() : send(patch));
      return;
    }
    const body = {
      ...(Object.keys(patch).length === 0 ? {} : { settings: patch }),
      ...(framing === was.value["framing"] ? {} : { framing: framing.trim() }),
      ...(keys.trim() === "" ? {} : { keys: keys.trim() === "-" ? "" : keys }),
    };
    await (Object.keys(body).length === 0 ? d.close() : send(body));
  };

  const reset = (): Promise<void> => send(scope.value === "capture" ? { settings: null } : none());

  await read();
  d.box.querySelector<HTMLElement>(`[name="${focus}"], select, input`)?.focus();
  if (capture !== undefined) {
    void projectsBesides(workspace, answer.value?.protocol ?? "").then((all) => (others.value = all));
    void request("GET captures/{id}/proposals", at).then((reply) => (found.value = reply.ok ? reply.answer.proposals.filter((p) => p.kind === "open") : []));
  }
  await d.closed;
}

/** How the traffic of a listener is decoded: the project that shows it, and what its settings override. */
export interface Decoding {
  project: string;
  title: string; // of the project
  values: Values;
  settings: Record<string, unknown>;
  keys: string;
}

/** Asks how the traffic of a listener is to be decoded. Resolves to undefined on cancel. */
export async function decodingDialog(workspace: string, before: Decoding | undefined): Promise<Decoding | undefined> {
  const chosen = signal(before?.project === undefined || before.project === workspace ? "" : before.project);
  const others = signal<readonly ProjectsInfo[]>([]);
  const own = signal("");
  const answer = signal<SettingsInUse | undefined>(undefined);
  const now = signal<Values>({});
  const was = computed<Values>(() => (answer.value === undefined ? {} : valuesOf(answer.value)));
  let out: Decoding | undefined;

  const d = dialog("Decode the traffic as", (d) => {
    const a = answer.value;
    const use = (values: Values): void => {
      const project = chosen.value === "" ? workspace : chosen.value;
      const title = others.value.find((p) => p.name === project)?.title ?? titleOf(workspace);
      out = { project, title, values, settings: patchOf(was.value, values), keys: (values["keys"] ?? "").trim() };
      d.close();
    };
    return (
      <>
        {a === undefined ? null : (
          <div class="settings-list">
            <Protocol project={own.value} others={others.value} chosen={chosen} changed={(to) => void read(to)} note={chosen.value === "" ? "this project" : "it starts in that project"} />
            <Settings answer={a} now={now} was={was} from="from the project" traffic />
          </div>
        )}
        <Says d={d} />
        <div class="row">
          <Button text="Use these settings" primary disabled={a === undefined} run={() => use(now.value)} />
          <Button text="Reset to the project" title="Use the values of the project" disabled={a === undefined} run={() => use(was.value)} />
          <Button text="Cancel" run={d.close} />
        </div>
      </>
    );
  }, { kind: "settings" });

  const read = async (of: string): Promise<void> => {
    const project = of === "" ? workspace : of;
    const reply = await request("GET settings/in-force", { project });
    if (of !== chosen.value) {
      return;
    }
    if (!reply.ok) {
      d.say(failure("The settings cannot be read", reply));
      return;
    }
    // The values in force in the project are those that a listener inherits.
    const { settings, map, options, ...more } = reply.answer;
    answer.value = { ...more, settings: {}, inherited: settings, ...(map === undefined ? {} : { inherited_map: map }), options: options.map((o) => ({ ...o, inherited: o.value })) };
    now.value = before?.project === project ? before.values : was.value;
    own.value ||= `${reply.answer.protocol}: ${titleOf(workspace)}`;
  };

  if (chosen.value !== "") { // the present project is the first of the list
    const reply = await request("GET settings/in-force", { project: workspace });
    own.value = `${reply.answer.protocol ?? ""}: ${titleOf(workspace)}`;
  }
  await read(chosen.value);
  d.box.querySelector<HTMLElement>("[name=protocol]")?.focus();
  void projectsBesides(workspace, own.value.slice(0, own.value.indexOf(":"))).then((all) => (others.value = all));
  await d.closed;
  return out;
}
