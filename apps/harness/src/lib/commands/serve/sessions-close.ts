import { openChannel } from '@episodic/env'
import { absenceOf } from '@episodic/mcp-server/internal'
import { findControlToken, sessionHandles } from '@episodic/play/worlds/serve/server-secrets'
import { type EpisodeEnd, type LoggedStep, METHOD_SCHEMAS, METHODS, WireError } from '@episodic/protocol'
import { isDefaultSuccess } from '@episodic/report/fold/scored-outcome'
import { plural } from '@episodic/report/text/format'
import { type Console, colorsOf } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { wholeNumber } from '@episodic/run/base/option-values'
import { flag, option } from '@episodic/run/base/options'
import { writeWhole } from '@episodic/run/base/own-files'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'

const PAGE = 1_000

const closeOptions = z.object({
  port: option('<port>', 'port of the server', wholeNumber(1, 65_535).default(7337)),
  rewardFile: option('<file>', 'write what it earned as one JSON object of numbers; no file if the session is lost'),
  json: flag('print the result as JSON'),
})

export const sessionsCloseCommand = defineCommand('close', closeOptions, {
  description: 'end the session of a local serve --task, and print how it ended and what it earned',
  help: `
An episode that has not ended is truncated: as closed, with the success that the
world sees then, or as no-action without success if nothing was played.

--reward-file writes {"reward": …, "<term>": …, "success": …, "truncated": …},
with the return as "reward" and 0 or 1 for the last two.

Example:
  episodic serve number-guessing --task task.jsonl
  episodic sessions close --reward-file reward.json`,
  // The parent command has the same flag and may have parsed it.
  run: (_, __, console, command) => close(command.optsWithGlobals(), console),
})

async function close({ port, rewardFile, json }: z.infer<typeof closeOptions>, console: Console): Promise<void> {
  const handle = sessionHandles.find(port)
  if (handle === undefined)
    throw invalidOption(
      `No session was opened for the server at port ${port}, or the server has ended. Start it with episodic serve --task.`,
    )
  const outcome = await closeSession(port, handle)
  if (rewardFile !== undefined) await writeWhole(rewardFile, `${JSON.stringify(toRewards(outcome))}\n`)
  console.out.write(json ? `${JSON.stringify(outcome)}\n` : formatOutcome(outcome, console))
}

interface Outcome {
  readonly end: EpisodeEnd
  /** As the environment defines it; of one that does not, whether it terminated with a return above 0. */
  readonly success: boolean
  readonly return: number
  readonly terms: Readonly<Record<string, number>>
  readonly steps: number
}

async function closeSession(port: number, session: string): Promise<Outcome> {
  const url = `http://127.0.0.1:${port}/env`
  const channel = await openChannel({ url, token: findControlToken(url) })
  try {
    const { environments } = METHOD_SCHEMAS.list.result.parse(await channel.request(METHODS.list, {}))
    const { sessions } = METHOD_SCHEMAS.sessions.result.parse(await channel.request(METHODS.sessions, { limit: 1 }))
    const info = environments.find(({ name }) => name === sessions[0]?.environment)
    const terms = Object.fromEntries((info?.terms ?? []).map((term) => [term, 0]))
    let [earned, steps, after] = [0, 0, 0]
    let ended: { readonly end: EpisodeEnd | null; readonly success?: boolean | undefined } = { end: null }
    const count = ({ action, report }: LoggedStep) => {
      let total = 0
      for (const [term, value] of Object.entries(report.terms)) {
        terms[term] = (terms[term] ?? 0) + value
        total += value
      }
      earned += total
      // What the world judges in a last step, no player has taken.
      if (!absenceOf(action)) steps += 1
    }
    for (let more = true; more; ) {
      const range = { session, after, limit: PAGE, wait: 0 }
      const page = METHOD_SCHEMAS.watch.result.parse(await channel.request(METHODS.watch, range))
      for (const step of page.steps) {
        count(step)
        after = step.report.revision
        ended = step.report
      }
      more = page.steps.length === PAGE
    }
    const closed = METHOD_SCHEMAS.close.result.parse(await channel.request(METHODS.close, { session, left: true }))
    // One that had expired was judged before, and the log has the step.
    if (closed.step && !ended.end) count(closed.step)
    const judged = ended.end ? ended.success : closed.success
    const isIdle = steps === 0 && closed.end.kind === 'truncated' && closed.end.reason === 'closed'
    return {
      end: isIdle ? { kind: 'truncated', reason: 'no-action' } : closed.end,
      // As in the lines of a run, a player that did nothing has not succeeded, whatever the world sees.
      success: !isIdle && (judged ?? isDefaultSuccess(closed.end.kind, earned)),
      return: earned,
      terms,
      steps,
    }
  } catch (cause) {
    if (!WireError.is(cause, 'session-not-found')) throw cause
    const lost = 'The session has expired or was closed, so what it earned is lost.'
    throw new HarnessError('server-failed', lost, { cause })
  } finally {
    await channel.close()
  }
}

/** The figures as one flat object. A term with the name of another figure is called `term.<name>`. */
function toRewards({ return: reward, terms, success, end }: Outcome): Readonly<Record<string, number>> {
  const figures = { reward, success: Number(success), truncated: Number(end.kind === 'truncated') }
  const named = Object.entries(terms).map(([term, sum]) => [Object.hasOwn(figures, term) ? `term.${term}` : term, sum])
  return { ...figures, ...Object.fromEntries(named) }
}

function formatOutcome({ end, success, return: earned, terms, steps }: Outcome, console: Console): string {
  const { bold } = colorsOf(console.out)
  const judged = success ? ', succeeded' : ', not succeeded'
  const sums = Object.entries(terms).map(([term, sum]) => `  ${term} ${sum.toFixed(3)}\n`)
  return `${bold(`${end.kind}: ${end.reason}`)}  return ${earned.toFixed(3)}${judged}, ${plural(steps, 'step')}\n${sums.join('')}`
}
