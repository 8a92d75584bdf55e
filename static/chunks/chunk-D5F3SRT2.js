var e;function t(){return e}function o(n){e=n}export{t as a,o as b};
