import { equal, test } from "../../kit/testing";
import { RecentTexts } from "./recent";

test("recent texts: the last hundred, of which one that comes again is the newest", () => {
  const texts = new RecentTexts(Number);
  for (let n = 0; n < 100; n++) {
    texts.add(String(n));
  }
  texts.add("0");
  texts.add("100");
  equal([texts.has(0), texts.has(1), texts.get(2), texts.get(100)], [true, false, "2", "100"]);
  texts.clear();
  equal(texts.has(0), false);
});
