import { showProgress } from '@episodic/check/check-progress'
import { CHECKS, type CheckName, type CheckReport } from '@episodic/check/check-report'
import { type CheckOptions as Checking, checkServed, checkWorld } from '@episodic/check/check-world'
import { inProcessEndpoint } from '@episodic/check/endpoints/in-process-endpoint'
import { formatCheck, formatVerdict } from '@episodic/check/format-check'
import { keepHacks, playKeptHacks, searchFor, timeSchema } from '@episodic/check/kept/kept-hacks'
import { openServed } from '@episodic/check/served/served-target'
import type { Policy, Target } from '@episodic/env'
import { mcpOptions } from '@episodic/play/worlds/mcp-options'
import { findWorlds } from '@episodic/play/worlds/mcp-world'
import { findPolicy } from '@episodic/play/worlds/policies'
import { targetOf } from '@episodic/play/worlds/target'
import { PLAYED_SERVERS, targetOptions } from '@episodic/play/worlds/target-options'
import { loadWorld, type World } from '@episodic/play/worlds/world'
import { type Console, colorsOf, usesColor } from '@episodic/run/base/console'
import { invalidOption } from '@episodic/run/base/harness-error'
import { untilInterrupted } from '@episodic/run/base/interruption'
import { named, nonEmpty, wholeNumber } from '@episodic/run/base/option-values'
import { flag, option } from '@episodic/run/base/options'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'
import { loadHarbor } from './load-harbor.ts'

/** The share of the episodes of a first look, besides pairs. */
const QUICK_SHARE = 0.25
const UNKNOWN = {
  error: ({ input }: { input?: unknown }) => `There is no check "${input}". The checks are: ${CHECKS.join(', ')}.`,
}
const FEW = { steps: 3_200, isLate: () => false }

const checkOptions = z.object({
  pairs: option('<count>', 'pairs of episodes that differ only in private state', wholeNumber(1).default(1_000)),
  seed: option('<seed>', 'seed of the checks; the same seed repeats them', nonEmpty.default('0')),
  only: option('<check,…>', `run only these of ${CHECKS.join(', ')}`, z.array(z.enum(CHECKS, UNKNOWN)).optional(), {
    text: { read: (text) => text.split(',').map((part) => part.trim() as CheckName) },
  }),
  seat: option(
    '<seat=policy>',
    'of several seats: who plays this one while learnability and exploits are checked for the one that is left; repeatable',
    z.record(z.string(), z.string()).optional(),
    { text: named },
  ),
  quick: flag('a first look: a tenth of the pairs, a quarter of other episodes, at one endpoint, without learnability'),
  search: option('<time>', 'how long hacks are searched for, as 5m', timeSchema.optional()),
  hacks: option('<folder>', 'play only these kept scripts; fails if one is paid', nonEmpty.optional()),
  token: targetOptions().shape.token,
  solver: option('<policy>', 'who solves the tasks of a server, as --policy of run names it: to compare exploits with'),
  harbor: option('<folder>', 'check a task of Harbor, or a folder of them, in boxes of bubblewrap'),
  ...mcpOptions.shape,
  server: option('<name>', 'the server of --mcp-config to check'),
  tasks: option('<file>', 'with --mcp: the tasks, as JSON Lines of a prompt and params'),
  json: flag('print the report as JSON'),
  report: option('<file>', "also write a report in the words of OpenEnv's RFC 008", nonEmpty.optional()),
})
type CheckOptions = z.infer<typeof checkOptions>

export const command = defineCommand('check', checkOptions, {
  argument: ['[world]', 'name, path or package of the world, or URL of a server: openenv:http://…, ors:http://…'],
  help: `
Each check passes, warns, fails or is skipped. The exit status is 1 if a check
failed; warnings do not fail. Learnability only warns, unless --only names it.
Each finding has a name, in brackets. To waive one, add a reason to the
definition of the environment:
  check: { waive: { '<finding>': '<reason>' } }

Examples:
  episodic check number-guessing
  episodic check ./my-world.ts --only non-interference,canaries --pairs 10000
  episodic check ./my-world.ts --quick
  episodic check kuhn-poker --seat second=solver --only learnability,exploits
  episodic check openenv:http://127.0.0.1:8000
  episodic check --harbor ./tasks/fix-build
  episodic check --mcp 'npx my-server' --score score.ts --tasks tasks.jsonl
  episodic check ./my-world.ts --json`,
  async run(named: string | undefined, options, console) {
    const { harbor, token, seed, solver } = options
    if (named !== undefined && PLAYED_SERVERS.pattern.test(named)) {
      const [url, name] = named.split('#')
      const oracle = solver === undefined ? null : await findPolicy(solver, { solver: null, policies: {} })
      await using target = await openServed(targetOf({ url, token }, PLAYED_SERVERS) as Target, name, seed, oracle)
      return await check(named, (asked) => checkServed(target, asked), null, options, console)
    }
    const optional = harbor !== undefined
    const [found] = await findWorlds(named === undefined ? [] : [named], options, { optional })
    if (optional && found !== undefined) throw invalidOption('Give either a world, an MCP server, or --harbor.')
    const world = optional ? await loadHarbor(harbor) : await loadWorld(found as string)
    const partners: Record<string, Policy> = {}
    for (const [seat, policy] of Object.entries(options.seat ?? {})) partners[seat] = await findPolicy(policy, world)
    if (options.hacks !== undefined) return playKeptHacks(world, options.hacks, partners, console.out)
    const run = (asked: Checking) => checkWorld(world, { ...asked, partners })
    return check(found ?? `--harbor ${harbor}`, run, found === undefined ? null : (world as World), options, console)
  },
})

async function check(
  reference: string,
  run: (options: Checking) => Promise<CheckReport>,
  world: World | null,
  { pairs: all, seed, only: chosen, seat: seats = {}, quick, search, json, report: file }: CheckOptions,
  console: Console,
): Promise<void> {
  if (file !== undefined && !world) throw invalidOption('--report is of a world that is named, and not of a server.')
  const only = chosen ?? (quick ? CHECKS.filter((check) => check !== 'learnability') : undefined)
  const planned = CHECKS.filter((check) => (only ?? CHECKS).includes(check))
  const others = Object.entries(seats).map(([seat, policy]) => ` --seat ${seat}=${policy}`)
  const command = `episodic check ${reference} --seed ${seed} --pairs ${all}${others.join('')}${quick ? ' --quick' : ''}`
  using interruption = untilInterrupted(console)
  const { erase, onProgress } = showProgress(planned, console.err, colorsOf(console.out).dim)
  try {
    const report = await run({
      pairs: quick ? Math.ceil(all / 10) : all,
      seed,
      ...(only && { only }),
      ...(quick && { share: QUICK_SHARE, search: FEW, endpoints: [inProcessEndpoint] }),
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
    await keepHacks('hacks', report, console.err)
    if (!report.ok) process.exitCode = 1
  } finally {
    erase()
  }
}
