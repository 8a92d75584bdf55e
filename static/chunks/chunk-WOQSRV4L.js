import{a as e,d as p,e as n}from"./chunk-IVP2FU37.js";var o=()=>import("./popup-U47GV546.js");e(o);function c(t,r){n(o).then(u=>u?.openMenu(t,r))}function M(){p(o)?.closeMenu()}export{c as a,M as b};
