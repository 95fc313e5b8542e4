/**
 * A computer with 1,000 files as a state: opening, forking and the memory of one; commands beside the bare shell on a
 * disk in memory, by CPU time; 2,000 computers at once; and whole episodes beside a sandbox of the kernel with a copied
 * folder.
 *
 * In process. The sandbox is `bwrap`, which Debian has; where it is missing, its figure is null.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type Environment } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { startChild } from '../child.ts'
import { cpuSeconds } from '../cpu-time.ts'
import { heldBytes, inTurn, median, ratio, report, round2 } from '../figures.ts'
import { createDesk, createProject } from '../servers/desk-world.ts'

/** 1,000 files of 5 KB. */
const PROJECT = { files: 1_000, parts: 50, lines: 165 }
const FILES = createProject(PROJECT)

const ROUNDS = 5
/** Rounds until the shell is compiled, in both processes. */
const WARM_UP = 7
const COMMANDS_IN_A_ROUND = 50
const GOALS = { openMs: 5, forkMs: 1, heldKiB: 64, shell: 0.7, atOnce: 1, sandbox: 20 }
const AT_ONCE = 2_000
/** Seconds for which the computers at once go on. */
const LASTING = 30
/** Seconds from one command of a computer to its next. */
const THINKING = [1, 2] as const
/** Seconds after which an answer comes too late. */
const TIMEOUT = 10

const COMMANDS = {
  cat: 'cat part-1/file-1.txt',
  grep: 'grep -rc fox part-2',
  pipe: 'cat part-3/*.txt | grep fox | wc -l',
}
type Command = keyof typeof COMMANDS

/** What an agent does in an episode, before it is forked. */
const EPISODE = [
  'ls',
  'cat part-1/file-1.txt',
  'grep -rn "99 the" part-1 | head -3',
  'sed -i s/fox/cat/ part-1/file-1.txt',
  'cat part-1/file-1.txt | head -5',
  'mkdir out',
  'sort -rn part-2/file-2.txt > out/sorted.txt',
  'wc -l out/sorted.txt',
  "awk '{ s += $6 } END { print s }' part-2/file-2.txt",
  'find . -name "file-1*" | wc -l',
]

await using connection = await connect(inProcess(createHost({ environments: [createDesk(FILES)] })))
let seed = 0
const open = async (): Promise<Environment> => {
  const world = connection.environment('desk')
  await world.reset({ seed: `computer-${seed++}` })
  return world
}
const run = (world: Environment, command: string) => world.step({ tool: 'bash', arguments: { command } })
const rateOf = async (
  times: number,
  once: () => Promise<unknown>,
  seconds = () => performance.now() / 1_000,
): Promise<number> => {
  const began = seconds()
  for (let i = 0; i < times; i++) await once()
  return times / (seconds() - began)
}

// The first of a start brings it.
const first = await open()
await run(first, 'true')
using bare = await startChild('servers/bare-shell-server.ts', JSON.stringify(PROJECT))
const measures = {
  open: () => rateOf(100, async () => (await open()).close()),
  fork: () => rateOf(100, async () => (await first.fork({ count: 1 })).map((fork) => fork.close())),
  ...Object.fromEntries(
    Object.entries(COMMANDS).flatMap(([name, command]) => [
      [name, () => rateOf(COMMANDS_IN_A_ROUND, () => run(first, command), cpuSeconds)],
      [`bare ${name}`, async () => (await bare.ask<{ rate: number }>(command)).rate],
    ]),
  ),
} as Record<'open' | 'fork' | Command | `bare ${Command}`, () => Promise<number>>
const rates = await inTurn(ROUNDS, measures, { warmUp: WARM_UP })
const milliseconds = (name: 'open' | 'fork') => round2(1_000 / median(rates[name]))
const shell = Object.fromEntries(
  (Object.keys(COMMANDS) as Command[]).map((name) => [name, ratio(rates[name], rates[`bare ${name}`])]),
)

// What each computer keeps, with a command played on it that writes.
const before = heldBytes().heap
const many: Environment[] = []
for (let i = 0; i < AT_ONCE; i++) {
  const world = await open()
  await run(world, 'echo done > notes.txt')
  many.push(world)
}
const heldKiB = round2((heldBytes().heap - before) / AT_ONCE / 1_024)

