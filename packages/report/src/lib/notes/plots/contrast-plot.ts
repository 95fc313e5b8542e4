import type { Contrasts } from '../../compare/contrasts.ts'
import { cleanText, formatPercent, formatShareInterval } from '../../text/format.ts'
import { runCells } from '../contrast-notes.ts'

/** Columns of the plot, in pixels: names, the axis from 0 to 100 %, and figures. */
const [NAMES, FROM, TO, WIDTH] = [280, 300, 620, 800]
const ROW = 22

/**
 * Returns comparisons of worlds as a plot in SVG, for a paper or a page: success of each run over its episodes, with
 * its 95 % interval, worlds one below the other, the baseline as a hollow mark.
 */
export function contrastsToSvg(worlds: readonly Contrasts[]): string {
  const parts: string[] = []
  let y = ROW
  for (const { environment, runs } of worlds) {
    parts.push(textAt(8, y, environment, 'font-weight="bold"'))
    y += ROW
    for (const [i, run] of runs.entries()) {
      const { rate } = run
      const at = rate?.rate ?? run.success
      const [, player = ''] = runCells(run)
      if (rate && rate.low !== null && rate.high !== null)
        parts.push(`<line x1="${xOf(rate.low)}" x2="${xOf(rate.high)}" y1="${y}" y2="${y}" stroke="black"/>`)
      const fill = i === 0 ? 'white' : 'black'
      parts.push(
        `<circle cx="${xOf(at)}" cy="${y}" r="4" fill="${fill}" stroke="black"/>`,
        textAt(NAMES, y, player, 'text-anchor="end"'),
        textAt(TO + 16, y, `${formatPercent(at)}${rate ? ` (${formatShareInterval(rate)})` : ''}`),
      )
      y += ROW
    }
  }
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<line x1="${xOf(share)}" x2="${xOf(share)}" y1="${ROW}" y2="${y}" stroke="#ddd"/>${textAt(xOf(share), y + 12, formatPercent(share), 'text-anchor="middle"')}`,
  )
  const height = y + 2 * ROW
  const note = textAt(TO, y + ROW + 10, 'success, 95 % interval; hollow: baseline', 'text-anchor="end"')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
${[...ticks, ...parts, note].join('\n')}
</svg>
`
}

const xOf = (share: number) => Math.round(FROM + share * (TO - FROM))

const textAt = (x: number, y: number, text: string, more = '') =>
  `<text x="${x}" y="${y + 4}" ${more}>${cleanText(text).replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)}</text>`
