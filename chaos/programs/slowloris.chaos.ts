/**
 * Thousands of clients send a byte a second or never read: the server closes them, and an honest player is hardly
 * slowed.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from '@episodic/env'
import { HonestPlayer } from '../players/honest-player.ts'
import { METERED, readMeter } from '../processes/metered.ts'
import { resourcesOf } from '../processes/resources.ts'
import { type Server, startServer } from '../processes/server.ts'
import { runTrial } from '../trial.ts'
import { until } from '../until.ts'

/** Seconds within which the server must close the last of them. */
const SHED_WITHIN = 12
/** How much slower the slowest hundredth of an honest player's calls may be than without the attack. */
const SLOWED = 2
/**
 * How much longer the longest turn of the event loop may be than without the attack, in CPU time of the main thread.
 */
const LONGER = 20
/** Bytes that the server may hold for a slow client whose request is not complete. */
const HELD = 16 * 1_024
/** Slow clients that connect and leave first, so that what a server allocates for its first clients is not counted. */
const FIRST = 100
/** Bytes that the server may grow by, including the honest player's sessions and a heap that settles. */
const GROWTH = 160 * 1_048_576
/** Milliseconds between two measurements of the server: listing two thousand sockets delays the player. */
const GLANCE = 250
/** Files and sockets that the honest player may have opened meanwhile. */
const OWN = 8

await runTrial('slowloris', { sockets: '2000' }, async ({ quick, options, folder, stack }) => {
  const [sockets, unread, quietSeconds] = quick ? [200, 8, 1] : [Number(options.sockets), 32, 10]
  const server = stack.use(await startServer({ folder, args: ['--store', 'memory'], node: METERED }))
  const { pid } = server.process
  const connection = stack.use(
    await connect({ url: `http://127.0.0.1:${server.port}/env`, token: server.token }, { retry: { attempts: 1 } }),
  )
  const heldEach = await weigh(server, folder, sockets)
  const player = new HonestPlayer(stack.use(connection.environment()))
  await player.play(whileSeconds(Math.min(2, quietSeconds)))

  const before = resourcesOf(pid)
  await readMeter(server, folder)
  const quiet = await player.play(whileSeconds(quietSeconds))
  const { turn: turnUndisturbed } = await readMeter(server, folder)
  const attack = startAttack(server.port, server.token, sockets, unread)
  stack.defer(() => void attack.kill('SIGKILL'))
  const breaches: string[] = []
  let [most, held, over] = [0, 0, false]
  const shed = (async () => {
    await once(attack, 'message')
    const began = performance.now()
    await until(
      () => {
        const { files, resident } = resourcesOf(pid)
        most = Math.max(most, files - before.files)
        held = Math.max(held, resident - before.resident)
        return files <= before.files + OWN
      },
      'the server is rid of all slow clients',
      4 * SHED_WITHIN,
      GLANCE,
    ).catch((error) => breaches.push(String(error)))
    return (performance.now() - began) / 1_000
  })().finally(() => {
    over = true
  })
  const disturbed = await player.play(() => over)
  const seconds = await shed
  const { turn } = await readMeter(server, folder)
  const quietAgain = await player.play(whileSeconds(quietSeconds))

  const undisturbed = p99([...quiet, ...quietAgain])
  const slowed = p99(disturbed) / undisturbed
  if (most < sockets * 0.9) breaches.push(`Of ${sockets} slow clients, the server never held more than ${most}.`)
  if (seconds > SHED_WITHIN) breaches.push(`The last slow client was gone after ${seconds} s.`)
  if (heldEach > HELD) breaches.push(`The server held ${heldEach} bytes for a slow client.`)
  if (held > GROWTH) breaches.push(`The server grew by ${held} bytes.`)
  if (player.errors.length > 0) breaches.push(`An honest player received: ${player.errors[0]}`)
  // A second or two of a shared machine say nothing of its speed.
  if (!quick && turn > LONGER * turnUndisturbed)
    breaches.push(`A turn of the event loop was ${turn / turnUndisturbed} times as long.`)
  if (!quick && slowed > SLOWED) breaches.push(`An honest player's calls were ${slowed} times as slow.`)
  return {
    breaches,
    figures: {
      held: most,
      unread,
      bytesEach: heldEach,
      goneAfterSeconds: round(seconds),
      grownMebibytes: Math.round(held / 1_048_576),
      calls: disturbed.length,
      errors: player.errors.length,
      p99Undisturbed: round(undisturbed),
      p99: round(p99(disturbed)),
      slowed: round(slowed),
      turnUndisturbed: round(turnUndisturbed),
      turn: round(turn),
      longest: round(Math.max(...disturbed.slice(-100_000))),
    },
  }
})

/** The bytes that a server holds for each of so many slow clients, none of whose requests is complete. */
async function weigh(server: Server, folder: string, sockets: number): Promise<number> {
  const { pid } = server.process
  const none = resourcesOf(pid).files
  const attackWith = async (count: number) => {
    const attack = startAttack(server.port, server.token, count, 0)
    await once(attack, 'message')
    await until(() => resourcesOf(pid).files - none > count * 0.9, 'the server holds the slow clients', 60)
    return async () => {
      attack.kill('SIGKILL')
      await until(() => resourcesOf(pid).files <= none + OWN, 'the server is rid of those that hung up', 60)
    }
  }
  await (await attackWith(FIRST))()
  const before = await readMeter(server, folder)
  const end = await attackWith(sockets)
  const files = resourcesOf(pid).files
  const during = await readMeter(server, folder)
  await end()
  return Math.round((during.held - before.held) / (files - none))
}

function startAttack(port: number, token: string, sockets: number, unread: number): ChildProcess {
  const args = [port, token, sockets, unread].map(String)
  return fork(new URL('../hostile/slow-clients.ts', import.meta.url), args)
}

function whileSeconds(seconds: number): () => boolean {
  const deadline = performance.now() + seconds * 1_000
  return () => performance.now() > deadline
}

function p99(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
