import { equal, test } from "../../kit/testing";
import { isPresetName, matching, mostPresets, mostRemembered, type Place, remembered, StoredFilters } from "./stored";

function place(content: Record<string, string> = {}): Place & { content: Record<string, string> } {
  return {
    content,
    getItem: (key) => content[key] ?? null,
    setItem: (key, value) => {
      content[key] = value;
    },
  };
}

test("a filter applied again moves to the front", () => {
  equal(remembered(["a", "b", "c"], "c"), ["c", "a", "b"]);
  equal(remembered(["a"], "  "), ["a"]);
  const many = Array.from({ length: mostRemembered }, (_, i) => String(i));
  equal(remembered(many, "new").length, mostRemembered);
  equal(remembered(many, "new")[0], "new");
});

test("filters with all words are found", () => {
  equal(matching(["C_CHAT && len > 3", "S_CHAT"], "chat LEN"), ["C_CHAT && len > 3"]);
  equal(matching(["a", "b"], ""), ["a", "b"]);
});

test("names of presets are words", () => {
  equal(["party", "größe", "_x9", "9x", "a b", "a-b", "a.b", "", "@a", "x".repeat(31)].map(isPresetName), [true, true, true, false, false, false, false, false, false, false]);
});

test("history and presets are stored per workspace", () => {
  const p = place();
  const one = new StoredFilters("one", p);
  one.remember(" len > 3 ");
  one.remember("C_CHAT");
  one.remember("");
  one.remember("x".repeat(9000));
  equal(one.save("party", 'name == "x"'), "");
  equal(one.save("big", "len > 1000"), "");
  equal(one.save("party", "replaced"), "");
  const again = new StoredFilters("one", p);
  equal(again.history(), ["C_CHAT", "len > 3"]);
  equal(again.presets(), [{ name: "big", text: "len > 1000" }, { name: "party", text: "replaced" }]);
  again.drop("big");
  again.forget("C_CHAT");
  equal(one.presets().map((x) => x.name), ["party"]);
  equal(one.history(), ["len > 3"]);
  equal(new StoredFilters("two", p).history(), []);
  equal([one.owns("wirebench.filter.history.one"), one.owns("wirebench.filter.history.two"), one.owns(null)], [true, false, true]);
});

test("invalid storage is ignored", () => {
  const p = place({
    "wirebench.filter.history.one": JSON.stringify(["good", 5, null, "", "x".repeat(9000)]),
    "wirebench.filter.presets.one": JSON.stringify([{ name: "ok", text: "len > 1" }, { name: "not ok", text: "x" }, { name: "a" }, 7, null]),
    "wirebench.filter.history.two": "{not JSON",
    "wirebench.filter.presets.two": '{"an":"object"}',
  });
  equal(new StoredFilters("one", p).history(), ["good"]);
  equal(new StoredFilters("one", p).presets(), [{ name: "ok", text: "len > 1" }]);
  equal(new StoredFilters("two", p).history(), []);
  equal(new StoredFilters("two", p).presets(), []);
});

test("without storage they last as long as the page", () => {
  const refused = (): never => {
    throw new Error("refused");
  };
  for (const none of [undefined, { getItem: refused, setItem: refused }]) {
    const s = new StoredFilters("one", none);
    s.remember("a");
    equal(s.save("n", "b"), "");
    equal([s.history(), s.presets()], [["a"], [{ name: "n", text: "b" }]]);
  }
});

test("the number of presets is limited", () => {
  const s = new StoredFilters("one", place());
  for (let i = 0; i < mostPresets; i++) {
    equal(s.save(`p${i}`, "x"), "");
  }
  equal(s.save("more", "x").includes("delete one"), true);
  equal(s.save("p5", "y"), "");
  equal(s.save("9", "x") !== "" && s.save("p5", "") !== "", true);
});

test("filters of the project are there for all, behind those of the person", async () => {
  let filters = [{ name: "big", text: "len > 9" }, { name: "party", text: "p" }];
  const s = new StoredFilters("one", place(), {
    get filters() {
      return filters;
    },
    save: (change) => {
      ({ filters } = change({ filters }));
      return Promise.resolve(true);
    },
  });
  equal(s.save("party", "mine"), "");
  equal(s.presets(), [{ name: "big", text: "len > 9", shared: true }, { name: "party", text: "mine" }]);
  await s.share({ name: "party", text: "mine" }, true);
  equal(s.presets(), [{ name: "big", text: "len > 9", shared: true }, { name: "party", text: "mine", shared: true }]);
  await s.share({ name: "big", text: "len > 9" }, false);
  equal([s.presets().length, filters], [1, [{ name: "party", text: "mine" }]]);
});
