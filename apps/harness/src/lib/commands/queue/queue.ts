import { announcementSchema, signedPlaces } from '@episodic/fleet/fleet-messages'
import { signerOfEnvironment } from '@episodic/fleet/open-fleet'
import { openRedisQueue } from '@episodic/fleet/redis/open-redis-queue'
import type { QueueStatus, RunQueue } from '@episodic/fleet/run-queue'
import { type Console, colorsOf, say } from '@episodic/run/base/console'
import { invalidOption } from '@episodic/run/base/harness-error'
import { untilInterrupted } from '@episodic/run/base/interruption'
import { addOptions, flag, option } from '@episodic/run/base/options'
import { machineClock } from '@episodic/run/base/waiting-clock'
import { Command } from 'commander'
import { z } from 'zod'
import { work } from './work.ts'

const queueOptions = z.object({
  queue: option('<url>', 'the queue, a Redis: redis://<host>:<port>', z.string()),
  json: flag('print the state of the queue as JSON'),
})
type QueueOptions = z.infer<typeof queueOptions>

/** Milliseconds between two looks at what is still played. */
const LOOK = 500

export function command(console: Console): Command {
  const whole = new Command('queue')
  const add = (usage: string, description: string, act: (queue: RunQueue, run: string) => Promise<void>) => {
    const added = addOptions(whole.command(usage).description(description), queueOptions)
    added.action(async () => {
      const options = added.opts<QueueOptions>()
      await using queue = await openRedisQueue(options.queue, { onNotice: (notice) => say(console.err, notice) })
      await act(queue, added.processedArgs[0])
      showStatus(await queue.status(), options, console)
    })
  }
  add('status', 'show runs and workers', async () => {})
  add('pause', 'give out no more episodes; those that are played go on', (queue) => queue.setPaused(true))
  add('resume', 'give out episodes again', (queue) => queue.setPaused(false))
  add('drain', 'pause, and wait until no episode is played: Redis or workers may then be stopped', (queue) =>
    drain(queue, console),
  )
  add(
    'remove <run>',
    'remove an interrupted run; episodes that workers sealed since are played again by --resume',
    async (queue, run) => {
      if (await queue.remove(run)) return
      throw invalidOption(
        `The queue has no interrupted run ${run}. \`episodic queue status\` lists its runs; one that is being played is stopped where it was started.`,
      )
    },
  )
  whole.addCommand(work(console))
  return whole
}

async function drain(queue: RunQueue, console: Console): Promise<void> {
  await queue.setPaused(true)
  using interruption = untilInterrupted(console)
  const { signal } = interruption
  for (let shown = -1; !signal.aborted; ) {
    const playing = (await queue.status()).runs.reduce((sum, run) => sum + run.playing, 0)
    if (playing === 0) return
    if (playing !== shown) console.err.write(`${playing} episodes are being played.\n`)
    shown = playing
    await machineClock.wait(LOOK, signal)
  }
  process.exitCode = interruption.status ?? 1
}

function showStatus({ paused, runs, workers }: QueueStatus, { json }: QueueOptions, { out }: Console): void {
  const shown = runs.map(({ announcement, ...run }) => ({ ...run, ...readAnnouncement(run.id, announcement) }))
  if (json) {
    out.write(`${JSON.stringify({ paused, runs: shown, workers })}\n`)
    return
  }
  const { bold, dim, yellow } = colorsOf(out)
  if (paused) out.write(`${yellow('paused')}: no episodes are given out. Go on with: episodic queue resume --queue …\n`)
  if (runs.length === 0) out.write('No runs.\n')
  for (const { id, name, environment, policy, coordinator, account, playing } of shown) {
    const by = coordinator ? `coordinated by process ${coordinator.pid} on ${coordinator.host}` : 'interrupted'
    const slots = workers.reduce((sum, { plays, slots }) => sum + (plays.includes(id) ? slots : 0), 0)
    const { sealed, fenced, lost, open, unread } = account
    out.write(`${bold(name)} ${id}  ${dim(`${environment} · ${policy}`)}\n`)
    out.write(`  ${by}   ${slots} slots\n`)
    out.write(`  ${playing} played now   ${open - playing} waiting   ${unread} results unread\n`)
    out.write(`  ${sealed} sealed   ${lost} plays lost with their worker   ${fenced} results came too late\n`)
    for (const { host, pid, declines } of workers)
      if (declines[id] !== undefined) out.write(`  process ${pid} on ${host} does not play it: ${declines[id]}\n`)
  }
  const slots = workers.reduce((sum, worker) => sum + worker.slots, 0)
  out.write(`${workers.length} ${workers.length === 1 ? 'worker' : 'workers'}, ${slots} slots\n`)
  for (const { host, pid, slots, version, plays } of workers) {
    const playing = dim(`Episodic ${version}, plays ${plays.length} runs`)
    out.write(`  process ${pid} on ${host}   ${slots} slots   ${playing}\n`)
  }
}

/**
 * Reads what a run plays from its announcement, which another version may have written, or signed with another secret.
 */
function readAnnouncement(run: string, signed: string) {
  try {
    const announced = announcementSchema.parse(
      JSON.parse(signerOfEnvironment().open(signedPlaces.announcement(run), signed)),
    )
    const { name, configuration } = announced
    const { environment, policy } = configuration
    return { name, environment: `${environment.name} ${environment.version}`, policy: policy.name }
  } catch {
    const name = '(unreadable: another EPISODIC_QUEUE_SECRET, another version of Episodic, or damaged)'
    return { name, environment: 'unknown', policy: 'unknown' }
  }
}
