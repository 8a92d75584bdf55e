// Shows the messages that have all words that are typed.
(() => {
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  const rows = [...document.querySelectorAll(".frame")].map((row) => ({ row, words: row.textContent.toLowerCase() }));
  find.addEventListener("input", () => {
    const wanted = find.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    let n = 0;
    for (const { row, words } of rows) {
      row.hidden = !wanted.every((word) => words.includes(word));
      n += row.hidden ? 0 : 1;
    }
    found.textContent = wanted.length === 0 ? "" : `${n} of ${rows.length}`;
  });
  document.getElementById("all").addEventListener("click", () => {
    const closed = document.querySelector(".frame:not([open])") !== null;
    for (const { row } of rows) {
      row.open = closed;
    }
  });
})();
