import type { Contrasts } from '@episodic/report/compare/contrasts'
import {
  bySuccess,
  contrastRows,
  EFFECT_HEAD,
  EFFECT_NOTE,
  effectCells,
  factorCells,
  methodOfContrasts,
  noteContrasts,
  RUN_HEAD,
  runCells,
} from '@episodic/report/notes/contrast-notes'
import { cleanText, plural, wrapText } from '@episodic/report/text/format'
import { alignColumns } from '@episodic/run/base/align-columns'
import { createColors } from 'picocolors'

const GAP = '  '
const WIDTH = 100

export function formatContrasts(given: Contrasts, { color }: { readonly color: boolean }): string {
  const contrasts = bySuccess(given)
  const { bold, dim, green, red, yellow } = createColors(color)
  const rows = contrasts.contrasts.flatMap((contrast) =>
    contrastRows(contrast).map((row, i) => ({ run: i === 0 ? contrast.run : '', ...row })),
  )
  const cells = rows.map(({ run, figure, difference, interval, p, detectable }) => [
    run,
    figure,
    difference,
    interval,
    p,
    detectable.split(':')[0] as string,
  ])
  const [head = '', ...lines] = alignColumns(['', '', 'difference', '95 %', 'Holm', 'detectable'], cells, 2)
  return `${[
    `${bold(`${plural(contrasts.contrasts.length, 'run')} against ${cleanText(contrasts.baseline)}`)}  ${dim(cleanText(contrasts.environment))}`,
    '',
    ...wrapText(noteContrasts(contrasts) ?? '', WIDTH).flatMap((line) => (line === '' ? [] : [`  ${yellow(line)}`])),
    ...alignColumns(RUN_HEAD, contrasts.runs.map(runCells), 2).map((line, i) => (i === 0 ? dim(line) : line)),
    ...contrasts.leftOut.flatMap(({ run, why }) => [
      '',
      ...wrapText(`Left out: ${run}. ${why}`, WIDTH).map((line) => `  ${yellow(cleanText(line))}`),
    ]),
    '',
    dim(head),
    ...lines.map((line, i) => {
      const { verdict = '', better = null } = rows[i] ?? {}
      return `${line}${GAP}${(better === null ? dim : better ? green : red)(verdict)}`
    }),
    ...formatFactors(contrasts, dim),
    '',
    ...wrapText(methodOfContrasts(contrasts), WIDTH).map((line) => `  ${dim(cleanText(line))}`),
  ].join('\n')}\n`
}

function formatFactors({ factors }: Contrasts, dim: (text: string) => string): string[] {
  if (!factors) return []
  const [head = [], ...cells] = factorCells(factors)
  const [top = '', ...rows] = alignColumns(head, cells, 1)
  const [above = '', ...effects] = alignColumns(EFFECT_HEAD, effectCells(factors), 2)
  const note = wrapText(EFFECT_NOTE, WIDTH).map((line) => `  ${dim(line)}`)
  return ['', dim(top), ...rows, '', dim(above), ...effects, '', ...note]
}
