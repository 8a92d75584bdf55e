// Preact with signals, for panes that the browser draws from data. Modules with JSX import h from here.

export { type ComponentChildren, Fragment, h, render, type RenderableProps } from "preact";
export { useLayoutEffect, useRef } from "preact/hooks";
export { batch, computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
