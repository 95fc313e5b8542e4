import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { modelOptionsSchema } from '@episodic/models/model-options'
import { TRANSPORTS } from '@episodic/play/play/run-settings'
import { formatDuration, plural } from '@episodic/report/text/format'
import { type Console, colorsOf, say, shownPath, usesColor } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { interruptible, playToEnd } from '@episodic/run/base/interruption'
import { named, texts, wholeNumber } from '@episodic/run/base/option-values'
import { flag, option } from '@episodic/run/base/options'
import { episodeOptions } from '@episodic/run/folder/plan/plan-options'
import { writeRunFile } from '@episodic/run/folder/record/run-folder'
import { formatProof, listDifferences } from '@episodic/suites/format-proof'
import { formatSuite } from '@episodic/suites/format-suite'
import { getData } from '@episodic/suites/get-data'
import { formatData, listSuites } from '@episodic/suites/list-suites'
import { runSuite } from '@episodic/suites/run-suite'
import { readSuite } from '@episodic/suites/suite-file'
import { folderName, planSuite, type SuitePlan, withPolicy } from '@episodic/suites/suite-plan'
import { holdsSuite, SUITE_FILES } from '@episodic/suites/suite-result'
import { writeSuite } from '@episodic/suites/write-suite'
import { Command } from 'commander'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'

const SUITE = ['<suite>', 'path to a suite file, or the name of one in suites/ or in an installed package'] as const
const ONE_WORLD = ['<suite>', `${SUITE[1]}; <suite>/<world> is one of its worlds`] as const

const json = flag('print the result as JSON')

export function command(console: Console): Command {
  const commands = [listCommand, getCommand, verifyCommand, runSuiteCommand, initCommand]
  return commands.reduce((suite, add) => suite.addCommand(add(console)), new Command('suite'))
}

const listCommand = defineCommand('list', z.object({ json }), {
  description: 'list the suites of suites/ and of installed packages',
  async run(_: undefined, options, { out, err }) {
    const { suites, problems, table } = listSuites()
    for (const problem of problems) say(err, problem)
    out.write(options.json ? `${JSON.stringify(suites)}\n` : `${table.join('\n')}\n`)
  },
})

const getCommand = defineCommand(
  'get',
  z.object({
    from: option('<path>', 'take it from a wheel, a checkout or a folder with them; can be repeated', texts),
  }),
  {
    description: 'get the data of a suite, by SHA-256',
    argument: SUITE,
    help: `
Data is kept in $EPISODIC_BENCHMARKS/<suite>, by default
~/.cache/episodic/benchmarks/<suite>, as a whole or not at all, with its
licence. Wheels are downloaded with pip, and files of a repository with git.

Examples:
  episodic suite get tau2
  episodic suite get tau2 --from ~/Downloads --from ../tau2-bench`,
    async run(reference: string, { from }, console) {
      const { suite } = readSuite(reference)
      const { name, data } = suite
      const { state, lines } = formatData(suite)
      for (const line of lines) say(console.err, line)
      if (!data || state === 'here') return
      const onSource = (what: string) => say(console.err, `getting ${what}`)
      const folder = await interruptible(console, ({ signal }) => getData(name, data, { from, onSource, signal }))
      if (folder !== null) console.out.write(`${shownPath(folder)}\n`)
    },
  },
)

