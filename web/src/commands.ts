// What a person can do, by name: the palette lists it, the keyboard runs it and the help is generated from it, so they cannot drift.

/** One thing a person can do. */
export interface Command {
  /** Stable: remembered keys refer to it. */
  id: string;
  title: string;
  group: string;
  /** Alternatives, each one stroke or several: "Ctrl+K", "g g", "?", "Alt+ArrowLeft". */
  keys?: readonly string[];
  run(): void;
  /** Asked each time; without it the command can always run. */
  enabled?(): boolean;
  /** Its keys work while typing in a field too, as far as they have Ctrl or are a function key or Escape. */
  anywhere?: boolean;
}

const registry = new Map<string, Command>();
const listeners: (() => void)[] = [];
let list: readonly Command[] | undefined; // made anew when something was registered

/** Adds commands; one with a known id takes the place of the old one. */
export function register(...commands: Command[]): void {
  for (const command of commands) {
    registry.set(command.id, command);
  }
  list = undefined;
  for (const callback of listeners) {
    callback();
  }
}

/** Calls back whenever commands were registered. */
export function onRegister(callback: () => void): void {
  listeners.push(callback);
}

/** All commands in the order in which they were registered; the same array until another is registered. */
export function all(): readonly Command[] {
  return (list ??= [...registry.values()]);
}

/** The command with an id, or undefined. */
export function find(id: string): Command | undefined {
  return registry.get(id);
}

/** Says whether a command can run now. */
export function ready(command: Command): boolean {
  return command.enabled?.() ?? true;
}

/** Runs a command if it is known and can run now; says whether it did. */
export function run(id: string): boolean {
  const command = registry.get(id);
  if (command === undefined || !ready(command)) {
    return false;
  }
  command.run();
  return true;
}
