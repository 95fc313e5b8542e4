import { createHost, defineEnvironment } from '@episodic/mcp-server'
import { createMemoryStore } from '@episodic/state/memory'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { serveNemoGym } from './serve-nemo-gym.ts'

/** A world whose return is the sum of what was added, and whose answers say it. */
const ledger = defineEnvironment({
  name: 'ledger',
  version: '1.0.0',
  description: 'Adds amounts.',
  params: z.object({}),
  state: { public: z.object({ sum: z.int(), entries: z.int() }), private: z.object({}) },
  start: () => ({ public: { sum: 0, entries: 0 }, private: {} }),
  observe: ({ sum, entries }) => `${sum} in ${entries} entries.`,
  tools: ({ tool }) => ({
    add: tool({
      description: 'Adds an amount.',
      input: z.object({ amount: z.int() }),
      play({ state, input, say }) {
        state.public.sum += input.amount
        state.public.entries += 1
        return say('Added.')
      },
    }),
  }),
  rewards: { sum: ({ before, after }) => after.public.sum - before.public.sum },
})

const ROW = { responses_create_params: { input: 'Add.' }, episodic: { environment: 'ledger', seed: 7 } }

/** How a client keeps cookies. */
const jars = ['each', 'first', 'none after two', 'all'] as const
type Jar = (typeof jars)[number]

/** What happens to one message. Its client repeats what is lost; a copy arrives after so many further messages. */
interface Fate {
  readonly requestLost: boolean
  readonly replyLost: boolean
  readonly copyAfter: number | null
  /** Whether the server is killed before the message, and started again on the same store. */
  readonly killed: boolean
}

const fate: fc.Arbitrary<Fate> = fc.record({
  requestLost: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.boolean()),
  replyLost: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.boolean()),
  copyAfter: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.integer({ min: 0, max: 2 })),
  killed: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.boolean()),
})
/** So few amounts make many a call the same as the one before it. */
const calls = fc.array(fc.record({ amount: fc.integer({ min: 1, max: 2 }), fate }), { minLength: 1, maxLength: 6 })

interface Message {
  readonly path: string
  readonly body: object
  readonly headers: Readonly<Record<string, string>>
}

/** A network to one server at a time, and the client of one rollout. */
class Rollout {
  readonly #store = createMemoryStore()
  readonly #jar: Jar
  readonly #own: boolean
  #stack = new AsyncDisposableStack()
  #origin = ''
  #cookies: string[] = []
  #sent = 0
  #late: { message: Message; in: number }[] = []

  constructor(jar: Jar, own: boolean) {
    this.#jar = jar
    this.#own = own
  }

  async restart(): Promise<void> {
    await this.#stack.disposeAsync()
    this.#stack = new AsyncDisposableStack()
    const host = this.#stack.use(createHost({ environments: [ledger], store: this.#store }))
    this.#origin = this.#stack.use(await serveNemoGym(host)).origin
  }

