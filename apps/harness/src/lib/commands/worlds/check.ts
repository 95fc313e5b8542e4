import { CHECKS, type CheckName } from '@episodic/check/check-report'
import { checkWorld } from '@episodic/check/check-world'
import { inProcessEndpoint } from '@episodic/check/endpoints/in-process-endpoint'
import { formatCheck, formatVerdict } from '@episodic/check/format-check'
import type { Policy } from '@episodic/env'
import { mcpOptions } from '@episodic/play/worlds/mcp-options'
import { findWorlds } from '@episodic/play/worlds/mcp-world'
import { findPolicy } from '@episodic/play/worlds/policies'
import { loadWorld } from '@episodic/play/worlds/world'
import { type Console, colorsOf, usesColor } from '@episodic/run/base/console'
import { untilInterrupted } from '@episodic/run/base/interruption'
import { named, nonEmpty, wholeNumber } from '@episodic/run/base/option-values'
import { flag, option } from '@episodic/run/base/options'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'

/** The share of the episodes of a first look, besides pairs. */
const QUICK_SHARE = 0.25

const checkOptions = z.object({
  pairs: option('<count>', 'pairs of episodes that differ only in private state', wholeNumber(1).default(1_000)),
  seed: option('<seed>', 'seed of the checks; the same seed repeats them', nonEmpty.default('0')),
  only: option('<check,…>', `run only these of ${CHECKS.join(', ')}`, z.array(z.enum(CHECKS)).optional(), {
    text: { read: checkNames },
  }),
  seat: option(
    '<seat=policy>',
    'of several seats: who plays this one while learnability and exploits are checked for the one that is left; repeatable',
    z.record(z.string(), z.string()).optional(),
    { text: named },
  ),
  quick: flag('a first look: a tenth of the pairs, a quarter of other episodes, at one endpoint, without learnability'),
  ...mcpOptions.shape,
  server: option('<name>', 'the server of --mcp-config to check'),
  json: flag('print the report as JSON'),
  report: option('<file>', "also write a report in the words of OpenEnv's RFC 008", nonEmpty.optional()),
})
type CheckOptions = z.infer<typeof checkOptions>

export const command = defineCommand('check', checkOptions, {
  argument: ['[world]', 'name, path or package of the world'],
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
  episodic check ./my-world.ts --json`,
  async run(named: string | undefined, options, console) {
    const [reference] = await findWorlds(named === undefined ? [] : [named], options)
    return check(reference as string, options, console)
  },
})

async function check(
  reference: string,
  { pairs: all, seed, only: chosen, seat: seats = {}, quick, json, report: file }: CheckOptions,
  console: Console,
): Promise<void> {
  const world = await loadWorld(reference)
  const only = chosen ?? (quick ? CHECKS.filter((check) => check !== 'learnability') : undefined)
  const planned = CHECKS.filter((check) => (only ?? CHECKS).includes(check))
  const partners: Record<string, Policy> = {}
  for (const [seat, policy] of Object.entries(seats)) partners[seat] = await findPolicy(policy, world)
  const others = Object.entries(seats).map(([seat, policy]) => ` --seat ${seat}=${policy}`)
  const command = `episodic check ${reference} --seed ${seed} --pairs ${all}${others.join('')}${quick ? ' --quick' : ''}`
  const { dim } = colorsOf(console.out)
  using interruption = untilInterrupted(console)
  const terminal = console.err.isTTY === true
  let begun: CheckName | null = null
  const erase = () => terminal && console.err.write('\r\x1b[2K')
  try {
    const report = await checkWorld(world, {
      pairs: quick ? Math.ceil(all / 10) : all,
      seed,
      partners,
      ...(only && { only }),
      ...(quick && { share: QUICK_SHARE, endpoints: [inProcessEndpoint] }),
      signal: interruption.signal,
      onProgress(name, done, total) {
        const place = `check ${planned.indexOf(name) + 1} of ${planned.length}: ${name}`
        if (terminal) console.err.write(`\r\x1b[2K${dim(`${place} ${Math.floor((100 * done) / total)} %`)}`)
        else if (done === 0 && name !== begun) console.err.write(`${place}\n`)
        begun = name
      },
      onResult(result) {
        erase()
        if (!json) console.out.write(`${formatCheck(result, command, usesColor(console.out))}\n`)
      },
    })
    console.out.write(json ? `${JSON.stringify(report)}\n` : `\n${formatVerdict(report, usesColor(console.out))}\n`)
    if (file !== undefined) {
      const { writeValidationReport } = await import('@episodic/check/report/validation-report')
      const { runMatrix } = await import('../../evaluate/replay/run-matrix.ts')
      const record = () => runMatrix([{ reference, world }], 4, () => {}, { redis: false })
      console.err.write(await writeValidationReport(file, { target: reference, world, report, record }))
    }
    if (!report.ok) process.exitCode = 1
  } finally {
    erase()
  }
}

function checkNames(text: string): CheckName[] {
  return text.split(',').map((part) => {
    const name = CHECKS.find((check) => check === part.trim())
    if (!name) throw new InvalidArgumentError(`There is no check "${part}". The checks are: ${CHECKS.join(', ')}.`)
    return name
  })
}
