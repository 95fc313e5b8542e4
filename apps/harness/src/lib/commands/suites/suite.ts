import { join, resolve } from 'node:path'
import { modelOptionsSchema } from '@episodic/models/model-options'
import { TRANSPORTS } from '@episodic/play/play/run-settings'
import { plural } from '@episodic/report/text/format'
import { type Console, colorsOf, say, shownPath, usesColor } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { playToEnd } from '@episodic/run/base/interruption'
import { texts, wholeNumber } from '@episodic/run/base/option-values'
import { flag, option } from '@episodic/run/base/options'
import { writeRunFile } from '@episodic/run/folder/record/run-folder'
import { formatSuite } from '@episodic/suites/format-suite'
import { runSuite } from '@episodic/suites/run-suite'
import { readSuite } from '@episodic/suites/suite-file'
import { suitePage } from '@episodic/suites/suite-page'
import { folderName, planSuite, type SuitePlan, withPolicy } from '@episodic/suites/suite-plan'
import { holdsSuite, SUITE_FILES } from '@episodic/suites/suite-result'
import { loadViewer } from '@episodic/viewer'
import { Command } from 'commander'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'

const suiteOptions = z.object({
  only: option('<world>', 'only this world of the suite; can be repeated', texts),
  quick: flag('only figures that need no episodes'),
  episodes: option('<count>', "episodes of each played figure (default: the suite's)", wholeNumber(2).optional()),
  policy: option('<policy>', 'also play every variant with this policy, for example llm:<model>'),
  concurrency: option('<count>', 'episodes in flight at once', wholeNumber(1).default(64)),
  transport: option('<transport>', 'how to connect to the worlds', z.enum(TRANSPORTS).default('in-process')),
  out: option('<folder>', 'folder of the result (default: runs/<suite>-<seed>, none with --quick)'),
  resume: flag('play the missing episodes of the suite in --out'),
  json: flag('print the result as JSON'),
  ...modelOptionsSchema.shape,
})
type RunOptions = z.infer<typeof suiteOptions>

export function command(console: Console): Command {
  return new Command('suite').addCommand(runSuiteCommand(console))
}

const runSuiteCommand = defineCommand('run', suiteOptions, {
  description: 'measure and play every figure of a suite, and compare each with its reference',
  argument: ['<suite>', 'path to a suite file, the name of one in suites/, or of a package that has one'],
  help: `
An exact figure is measured on the rules of its world. A played figure is the
mean return of many episodes: its 99.9 % confidence interval has to hold the
reference. Each is an ordinary run in the folder of the result. The exit status
is 1 if a figure differs, or if an episode of a played figure failed.

Examples:
  episodic suite run classics
  episodic suite run classics --quick --json
  episodic suite run classics --only taxi --episodes 200 --transport http
  episodic suite run ./mine.suite.json --policy llm:qwen3 --base-url http://127.0.0.1:8000/v1`,
  run,
})

async function run(reference: string, options: RunOptions, console: Console): Promise<void> {
  const { out } = console
  const { quick = false, policy = null } = options
  if (quick && policy !== null)
    throw invalidOption('--quick plays no episodes, and --policy does. Leave one of them out.')
  const plan = choose(await planSuite(readSuite(reference)), options)
  const folder = resolve(options.out ?? join('runs', folderName([plan.name, policy ?? [], plan.seed].flat().join('-'))))
  const writes = !quick || options.out !== undefined
  if (writes && options.resume !== true && holdsSuite(folder))
    throw new HarnessError(
      'run-exists',
      `${shownPath(folder)} holds a result already. Give --resume to play its missing episodes, or another --out.`,
    )
  const { concurrency, transport } = options
  const settings = { ...modelOptionsSchema.parse(options), concurrency, transport }
  const onLine = (world: string, line: string) => say(console.err, `${world} ${line}`)
  const result = await playToEnd({ what: 'The suite', folder }, console, (resume, signal) =>
    runSuite(plan, { folder, policy, settings, onLine, resume, signal }, console),
  )
  if (!result) return
  if (writes) {
    await writeRunFile(folder, SUITE_FILES.result, `${JSON.stringify(result, null, 2)}\n`)
    await writeRunFile(folder, SUITE_FILES.report, (await loadViewer()).resultPage(suitePage(result)))
  }
  if (options.json) out.write(`${JSON.stringify(result)}\n`)
  else {
    out.write(formatSuite(result, { color: usesColor(out) }))
    const { bold } = colorsOf(out)
    if (writes)
      for (const name of [SUITE_FILES.result, SUITE_FILES.report])
        out.write(`  ${bold(shownPath(join(folder, name)))}\n`)
  }
  const { differ, notChecked } = result.counts
  const wrong = [
    ...(differ > 0 ? [`${plural(differ, 'figure')} ${differ === 1 ? 'differs' : 'differ'} from the reference.`] : []),
    ...(notChecked > 0 ? [`${plural(notChecked, 'figure')} could not be checked, because episodes failed.`] : []),
  ]
  if (wrong.length > 0) throw new HarnessError('suite-differs', wrong.join(' '))
}

/** Applies the options that decide what of a suite is measured and played. */
function choose(suite: SuitePlan, { only, quick, episodes = suite.episodes, policy }: RunOptions): SuitePlan {
  const names = suite.worlds.map(({ world }) => world.environment.name)
  const unknown = only.filter((name) => !names.includes(name))
  if (unknown.length > 0)
    throw invalidOption(`The suite ${suite.name} has no world ${unknown.join(', ')}. It has: ${names.join(', ')}.`)
  const worlds = suite.worlds
    .filter(({ world }) => only.length === 0 || only.includes(world.environment.name))
    .map(({ world, lines }) => ({ world, lines: quick ? lines.filter(({ kind }) => kind === 'exact') : lines }))
    .filter(({ lines }) => lines.length > 0)
  const plan = { ...suite, episodes, worlds }
  return policy === undefined ? plan : withPolicy(plan, policy)
}
