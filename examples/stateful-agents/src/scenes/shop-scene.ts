import { call } from '../agents/script.ts'
import { CUSTOMER, openShopApi } from '../shop/shop-api.ts'
import { bothWays } from './both-ways.ts'
import { ownServer } from './own-server.ts'

/** An API with a log-in, a token and rate limits: a log-in for each call soon exceeds them. */
export const shopScene = bothWays({
  name: 'shop',
  title: 'an API with a log-in, a token and rate limits',
  expected: {
    call: /^The shop says: Too many log-ins: 2 in 60 s\. Try again in \d+ s\.$/,
    agent: /^ordered tea, cup$/,
  },
  async open() {
    const api = await openShopApi()
    return {
      server: ownServer(import.meta.resolve('../shop/shop-server.ts'), [], {
        SHOP_URL: api.url,
        SHOP_USER: CUSTOMER.user,
        SHOP_PASSWORD: CUSTOMER.password,
      }),
      prompt: 'Put tea into the basket, then a cup (the item is named cup), and then check out.',
      *script() {
        yield* call('add_to_basket', { item: 'tea' })
        yield* call('add_to_basket', { item: 'cup' })
        return yield* call('check_out')
      },
      outcome(answers) {
        const last = answers.at(-1)
        const { items } = (last?.structured ?? {}) as { items?: string[] }
        return items ? `ordered ${items.join(', ')}` : (last?.text ?? 'nothing')
      },
      [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
    }
  },
})
