/**
 * Two principals with computers on one server: what the sessions of one leave in SQLite, JavaScript and the
 * shell is seen by no session of the other, whose commands print the same bytes as on a server of their own; and the
 * server's memory returns.
 */
import { fileURLToPath } from 'node:url'
import { type Connection, connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import type { Rng } from '@episodic/protocol'
import { resourcesHold, resourcesOf } from '../processes/resources.ts'
import { startServer } from '../processes/server.ts'
import { runTrial } from '../trial.ts'
import { leaving, PROBES } from '../workspace/neighbour-commands.ts'
import { environment } from '../workspace/neighbour-world.ts'

const WORLD = fileURLToPath(new URL('../workspace/neighbour-world.ts', import.meta.url))
const MARK = /mark-[0-9a-f]{24}/g

type Calls = ReturnType<typeof leaving>

/** Plays calls in a session of its own, one after another. Resolves with what each printed. */
async function play(connection: Connection, calls: Calls): Promise<string[]> {
  const computer = connection.environment('neighbour')
  await computer.reset({ seed: 'a neighbour' })
  const printed: string[] = []
  for (const [tool, args] of calls) printed.push((await computer.step({ tool, arguments: args })).observation.text)
  await computer.close()
  return printed
}

await runTrial('neighbours', {}, async ({ rng, quick, folder, stack }) => {
  const breaches: string[] = []
  const rounds = quick ? 1 : 40
  const reference = stack.use(await connect(inProcess(createHost({ environments: [environment] }))))
  const expected = await play(reference, PROBES)
  const tokens = ['anna', 'boris'].flatMap((name) => ['--control-token', `${name}=the-control-token-of-${name}`])
  const server = stack.use(await startServer({ world: WORLD, folder, args: tokens }))
  const as = async (name: string) =>
    stack.use(await connect({ url: `http://127.0.0.1:${server.port}/env`, token: `the-control-token-of-${name}` }))
  const [anna, boris] = [await as('anna'), await as('boris')]
  // Its threads run, and their engines are loaded.
  await play(boris, PROBES)
  const before = resourcesOf(server.process.pid)
  const counts = { commands: 0, leakedBytes: 0, differing: 0 }
  for (let round = 0; round < rounds; round++) {
    const left = rng.shuffle(leaving(markOf(rng)))
    await play(anna, left)
    const printed = await Promise.all(Array.from({ length: quick ? 1 : 2 }, () => play(boris, PROBES)))
    counts.commands += left.length + printed.flat().length
    for (const each of printed)
      for (const [i, text] of each.entries()) {
        counts.leakedBytes += (text.match(MARK) ?? []).join('').length
        if (text === expected[i]) continue
        counts.differing += 1
        breaches.push(`${JSON.stringify(PROBES[i])} printed ${text}, and alone it prints ${expected[i]}`)
      }
  }
  if (counts.leakedBytes > 0) breaches.push(`${counts.leakedBytes} bytes of one principal reached the other.`)
  const { holds, after } = await resourcesHold(server.process.pid, before)
  if (!holds) breaches.push(`The server held ${JSON.stringify(before)}, and now holds ${JSON.stringify(after)}.`)
  return { breaches, figures: { rounds, ...counts } }
})

function markOf(rng: Rng): string {
  return `mark-${Array.from({ length: 24 }, () => rng.int(0, 15).toString(16)).join('')}`
}
