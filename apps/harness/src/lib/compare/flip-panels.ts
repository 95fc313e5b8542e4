import type { Flip, ShownEpisode, ShownStep } from '@episodic/report'
import { formatNumber, formatSigned, NOTHING, plural } from '@episodic/report'
import { element, escapeHtml } from '../report/plots/svg.ts'

/** An episode that flipped, with both plays as far as they were read. */
export interface ShownFlip extends Flip {
  readonly plays: { readonly a: ShownEpisode | undefined; readonly b: ShownEpisode | undefined }
}

export const FLIP_STYLE = `
.flip { padding: 0; margin-bottom: 8px; } .flip summary { cursor: pointer; padding: 12px 18px; overflow-wrap: anywhere; }
.flip .prompt { padding: 0 18px 14px; color: var(--muted); font-size: 13.5px; overflow-wrap: anywhere; }
.sides { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); border-top: 1px solid var(--edge); }
.sides > div { padding: 14px 18px; max-height: 620px; overflow-y: auto; } .sides > div + div { border-left: 1px solid var(--edge); }
@media (max-width: 860px) { .sides { grid-template-columns: minmax(0, 1fr); } .sides > div + div { border-left: 0; border-top: 1px solid var(--edge); } }
.verdict { font-size: 17px; margin: 18px 0 4px; } .warning { color: var(--shaped); } .gained { color: var(--good); } .lost { color: var(--bad); }
`

/** An episode that expands to show both plays side by side. */
export function renderFlip(flip: ShownFlip): string {
  const { task, attempt, a, b, plays } = flip
  const end = (letter: string, { ending, steps, unshaped }: Flip['a']) =>
    `${letter} ${escapeHtml(ending)} after ${plural(steps, 'step')} (${formatNumber(unshaped)})`
  const prompt = (plays.b ?? plays.a)?.prompt
  return element(
    'details',
    { class: 'card flip' },
    element(
      'summary',
      {},
      element('code', {}, escapeHtml(task)),
      ` · attempt ${attempt} · ${end('A', a)} · ${end('B', b)}`,
    ),
    prompt ? element('p', { class: 'prompt' }, escapeHtml(prompt)) : '',
    element('div', { class: 'sides' }, renderSide('A', a, plays.a), renderSide('B', b, plays.b)),
  )
}

function renderSide(letter: string, { ending }: Flip['a'], play: ShownEpisode | undefined): string {
  if (!play) return element('div', {}, element('p', { class: 'empty' }, `The steps of ${letter} were not read.`))
  const last = play.steps.at(-1)?.number ?? 0
  const before = play.steps.findIndex(({ number }, i) => number !== i + 1)
  const omitted = element('p', { class: 'empty' }, `${plural(play.omitted, 'step')} omitted to keep this page small`)
  const steps = play.steps.map((step, i) => (i === before ? omitted : '') + renderStep(step))
  return element(
    'div',
    {},
    element('h3', {}, `${letter} · `, escapeHtml(play.policy)),
    stepRow('start', '', '', play.start ? escapeHtml(play.start.observation) : NOTHING),
    ...steps,
    stepRow('end', element('span', { class: `badge ${play.outcome}` }, escapeHtml(ending)), '', `after step ${last}`),
  )
}

function renderStep({
  number,
  seat,
  tool,
  arguments: input,
  observation,
  structured,
  total,
  refused,
}: ShownStep): string {
  const sign = total > 0 ? 'positive' : total < 0 ? 'negative' : ''
  return stepRow(
    `#${number}`,
    element('code', { class: 'call' }, escapeHtml(`${seat === null ? '' : `${seat}: `}${tool}(${input})`)),
    element('span', { class: `reward ${sign}` }, formatSigned(total)),
    escapeHtml(observation),
    structured === null ? '' : element('code', { class: 'data' }, escapeHtml(structured)),
    refused === null
      ? ''
      : element(
          'div',
          { class: 'facts' },
          element('span', { class: 'badge refused' }, `refused: ${escapeHtml(refused)}`),
        ),
  )
}

/** One row of a play, as in the report of a run. All arguments are markup. */
function stepRow(index: string, call: string, reward: string, says: string, ...more: string[]): string {
  return element(
    'div',
    { class: 'step' },
    element('span', { class: 'index' }, index),
    call || element('span', {}),
    reward || element('span', {}),
    element('div', { class: 'says' }, says),
    ...more,
  )
}
