/** Attributes of an element; `undefined` leaves one out. Numbers are written with two decimals. */
export type Attributes = Readonly<Record<string, string | number | undefined>>

/** Writes an SVG or HTML element around children that are markup already. */
export function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? round(value) : escapeHtml(value as string)}"`)
  return `<${name}${written.join('')}>${children.join('')}</${name}>`
}

/** Writes a text at a point. */
export function label(x: number, y: number, text: string, attributes: Attributes = {}): string {
  return element('text', { x, y, ...attributes }, escapeHtml(text))
}

/** Writes what a pointer that rests on a shape is told. */
export function tip(text: string): string {
  return element('title', {}, escapeHtml(text))
}

/** Writes a path through points. */
export function pathOf(points: readonly (readonly [x: number, y: number])[]): string {
  return points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('')
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100 || 0)
}

/** Writes text so that HTML shows it and never obeys it, in an element or in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
