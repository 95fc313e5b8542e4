import { definePolicy } from '@episodic/env'
import type { Action } from '@episodic/protocol'

/** Places an order, and shows what was logged last and every file that may be the cause. */
const LOOK = `curl -s http://web.internal/checkout | tee /tmp/answer
grep -o '/var/log/[a-z]*.log' /tmp/answer | xargs -r tail -n 1
cat /etc/shop/*.conf /etc/shop/keys/* /root/notices.txt
find /srv/releases /var/lib/stock | sort`

/** What was logged last, and the command that removes its cause. */
const REPAIRS: readonly (readonly [RegExp, (found: readonly string[], text: string) => string])[] = [
  [/in release (\S+)/, ([broken]) => set('web', 'release', `$(ls /srv/releases | grep -vx ${broken} | tail -n 1)`)],
  [/(\d+) workers, pool \d+$/m, ([workers]) => set('orders', 'pool', String(2 * Number(workers)))],
  [
    /no route to stock\.internal \((.+)\)/,
    ([old], text) => `sed -i 's/^${old} /${/stock\.internal is at (\S+)/.exec(text)?.[1]} /' /etc/hosts`,
  ],
  [
    /stock\.internal:\d+ refused/,
    () => set('orders', 'stock_url', 'http://stock.internal:$(sed -n "s/^port = //p" /etc/shop/stock.conf)'),
  ],
  [/the key \S+ is not valid/, () => set('orders', 'stock_key', '$(cat /etc/shop/keys/stock.key)')],
  [/cannot read \S+/, () => set('stock', 'data', '$(ls /var/lib/stock/*.csv)')],
  [/orders took (\d+) ms/, ([takes]) => set('web', 'timeout_ms', String(2 * Number(takes)))],
]

/** Reads the last error, removes its cause, and does so again until an order is accepted. */
export const solver = definePolicy({
  name: 'runbook',
  start() {
    let looked = false
    return ({ text }): Action => {
      looked = !looked
      if (looked) return bash(LOOK)
      if (text.includes('"accepted"')) return { tool: 'close_incident', arguments: {} }
      for (const [pattern, repair] of REPAIRS) {
        const [found, ...groups] = pattern.exec(text) ?? []
        if (found !== undefined) return bash(repair(groups, text))
      }
      return { tool: 'close_incident', arguments: {} }
    }
  },
})

/** Restarts everything, and hopes. */
export const stumbling = definePolicy({
  name: 'stumbling',
  start() {
    const actions = [
      bash('for s in web orders stock; do restart $s; done'),
      bash('curl -s http://web.internal/checkout'),
    ]
    return () => actions.shift() ?? { tool: 'close_incident', arguments: {} }
  },
})

function set(service: string, name: string, value: string): string {
  return `sed -i "s|^${name} = .*|${name} = ${value.replaceAll('"', "'")}|" /etc/shop/${service}.conf && restart ${service}`
}

function bash(command: string): Action {
  return { tool: 'bash', arguments: { command } }
}
