// unseen finds, of the elements with text of their own that can be seen, those with a look that is not among `seen`, one for each look. A look
// is what the contrast of a text depends on: its color, the size and weight of its font, and what its elements paint behind it; of a link also
// the color of the text around it.
const unseen = (root, seen) => {
  const hash = (text) => {
    let h = 0x811c9dc5;
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193) >>> 0;
    return h.toString(36);
  };
  const behind = new Map();
  const ground = (e) => {
    if (e === null) return "";
    let known = behind.get(e);
    if (known === undefined) {
      const s = getComputedStyle(e);
      const opaque = /^rgb\(/.test(s.backgroundColor) && s.opacity === "1";
      const own = /^rgba\(.*, 0\)$/.test(s.backgroundColor) ? "" : s.backgroundColor;
      const paint = [own, s.backgroundImage === "none" ? "" : s.backgroundImage, s.opacity === "1" ? "" : s.opacity, s.filter === "none" ? "" : s.filter].join("");
      const below = ground(e.parentElement);
      known = opaque ? paint : paint === "" ? below : hash(`${below};${paint}`);
      behind.set(e, known);
    }
    return known;
  };
  const texts = [];
  const all = (root === document ? document.body : root).querySelectorAll("*");
  for (const e of all) {
    const own = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim() !== "");
    if (!own && !/^(input|textarea|select)$/.test(e.localName)) continue;
    if (!e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const s = getComputedStyle(e);
    const look = hash([ground(e), s.color, e.parentElement === null ? "" : getComputedStyle(e.parentElement).color, e.localName === "a", s.fontSize, s.fontWeight, s.textShadow, e.disabled === true, e.getAttribute("aria-disabled")].join(";"));
    if (seen.has(look)) continue;
    seen.add(look);
    texts.push({ element: e, look });
  }
  return texts;
};
window.unseen = unseen;
