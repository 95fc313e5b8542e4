import { writtenDecision } from '@episodic/analysis/gate/decision'
import type { GatedRun, GatedTask, GateResult } from '@episodic/analysis/gate/gate-runs'
import { formatCount, plural } from '@episodic/report/text/format'
import { titleOf } from './format-gate.ts'

interface Case {
  readonly name: string
  readonly result: 'passed' | 'failure' | 'error'
  readonly message: string
  readonly type: string
  /** What the player was asked: names of cases are ids, by which readers recognise them in the next run. */
  readonly prompt?: string
}

/**
 * Writes what a gate found as JUnit XML: a suite for each run, a case for each condition and each task. A condition
 * that does not pass is a failure. A task with failed episodes is an error; without, it passes, solved or not. Names
 * have no figures in them, so that readers recognise them in the next run.
 *
 * @param undecided - whether an undecided condition passes.
 */
export function formatJunit({ runs }: GateResult, { undecided }: { readonly undecided: 'pass' | 'fail' }): string {
  const suites = runs.map((run) => ({ run, cases: listCases(run, undecided) }))
  const all = suites.flatMap(({ cases }) => cases)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="episodic gate" ${countsOf(all)}>`,
    ...suites.flatMap(({ run, cases }) => [
      `  <testsuite name="${escapeXml(titleOf(run))}" ${countsOf(cases)}>`,
      `    <properties><property name="run" value="${escapeXml(run.run)}"/></properties>`,
      ...cases.map((each) => `    ${formatCase(`${run.world}.${run.player}`, each)}`),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n')
}

function listCases({ problem, decisions, tasks }: GatedRun, undecided: 'pass' | 'fail'): Case[] {
  const conditions = decisions.map((decision): Case => {
    const { name, sentence, verdict, notes } = writtenDecision(decision)
    const passes = verdict === 'met' || (verdict === 'undecided' && undecided === 'pass')
    const message = [sentence, ...notes].join(' ')
    return { name: `gate: ${name}`, result: passes ? 'passed' : 'failure', message, type: verdict }
  })
  const unread: Case[] = problem === null ? [] : [{ name: 'gate', result: 'error', message: problem, type: 'problem' }]
  return [...unread, ...conditions, ...tasks.map(toCase)]
}

function toCase({ id, prompt, finished, successes, failures }: GatedTask): Case {
  const solved = `Solved in ${formatCount(successes)} of ${plural(finished, 'finished attempt')}.`
  const name = `task ${id}`
  if (failures.length === 0) return { name, prompt, result: 'passed', message: solved, type: '' }
  const codes = [...new Set(failures)].sort().join(', ')
  const attempts = formatCount(finished + failures.length)
  return {
    ...{ name, prompt, result: 'error', type: codes },
    message: `${formatCount(failures.length)} of ${attempts} attempts failed: ${codes}. ${solved}`,
  }
}

function formatCase(classname: string, { name, result, message, type, prompt = '' }: Case): string {
  const head = `<testcase classname="${escapeXml(classname)}" name="${escapeXml(name)}">`
  const text = escapeXml(message)
  const asked = prompt === '' ? [] : [escapeXml(prompt)]
  const out = (lines: readonly string[]) => (lines.length === 0 ? '' : `<system-out>${lines.join('\n')}</system-out>`)
  if (result === 'passed') return `${head}${out([text, ...asked])}</testcase>`
  return `${head}<${result} message="${text}" type="${escapeXml(type)}"/>${out(asked)}</testcase>`
}

function countsOf(cases: readonly Case[]): string {
  const count = (wanted: Case['result']) => cases.filter(({ result }) => result === wanted).length
  return `tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" skipped="0"`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** What no XML can hold is left out: control characters, and halves of surrogate pairs. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\ufffe\uffff]/gu, ' ')
    .replace(/[&<>"]/g, (character) => ENTITIES[character] as string)
}
