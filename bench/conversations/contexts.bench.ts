/**
 * Utterances a second of one core: understood by rules, routed, handled by a context and committed, all in process,
 * compared with understanding alone. In seconds of processor time, including the garbage collector, so that other load
 * on the machine does not count. Then conversations over WebSockets: 1,000 at once compared with 100.
 */

import { createHost } from '@episodic/mcp-server'
import { conversation, environment } from '@episodic-world/flight-booking'
import { cpuSeconds } from '../cpu-time.ts'
import { inTurn, median, ratio, report, round2 } from '../figures.ts'
import { talkAtOnce } from './talkers.ts'

const CONVERSATIONS = 200
/** Of the rate at which utterances are understood, the rate at which they are understood and all the rest is done. */
const FLOOR = 0.3
/** Conversations over WebSockets at once, and how many it is compared with. */
const [AT_ONCE, FEW] = [1_000, 100]
/** How much more CPU of the server a frame of one of them may cost with ten times the conversations. */
const CEILING = 1.2
const NOW = Date.UTC(2026, 0, 5, 9)

/** A booking with digressions, corrections, typing errors and follow-ups. */
const DIALOGUE = [
  'Hello',
  'I want to book a flight',
  'From Lahore to Dubai',
  "What's the weather in Dubai?",
  'and the day after?',
  'Leaving on 2026-01-08',
  'two passengers please',
  'no, to Doha',
  'How much luggage can I take?',
  'Can I get a refnud?',
  'the airline',
  'actually make it friday for three people',
  'No, another flight please',
  'Tell me a joke',
  'Yes, book it',
]

const utterancesPerSecond = (began: number) => (CONVERSATIONS * DIALOGUE.length) / (cpuSeconds() - began)

/** Where the conversation stands before each utterance. */
const records = (() => {
  let { record } = conversation.start({ now: NOW })
  return DIALOGUE.map((text) => {
    const before = record
    const interpreted = conversation.interpretNow(record, text, { now: NOW })
    record = conversation.handleInput(record, { kind: 'utterance', text, interpreted, now: NOW }).record
    return before
  })
})()

/** What each utterance means, and nothing more: what no conversation that goes by rules can be faster than. */
function interpreted(): number {
  const began = cpuSeconds()
  for (let i = 0; i < CONVERSATIONS; i++)
    for (const [at, text] of DIALOGUE.entries())
      conversation.interpretNow(records[at] as (typeof records)[number], text, { now: NOW })
  return utterancesPerSecond(began)
}

/** Rounds of `committed` in wall-clock time: the collector runs in other threads, and other programs use the cores. */
const byTheClock: number[] = []

/** The conversation by itself: what is committed is the record, as JSON. */
function committed(): number {
  const store = new Map<number, string>()
  const start = performance.now()
  const began = cpuSeconds()
  for (let i = 0; i < CONVERSATIONS; i++) {
    let { record } = conversation.start({ now: NOW })
    for (const text of DIALOGUE) {
      const meant = conversation.interpretNow(record, text, { now: NOW })
      record = conversation.handleInput(record, { kind: 'utterance', text, interpreted: meant, now: NOW }).record
      store.set(i, JSON.stringify(record))
    }
  }
  byTheClock.push((CONVERSATIONS * DIALOGUE.length * 1_000) / (performance.now() - start))
  return utterancesPerSecond(began)
}

await using host = createHost({ environments: [environment], bounds: { sessions: 2 * CONVERSATIONS } })
let opened = 0

/** As an environment, through the host: schemas, rewards, the step log and the store are in it. */
async function played(): Promise<number> {
  const sessions: string[] = []
  for (let i = 0; i < CONVERSATIONS; i++) {
    const requestKey = `contexts-benchmark-${opened++}`
    const limits = { steps: DIALOGUE.length }
    sessions.push((await host.open(null, { environment: environment.name, requestKey, seed: `${i}`, limits })).session)
  }
  const began = cpuSeconds()
  for (const session of sessions)
    for (const [seq, text] of DIALOGUE.entries())
      await (await host.resolve(null, { by: 'control', token: session })).step({
        action: { tool: 'say', arguments: { text } },
        seq,
      })
  const rate = utterancesPerSecond(began)
  for (const session of sessions) await (await host.resolve(null, { by: 'control', token: session })).close()
  return rate
}

const rates = await inTurn(5, { interpreted, committed, played })
const few = await talkAtOnce(FEW, DIALOGUE)
const live = await talkAtOnce(AT_ONCE, DIALOGUE)
const toInterpreted = ratio(rates.committed, rates.interpreted)
const toFew = round2(live.microsecondsPerFrame / few.microsecondsPerFrame)
report('contexts', {
  ok: toInterpreted >= FLOOR && toFew <= CEILING,
  toInterpreted,
  toFew,
  utterancesPerSecond: Math.round(median(rates.committed)),
  byTheClock: Math.round(median(byTheClock)),
  interpretedPerSecond: Math.round(median(rates.interpreted)),
  asEnvironmentPerSecond: Math.round(median(rates.played)),
  few,
  live,
})
