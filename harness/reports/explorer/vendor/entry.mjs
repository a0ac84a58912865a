// What the explorer takes from each library; the names become those of one global object, `vendor`.
export { h, render, Fragment, createRef } from "preact";
export { useState, useEffect, useLayoutEffect, useMemo, useRef, useReducer, useCallback } from "preact/hooks";
export { default as htm } from "htm";
export { Virtualizer, observeElementRect, observeElementOffset, elementScroll } from "@tanstack/virtual-core";
export { default as uPlot } from "uplot";
