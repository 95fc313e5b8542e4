import { openChannel } from '@episodic/env'
import { requireTarget } from '@episodic/play/worlds/target'
import { targetOptions } from '@episodic/play/worlds/target-options'
import { METHOD_SCHEMAS, METHODS, type MethodResult } from '@episodic/protocol'
import { formatTable } from '@episodic/run/base/align-columns'
import type { Console } from '@episodic/run/base/console'
import { wholeNumber } from '@episodic/run/base/option-values'
import { addOptions, flag, option } from '@episodic/run/base/options'
import { Command } from 'commander'
import { z } from 'zod'
import { sessionsCloseCommand } from './sessions-close.ts'
import { rejectAgent, sessionsDumpCommand } from './sessions-dump.ts'

const sessionsOptions = z.object({
  limit: option('<count>', 'number of sessions', wholeNumber(1).default(50)),
  after: option('<id>', 'list the sessions after this one'),
  json: flag('print them as JSON'),
  ...targetOptions().shape,
})

export function command(console: Console): Command {
  return addOptions(new Command('sessions'), sessionsOptions)
    .addCommand(sessionsDumpCommand(console))
    .addCommand(sessionsCloseCommand(console))
    .action(async ({ limit, after, json, ...options }: z.infer<typeof sessionsOptions>) => {
      const channel = await openChannel(requireTarget(options))
      try {
        const page = { limit: Math.min(limit, 1_000), ...(after !== undefined && { after }) }
        const answer = await channel.request(METHODS.sessions, page).catch(rejectAgent('lists'))
        const { total, sessions } = METHOD_SCHEMAS.sessions.result.parse(answer)
        if (json) console.out.write(`${JSON.stringify({ total, sessions })}\n`)
        else console.out.write(`${formatSessions(sessions)}\n${sessions.length} of ${total} sessions\n`)
      } finally {
        await channel.close()
      }
    })
}

function formatSessions(sessions: readonly Summary[]): string {
  return formatTable([
    ['SESSION', 'ENVIRONMENT', 'OWNER', 'AGE', 'IDLE', 'BYTES', 'SHARED', 'STEPS', 'TURN', 'HISTORY', 'END'],
    ...sessions.map(({ id, environment, owner, age, idle, bytes, shared, steps, seats, turn = [], history, end }) => [
      id,
      environment,
      owner ?? '–',
      `${age.toFixed(1)} s`,
      `${idle.toFixed(1)} s`,
      String(bytes),
      shared === undefined ? '–' : String(shared),
      seats ? stepsOfSeats(seats) : String(steps),
      turn.join(', ') || '–',
      String(history),
      seats ? endsOfSeats(seats) : formatEnd(end),
    ]),
  ])
}

type Summary = MethodResult<'sessions'>['sessions'][number]
type Seats = NonNullable<Summary['seats']>

function stepsOfSeats(seats: Seats): string {
  return Object.entries(seats)
    .map(([seat, { steps }]) => `${seat} ${steps}`)
    .join(', ')
}

function endsOfSeats(seats: Seats): string {
  const ends = Object.entries(seats).map(([seat, { end }]) => [seat, formatEnd(end)] as const)
  const [[, first] = ['', '']] = ends
  return ends.every(([, end]) => end === first) ? first : ends.map(([seat, end]) => `${seat} ${end}`).join(', ')
}

function formatEnd(end: Summary['end']): string {
  return end ? `${end.kind}: ${end.reason}` : '–'
}
