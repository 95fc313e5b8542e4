// What the elements of the pages are made with. The bundler puts it into each module: calls of `createElement` are
// shorter than those that the automatic form of JSX makes, by a thirtieth of the script of the pages.
export { createElement, Fragment } from 'preact'
