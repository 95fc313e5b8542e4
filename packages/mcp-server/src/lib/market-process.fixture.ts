import { appendFileSync, writeSync } from 'node:fs'
import { openSqliteStore } from '@episodic/state/sqlite'
import { createHost } from './create-host.ts'
import { createExchange, createMarket } from './market.fixture.ts'

// A process of its own for tests that kill it: `node market-process.fixture.ts <part> <store> <from | file>`. It reports
// with synchronous writes, so that what it said before it was killed has left it.

const [part, path, rest] = process.argv.slice(2) as ['publish' | 'order', string, string]
const say = (message: unknown) => writeSync(1, `${JSON.stringify(message)}\n`)
const exchange = createExchange()
const host = createHost({ environments: [createMarket(exchange)], store: await openSqliteStore(path) })
const { session } = await host.open(null, {
  environment: 'market',
  seed: 'seed',
  requestKey: 'one market for all lives',
})

/** Publishes events without end, from the one that it is told, with a step now and then; tells of each that was answered. */
async function publishForEver(from: number): Promise<void> {
  for (let i = from; ; i++) {
    const event = { id: `event ${i}`, type: 'price-changed', data: { price: i + 1 } }
    const { delivered } = await host.publish(null, session, event)
    say({ i, delivered })
    if (i % 10 === 9) await host.step(null, session, { action: { tool: 'sell', arguments: {} } })
  }
}

/** Sends an order whose answer never comes: the exchange has it, and says so in a file. */
async function orderInVain(file: string): Promise<void> {
  exchange.order = (shares) => {
    appendFileSync(file, `${shares}\n`)
    say('ordered')
    // Something has to keep the process: it waits for nothing else.
    return new Promise<number>(() => setInterval(() => {}, 60_000))
  }
  await host.step(null, session, { action: { tool: 'order', arguments: { shares: 3 } }, seq: 0 })
}

if (part === 'publish') await publishForEver(Number(rest))
else await orderInVain(rest)
