import { createColors } from 'picocolors'
import type { CheckReport, CheckResult } from './check-report.ts'
import type { Finding } from './finding.ts'

/** Most warnings shown of one check; the rest are counted. */
const SHOWN = 6

/** Formats a check as one line, followed by its findings: what is wrong, how to reproduce it, and how to fix it. */
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
    ...shown.map((warning) => `    ${yellow('warning')}: ${titleOf(warning)} ${dim(warning.advice)}`),
    ...waived.map((finding) => `    ${dim('waived')}: ${titleOf(finding)} ${dim(`Reason: ${finding.reason}`)}`),
    ...(more > 0 ? [`    ${yellow('warning')}: … and ${more} more`] : []),
  ].join('\n')
}

/** Formats the unused waivers and the verdict. */
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
    ...unusedWaivers.map((name) => `${yellow('warning')}: The waiver "${name}" matches no finding. Remove it.`),
    `${world.name} ${world.version} ${verdict}.`,
  ].join('\n')
}

/** A finding with the name that a waiver takes. */
function titleOf({ name, what }: Finding): string {
  return `${what} [${name}]`
}

function formatFinding(finding: Finding): string[] {
  const { again, advice, difference } = finding
  return [
    titleOf(finding),
    `  reproduce: ${again}`,
    ...(difference
      ? [
          `  first, from character ${difference.at}: ${escaped(difference.first)}`,
          `  second: ${escaped(difference.second)}`,
        ]
      : []),
    `  fix: ${advice}`,
  ]
}

/** A text on one line, without control characters. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
