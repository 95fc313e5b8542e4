import { element, escapeHtml } from '../../base/svg.ts'

/**
 * A table with a head, of rows of finished cells.
 *
 * @param texts - how many of the first columns are texts; the others are figures.
 */
export function figuresTable(head: readonly string[], rows: readonly (readonly string[])[], texts: number): string {
  const heads = head.map((name, i) => element('th', { class: i >= texts ? 'number' : undefined }, escapeHtml(name)))
  const lines = rows.map((cells) => element('tr', {}, ...cells))
  return element('div', { class: 'scroll' }, element('table', { class: 'even' }, element('tr', {}, ...heads), ...lines))
}

/** A figure in a table. */
export function cell(text: string): string {
  return element('td', { class: 'number' }, escapeHtml(text))
}
