import { createColors } from 'picocolors'
import type { CheckResult, Finding } from './check-report.ts'

/** How many warnings of one check are shown; the rest are counted. */
const SHOWN = 6

/** One check on a line, and below it what was found, how to see it again and what to do. */
export function formatCheck({ name, outcome, summary, findings, warnings }: CheckResult, color: boolean): string {
  const { bold, dim, green, red, yellow } = createColors(color)
  const mark = { ok: green('ok     '), failed: red('failed '), skipped: yellow('skipped') }[outcome]
  const shown = warnings.slice(0, SHOWN)
  const more = warnings.length - shown.length
  return [
    `${mark}  ${bold(name.padEnd(16))}  ${summary}`,
    ...findings.flatMap((finding) => formatFinding(finding).map((line, i) => `    ${i === 0 ? red(line) : dim(line)}`)),
    ...shown.map((warning) => `    ${yellow('warning')}: ${warning}`),
    ...(more > 0 ? [`    ${yellow('warning')}: … and ${more} more`] : []),
  ].join('\n')
}

function formatFinding({ what, again, advice, difference }: Finding): string[] {
  return [
    what,
    `  see it again: ${again}`,
    ...(difference
      ? [
          `  one, from character ${difference.at}: ${visible(difference.first)}`,
          `  other: ${visible(difference.second)}`,
        ]
      : []),
    `  what to do: ${advice}`,
  ]
}

/** A text on one line, with nothing in it that a terminal would obey. */
function visible(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
