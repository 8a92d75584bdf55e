// The elements that a person can see, by role and accessible name. `where` names a region, a dialog, a table or any other element that
// has them inside; "" is the whole page, or the modal dialog that is open. Roles and names follow the ARIA and HTML-AAM rules as far as
// the pages need them.
((role, name, where) => {
  const clean = (text) => (text ?? "").replace(/[\s\u200b]+/g, " ").trim();
  const text = (e) => {
    if (e.nodeType === Node.TEXT_NODE) return e.data;
    if (e.nodeType !== Node.ELEMENT_NODE || e.ariaHidden === "true" || e.hidden || !e.checkVisibility()) return "";
    const label = e.getAttribute("aria-label") ?? (e.localName === "img" ? e.alt : undefined);
    const inner = label ?? [...e.childNodes].map(text).join("");
    return getComputedStyle(e).display.startsWith("inline") ? inner : ` ${inner} `;
  };
  const fromContent = /^(button|link|tab|menuitem|option|row|heading|cell|gridcell|columnheader|rowheader|treeitem|checkbox|radio|switch|listitem|status|alert)$/;
  const roleOf = (e) => {
    const own = e.getAttribute("role");
    if (own !== null) return own.startsWith("menuitem") ? "menuitem" : own;
    switch (e.localName) {
      case "a": return e.hasAttribute("href") ? "link" : "generic";
      case "aside": return "complementary";
      case "form": return e.hasAttribute("aria-label") ? "form" : "generic";
      case "h1": case "h2": case "h3": case "h4": return "heading";
      case "input": return { checkbox: "checkbox", radio: "radio", search: "searchbox", submit: "button", button: "button", file: "button" }[e.type] ?? (e.list === null ? "textbox" : "combobox");
      case "li": return "listitem";
      case "main": return "main";
      case "section": return "region";
      case "select": return e.multiple || e.size > 1 ? "listbox" : "combobox";
      case "summary": return "button";
      case "td": return "cell";
      case "th": return e.closest("thead") === null ? "rowheader" : "columnheader";
      case "textarea": return "textbox";
      case "tr": return "row";
      case "ul": case "ol": return "list";
      case "button": case "dialog": case "img": case "option": case "table": return e.localName;
      default: return e.isContentEditable ? "textbox" : "generic";
    }
  };
  const nameOf = (e, r) => {
    const by = e.getAttribute("aria-labelledby");
    const parts = by?.split(" ").map((id) => document.getElementById(id)).filter((l) => l !== null) ?? [];
    if (parts.length > 0) return clean(parts.map((l) => l.textContent).join(" "));
    const label = e.getAttribute("aria-label");
    if (label) return clean(label);
    if (e.labels?.length > 0) {
      return clean([...e.labels].map((l) => [...l.childNodes].filter((c) => c !== e && !(c instanceof Element && c.matches("input, select, textarea"))).map(text).join("")).join(" "));
    }
    return (fromContent.test(r) ? clean(e.localName === "input" ? e.value : text(e)) : "") || clean(e.title || e.placeholder || "");
  };
  const fits = (has, wanted) => has === wanted || (wanted.endsWith("…") && has.startsWith(wanted.slice(0, -1)));
  const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0;
  const natural = {
    button: "button, summary, input", checkbox: "input", columnheader: "th", combobox: "select, input", complementary: "aside", dialog: "dialog", heading: "h1, h2, h3, h4",
    link: "a[href]", list: "ul, ol", listitem: "li", option: "option", radio: "input", region: "section", row: "tr", rowheader: "th", searchbox: "input", cell: "td",
    table: "table", textbox: "input, textarea, [contenteditable]", main: "main", menuitem: "[role^=menuitem]",
  }[role];
  const candidates = `[role=${role}]${natural === undefined ? "" : `, ${natural}`}`;
  const within = (root) => [...root.querySelectorAll(candidates)].filter((e) => {
    if (roleOf(e) !== role || e.closest("[inert], [aria-hidden=true]") !== null) return false;
    return name === "" ? shown(e) : (!wordOf || e.localName === "input" || (e.outerHTML.includes(wordOf))) && shown(e) && fits(nameOf(e, role), name);
  });
  // Most of a long list is passed over by one look at its markup.
  const word = /[\w]{3,}/.exec(name.replace("…", ""))?.[0] ?? "";
  const wordOf = /^(link|row|option|listitem)$/.test(role) ? word : "";
  const modal = document.querySelector("dialog:modal");
  if (where === "") return within(role === "dialog" || modal === null ? document : modal);
  const regions = [...document.querySelectorAll("[aria-label], [aria-labelledby], fieldset")].filter((e) => shown(e) && fits(nameOf(e, roleOf(e)), where));
  return [...new Set(regions.flatMap(within))];
})
