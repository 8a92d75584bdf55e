import{a,b}from"./chunk-OFA3W2OL.js";import"./chunk-TOGX2PNU.js";import"./chunk-HYHIVDXP.js";import"./chunk-G6LE6XKK.js";import"./chunk-6DHFEWGX.js";export{b as canName,a as nameCode};
