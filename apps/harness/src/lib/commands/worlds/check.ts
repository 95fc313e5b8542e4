import { showProgress } from '@episodic/check/check-progress'
import { CHECKS, type CheckReport, checkNames, READ_CHECKS } from '@episodic/check/check-report'
import { type CheckOptions as Checking, checkServed, checkWorld } from '@episodic/check/check-world'
import { formatCheck, formatVerdict } from '@episodic/check/format-check'
import { keepHacks, openKeptTarget, playKeptHacks, searchFor, timeSchema } from '@episodic/check/kept/kept-hacks'
import { openServed } from '@episodic/check/served/served-target'
import type { Policy, Target } from '@episodic/env'
import { mcpOptions } from '@episodic/play/worlds/mcp-options'
import { findWorlds } from '@episodic/play/worlds/mcp-world'
import { findPolicy } from '@episodic/play/worlds/policies'
import { targetOf } from '@episodic/play/worlds/target'
import { PLAYED_SERVERS, targetOptions } from '@episodic/play/worlds/target-options'
import { loadWorld, type World } from '@episodic/play/worlds/world'
import { jsonObjectSchema } from '@episodic/protocol'
import { type Console, colorsOf, usesColor } from '@episodic/run/base/console'
import { invalidOption } from '@episodic/run/base/harness-error'
import { untilInterrupted } from '@episodic/run/base/interruption'
import { parseJson } from '@episodic/run/base/json'
import { named, nonEmpty, wholeNumber } from '@episodic/run/base/option-values'
import { flag, option } from '@episodic/run/base/options'
import { readOptionFile } from '@episodic/run/base/text-file'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'
import { loadHarbor } from './load-harbor.ts'

/** What a first look plays, besides a tenth of the pairs. */
const QUICK = { seconds: 60, share: 0.25, search: { steps: 800 } }
const NOBODY = { solver: null, policies: {} }

const checkOptions = z.object({
  pairs: option('<count>', 'pairs of episodes that differ only in private state', wholeNumber(1).default(1_000)),
  seed: option('<seed>', 'seed of the checks; the same seed repeats them', nonEmpty.default('0')),
  only: option('<check,…>', `run only these of ${CHECKS.join(', ')}`, checkNames.optional(), READ_CHECKS),
  seat: option(
    '<seat=policy>',
    'of several seats: who plays this one while exploits are checked for the one that is left; repeatable',
    z.record(z.string(), z.string()).optional(),
    { text: named },
  ),
  quick: flag('a first look: a tenth of the pairs, a quarter of other episodes'),
  search: option('<time>', 'how long hacks are searched for, as 5m; keeps them in hacks/', timeSchema.optional()),
  hacks: option('<folder>', 'play only the scripts kept there; with --search, where to keep them', nonEmpty.optional()),
  token: targetOptions().shape.token,
  solver: option('<policy>', "who solves the tasks, as --policy of run names it. Default: the world's solver"),
  hacker: option('<policy>', 'who proposes scripts to the search for hacks, such as llm:<model>', nonEmpty.optional()),
  harbor: option('<folder>', 'check a task of Harbor, or a folder of them, in boxes of bubblewrap'),
  ...mcpOptions.shape,
  server: option('<name>', 'the server of --mcp-config to check'),
  tasks: option('<file>', 'with --mcp or the URL of a server: tasks, as JSON Lines of a prompt and params'),
  json: flag('print the report as JSON'),
  report: option('<file>', "also write a report in the words of OpenEnv's RFC 008", nonEmpty.optional()),
})
type CheckOptions = z.infer<typeof checkOptions>

