import { element, escapeHtml } from '../../base/svg.ts'

/** A heading with cards, two per row. */
export function section(title: string, ...cards: readonly string[]): string {
  return element('section', {}, element('h2', {}, title), element('div', { class: 'grid' }, ...cards))
}

/** A titled box; without `content` it shows `empty`. */
export function card(title: string, caption: string, content: string | null, empty: string, kind = ''): string {
  return element(
    'div',
    { class: `card plot ${kind}`.trim() },
    element('h3', {}, escapeHtml(title)),
    element('p', { class: 'caption' }, escapeHtml(caption)),
    content ?? element('p', { class: 'empty' }, escapeHtml(empty)),
  )
}