// All at once, each with a command, a pause, and the next.
let answered = 0
let late = 0
const until = performance.now() + LASTING * 1_000
const draw = () => (THINKING[0] + ((seed++ * 7_919) % 1_000) / 1_000) * 1_000
await Promise.all(
  many.map(async (world, i) => {
    await pause((i / AT_ONCE) * THINKING[1] * 1_000)
    while (performance.now() < until) {
      const asked = performance.now()
      await run(world, Object.values(COMMANDS)[i % 2] as string)
      answered += 1
      if (performance.now() - asked > TIMEOUT * 1_000) late += 1
      await pause(draw())
    }
  }),
)
for (const world of many) await world.close()
const atOnce = round2((answered - late) / answered)

const sandbox = await besideSandbox()
const met = {
  open: milliseconds('open') <= GOALS.openMs,
  fork: milliseconds('fork') <= GOALS.forkMs,
  held: heldKiB <= GOALS.heldKiB,
  ...Object.fromEntries(Object.entries(shell).map(([name, value]) => [name, value >= GOALS.shell])),
  atOnce: atOnce >= GOALS.atOnce,
  ...(sandbox && { sandbox: sandbox.ratio >= GOALS.sandbox }),
}
const ok = Object.values(met).every((each) => each)
report('workspace', {
  ok,
  met,
  openMs: milliseconds('open'),
  forkMs: milliseconds('fork'),
  heldKiB,
  shell,
  atOnce: { computers: AT_ONCE, answered, late, share: atOnce },
  sandbox,
  goals: GOALS,
})
process.exit()

/**
 * The CPU of start, ten commands and a fork, here and in a sandbox of the kernel with a folder that is copied for each
 * episode and for each fork: milliseconds each, all processes and threads together, and the ratio of each round.
 */
async function besideSandbox() {
  if (spawnSync('bwrap', ['--version']).status !== 0) {
    console.error('bwrap is missing: apt-get install bubblewrap')
    return null
  }
  const episodes = 10
  const ours = async () => {
    const { user, system } = process.cpuUsage()
    for (let i = 0; i < episodes; i++) {
      const world = await open()
      for (const command of EPISODE) await run(world, command)
      const [fork] = await world.fork({ count: 1 })
      await fork?.close()
      await world.close()
    }
    const after = process.cpuUsage()
    return episodes / ((after.user - user + after.system - system) / 1_000_000)
  }
  const inSandbox = (root: string, command: string) =>
    `bwrap --unshare-all --die-with-parent --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 --ro-bind /etc /etc --proc /proc --dev /dev --bind ${root}/project /project --chdir /project bash -c '${command.replaceAll("'", "'\\''")}' > /dev/null`
  const theirs = async () => {
    // Files that no round before has read.
    const folder = mkdtempSync(join(tmpdir(), 'episodic-bench-'))
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(join(folder, dirname(path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    const script = `cd ${folder}; for i in $(seq ${episodes}); do cp -r project episode-$i.tmp; mkdir episode-$i; mv episode-$i.tmp episode-$i/project
${EPISODE.map((command) => inSandbox(`${folder}/episode-$i`, command)).join('\n')}
cp -r episode-$i fork-$i; rm -rf episode-$i fork-$i; done; times`
    const shell = spawn('bash', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const out = await new Response(shell.stdout as unknown as ReadableStream).text()
    rmSync(folder, { recursive: true })
    // `times` prints user and system time of the shell, and then of what it has started.
    const parts = [...out.matchAll(/(\d+)m([\d.]+)s/g)].map(
      ([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds),
    )
    return episodes / parts.reduce((sum, part) => sum + part, 0)
  }
  const rates = await inTurn(ROUNDS, { here: ours, there: theirs })
  const millisecondsOf = (name: 'here' | 'there') => round2(1_000 / median(rates[name]))
  const ratios = rates.here.map((rate, round) => round2(rate / (rates.there[round] as number)))
  return { here: millisecondsOf('here'), there: millisecondsOf('there'), ratio: ratio(rates.here, rates.there), ratios }
}
