// The commands of the page: the palette lists them, the keyboard runs them and the help is generated from them, so that they agree.

/** A command. */
export interface Command {
  /** Stable: stored keys refer to it. */
  id: string;
  title: string;
  group: string;
  /** Alternatives, each one stroke or several: "Ctrl+K", "g g", "?", "Alt+ArrowLeft". */
  keys?: readonly string[];
  run(): void;
  /** Evaluated each time; without it the command is always enabled. */
  enabled?(): boolean;
  /** Whether its keys apply to what has the focus; without it they always do. */
  here?(): boolean;
  /** Its keys also work in text fields, if they have Ctrl or are a function key or Escape. */
  anywhere?: boolean;
}

const registry = new Map<string, Command>();
const listeners: (() => void)[] = [];
let list: readonly Command[] | undefined; // a cache, cleared on registration

/** Adds commands; one with a known id replaces the old one. */
export function register(...commands: Command[]): void {
  for (const command of commands) {
    registry.set(command.id, command);
  }
  list = undefined;
  for (const callback of listeners) {
    callback();
  }
}

/** Calls back after each registration. */
export function onRegister(callback: () => void): void {
  listeners.push(callback);
}

/** All commands in order of registration; the same array until the next registration. */
export function all(): readonly Command[] {
  return (list ??= [...registry.values()]);
}

/** The command with an id, or undefined. */
export function find(id: string): Command | undefined {
  return registry.get(id);
}

/** Whether a command is enabled. */
export function ready(command: Command): boolean {
  return command.enabled?.() ?? true;
}

/** Whether the keys of a command run it. */
export function pressable(command: Command): boolean {
  return ready(command) && (command.here?.() ?? true);
}

/** Runs a command if it is known and enabled; returns whether it did. */
export function run(id: string): boolean {
  const command = registry.get(id);
  if (command === undefined || !ready(command)) {
    return false;
  }
  command.run();
  return true;
}
