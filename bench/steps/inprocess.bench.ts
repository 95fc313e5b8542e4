/** Steps a second of one core through the host: values in, values out, rewards included, sessions in memory. */

import { createHost, type Tool } from '@episodic/mcp-server'
import { createRng, DEFAULT_SEAT } from '@episodic/protocol'
import { environment } from '@episodic-world/number-guessing'
import { inTurn, median, ratio, report } from '../figures.ts'

const GAMES = 4_000
/** Of the bare rules: what is between them and a step is in bench/NOTES.md, part by part. */
const FLOOR = 0.22

/** Halves the range, as the hints say. Both sides play the same games. */
function createGuesser() {
  let low = 1
  let high = 100
  return {
    guess: () => Math.floor((low + high) / 2),
    hear(value: number, hint: unknown) {
      if (hint === 'higher') low = value + 1
      else high = value - 1
    },
  }
}

await using host = createHost({ environments: [environment], bounds: { sessions: 2 * GAMES } })
let games = 0

/** Opens the sessions first: what is timed is steps alone. */
async function throughHost(): Promise<number> {
  const sessions: string[] = []
  for (let game = 0; game < GAMES; game++) {
    const key = `inprocess-benchmark-${games++}`
    sessions.push((await host.open(null, { environment: environment.name, requestKey: key, seed: `${game}` })).session)
  }
  let steps = 0
  const began = performance.now()
  for (const session of sessions) {
    const guesser = createGuesser()
    for (let seq = 0; ; seq++) {
      const value = guesser.guess()
      const { step } = await (await host.resolve(null, { by: 'control', token: session })).step({
        action: { tool: 'guess', arguments: { value } },
        seq,
      })
      steps += 1
      if (step.report.end) break
      guesser.hear(value, step.observation.structured?.hint)
    }
  }
  const seconds = (performance.now() - began) / 1_000
  for (const session of sessions) await (await host.resolve(null, { by: 'control', token: session })).close()
  return steps / seconds
}

/** The same rules on a draft that is a JSON clone, with the schema, the rewards and the potential, and nothing else. */
function onBareDraft(): number {
  const tool = environment.tools.guess as Tool
  const params = environment.params.parse({})
  let steps = 0
  const began = performance.now()
  for (let game = 0; game < GAMES; game++) {
    const rng = createRng(`${game}`)
    let state = environment.start({ params, rng })
    const guesser = createGuesser()
    for (let over = false; !over; ) {
      const value = guesser.guess()
      const draft = JSON.parse(JSON.stringify(state))
      let end: { kind: 'terminated'; reason: string } | null = null
      const answer = tool.play({
        state: draft,
        input: tool.input.parse({ value }),
        prepared: undefined,
        params,
        rng,
        now: 0,
        history: [],
        say: (text: string, data?: unknown) => ({ kind: 'said', text, data }),
        refuse: (text) => ({ kind: 'refused', text }),
        reveal: (revealed) => revealed,
        end: (reason) => {
          end = { kind: 'terminated', reason }
        },
        elapse: () => {},
        publish: () => {},
        attach: () => {},
      })
      const judged = { before: state, after: draft, tool: 'guess', input: { value }, params, end }
      const transition = { ...judged, moved: environment.seats, refused: null, events: [] }
      environment.rewards(transition, DEFAULT_SEAT)
      environment.potential(draft, params, DEFAULT_SEAT)
      state = draft
      steps += 1
      over = end !== null
      if (answer.kind === 'said') guesser.hear(value, (answer.data as { hint: string }).hint)
    }
  }
  return steps / ((performance.now() - began) / 1_000)
}

const { host: rates, bare } = await inTurn(5, { host: throughHost, bare: onBareDraft })
const ofBare = ratio(rates, bare)
report('inprocess', {
  ok: ofBare >= FLOOR,
  stepsPerSecond: Math.round(median(rates)),
  bareStepsPerSecond: Math.round(median(bare)),
  ratio: ofBare,
})
