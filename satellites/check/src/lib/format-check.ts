import { createColors } from 'picocolors'
import type { CheckReport, CheckResult } from './check-report.ts'
import { type Finding, isIncomplete } from './finding.ts'

const SHOWN = 6
const MOST_SEEDS = 8

/**
 * Formats a check as one line, followed by its findings: what is wrong, where, how to reproduce it, and how to fix it.
 *
 * @param command - the command that repeats the checks.
 */
export function formatCheck(
  { name, outcome, summary, findings, warnings, waived }: CheckResult,
  command: string,
  color: boolean,
): string {
  const { bold, dim, green, red, yellow } = createColors(color)
  const mark = { passed: green('passed '), warned: yellow('warned '), failed: red('failed '), skipped: dim('skipped') }[
    outcome
  ]
  const shown = warnings.slice(0, SHOWN)
  const more = warnings.length - shown.length
  return [
    `${mark}  ${bold(name.padEnd(16))}  ${summary}`,
    ...findings.flatMap((finding) =>
      formatFinding(finding, `${command} --only ${name}`).map((line, i) => `    ${i === 0 ? red(line) : dim(line)}`),
    ),
    ...shown.map((warning) => `    ${yellow('warning')}: ${titleOf(warning)} ${dim(warning.advice)}`),
    ...waived.map((finding) => `    ${dim('waived')}: ${titleOf(finding)} ${dim(`Reason: ${finding.reason}`)}`),
    ...(more > 0 ? [`    ${yellow('warning')}: … and ${more} more`] : []),
  ].join('\n')
}

export function formatVerdict({ world, outcome, checks, unusedWaivers }: CheckReport, color: boolean): string {
  const { dim, green, red, yellow } = createColors(color)
  const failed = checks.filter((check) => check.outcome === 'failed').length
  const warnings = checks.reduce((sum, check) => sum + check.warnings.length, unusedWaivers.length)
  const skips = checks.filter((check) => check.outcome === 'skipped')
  const warned = `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`
  const verdict = {
    passed: green('passes'),
    warned: yellow(`passes, with ${warned}`),
    failed: red(`fails ${failed} of ${checks.length} checks`),
    incomplete: yellow(`is not checked enough${warnings > 0 ? `, and has ${warned}` : ''}`),
  }[outcome]
  const played = checks.length - skips.length - failed
  const isUnsure = failed > 1 && checks.some(({ name, outcome }) => name === 'determinism' && outcome === 'failed')
  const counted = `${played} of ${checks.length} checks passed, ${skips.length} skipped`
  return [
    ...unusedWaivers.map((name) => `${yellow('warning')}: The waiver "${name}" matches no finding. Remove it.`),
    `${world.name} ${world.version} ${verdict}${skips.length > 0 ? `: ${counted}` : ''}.`,
    ...(isUnsure ? ['Mend determinism first: what differs by itself is found as a leak, too.'] : []),
    ...checks.flatMap((check) => check.warnings.filter(isIncomplete).map(({ what }) => yellow(`  ${what}`))),
    ...[...Map.groupBy(skips, ({ summary }) => summary)].map(([why, same]) =>
      dim(`  skipped ${same.map(({ name }) => name).join(', ')}: ${why}`),
    ),
  ].join('\n')
}

function titleOf({ name, what }: Finding): string {
  return `${what} [${name}]`
}

function formatFinding(finding: Finding, command: string): string[] {
  const { again, also = [], advice, difference, at } = finding
  return [
    titleOf(finding),
    `  where: ${again}`,
    ...(at ? [`  rules: ${at.file}:${at.line}`] : []),
    ...(also.length > 0 ? [`  also: ${also.length} more, such as ${also[0]}${seedsOf(also.slice(1))}`] : []),
    `  reproduce: ${command}`,
    ...(difference
      ? [
          `  first, from character ${difference.at}: ${escaped(difference.first)}`,
          `  second: ${escaped(difference.second)}`,
        ]
      : []),
    `  fix: ${advice}`,
  ]
}

function seedsOf(places: readonly string[]): string {
  const seeds = new Set(places.flatMap((place) => / seed ([\w-]+)/.exec(place)?.[1] ?? []))
  return seeds.size > 0 ? `; seeds ${[...seeds].slice(0, MOST_SEEDS).join(', ')}` : ''
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
