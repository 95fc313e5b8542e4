/**
 * Whole episodes on computers: a run of `repair-shop` by its solver and another by its stumbling player, over a bad
 * connection to a server that is killed again and again. Every episode is sealed once, with the line of a run without
 * faults, and replays to the same bytes.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { summarySchema } from '@episodic/harness'
import { startProxy } from '../network/proxy.ts'
import { drawFates, STORM } from '../network/weather.ts'
import { compareLines, LineCounter } from '../oracles/sealed-lines.ts'
import { CLI, startServer } from '../processes/server.ts'
import { startProcess } from '../processes/start-process.ts'
import { clearStore, openStore } from '../processes/store.ts'
import { runTrial } from '../trial.ts'

const WORLD = fileURLToPath(new URL('../../examples/repair-shop/src/index.ts', import.meta.url))
const POLICIES = ['solver', 'stumbling'] as const
/** How often the counts of sealed episodes are read, in milliseconds. */
const WATCH = 20

await runTrial('repairs', { store: 'sqlite' }, async ({ rng, quick, options, folder, stack }) => {
  const [tasks, kills] = quick ? [4, 2] : [500, 50]
  const start = (args: readonly string[]) =>
    startProcess(process.execPath, [CLI, ...args, '--json'], { cwd: folder, env: { EPISODIC_HOME: folder } })
  const play = (policy: string, out: string, more: readonly string[]) =>
    start(['run', WORLD, '--tasks', String(tasks), '--policy', policy, '--out', out, ...more])

  const store = stack.use(await openStore(options.store, folder))
  const server = stack.use(await startServer({ world: WORLD, folder, args: ['--store', store.address] }))
  const proxy = stack.use(
    await startProxy(server.port, { fate: drawFates(rng.stream('weather'), STORM), onExchange: () => {} }),
  )
  const there = ['--url', `http://127.0.0.1:${proxy.port}/env`, '--token', server.token, '--retry-timeout', '300']
  const runs = POLICIES.map((policy) => {
    // A line has the name of its run's folder.
    const [out, quiet] = [join(folder, policy, 'run'), join(folder, policy, 'quiet', 'run')]
    return { policy, out, quiet, process: stack.use(play(policy, out, there)) }
  })

  const counters = runs.map(({ out }) => new LineCounter(join(out, 'episodes.jsonl')))
  const sealed = () => counters.reduce((sum, counter) => sum + counter.count(), 0)
  let ended = false
  const over = Promise.all(runs.map(({ process }) => process.exited)).then((statuses) => {
    ended = true
    return statuses
  })
  // Kills come after so many episodes, not after so much time: a slow machine gets as many.
  while (!ended && server.kills < kills) {
    if (sealed() >= (tasks * POLICIES.length * (server.kills + 1)) / (kills + 2)) await server.restart()
    else await pause(WATCH)
  }
  const statuses = await over
  await proxy.settled()
  await server[Symbol.asyncDispose]()

  const breaches: string[] = []
  const figures: Record<string, unknown> = {}
  for (const [i, { policy, out, quiet, process }] of runs.entries()) {
    if (statuses[i] !== 0) breaches.push(`The run of ${policy} ended with ${statuses[i]}: ${process.said}`)
    const { counts } = summarySchema.parse(JSON.parse(await process.line()))
    await using calm = play(policy, quiet, [])
    await calm.line()
    const lines = compareLines(join(out, 'episodes.jsonl'), join(quiet, 'episodes.jsonl'))
    for (const [kind, count] of Object.entries(lines))
      if (count > 0) breaches.push(`${count} episodes of ${policy} are ${kind}.`)
    await using again = start(['replay', out])
    const replayed = await again.line()
    if ((await again.exited) !== 0) breaches.push(`The run of ${policy} does not replay: ${replayed}`)
    figures[policy] = { finished: counts.finished, ...lines }
  }
  const { pagesLeft } = await clearStore(store.open)
  if (pagesLeft > 0) breaches.push(`${pagesLeft} pages are left of sessions that were closed.`)
  return { breaches, figures: { episodes: tasks * POLICIES.length, kills: server.kills, ...figures, pagesLeft } }
})
