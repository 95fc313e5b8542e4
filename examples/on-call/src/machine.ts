/** What is read of a disk: by a program of the world, and by its rules. */
export type Read = (path: string) => string | null

export const SERVICES = ['web', 'orders', 'stock'] as const
export type ServiceName = (typeof SERVICES)[number]

/** A line with a name and a value. */
const LINE = /^(\w+) = (\S+)$/

/** The settings that the configuration of each service has to have. */
const SETTINGS: Readonly<Record<ServiceName, readonly string[]>> = {
  web: ['orders_url', 'workers', 'timeout_ms', 'release'],
  orders: ['port', 'stock_url', 'stock_key', 'pool'],
  stock: ['port', 'data'],
}

export const KEY_FILE = '/etc/shop/keys/stock.key'

export function configFile(service: ServiceName): string {
  return `/etc/shop/${service}.conf`
}

/** The configuration with which a service runs: what its file was when it was started. */
export function runningFile(service: ServiceName): string {
  return `/run/${service}.conf`
}

export function logFile(service: ServiceName): string {
  return `/var/log/${service}.log`
}

/**
 * What the machines are really like, which no file of the player says: `address` of the stock service, the
 * milliseconds that an order `takes`, and the release of web that is `broken`.
 */
export const FACTS_FILE = '/run/facts'

/** What the shop answers to an order: `cause` says in its log why it took none. */
export type Checkout =
  | { readonly status: 200 }
  | { readonly status: number; readonly service: ServiceName; readonly cause: string }

/** Returns the settings in a configuration, or what is wrong with it. */
export function settingsIn(text: string | null, service: ServiceName): Readonly<Record<string, string>> | string {
  if (text === null) return 'there is no configuration'
  const lines = text.split('\n')
  const wrong = lines.findIndex((line) => line.trim() !== '' && !line.startsWith('#') && !LINE.test(line))
  if (wrong >= 0) return `line ${wrong + 1} is not understood: ${lines[wrong]}`
  const settings = valuesIn(text)
  const missing = SETTINGS[service].find((name) => settings[name] === undefined)
  return missing === undefined ? settings : `${missing} is missing`
}

function valuesIn(text: string | null): Readonly<Record<string, string>> {
  const lines = (text ?? '').split('\n').map((line) => LINE.exec(line))
  return Object.fromEntries(lines.flatMap((found) => (found ? [[found[1], found[2]]] : [])))
}

/**
 * Takes an order through all services. `file` returns the configuration of each: that with which it runs, or that with
 * which it would run if it were started again.
 */
export function checkout(read: Read, file: (service: ServiceName) => string = runningFile): Checkout {
  const [web, orders, stock] = SERVICES.map((service) => settingsIn(read(file(service)), service))
  const facts = valuesIn(read(FACTS_FILE))
  const failed = (status: number, service: ServiceName, cause: string) => ({ status, service, cause })
  if (typeof web !== 'object') return failed(503, 'web', `web does not run: ${web}`)
  if (typeof orders !== 'object') return failed(503, 'web', `orders does not run: ${orders}`)
  if (typeof stock !== 'object') return failed(503, 'orders', `stock does not run: ${stock}`)
  if (web.release === facts.broken)
    return failed(500, 'web', `TypeError: cart.items is not iterable, in release ${web.release}`)
  if (web.orders_url !== `http://orders.internal:${orders.port}`)
    return failed(502, 'web', `${web.orders_url} refused the connection`)
  if (!(Number(orders.pool) >= 2 * Number(web.workers)))
    return failed(503, 'orders', `no connection is free: ${web.workers} workers, pool ${orders.pool}`)
  const address = addressOf(read('/etc/hosts'), 'stock.internal')
  if (address !== facts.address) return failed(502, 'orders', `no route to stock.internal (${address})`)
  if (orders.stock_url !== `http://stock.internal:${stock.port}`)
    return failed(502, 'orders', `${orders.stock_url} refused the connection`)
  if (orders.stock_key !== read(KEY_FILE)?.trim())
    return failed(502, 'orders', `stock answered 401: the key ${orders.stock_key} is not valid`)
  if (!read(stock.data as string)?.startsWith('item,count')) return failed(500, 'stock', `cannot read ${stock.data}`)
  if (!(Number(web.timeout_ms) >= Number(facts.takes)))
    return failed(504, 'web', `orders took ${facts.takes} ms, longer than timeout_ms ${web.timeout_ms}`)
  return { status: 200 }
}

function addressOf(hosts: string | null, name: string): string {
  const line = hosts?.split('\n').find((each) => each.split(/\s+/).includes(name))
  return line?.split(/\s+/)[0] ?? 'unknown host'
}

/** Returns a line of a log. */
export function logLine(now: number, level: 'info' | 'warn' | 'error', text: string): string {
  return `${new Date(now).toISOString().slice(0, 19)}Z ${level.padEnd(5)} ${text}\n`
}