const verifyCommand = defineCommand('verify', z.object({ json }), {
  description: 'check without a model that a suite plays as its original',
  argument: ONE_WORLD,
  help: `
Golden actions are played by the rules, and their answers and states compared
with what the original recorded. The floor is what the policy "nothing" solves.
The exit status is 1 if one of them differs.

Examples:
  episodic suite verify tau2
  episodic suite verify tau2/airline --json
  episodic suite verify ./mine.json`,
  async run(reference: string, options, console) {
    const started = performance.now()
    const plan = await readPlan(reference)
    const floors = plan.worlds.map(({ lines, ...planned }) => ({
      ...planned,
      lines: lines.filter(({ id }) => id === 'floor'),
    }))
    const folder = mkdtempSync(join(tmpdir(), 'episodic-verify-'))
    const onLine = (world: string, line: string) => say(console.err, `${world} ${line}`)
    try {
      const result = await interruptible(console, ({ signal }) =>
        runSuite(
          { ...plan, worlds: floors },
          { folder, policy: null, settings: {}, onLine, resume: () => '', signal },
          console,
        ),
      )
      if (!result) return
      const took = formatDuration(performance.now() - started)
      const head = `${result.suite.name} ${result.suite.version}`
      if (options.json) console.out.write(`${JSON.stringify(result)}\n`)
      else console.out.write(`\n${head}\n\n${formatProof(result).join('\n')}\n\n  ${took}, without a model\n`)
      assertProved(listDifferences(result))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
})

const initCommand = defineCommand(
  'init',
  z.object({ out: option('<file>', 'the file to write (default: suites/<world>.suite.json)') }),
  {
    description: 'write the suite of a world: its tasks, what its solver does, and what doing nothing earns',
    argument: ['<world>', 'the world, as `episodic run` takes it'],
    async run(reference: string, { out }, console) {
      const files = await interruptible(console, ({ signal }) => writeSuite(reference, { out, signal }, console))
      for (const file of files ?? []) console.out.write(`${shownPath(file)}\n`)
    },
  },
)

const suiteOptions = z.object({
  quick: flag('only figures that need no episodes'),
  episodes: option('<count>', "episodes of each played figure (default: the suite's)", wholeNumber(2).optional()),
  policy: option('<policy>', 'also play every variant with this policy, for example llm:<model>'),
  seat: option(
    '<seat=policy>',
    'with --policy: policy of another seat than the scored one (default: solver)',
    z.record(z.string(), z.string()).optional(),
    { text: named },
  ),
  rollouts: episodeOptions.shape.rollouts,
  concurrency: option('<count>', 'episodes in flight at once', wholeNumber(1).default(64)),
  transport: option('<transport>', 'how to connect to the worlds', z.enum(TRANSPORTS).default('in-process')),
  out: option('<folder>', 'folder of the result (default: runs/<suite>-<seed>, none with --quick)'),
  resume: flag('play the missing episodes of the suite in --out'),
  json,
  ...modelOptionsSchema.shape,
})
type RunOptions = z.infer<typeof suiteOptions>

const runSuiteCommand = defineCommand('run', suiteOptions, {
  description: 'measure and play every figure of a suite, and compare each with its reference',
  argument: ONE_WORLD,
  help: `
An exact figure is measured on the rules of its world. A played figure is the
mean return of many episodes: its 99.9 % confidence interval has to hold the
reference. Each is an ordinary run in the folder of the result. The exit status
is 1 if a figure differs, or if an episode of a played figure failed.

Examples:
  episodic suite run classics
  episodic suite run classics --quick --json
  episodic suite run tau2/telecom --policy llm:qwen3 --seat user=llm:qwen3 --rollouts 4
  episodic suite run ./mine.suite.json --policy llm:qwen3 --base-url http://127.0.0.1:8000/v1`,
  run,
})

async function run(reference: string, options: RunOptions, console: Console): Promise<void> {
  const { out } = console
  const { quick = false, policy = null } = options
  if (quick && policy !== null)
    throw invalidOption('--quick plays no episodes, and --policy does. Leave one of them out.')
  const plan = choose(await readPlan(reference), options)
  const folder = resolve(options.out ?? join('runs', folderName([plan.name, policy ?? [], plan.seed].flat().join('-'))))
  const writes = !quick || options.out !== undefined
  if (writes && options.resume !== true && holdsSuite(folder))
    throw new HarnessError(
      'run-exists',
      `${shownPath(folder)} holds a result already. Give --resume to play its missing episodes, or another --out.`,
    )
  const { concurrency, transport, rollouts } = options
  const settings = { ...modelOptionsSchema.parse(options), concurrency, transport, rollouts }
  const onLine = (world: string, line: string) => say(console.err, `${world} ${line}`)
  const result = await playToEnd({ what: 'The suite', folder }, console, (resume, signal) =>
    runSuite(plan, { folder, policy, settings, onLine, resume, signal }, console),
  )
  if (!result) return
  if (writes) await writeRunFile(folder, SUITE_FILES.result, `${JSON.stringify(result, null, 2)}\n`)
  if (options.json) out.write(`${JSON.stringify(result)}\n`)
  else {
    out.write(formatSuite(result, { color: usesColor(out) }))
    if (writes) out.write(`  ${colorsOf(out).bold(shownPath(join(folder, SUITE_FILES.result)))}\n`)
  }
  const { differ, notChecked } = result.counts
  assertProved([
    ...(differ > 0 ? [`${plural(differ, 'figure')} ${differ === 1 ? 'differs' : 'differ'} from the reference.`] : []),
    ...(notChecked > 0 ? [`${plural(notChecked, 'figure')} could not be checked, because episodes failed.`] : []),
    ...listDifferences(result),
  ])
}

async function readPlan(reference: string): Promise<SuitePlan> {
  const found = readSuite(reference)
  const suite = await planSuite(found)
  const { world: name } = found
  if (name === null) return suite
  const worlds = suite.worlds.filter(({ name: own, world }) => own === name || world.environment.name === name)
  if (worlds.length > 0) return { ...suite, worlds }
  const known = suite.worlds.map(({ name }) => name).join(', ')
  throw invalidOption(`The suite ${suite.name} has no world ${name}. It has: ${known}.`)
}

function choose(suite: SuitePlan, { quick, episodes = suite.episodes, policy, seat }: RunOptions): SuitePlan {
  const worlds = suite.worlds.map(({ lines, ...planned }) => ({
    ...planned,
    lines: quick ? lines.filter(({ kind }) => kind === 'exact') : lines,
  }))
  const plan = { ...suite, episodes, worlds }
  return policy === undefined ? plan : withPolicy(plan, policy, seat)
}

function assertProved(differences: readonly string[]): void {
  if (differences.length > 0) throw new HarnessError('suite-differs', differences.join(' '))
}
