import{a,b,c}from"./chunk-SNPBZJL6.js";import"./chunk-SP2OYVS2.js";import"./chunk-6DHFEWGX.js";export{b as closeMenu,c as firstLines,a as openMenu};
