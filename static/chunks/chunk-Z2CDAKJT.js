function b(n){return typeof n=="object"&&n!==null&&!Array.isArray(n)}function g(n){return/^[A-Za-z_$][\w$]*$/.test(n)}function y(n){return Object.is(n,-0)?"-0":String(n)}function $(n,r="",s=""){if(typeof n=="string")return JSON.stringify(n);if(typeof n!="object"||n===null)return y(n);let o=s+r,i=Array.isArray(n)?n.map(t=>$(t,r,o)):Object.entries(n).map(([t,f])=>`${JSON.stringify(t)}:${r===""?"":" "}${$(f,r,o)}`),[e,c]=Array.isArray(n)?"[]":"{}";return i.length===0||r===""?`${e}${i.join(",")}${c}`:`${e}
${i.map(t=>o+t).join(`,
`)}
${s}${c}`}export{b as a,g as b,y as c,$ as d};
