import{a,b,c}from"./chunk-PIIDW7GF.js";import"./chunk-G6LE6XKK.js";import"./chunk-6DHFEWGX.js";export{b as closeMenu,c as firstLines,a as openMenu};
