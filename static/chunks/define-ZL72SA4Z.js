import{a,b}from"./chunk-SNKGVW5K.js";import"./chunk-5URXN2HJ.js";import"./chunk-SY5L7VRX.js";import"./chunk-G6LE6XKK.js";import"./chunk-6DHFEWGX.js";export{b as canName,a as nameCode};
