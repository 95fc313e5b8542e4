import { createColors } from 'picocolors'
import type { CheckReport, CheckResult } from './check-report.ts'
import type { Finding } from './finding.ts'

/** How many warnings of one check are shown; the rest are counted. */
const SHOWN = 6

/** One check on a line, and below it what was found, how to see it again and what to do. */
export function formatCheck(
  { name, outcome, summary, findings, warnings, waived }: CheckResult,
  color: boolean,
): string {
  const { bold, dim, green, red, yellow } = createColors(color)
  const mark = {
    passed: green('passed '),
    warned: yellow('warned '),
    failed: red('failed '),
    skipped: dim('skipped'),
  }[outcome]
  const shown = warnings.slice(0, SHOWN)
  const more = warnings.length - shown.length
  return [
    `${mark}  ${bold(name.padEnd(16))}  ${summary}`,
    ...findings.flatMap((finding) => formatFinding(finding).map((line, i) => `    ${i === 0 ? red(line) : dim(line)}`)),
    ...shown.map((warning) => `    ${yellow('warning')}: ${nameIt(warning)} ${dim(warning.advice)}`),
    ...waived.map((finding) => `    ${dim('waived')}: ${nameIt(finding)} ${dim(`Reason: ${finding.reason}`)}`),
    ...(more > 0 ? [`    ${yellow('warning')}: … and ${more} more`] : []),
  ].join('\n')
}

/** What the whole came to, and the waivers that nothing uses. */
export function formatVerdict({ world, outcome, checks, unusedWaivers }: CheckReport, color: boolean): string {
  const { green, red, yellow } = createColors(color)
  const failed = checks.filter((check) => check.outcome === 'failed').length
  const warnings = checks.reduce((sum, check) => sum + check.warnings.length, unusedWaivers.length)
  const verdict = {
    passed: green('passes'),
    warned: yellow(`passes, with ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`),
    failed: red(`fails ${failed} of ${checks.length} checks`),
  }[outcome]
  return [
    ...unusedWaivers.map((name) => `${yellow('warning')}: The waiver "${name}" was used by no finding. Remove it.`),
    `${world.name} ${world.version} ${verdict}.`,
  ].join('\n')
}

/** What was found, and the name by which it can be waived. */
function nameIt({ name, what }: Finding): string {
  return `${what} [${name}]`
}

function formatFinding(finding: Finding): string[] {
  const { again, advice, difference } = finding
  return [
    nameIt(finding),
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
