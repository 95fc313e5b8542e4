/**
 * Commands that run for real, in boxes of `bwrap`, with 300 and 3,000 files: what one costs beside the same command in
 * such a box over a folder; the time from a fork to its first command; and 200 sessions at once.
 *
 * In process. The bare box has the same namespaces and sees the same system, and nothing is brought to it or read back.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { bubblewrap } from '@episodic/workspace'
import { inTurn, median, ratio, report, round2 } from '../figures.ts'
import { needProgram } from '../needs.ts'
import { createDesk, createProject } from '../servers/desk-world.ts'

const bwrap = needProgram('bwrap')
const ROUNDS = 5
const GOALS = { overBare: 1.5, more: 15, forkMs: 150, atOnce: 1 }
const AT_ONCE = 200

const COMMANDS = {
  true: 'true',
  read: 'grep -rc fox part-2 | tail -1',
  write: 'sed -i s/fox/cat/ part-3/*; sed -i s/cat/fox/ part-3/*',
  python: 'python3 -c "print(sum(range(1000000)))"',
} as const
type Command = keyof typeof COMMANDS
const NAMES = Object.keys(COMMANDS) as Command[]

const machine = bubblewrap({ copies: AT_ONCE + 20 })
const rateOf = async (times: number, once: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  for (let i = 0; i < times; i++) await once()
  return times / ((performance.now() - began) / 1_000)
}

const folder = mkdtempSync(join(tmpdir(), 'episodic-bench-machine-'))
const sizes = [await measure(300), await measure(3_000)]
const crowd = await playAtOnce(createProject({ files: 300, parts: 20, lines: 40 }))
await machine.close()
rmSync(folder, { recursive: true })

const met = {
  cost: sizes.every(({ cost }) =>
    Object.values(cost).every(({ ratio, moreMs }) => ratio <= GOALS.overBare || moreMs <= GOALS.more),
  ),
  fork: sizes.every(({ forkMs }) => forkMs <= GOALS.forkMs),
  atOnce: crowd.answered / crowd.sessions >= GOALS.atOnce,
}
report('machine', { ok: Object.values(met).every(Boolean), met, sizes, atOnce: crowd, goals: GOALS })
process.exit()

async function measure(files: number) {
  const project = createProject({ files, parts: files / 15, lines: 20 })
  await using connection = await connect(inProcess(createHost({ environments: [createDesk(project, { machine })] })))
  const origin = connection.environment('desk')
  await origin.reset({ seed: String(files) })
  const run = (world: typeof origin, name: Command) =>
    world.step({ tool: 'bash', arguments: { command: COMMANDS[name] } })
  const bare = join(folder, String(files))
  for (const [path, text] of Object.entries(project)) {
    mkdirSync(dirname(join(bare, path)), { recursive: true })
    writeFileSync(join(bare, path), text)
  }
  const runBare = async (name: Command) => {
    const view =
      '--unshare-all --unshare-user --disable-userns --uid 0 --gid 0 --die-with-parent --new-session --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc --dev /dev'
    const args = [...view.split(' '), '--bind', join(bare, 'project'), '/project', '--chdir', '/project']
    const box = spawn(bwrap, [...args, 'bash', '-c', COMMANDS[name]], { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [box.stdout, box.stderr]) stream.resume()
    await once(box, 'close')
  }
  await run(origin, 'true')
  const measures = Object.fromEntries(
    NAMES.flatMap((name) => [
      [name, () => rateOf(10, () => run(origin, name))],
      [`bare ${name}`, () => rateOf(10, () => runBare(name))],
    ]),
  ) as Record<Command | `bare ${Command}`, () => Promise<number>>
  const forkMs: number[] = []
  const rates = await inTurn(ROUNDS, {
    ...measures,
    fork: () =>
      rateOf(1, async () => {
        const began = performance.now()
        const [fork] = await origin.fork({ count: 1 })
        await run(fork as typeof origin, 'true')
        forkMs.push(performance.now() - began)
        await fork?.close()
      }),
  })
  const cost = Object.fromEntries(
    NAMES.map((name) => [
      name,
      {
        ms: round2(1_000 / median(rates[name])),
        bareMs: round2(1_000 / median(rates[`bare ${name}`])),
        ratio: ratio(rates[`bare ${name}`], rates[name]),
        moreMs: round2(
          median(rates[name].map((rate, i) => 1_000 / rate - 1_500 / (rates[`bare ${name}`][i] as number))),
        ),
      },
    ]),
  )
  return { files, cost, forkMs: round2(median(forkMs)) }
}

/** Plays three commands in each of many sessions, all asked for at once. */
async function playAtOnce(files: Readonly<Record<string, string>>) {
  await using connection = await connect(
    inProcess(createHost({ environments: [createDesk(files, { machine, seconds: 60 })] })),
  )
  const began = performance.now()
  const before = process.memoryUsage().rss
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, i) => {
      const world = connection.environment('desk')
      await world.reset({ seed: `at-once-${i}` })
      let text = ''
      for (const command of [`echo ${i} > mine`, COMMANDS.write, 'cat mine'])
        text = (await world.step({ tool: 'bash', arguments: { command } })).observation.text
      return text === String(i)
    }),
  )
  return {
    sessions: AT_ONCE,
    answered: answers.filter(Boolean).length,
    seconds: round2((performance.now() - began) / 1_000),
    moreMiB: Math.round((process.memoryUsage().rss - before) / 1_048_576),
  }
}
