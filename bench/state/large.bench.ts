/**
 * What sessions of large states cost, by CPU time, in process. Opening one whose table of 20,000 rows (2.3 MB) is drawn
 * by its seed, beside what cannot be left out: to draw it, to check it by its schema, and to write and hash its JSON.
 * A step that answers with a row of 2 KB of the support desk's database of 2.7 MB, beside a step there that reads none.
 */
import { hash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { connect } from '@episodic/env'
import { loadWorld } from '@episodic/harness'
import { createHost, inProcess } from '@episodic/mcp-server'
import { createRng } from '@episodic/protocol'
import { cpuSeconds } from '../cpu-time.ts'
import { inTurn, median, report, round2 } from '../figures.ts'
import { drawnOrders, drawnState, drawOrders } from '../servers/drawn-orders-world.ts'

const ROUNDS = 9
const OPENINGS = 4
const STEPS = 50
/** The most that an opening may cost of what cannot be left out, and a step with a row of one without. */
const CEILINGS = { opening: 4, row: 3 }

const desk = await loadWorld(fileURLToPath(new URL('../../examples/support-desk', import.meta.url)))
await using host = createHost({ environments: [drawnOrders, desk.environment] })
await using connection = await connect(inProcess(host))

/** Times a second of CPU. */
async function rateOf(times: number, run: (i: number) => unknown): Promise<number> {
  const began = cpuSeconds()
  for (let i = 0; i < times; i++) await run(i)
  return times / (cpuSeconds() - began)
}

let seed = 0
const opened = connection.environment('drawn-orders')
async function open(): Promise<void> {
  await opened.reset({ seed: `${seed++}` })
}

function least(): void {
  const drawn = drawOrders(createRng(`${seed++}`), 20_000)
  hash('sha256', JSON.stringify(drawnState.parse(drawn)))
}

const served = connection.environment('support-desk')
async function take(tool: string, argumentsOf: (i: number) => object): Promise<number> {
  await served.reset({ seed: `${seed++}` })
  return rateOf(STEPS, (i) => served.step({ tool, arguments: argumentsOf(i) as Record<string, never> }))
}
const products = await listProducts()

/** The ids of the products whose rows are read. */
async function listProducts(): Promise<string[]> {
  await served.reset({ seed: 'products' })
  const { observation } = await served.step({ tool: 'list_all_product_types', arguments: {} })
  return observation.text.match(/\b\d{10}\b/g) ?? []
}

const rates = await inTurn(
  ROUNDS,
  {
    open: () => rateOf(OPENINGS, open),
    least: () => rateOf(OPENINGS, least),
    row: () => take('get_product_details', (i) => ({ product_id: products[i % products.length] })),
    thought: () => take('think', () => ({ thought: 'Which one?' })),
  },
  { warmUp: 4 },
)
const times = (of: keyof typeof rates, floor: keyof typeof rates) =>
  round2(median(rates[of].map((rate, round) => (rates[floor][round] as number) / rate)))
const [opening, row] = [times('open', 'least'), times('row', 'thought')]
report('large', {
  ok: opening <= CEILINGS.opening && row <= CEILINGS.row,
  openingToLeast: opening,
  rowToNone: row,
  millisecondsOfCpu: { opening: round2(1_000 / median(rates.open)), least: round2(1_000 / median(rates.least)) },
  microsecondsOfCpu: { row: Math.round(1e6 / median(rates.row)), none: Math.round(1e6 / median(rates.thought)) },
  ceilings: CEILINGS,
})
