var e;function t(){return e}function a(n){e=n}export{t as a,a as b};
