// What the panes are made of that the browser draws from data: Preact with signals. Modules with JSX import h from here.

export { Fragment, h, render } from "preact";
export { useLayoutEffect, useRef } from "preact/hooks";
export { computed, effect, signal } from "@preact/signals";