  /** Posts until an answer arrives. */
  async post(path: string, body: object, fate: Fate = FINE): Promise<{ status: number; text: string }> {
    if (fate.killed) await this.restart()
    const message = { path, body, headers: this.#headers() }
    this.#sent += 1
    // The first request may be lost on its way, and is sent again as it was.
    if (fate.replyLost) await this.#send(message)
    if (fate.copyAfter !== null) this.#late.push({ message, in: fate.copyAfter })
    const answer = await this.#send(fate.requestLost ? { ...message, headers: this.#headers() } : message)
    for (const cookie of answer.headers.getSetCookie()) this.#keep(cookie.split(';')[0] as string)
    const text = await answer.text()
    await this.#deliverLate()
    return { status: answer.status, text }
  }

  async end(): Promise<void> {
    await this.#stack.disposeAsync()
  }

  #send({ path, body, headers }: Message): Promise<Response> {
    return fetch(`${this.#origin}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  async #deliverLate(): Promise<void> {
    const due = this.#late.filter((copy) => copy.in === 0)
    this.#late = this.#late.filter((copy) => copy.in > 0).map((copy) => ({ ...copy, in: copy.in - 1 }))
    for (const { message } of due) await (await this.#send(message)).text()
  }

  #headers(): Record<string, string> {
    const agent = this.#own ? 'Python/3.13 aiohttp/3.12' : 'python-httpx/0.28'
    const isSilent = this.#jar === 'none after two' && this.#sent > 2
    return {
      'content-type': 'application/json',
      'user-agent': agent,
      ...(this.#cookies.length > 0 && !isSilent && { cookie: this.#cookies.join('; ') }),
    }
  }

  #keep(cookie: string): void {
    if (this.#jar === 'all') this.#cookies = [cookie, ...this.#cookies]
    else if (this.#jar !== 'first' || this.#cookies.length === 0) this.#cookies = [cookie]
  }
}

const FINE: Fate = { requestLost: false, replyLost: false, copyAfter: null, killed: false }

describe('an unmasked reward', () => {
  it.each(jars)('is the one of the calls without any fault, of a client that keeps %s of its cookies', async (jar) => {
    let unmasked = 0
    const check = fc.asyncProperty(calls, fate, fc.boolean(), fc.boolean(), async (played, last, own, showsOutputs) => {
      const rollout = new Rollout(jar, own)
      try {
        await rollout.restart()
        await rollout.post('seed_session', ROW)
        const output: object[] = []
        const shown: string[] = []
        for (const { amount, fate } of played) {
          const { text } = await rollout.post('add', { amount }, fate)
          output.push({ type: 'function_call', call_id: 'call', name: 'add', arguments: JSON.stringify({ amount }) })
          if (showsOutputs) output.push({ type: 'function_call_output', call_id: 'call', output: text })
          shown.push(text)
        }
        const { status, text } = await rollout.post('verify', { ...ROW, response: { output } }, last)
        const verdict = status === 200 ? JSON.parse(text) : { mask_sample: true }
        if (verdict.mask_sample) return
        unmasked += 1
        expect(verdict.reward).toBe(played.reduce((sum, { amount }) => sum + amount, 0))
        expect(verdict.steps).toBe(played.length)
        if (!showsOutputs) return
        let sum = 0
        for (const [place, { amount }] of played.entries()) {
          sum += amount
          expect(shown[place]).toContain(`${sum} in ${place + 1} entries.`)
        }
      } finally {
        await rollout.end()
      }
    })
    await fc.assert(check, { seed: 30, numRuns: 30 })
    if (jar !== 'none after two') expect(unmasked).toBeGreaterThan(2)
  })

  it.each([
    ['keeps its first cookie', 'first', 21],
    ['returns each cookie', 'each', 21],
  ] as const)('is no more than that after a lost answer and a kill, of a client that %s', async (_, jar, sum) => {
    const rollout = new Rollout(jar, false)
    await rollout.restart()
    await rollout.post('seed_session', ROW)
    await rollout.post('add', { amount: 5 })
    await rollout.post('add', { amount: 7 }, { ...FINE, replyLost: true })
    await rollout.post('add', { amount: 9 }, { ...FINE, killed: true })
    const output = [5, 7, 9].map((amount) => ({
      type: 'function_call',
      name: 'add',
      arguments: `{"amount":${amount}}`,
    }))
    const { reward, mask_sample } = JSON.parse((await rollout.post('verify', { ...ROW, response: { output } })).text)
    expect(mask_sample || reward === sum).toBe(true)
    await rollout.end()
  })

  it('is not earned by a late call, of a client that returns each cookie', async () => {
    const rollout = new Rollout('each', true)
    await rollout.restart()
    await rollout.post('seed_session', ROW)
    await rollout.post('add', { amount: 5 }, { ...FINE, copyAfter: 1 })
    await rollout.post('add', { amount: 7 })
    await rollout.post('add', { amount: 9 })
    const output = [5, 7, 9].map((amount) => ({
      type: 'function_call',
      name: 'add',
      arguments: `{"amount":${amount}}`,
    }))
    const verdict = JSON.parse((await rollout.post('verify', { ...ROW, response: { output } })).text)
    expect(verdict).toMatchObject({ reward: 21, mask_sample: false })
    await rollout.end()
  })
})
