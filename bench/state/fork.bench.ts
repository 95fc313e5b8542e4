/**
 * What a fork costs, beside a step of the same session, and what 10,000 forks of one 20 KB state weigh in the memory
 * store.
 *
 * In process, through the host. Forks are made as a search makes them: a batch of them where a session stands, each
 * played one step and closed. Only the forking is timed, description of every fork included, and the steps are timed
 * apart.
 */
import { createHost, defineEnvironment, type EnvironmentDefinition } from '@episodic/mcp-server'
import type { Action } from '@episodic/protocol'
import { environment as numberGuessing } from '@episodic-world/number-guessing'
import { z } from 'zod'
import { heldBytes, inTurn, mebibytes, median, ratio, report, round2 } from '../figures.ts'

const BATCH = 64
const BATCHES = 40
const FORKS = 10_000
const COST_CEILING = 2
const WEIGHT_CEILING = 40
/** Characters of the large state. */
const SIZE = 20_000

/** A world whose state is large, and mostly stays as it is. */
const ledger = defineEnvironment({
  name: 'ledger',
  version: '1.0.0',
  description: 'Adds up numbers beside a long list.',
  params: z.object({}),
  state: { public: z.object({ total: z.int() }), private: z.object({ lines: z.array(z.string()) }) },
  limits: { steps: 1_000_000 },
  start: () => ({
    public: { total: 0 },
    private: { lines: Array.from({ length: SIZE / 100 }, (_, i) => `${i}`.padEnd(97, '.')) },
  }),
  observe: ({ total }) => `The total is ${total}.`,
  tools: ({ tool }) => ({
    add: tool({
      description: 'Add one.',
      input: z.object({}),
      play({ state, say }) {
        state.public.total += 1
        return say('Added.')
      },
    }),
  }),
  rewards: { cost: () => -0.01 },
})

await using host = createHost({ environments: [numberGuessing, ledger], bounds: { sessions: 2 * FORKS } })
let requests = 0
const requestKey = () => `fork-benchmark-${requests++}`.padEnd(24, '-')

/** Forks and steps a second of one world, measured in the same rounds. */
async function measure({ name }: EnvironmentDefinition, action: Action) {
  const { session } = await host.open(null, { environment: name, requestKey: requestKey(), seed: 'fork' })
  let stepping: number[] = []
  const forking = async () => {
    const forked: number[] = []
    stepping = []
    for (let batch = 0; batch < BATCHES; batch++) {
      const began = performance.now()
      const forks = await (await host.resolve(null, { by: 'control', token: session })).fork({
        count: BATCH,
        requestKey: requestKey(),
      })
      const done = performance.now()
      for (const fork of forks)
        await (await host.resolve(null, { by: 'control', token: fork.session })).step({ action, seq: 0 })
      stepping.push(performance.now() - done)
      forked.push(done - began)
      for (const fork of forks) await (await host.resolve(null, { by: 'control', token: fork.session })).close()
    }
    return (BATCH * 1_000) / median(forked)
  }
  // The steps were played in between, on the forks.
  const rates = await inTurn(5, {
    [`${name} fork`]: forking,
    [`${name} step`]: () => (BATCH * 1_000) / median(stepping),
  })
  const [forks = [], steps = []] = Object.values(rates)
  return { microseconds: round2(1e6 / median(forks)), cost: ratio(steps, forks) }
}

const small = await measure(numberGuessing, { tool: 'guess', arguments: { value: 1 } })
const large = await measure(ledger, { tool: 'add', arguments: {} })

const { session } = await host.open(null, { environment: ledger.name, requestKey: requestKey() })
const before = heldBytes()
for (let forked = 0; forked < FORKS; forked += 1_000)
  await (await host.resolve(null, { by: 'control', token: session })).fork({ count: 1_000, requestKey: requestKey() })
const after = heldBytes()
const grown = { heap: mebibytes(after.heap - before.heap), resident: mebibytes(after.resident - before.resident) }

report('fork', {
  ok: Math.max(small.cost, large.cost) <= COST_CEILING && Math.max(grown.heap, grown.resident) <= WEIGHT_CEILING,
  stepsPerFork: small.cost,
  microsecondsPerFork: small.microseconds,
  stepsPerLargeFork: large.cost,
  microsecondsPerLargeFork: large.microseconds,
  forks: FORKS,
  stateBytes: SIZE,
  heapMebibytes: grown.heap,
  residentMebibytes: grown.resident,
  ratio: round2(Math.max(small.cost, large.cost) / COST_CEILING),
})
