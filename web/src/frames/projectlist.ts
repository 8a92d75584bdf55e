// What the people of a project share about lists of frames: columns, named filters and colors. What a person has chosen in this browser comes
// first, until it is saved for the project.

import type { SettingsList } from "../api/api";
import { failure, request } from "../kit/http";
import { notify } from "../kit/notify";

/** What is shared; the lists of a project without any are empty. */
export type Shared = Required<SettingsList>;

function whole(list: SettingsList | undefined): Shared {
  return { columns: list?.columns ?? [], filters: list?.filters ?? [], colors: list?.colors ?? [] };
}

/** The merge patch that replaces what a project shares. */
export function patchOf({ columns, filters, colors }: Shared): { list: { [Part in keyof Shared]: Shared[Part] | null } | null } {
  const part = <T>(list: T[]): T[] | null => (list.length === 0 ? null : list);
  return { list: columns.length + filters.length + colors.length === 0 ? null : { columns: part(columns), filters: part(filters), colors: part(colors) } };
}

export class ProjectList {
  readonly project: string;
  private shared: Shared;

  /** The text is what the page came with, in JSON. */
  constructor(project: string, text: string | undefined) {
    this.project = project;
    this.shared = whole(text === undefined ? undefined : JSON.parse(text) as SettingsList);
  }

  get columns(): readonly string[] {
    return this.shared.columns;
  }

  get filters(): Shared["filters"] {
    return this.shared.filters;
  }

  get colors(): Shared["colors"] {
    return this.shared.colors;
  }

  /** Changes what is shared, as others have left it; resolves to whether that was stored. */
  async save(change: (now: Shared) => Partial<Shared>, said: string, say: (text: string, kind: "ok" | "err") => void = notify): Promise<boolean> {
    const at = { project: this.project };
    const before = await request("GET settings", at);
    const now = before.ok ? whole(before.answer.settings["list"] as SettingsList | undefined) : this.shared;
    const next = { ...now, ...change(now) };
    const reply = before.ok ? await request("PATCH settings", at, { body: patchOf(next) }) : before;
    if (!reply.ok) {
      say(failure("It was not saved for the project", reply), "err");
      return false;
    }
    this.shared = next;
    say(said, "ok");
    return true;
  }
}

let list: ProjectList | undefined;

/** What the project of the page shares. */
export function projectList(): ProjectList {
  const { workspace = "", list: text } = document.getElementById("main")?.dataset ?? {};
  list ??= new ProjectList(workspace, text);
  return list;
}
