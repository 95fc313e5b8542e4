import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connect } from '../connect.fixture.ts'
import { CUSTOMER, openShopApi, type ShopApi } from './shop-api.ts'

const MINUTE = 60_000

/** Long enough that only a hang exceeds it. */
const WITHIN = { timeout: 120_000 }

describe('the shop server', () => {
  let time: number
  let api: ShopApi
  beforeEach(async () => {
    time = 0
    api = await openShopApi(() => time)
  })
  afterEach(() => api[Symbol.asyncDispose]())
  const open = (password = CUSTOMER.password) =>
    connect('./shop/shop-server.ts', [], { SHOP_URL: api.url, SHOP_USER: CUSTOMER.user, SHOP_PASSWORD: password })

  it('logs in once for a session, and fills one basket', async () => {
    await using session = await open()
    await session.ask('add_to_basket', { item: 'tea' })
    expect(await session.ask('add_to_basket', { item: 'cup' })).toEqual({ basket: ['tea', 'cup'] })
    expect(await session.ask('check_out')).toEqual({ order: 1, items: ['tea', 'cup'] })
    expect(await session.fail('check_out')).toBe('The shop says: The basket is empty.')
    expect(api.refused).toBe(0)
  })

  it('shares one log-in among concurrent calls', async () => {
    await using session = await open()
    const items = ['tea', 'cup', 'spoon', 'milk']
    await Promise.all(items.map((item) => session.ask('add_to_basket', { item })))
    const { basket } = await session.ask('show_basket')
    expect((basket as string[]).sort()).toEqual(items.sort())
  })

  it('has one basket for each session, and passes the rejection of too many log-ins on', async () => {
    await using first = await open()
    await using second = await open()
    await using third = await open()
    await first.ask('add_to_basket', { item: 'tea' })
    expect(await second.ask('show_basket')).toEqual({ basket: [] })
    expect(await third.fail('show_basket')).toBe('The shop says: Too many log-ins: 2 in 60 s. Try again in 60 s.')
    time += MINUTE
    expect(await third.ask('show_basket')).toEqual({ basket: [] })
  })

  it('waits when the shop answers 429, and then continues', async () => {
    await using session = await open()
    for (let i = 0; i < 5; i += 1) await session.ask('add_to_basket', { item: `item ${i}` })
    const sixth = session.ask('check_out')
    await expect.poll(() => api.refused, WITHIN).toBe(1)
    time += 1_000
    expect(((await sixth).items as string[]).length).toBe(5)
  })

  it('reports the lost basket when the token has expired, and logs in again', async () => {
    await using session = await open()
    await session.ask('add_to_basket', { item: 'tea' })
    time += 15 * MINUTE
    expect(await session.fail('check_out')).toMatch(/basket is gone/)
    expect(await session.ask('show_basket')).toEqual({ basket: [] })
  })

  it('reports a wrong password, without showing it', async () => {
    await using session = await open('difference engine')
    expect(await session.fail('show_basket')).toBe('The shop says: Wrong user or password.')
  })
})
