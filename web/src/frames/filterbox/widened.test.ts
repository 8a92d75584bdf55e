import { equal, test } from "../../kit/testing";
import type { Place } from "./stored";
import { sayWidened } from "./widened";

test("stored filters that find more say so once", async () => {
  const content: Record<string, string> = {};
  const place: Place = {
    getItem: (key) => content[key] ?? null,
    setItem: (key, value) => {
      content[key] = value;
    },
  };
  const asked: string[] = [];
  const said: string[] = [];
  const { fetch } = globalThis;
  let fails = true;
  globalThis.fetch = (_: unknown, init?: RequestInit): Promise<Response> => {
    const { text } = JSON.parse(String(init?.body)) as { text: string };
    asked.push(text);
    const body = { ok: true, widened: text === ".level > 3" ? [".level is any depth now"] : [] };
    return Promise.resolve(new Response(JSON.stringify(body), { status: fails ? 500 : 200, headers: { "Content-Type": "application/json" } }));
  };
  try {
    const say = (): Promise<void> => sayWidened("one", "c", [".level > 3", "len > 2", ".level > 3"], place, (text) => {
      said.push(text);
      return () => undefined;
    });
    await say();
    equal([said, content], [[], {}]); // asked again by the next page
    fails = false;
    await say();
    await say();
    equal(said, ["Stored filters and columns find more than before. .level > 3: .level is any depth now."]);
    equal(asked, [".level > 3", ".level > 3", "len > 2"]);
  } finally {
    globalThis.fetch = fetch;
  }
});
