import { element, escapeHtml } from '../../base/svg.ts'

/** A row of figures, each with a name above and notes below. */
export function renderCards(cards: readonly (readonly string[])[]): string {
  return element(
    'div',
    { class: 'headline' },
    ...cards.map(([name = '', figure = '', ...notes]) =>
      element(
        'div',
        { class: 'card' },
        element('div', { class: 'figure-name' }, escapeHtml(name)),
        element('div', { class: 'figure' }, escapeHtml(figure)),
        ...notes.map((note) => element('div', { class: 'figure-note' }, escapeHtml(note))),
      ),
    ),
  )
}