export const command = defineCommand('check', checkOptions, {
  argument: ['[world]', 'name, path or package of the world, or URL of a server: openenv:http://…, ors:http://…'],
  help: `
Each check passes, warns, fails or is skipped. The exit status is 1 if a check
failed; warnings do not fail. All of it takes five minutes at most, one with
--quick, and the time of --search. Each finding has a name, in brackets. To
waive one, add a reason to the definition of the environment:
  check: { waive: { '<finding>': '<reason>' } }

Examples:
  episodic check number-guessing --quick
  episodic check ./my-world.ts --search 5m --hacker llm:gpt-5-mini
  episodic check kuhn-poker --seat second=solver --only exploits
  episodic check openenv:http://127.0.0.1:8000
  episodic check --harbor ./tasks/fix-build
  episodic check --mcp 'npx my-server' --score score.ts --tasks tasks.jsonl`,
  async run(named: string | undefined, options, console) {
    const { harbor, token, seed, solver, hacks, search } = options
    const hacker = options.hacker === undefined ? null : await findPolicy(options.hacker, NOBODY)
    const onlyKept = search === undefined ? hacks : undefined
    if (named !== undefined && PLAYED_SERVERS.pattern.test(named)) {
      const [url, name] = named.split('#')
      const oracle = solver === undefined ? null : await findPolicy(solver, NOBODY)
      const tasks = options.tasks === undefined ? undefined : readRows(options.tasks)
      const server = targetOf({ url, token }, PLAYED_SERVERS) as Target
      await using target = await openServed(server, name, seed, oracle, tasks)
      if (onlyKept !== undefined) return await playKeptHacks(target, onlyKept, console.out)
      const reference = tasks ? `${named} --tasks ${options.tasks}` : named
      return await check(reference, (asked) => checkServed(target, { ...asked, hacker }), null, options, console)
    }
    if (options.tasks !== undefined && options.mcp === undefined && options.mcpConfig === undefined)
      throw invalidOption('--tasks is for --mcp or the URL of a server: worlds and --harbor have their own.')
    const optional = harbor !== undefined
    const [found] = await findWorlds(named === undefined ? [] : [named], options, { optional })
    if (optional && found !== undefined) throw invalidOption('Give either a world, an MCP server, or --harbor.')
    const loaded = optional ? await loadHarbor(harbor) : await loadWorld(found as string)
    const world = solver === undefined ? loaded : { ...loaded, solver: await findPolicy(solver, loaded) }
    const partners: Record<string, Policy> = {}
    for (const [seat, policy] of Object.entries(options.seat ?? {})) partners[seat] = await findPolicy(policy, world)
    if (onlyKept !== undefined) return playKeptHacks(await openKeptTarget(world, partners), onlyKept, console.out)
    const run = (asked: Checking) => checkWorld(world, { ...asked, partners, hacker })
    return check(found ?? `--harbor ${harbor}`, run, found === undefined ? null : (world as World), options, console)
  },
})

const rowSchema = z.strictObject({ prompt: z.string(), params: jsonObjectSchema.default({}) })

function readRows(file: string) {
  const lines = readOptionFile('--tasks', file).split('\n')
  const rows = [...lines.entries()].filter(([, line]) => line.trim() !== '')
  if (rows.length === 0) throw invalidOption(`--tasks ${file} has no tasks. Write one in each line, as JSON.`)
  return rows.map(([i, line]) =>
    parseJson(rowSchema, () => line, 'option-invalid', `${file}:${i + 1} is no row of a prompt and params`),
  )
}

async function check(
  reference: string,
  run: (options: Checking) => Promise<CheckReport>,
  world: World | null,
  options: CheckOptions,
  console: Console,
): Promise<void> {
  const { pairs: all, seed, only, seat: seats = {}, quick, search, hacks = 'hacks', json, report: file } = options
  if (file !== undefined && !world) throw invalidOption('--report is of a world that is named, and not of a server.')
  const others = Object.entries(seats).map(([seat, policy]) => ` --seat ${seat}=${policy}`)
  if (options.solver !== undefined) others.push(` --solver ${options.solver}`)
  const command = `episodic check ${reference} --seed ${seed} --pairs ${all}${others.join('')}${quick ? ' --quick' : ''}`
  using interruption = untilInterrupted(console)
  const { erase, onProgress } = showProgress(only ?? CHECKS, console.err, colorsOf(console.out).dim)
  try {
    const report = await run({
      pairs: quick ? Math.ceil(all / 10) : all,
      seed,
      seconds: 300,
      ...(only && { only }),
      ...(quick && QUICK),
      ...(search !== undefined && { search: searchFor(search) }),
      signal: interruption.signal,
      onProgress,
      onResult(result) {
        erase()
        if (!json) console.out.write(`${formatCheck(result, command, usesColor(console.out))}\n`)
      },
    })
    console.out.write(json ? `${JSON.stringify(report)}\n` : `\n${formatVerdict(report, usesColor(console.out))}\n`)
    if (file !== undefined && world) {
      const { writeValidationReport } = await import('@episodic/check/report/validation-report')
      const { runMatrix } = await import('../../evaluate/replay/run-matrix.ts')
      const record = () => runMatrix([{ reference, world }], 4, () => {}, { redis: false })
      console.err.write(await writeValidationReport(file, { target: reference, world, report, record }))
    }
    await keepHacks(search === undefined ? null : hacks, report, command, console.err)
    if (!report.ok) process.exitCode = 1
  } finally {
    erase()
  }
}
