import {
  cleanText,
  formatCount,
  formatPercent,
  formatShareInterval,
  NOTHING,
  plural,
} from '@episodic/report/text/format'
import { formatTable } from '@episodic/run/base/align-columns'
import { say } from '@episodic/run/base/console'
import { invalidOption } from '@episodic/run/base/harness-error'
import { numberWithin } from '@episodic/run/base/option-values'
import { flag, option } from '@episodic/run/base/options'
import { writeWhole } from '@episodic/run/base/own-files'
import { tornNotice } from '@episodic/run/folder/record/report-run'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'

/** Rows of tasks without a reason that are shown, those that flip most. */
const MOST_SHOWN = 20

const quarantineOptions = z.object({
  flips: option(
    '<share>',
    'a task flips if all of the interval of its flip rate is above this; one that is solved by chance has 0.5',
    numberWithin(0, 0.5).default(0.25),
  ),
  out: option('<file>', 'write the quarantine (default: it is shown, and nothing is written)', z.string().optional()),
  json: flag('print what was seen of each task as JSON'),
})

export const quarantineCommand = defineCommand('quarantine', quarantineOptions, {
  description: 'show which tasks flip, and propose those that tell players apart badly',
  argument: ['<runs...>', 'folders of runs or sets of one environment, of one player or several'],
  help: `
Nothing is left out by itself: compare, gate and report take the file with
--without, and say of each figure what was left out.

Examples:
  episodic dataset quarantine runs/june
  episodic dataset quarantine runs/june --out odd.json
  episodic compare runs/june --without odd.json`,
  async run(folders: string[], { out, json, flips }, console) {
    const { readEntries } = await import('@episodic/analysis/gate/gate-entry')
    const { readComparedRun } = await import('@episodic/analysis/compare/read-compared-run')
    const { taskHistories } = await import('@episodic/analysis/quarantine/task-histories')
    const { proposeQuarantine } = await import('@episodic/analysis/quarantine/quarantine-file')
    const entries = (await Promise.all(folders.map(readEntries))).flat()
    const onTorn = (line: number) => say(console.err, tornNotice(line))
    const runs = await Promise.all(entries.map(({ folder }) => readComparedRun(folder, { onTorn })))
    const played = runs.map(({ manifest }) => manifest.configuration.environment)
    const versions = played.map(({ name, version }) => [`${name} ${version}`, { name, version }] as const)
    const [environment, ...others] = new Map(versions).values()
    if (!environment || others.length > 0)
      throw invalidOption(
        'A quarantine is of the tasks of one version of one environment, and these runs are of several.',
      )
    const histories = taskHistories(runs)
    const tasks = proposeQuarantine(histories, flips)
    const quarantine = {
      format: 1,
      environment,
      runs: runs.map(({ manifest }) => manifest.name),
      rules: { flips },
      tasks,
    }
    if (out !== undefined) await writeWhole(out, `${JSON.stringify(quarantine, null, 2)}\n`)
    if (json) return void console.out.write(`${JSON.stringify({ ...quarantine, seen: histories })}\n`)
    const reasonOf = new Map(tasks.map(({ task, reason }) => [task, reason]))
    const shown = histories.filter(({ task }, i) => reasonOf.has(task) || i < MOST_SHOWN)
    const rows = shown.map(({ task, finished, successes, failed, flips: own }) => [
      cleanText(task),
      `${formatCount(successes)}/${formatCount(finished)}`,
      formatCount(failed),
      own ? formatPercent(own.rate) : NOTHING,
      own ? formatShareInterval(own) : NOTHING,
      reasonOf.get(task) ?? '',
    ])
    const all = `${plural(histories.length, 'task')} in ${plural(runs.length, 'run')}, ${formatCount(tasks.length)} with a reason`
    const where =
      out === undefined ? 'Nothing is left out. --out <file> writes them.' : `In ${out}; use it with --without.`
    console.out.write(
      `${formatTable([['TASK', 'SOLVED', 'FAILED', 'FLIPS', '95 %', 'REASON'], ...rows])}\n\n${all}. ${where}\n`,
    )
  },
})
