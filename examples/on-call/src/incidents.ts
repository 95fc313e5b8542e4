import type { Rng } from '@episodic/protocol'
import { createDisk, type Disk } from '@episodic/workspace'
import { checkout, FACTS_FILE, KEY_FILE, logFile, logLine, runningFile, SERVICES, type ServiceName } from './machine.ts'

type Settings = Record<ServiceName, Record<string, string | number>>

/** A shop as it is, before its files are written. */
interface Shop {
  readonly settings: Settings
  /** The address of the stock service in `/etc/hosts`, and where it is. */
  listed: string
  readonly address: string
  readonly key: string
  readonly takes: number
  readonly goods: string
  /** From old to new. The last one is broken. */
  readonly releases: readonly string[]
}

/** What goes wrong, by its name: each changes one thing of a shop that works. */
const FAULTS = {
  address: (shop, rng) => {
    shop.listed = `10.0.${rng.int(1, 4)}.${rng.int(2, 250)}`
  },
  data: ({ settings }) => {
    settings.stock.data = '/var/lib/stock/goods.csv'
  },
  key: ({ settings }, rng) => {
    settings.orders.stock_key = keyFrom(rng)
  },
  pool: ({ settings }, rng) => {
    settings.orders.pool = rng.int(2, 6)
  },
  port: ({ settings }, rng) => {
    settings.orders.stock_url = `http://stock.internal:${rng.int(9_100, 9_199)}`
  },
  release: ({ settings, releases }) => {
    settings.web.release = releases.at(-1) as string
  },
  timeout: ({ settings, takes }, rng) => {
    settings.web.timeout_ms = takes - rng.int(40, 120)
  },
} satisfies Record<string, (shop: Shop, rng: Rng) => void>

export const KINDS = Object.keys(FAULTS) as (keyof typeof FAULTS)[]

/** The files that the player has to leave as they are. */
export const KEPT = [KEY_FILE, '/var/lib/orders/orders.csv'] as const

const RUNBOOK = `# The shop

web takes orders, and sends them to orders, which asks stock. \`curl http://web.internal/checkout\` places an order for a test.

- Each service reads /etc/shop/<service>.conf when it starts: \`restart web\`. \`services\` shows which run.
- Logs are in /var/log, one for each service. Notices of changes are in /root/notices.txt.
- orders needs a pool of at least twice the workers of web.
- The key of stock changes now and then. The valid one is in ${KEY_FILE}; stock owns that file, so leave it alone.
- Releases of web are in /srv/releases. Go back to an older one if a new one is broken.
- The goods of stock are in /var/lib/stock. /var/lib/orders has the orders of our customers: never change it.
`

/** Draws a shop with so many faults. */
export function drawIncident(rng: Rng, faults: number): { readonly disk: Disk; readonly kinds: typeof KINDS } {
  const kinds = rng.shuffle(KINDS).slice(0, faults).sort()
  const shop = drawShop(rng)
  for (const kind of kinds) FAULTS[kind](shop, rng)
  return { disk: diskOf(shop, rng), kinds }
}

function drawShop(rng: Rng): Shop {
  const [ordersPort, stockPort] = [rng.int(8_000, 8_049), rng.int(8_050, 8_099)]
  const workers = rng.int(4, 12)
  const [key, takes] = [keyFrom(rng), rng.int(180, 400)]
  const goods = `/var/lib/stock/goods-${rng.int(2020, 2024)}.csv`
  const address = `10.0.${rng.int(5, 9)}.${rng.int(2, 250)}`
  const major = rng.int(2, 7)
  const releases = [0, 1, 2].map((minor) => `${major}.${minor}`)
  const settings = {
    web: {
      orders_url: `http://orders.internal:${ordersPort}`,
      workers,
      timeout_ms: takes + rng.int(200, 900),
      release: releases[1] as string,
    },
    orders: {
      port: ordersPort,
      stock_url: `http://stock.internal:${stockPort}`,
      stock_key: key,
      pool: 2 * workers + rng.int(0, 6),
    },
    stock: { port: stockPort, data: goods },
  }
  return { settings, listed: address, address, key, takes, goods, releases }
}

function diskOf({ settings, listed, address, key, takes, goods, releases }: Shop, rng: Rng): Disk {
  const configs = SERVICES.map((service) => [service, configText(settings[service])] as const)
  const facts = { address, takes, broken: releases.at(-1) as string }
  const files: Record<string, string> = {
    '/root/runbook.md': RUNBOOK,
    '/root/notices.txt': `stock.internal is at ${address} from this week on.\nRelease ${releases.at(-1)} of web is out.\n`,
    '/etc/hosts': `127.0.0.1 localhost\n10.0.0.2 web.internal\n10.0.0.3 orders.internal\n${listed} stock.internal\n`,
    [KEY_FILE]: `${key}\n`,
    [goods]: 'item,count\nlamp,14\npen,220\nchair,3\n',
    '/var/lib/orders/orders.csv': `day,item\n2024-12-30,lamp\n2024-12-31,pen\n`,
    [FACTS_FILE]: configText(facts),
    ...Object.fromEntries(releases.map((release) => [`/srv/releases/${release}/NOTES`, `Release ${release}\n`])),
    ...Object.fromEntries(configs.map(([service, text]) => [`/etc/shop/${service}.conf`, text])),
    ...Object.fromEntries(configs.map(([service, text]) => [runningFile(service), text])),
  }
  return createDisk({ ...files, ...logsOf((path) => files[path] ?? null, rng) })
}

/** The logs of the last hour before midnight: what is always in them, and orders that failed in the end. */
function logsOf(read: (path: string) => string | null, rng: Rng): Record<string, string> {
  const failed = checkout(read)
  const midnight = Date.UTC(2025, 0, 1)
  const harmless = ['GET /health 200', 'cache is warm', 'slow query of 90 ms', 'a client went away', 'GET /metrics 200']
  const logs = SERVICES.map((service) => {
    const lines: [number, string][] = Array.from({ length: rng.int(12, 24) }, () => {
      const at = midnight - rng.int(60, 3_600) * 1_000
      return [at, logLine(at, rng.chance(0.2) ? 'warn' : 'info', rng.pick(harmless))]
    })
    if ('cause' in failed && failed.service === service)
      for (let i = 1; i <= 3; i++)
        lines.push([midnight - i * 15_000, logLine(midnight - i * 15_000, 'error', failed.cause)])
    const sorted = lines.sort(([a], [b]) => a - b).map(([, line]) => line)
    return [logFile(service), sorted.join('')]
  })
  return Object.fromEntries(logs)
}

function configText(settings: Readonly<Record<string, string | number>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('')
}

function keyFrom(rng: Rng): string {
  return `key-${rng.int(100_000, 999_999)}`
}
