// Shows the rows whose name, code or fields have all words that are typed. The words are in the address, so that a search can be shared.
(() => {
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  const rows = [...document.querySelectorAll("tr[data-words]")].map((row) => ({ row, words: row.dataset.words }));
  const groups = [...document.querySelectorAll(".group")];
  const show = () => {
    const wanted = find.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    let n = 0;
    for (const { row, words } of rows) {
      row.hidden = !wanted.every((word) => words.includes(word));
      n += row.hidden ? 0 : 1;
    }
    for (const group of groups) {
      group.hidden = group.querySelector("tbody > tr:not([hidden])") === null;
    }
    found.textContent = wanted.length === 0 ? "" : `${n} of ${rows.length}`;
    history.replaceState(null, "", find.value === "" ? location.pathname : `#${encodeURIComponent(find.value)}`);
  };
  find.addEventListener("input", show);
  find.addEventListener("keydown", (event) => {
    const first = document.querySelector("tr[data-words]:not([hidden]) a");
    if (event.key === "Enter" && first !== null) {
      first.click();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== find) {
      event.preventDefault();
      find.focus();
    }
  });
  try {
    find.value = decodeURIComponent(location.hash.slice(1));
  } catch {
    // not words of a search
  }
  if (find.value !== "") {
    show();
  }
})();
