import type { ServerFrame } from '@episodic/contexts/http'
import { startChild } from '../child.ts'
import { round2 } from '../figures.ts'

/** Seconds between two frames of one conversation: a person who types fast. */
const PAUSE = 3
/** One of so many frames is an event. */
const EVENTS = 4
/** Frames of each conversation. */
const FRAMES = 12
/** The latencies of events and answers, in milliseconds. */
interface Latencies {
  readonly answers: number[]
  readonly events: number[]
}

/**
 * Talks in many conversations at once over WebSockets with a server in another process, at the pace of people, spread
 * evenly. Resolves with the latency of answers, the latency from publishing an event until its conversation is
 * notified, and the server's CPU time for each frame.
 */
export async function talkAtOnce(conversations: number, lines: readonly string[]) {
  using server = await startChild<{ url: string; token: string }>('servers/conversations-server.ts')
  const { url, token } = server.ready
  const talkers = await Promise.all(Array.from({ length: conversations }, () => openTalker(url, token)))
  const latencies: Latencies = { answers: [], events: [] }
  const cpu = async () => (await server.ask<{ seconds: number }>('cpu')).seconds
  const usedBefore = await cpu()
  const began = performance.now()
  await Promise.all(
    talkers.map((talker, i) => talker.talk(lines, began + (i / conversations) * PAUSE * 1_000, latencies)),
  )
  const seconds = (performance.now() - began) / 1_000
  const used = (await cpu()) - usedBefore
  for (const talker of talkers) talker.close()
  const { answers, events } = latencies
  return {
    conversations,
    framesPerSecond: Math.round((answers.length + events.length) / seconds),
    microsecondsPerFrame: Math.round((used * 1e6) / (answers.length + events.length)),
    answers: spread(answers),
    events: spread(events),
  }
}

function spread(values: number[]) {
  values.sort((a, b) => a - b)
  const quantile = (q: number) => round2(values[Math.min(values.length - 1, Math.floor(q * values.length))] as number)
  return { count: values.length, p50: quantile(0.5), p99: quantile(0.99) }
}

async function openTalker(url: string, token: string) {
  const socket = new WebSocket(url, ['episodic', `episodic.bearer.${encodeURIComponent(token)}`])
  let receive: (frame: ServerFrame) => void = () => {}
  socket.onmessage = ({ data }) => receive(JSON.parse(data as string))
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error(`No connection to ${url}.`))
  })
  /** Sends a frame, and resolves with the milliseconds until the frame that it asks for arrives. */
  const ask = (frame: object, isIt: (received: ServerFrame) => boolean) =>
    new Promise<number>((resolve, reject) => {
      const sent = performance.now()
      receive = (received) => {
        if (received.type === 'error') reject(new Error(received.message))
        else if (isIt(received)) resolve(performance.now() - sent)
      }
      socket.send(JSON.stringify(frame))
    })
  await ask({ type: 'join' }, ({ type }) => type === 'joined')
  return {
    close: () => socket.close(),
    async talk(lines: readonly string[], from: number, { answers, events }: Latencies) {
      let seq = 0
      for (let at = 0; at < FRAMES; at++) {
        const due = from + at * PAUSE * 1_000
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
        if (at % EVENTS === EVENTS - 1) {
          const data = { flight: 'EP 1', seat: 100 + at }
          const frame = { type: 'publish', id: `${at}`, event: 'price-changed', data }
          events.push(
            await ask(
              frame,
              (received) => received.type === 'news' && received.turns.some(({ kind }) => kind === 'event'),
            ),
          )
        } else {
          const text = lines[seq % lines.length] as string
          const said = seq++
          answers.push(
            await ask(
              { type: 'say', seq: said, text },
              (received) => received.type === 'answer' && received.seq === said,
            ),
          )
        }
      }
    },
  }
}
