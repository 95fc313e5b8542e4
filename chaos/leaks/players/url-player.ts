import { randomAction } from '@episodic/check/noisy-policy'
import type { EndpointSession } from '../endpoints/agent-endpoint.ts'
import { callMessage, INITIALIZE, type Message, READ_STATE, READS, SUBSCRIBE, stateless } from './messages.ts'
import type { SeatAnswer, SeatPlayer, SeatPlayerSetting } from './seat-player.ts'

/** A call whose answer is held until the seat may act again. */
interface HeldCall {
  readonly message: Message
  readonly answer: Promise<string>
  answered: boolean
}

const NOTIFICATIONS: Message = { kind: 'the subscription', text: SUBSCRIBE.text }

export interface AgentPlayer extends SeatPlayer {
  send(message: Message): Promise<void>
  sendUnusual(): Promise<void>
}

/**
 * Plays a seat as an agent at its session URL: calls, waits, reads and subscribes, and calls out of turn. With
 * `modern`, by MCP 2026-07-28, without subscriptions.
 */
export function urlPlayer(
  { seat, others, tools, control, rng }: SeatPlayerSetting,
  session: EndpointSession,
  modern: boolean,
): AgentPlayer {
  const answers: SeatAnswer[] = []
  const speak = (message: Message) => (modern ? stateless(message) : message)
  let held: HeldCall | null = null
  let stopCollecting: (() => Promise<string>) | null = null
  const ask = async (given: Message) => {
    const message = speak(given)
    answers.push({ message, text: await session.send(message.text) })
  }
  const hold = (given: Message): HeldCall => {
    const message = speak(given)
    const call: HeldCall = { message, answer: session.send(message.text), answered: false }
    const note = () => {
      call.answered = true
    }
    call.answer.then(note, () => {})
    held = call
    return call
  }
  const release = async () => {
    if (!held) return
    answers.push({ message: held.message, text: await held.answer })
    held = null
  }
  const send = async (message: Message) => {
    // The seat may act, so an earlier call has its answer.
    await release()
    const { revision } = await control.state()
    const stop = new AbortController()
    const { answer } = hold(message)
    const committed = control.watch({ after: revision, limit: 1, wait: 60, signal: stop.signal })
    await Promise.race([answer, committed])
    stop.abort()
    await committed.catch(() => {})
  }
  return {
    answers,
    async begin() {
      if (!modern) {
        await ask(INITIALIZE)
        await ask(SUBSCRIBE)
        stopCollecting = await session.collectNotifications()
      }
      for (const read of [...READS, READ_STATE]) await ask(read)
    },
    send,
    async sendUnusual() {
      for (const [kind, request] of Object.entries(session.unusualRequests))
        answers.push({ message: { kind, text: '' }, text: await request() })
    },
    move: (action) => send(callMessage('a move', action)),
    async readAgain() {
      const { mine, end } = await control.turn({ seat, wait: 0 })
      if (mine || end) await release()
      await ask(READ_STATE)
      await ask(rng.pick(READS))
      if (held) {
        const { message, answered } = held as HeldCall
        answers.push({ message: { ...message, kind: `whether ${message.kind} is answered` }, text: String(answered) })
      } else if (others.length === 0) return
      else if (mine ? rng.chance(0.2) : rng.chance(0.3)) {
        const wait = hold(callMessage('wait', { tool: 'wait', arguments: {} }))
        if (mine || end) await wait.answer.then(release)
      } else if (!mine) await ask(callMessage('a call out of turn', randomAction(tools, rng)))
    },
    async finish() {
      await release()
      if (stopCollecting) answers.push({ message: NOTIFICATIONS, text: await stopCollecting() })
      await session.close()
    },
  }
}
