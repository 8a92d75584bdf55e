// Tests of the scripts: NAME.test.ts beside NAME.ts. A Go test in web/build bundles them and runs them in a browser:
//
//	go test ./web/build -run Unit

interface Case {
  name: string;
  run(): void | Promise<void>;
}

const cases: Case[] = [];

/** Registers a test. Its name is a sentence. */
export function test(name: string, run: () => void | Promise<void>): void {
  cases.push({ name, run });
}

/** A value in messages: typed arrays as lists, maps as lists of pairs, and values without JSON by their names. */
function shown(value: unknown): string {
  const text = JSON.stringify(
    value,
    (_, v: unknown) => {
      if (v instanceof Map || v instanceof Set) {
        return { [v.constructor.name]: Array.from<unknown>(v) };
      }
      if (ArrayBuffer.isView(v) && !(v instanceof DataView)) {
        return { [v.constructor.name]: Array.from(v as Uint8Array) };
      }
      if (typeof v === "bigint" || v === undefined || (typeof v === "number" && !Number.isFinite(v))) {
        return `${typeof v} ${String(v)}`;
      }
      return v;
    },
    1,
  );
  return text.replaceAll(/\n\s*/g, " ");
}

/** Fails unless both values are equal. */
export function equal(got: unknown, want: unknown): void {
  const a = shown(got);
  const b = shown(want);
  if (a !== b) {
    throw new Error(`got  ${a}\nwant ${b}`);
  }
}

/** Runs all tests; resolves to their number and the failures. */
export async function runTests(): Promise<{ count: number; failed: string[] }> {
  const failed: string[] = [];
  for (const { name, run } of cases) {
    try {
      await run();
    } catch (error) {
      failed.push(`${name}\n${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { count: cases.length, failed };
}
