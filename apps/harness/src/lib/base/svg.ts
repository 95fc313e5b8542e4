/** Attributes of an element; `undefined` ones are left out. Numbers are rounded to two decimals. */
export type Attributes = Readonly<Record<string, string | number | undefined>>

/** Renders an SVG or HTML element. `children` are markup. */
export function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? round(value) : escapeHtml(value as string)}"`)
  return `<${name}${written.join('')}>${children.join('')}</${name}>`
}

/** Renders the tooltip of a shape. */
export function tip(text: string): string {
  return element('title', {}, escapeHtml(text))
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100 || 0)
}

/** Escapes a text for HTML elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
