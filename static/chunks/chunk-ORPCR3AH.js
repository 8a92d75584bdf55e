import{a as n,d as o,e as t}from"./chunk-33PWKSMS.js";var e=()=>import("./popup-SUBU3KRS.js");n(e);function u(r,i){t(e).then(p=>p?.openMenu(r,i))}function d(){o(e)?.closeMenu()}export{u as a,d as b};
