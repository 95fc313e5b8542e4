import type { Contrasts } from '@episodic/report'
import { contrastRows, describeRules, methodOfContrasts, RUN_HEAD, runCells } from '@episodic/report'
import { renderHtmlPage } from '../report/page/html-page.ts'
import { PAGE_STYLE } from '../report/page/page-style.ts'
import { card, section } from '../report/page/sections.ts'
import { cell, figuresTable } from '../report/page/tables.ts'
import { element, escapeHtml } from '../report/plots/svg.ts'

/** Renders contrasts as a self-contained HTML page without a script. The same contrasts give the same bytes. */
export function renderContrasts(contrasts: Contrasts): string {
  const title = `${contrasts.contrasts.length} runs against ${contrasts.baseline}`
  const body = element(
    'main',
    {},
    element(
      'header',
      {},
      element('p', { class: 'kicker' }, 'Episodic comparison'),
      element('h1', {}, escapeHtml(title)),
      element('p', { class: 'meta' }, escapeHtml(contrasts.environment)),
    ),
    section(
      'Runs',
      card('Figures of each run', 'Means over tasks. The first run is the baseline.', runsTable(contrasts), '', 'wide'),
    ),
    section(
      'Differences',
      card(`From ${contrasts.baseline}`, methodOfContrasts(contrasts), contrastsTable(contrasts), '', 'wide'),
    ),
    section(
      'Methods',
      element(
        'div',
        { class: 'card wide notes' },
        element(
          'p',
          {},
          escapeHtml(`Success is ${describeRules(contrasts.successRules)}. A failed episode is in no figure.`),
        ),
        element(
          'p',
          {},
          'A difference is shown if its 95 % interval does not hold 0 and the adjusted p-value is below 0.05 (Holm 1979), so that one of many runs does not look better by chance.',
        ),
      ),
    ),
  )
  return renderHtmlPage({ title: `${title} · Episodic comparison`, style: PAGE_STYLE, body })
}

function runsTable({ runs }: Contrasts): string {
  const rows = runs.map((run) =>
    runCells(run).map((text, i) => (i < 2 ? element('td', {}, escapeHtml(text)) : cell(text))),
  )
  return figuresTable(RUN_HEAD, rows, 2)
}

function contrastsTable({ contrasts }: Contrasts): string {
  const rows = contrasts.flatMap((contrast) =>
    contrastRows(contrast).map(({ figure, difference, interval, p, verdict, better }, i) => [
      element('td', {}, i === 0 ? escapeHtml(contrast.run) : ''),
      element('td', {}, figure),
      cell(difference),
      cell(interval),
      cell(p),
      element('td', { class: `number ${better === null ? '' : better ? 'positive' : 'negative'}` }, verdict),
    ]),
  )
  return figuresTable(['Run', 'Figure', 'Difference', '95 %', 'Holm', 'Shown'], rows, 2)
}
