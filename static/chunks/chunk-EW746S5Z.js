import{a as n,d as o,e as t}from"./chunk-IVP2FU37.js";var e=()=>import("./popup-EYNP7C2L.js");n(e);function u(r,i){t(e).then(p=>p?.openMenu(r,i))}function d(){o(e)?.closeMenu()}export{u as a,d as b};
