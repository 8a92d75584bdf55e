import { equal, test } from "../kit/testing";
import type { Answer } from "./socket";
import { besides, Values } from "./values";

test("values: the element beside another one", () => {
  equal([besides("list[9]", 1), besides("a[3].list[0]", -1), besides("list", 1)], ["list[10]", "a[3].list[-1]", "list"]);
});

test("values: a row asks for its value by its first bit, and one that is not of the message by its path alone", async () => {
  const asked: unknown[] = [];
  const answers: Answer[] = [{ n: 1, value: { path: "a", message: "M", type: "uint8", value: 7, typed: "7" } as never }, { n: 2, failed: "no" }];
  const values = new Values({
    act: (action) => {
      asked.push(action);
      return Promise.resolve(answers.shift() ?? { n: 0 });
    },
    press: () => Promise.resolve({ n: 0 }), isShown: () => false, redraw: () => undefined,
  });
  const row = document.createElement("tr");
  Object.assign(row.dataset, { range: "16:8", role: "value", path: "a" });
  equal((await values.of(row))?.typed, "7");
  delete row.dataset["role"];
  equal(await values.of(row), undefined);
  equal(asked, [{ action: "value:16", path: "a", role: "value" }, { action: "value:", path: "a", role: "value" }]);
  await values.edit(row); // there is no message
  equal(asked.length, 2);
});
