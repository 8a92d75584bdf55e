var e;function t(){return e}function i(n){e=n}export{t as a,i as b};
