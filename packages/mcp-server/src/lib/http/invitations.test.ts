import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it } from 'vitest'
import { kuhn } from '../fixtures/kuhn.fixture.ts'
import { OFFICIAL_CLIENTS, type OfficialClient, type ToolAnswer } from '../fixtures/official-clients.fixture.ts'
import { connectClient, createTestHost, serveTestHost } from '../fixtures/testbed.fixture.ts'
import { throwingHands } from '../fixtures/throwing-hands.fixture.ts'
import type { Host } from '../host/host.ts'

const ENVIRONMENTS = [kuhn, throwingHands]
const textOf = ({ content }: ToolAnswer) => (content as [{ text: string }])[0].text

/** The answer of `create_kuhn_poker` or `join_kuhn_poker`. */
interface Joined {
  readonly kuhn_poker_id: string
  readonly seat: string
  readonly invitations: { readonly [seat: string]: string }
  readonly observation: string
}

/** How a player calls, whichever client it has. */
function player(client: Pick<OfficialClient, 'callTool'>) {
  const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args })
  const entering = async (name: string, args: Record<string, unknown>) =>
    (await call(name, args)).structuredContent as unknown as Joined
  return {
    call,
    create: (args = {}) => entering('create_kuhn_poker', args),
    join: (invitation: string) => entering('join_kuhn_poker', { invitation }),
    act: (id: string, move: string) => call('act', { kuhn_poker_id: id, move }),
    wait: (id: string) => call('wait', { kuhn_poker_id: id }),
  }
}

describe.each(Object.keys(OFFICIAL_CLIENTS) as (keyof typeof OFFICIAL_CLIENTS)[])(
  'two plain clients with %s',
  (name) => {
    const connect = OFFICIAL_CLIENTS[name]

    it('create and join a game by themselves, and play it to its end', async () => {
      const { server } = await serveTestHost({}, { environments: ENVIRONMENTS })
      const client = await connect(server.agentUrl)
      expect(client.getInstructions()).toContain('If you were given an invitation, begin with join_kuhn_poker.')
      expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual([
        'create_kuhn_poker',
        'join_kuhn_poker',
        'act',
        'wait',
        'destroy_kuhn_poker',
      ])
      const [one, two] = [player(client), player(await connect(server.agentUrl))]
      const created = await one.create({ seat: 'second' })
      expect(created).toMatchObject({ seat: 'second', episode_over: false })
      expect(Object.keys(created.invitations)).toEqual(['first'])
      expect(created.observation).toMatch(/^You play the seat second\.\nYou hold [JQK]\. .*\nIt is not your turn yet\./)
      const joined = await two.join(created.invitations.first as string)
      expect(joined).toMatchObject({
        seat: 'first',
        observation: expect.stringMatching(/^You play the seat first\.\n/),
      })
      const waiting = one.wait(created.kuhn_poker_id)
      const bet = two.act(joined.kuhn_poker_id, 'bet')
      expect(textOf(await waiting)).toContain('Moves so far: b.')
      expect((await one.act(created.kuhn_poker_id, 'pass')).structuredContent).toMatchObject({ episode_over: true })
      expect(textOf(await bet)).toContain('Call create_kuhn_poker to play again.')
      const state = `episodic://session/${joined.kuhn_poker_id}/state`
      const read = (await client.readResource({ uri: state })) as { contents: [{ text: string }] }
      expect(JSON.parse(read.contents[0].text)).toMatchObject({ seat: 'first', moves: 'bp' })
    })

    it('are answered what to do instead, for what is no seat, no invitation and no id', async () => {
      const { server } = await serveTestHost({}, { environments: ENVIRONMENTS })
      const one = player(await connect(server.agentUrl))
      const { invitations, kuhn_poker_id: id } = await one.create()
      const invitation = invitations.second as string
      const answers = await Promise.all([
        one.call('create_kuhn_poker', { seat: 'third' }),
        one.call('join_kuhn_poker', {}),
        one.call('join_kuhn_poker', {
          invitation: `${invitation.slice(0, -1)}${invitation.endsWith('A') ? 'B' : 'A'}`,
        }),
        one.call('join_kuhn_poker', { invitation: id }),
        one.act(invitation, 'bet'),
        one.call('fold', { kuhn_poker_id: id }),
      ])
      expect(answers.every(({ isError }) => isError)).toBe(true)
      expect(answers.map(textOf)).toEqual([
        'There is no seat "third". The seats are: first, second.',
        'invitation is missing: join_kuhn_poker needs one that create_kuhn_poker has answered with.',
        expect.stringContaining('This invitation is not valid'),
        expect.stringContaining('This invitation is not valid'),
        expect.stringContaining('There is no kuhn poker with this kuhn_poker_id'),
        expect.stringContaining('The tools are: create_kuhn_poker, join_kuhn_poker, act, wait, destroy_kuhn_poker.'),
      ])
    })
  },
)

describe('an invitation', () => {
  const tokenOf = (name: string) => `the-token-of-the-client-${name}`
  const auth = { agentTokens: Object.fromEntries(['ada', 'ben', 'eve'].map((name) => [tokenOf(name), name])) }
  const openTable = async () => {
    const testbed = await serveTestHost({ auth }, { environments: ENVIRONMENTS })
    const as = async (name: string, url = testbed.server.agentUrl) =>
      player(
        (await connectClient(url, { authorization: `Bearer ${tokenOf(name)}` })).client as unknown as OfficialClient,
      )
    return { ...testbed, as }
  }

  it('is bound to the first principal that uses it, who is answered the same id again', async () => {
    const { as, host } = await openTable()
    const [ada, ben, eve] = await Promise.all([as('ada'), as('ben'), as('eve')])
    const { invitations } = await ada.create()
    const invitation = invitations.second as string
    const joined = await ben.join(invitation)
    expect(await ben.join(invitation)).toEqual(joined)
    const late = await eve.call('join_kuhn_poker', { invitation })
    expect(late).toMatchObject({ isError: true })
    expect(textOf(late)).toBe(
      'The seat second is taken: another client has used this invitation. Ask who created the game for an invitation to another one.',
    )
    await expect(host.players.join('eve', { environment: 'kuhn-poker', invitation })).rejects.toMatchObject({
      code: 'seat-taken',
    })
    // An id is worth nothing to anybody else.
    expect(textOf(await eve.wait(joined.kuhn_poker_id))).toContain('There is no kuhn poker with this kuhn_poker_id')
  })

  it('is used by one of two who come at once, at two servers on one store', async () => {
    const store = createMemoryStore()
    const [one, other] = [1, 2].map(() => createTestHost({ environments: ENVIRONMENTS, store }).host) as [Host, Host]
    const { invitations, seat } = await one.players.create('ada', { environment: 'kuhn-poker' })
    expect(seat).toBe('first')
    const request = { environment: 'kuhn-poker', invitation: invitations.second as string }
    const settled = await Promise.allSettled([one.players.join('ben', request), other.players.join('eve', request)])
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const winner = settled[0].status === 'fulfilled' ? 'ben' : 'eve'
    // Also after a restart, and at whichever server.
    const restarted = createTestHost({ environments: ENVIRONMENTS, store }).host
    expect(await restarted.players.join(winner, request)).toEqual(
      settled.find((result) => result.status === 'fulfilled')?.value,
    )
    await expect(restarted.players.join('mallory', request)).rejects.toMatchObject({ code: 'seat-taken' })
  })

  it('is for a game of one environment, and gone with it', async () => {
    const { host, clock } = createTestHost({ environments: ENVIRONMENTS, bounds: { idleSeconds: 60 } })
    const { invitations } = await host.players.create(null, { environment: 'kuhn-poker' })
    const invitation = invitations.second as string
    const join = (environment: string) => host.players.join(null, { environment, invitation })
    await expect(join('rock-paper-scissors')).rejects.toMatchObject({ code: 'session-not-found' })
    clock.advance(61_000)
    await host.sweep()
    await expect(join('kuhn-poker')).rejects.toMatchObject({ code: 'session-not-found' })
  })

  it('lets nobody end the game but who created it', async () => {
    const { as } = await openTable()
    const [ada, ben] = await Promise.all([as('ada'), as('ben')])
    const { invitations, kuhn_poker_id: own } = await ada.create()
    const { kuhn_poker_id: joined } = await ben.join(invitations.second as string)
    const destroy = (who: typeof ada, id: string) => who.call('destroy_kuhn_poker', { kuhn_poker_id: id })
    expect(textOf(await destroy(ben, joined))).toBe('Only who created this kuhn poker can end it.')
    expect(textOf(await destroy(ada, own))).toBe('The kuhn poker is over.')
    expect((await ben.wait(joined)).structuredContent).toMatchObject({ episode_over: true })
  })

  it('is held as long as the URL of the player says', async () => {
    const { as, server } = await openTable()
    const ada = await as('ada', `${server.agentUrl}?hold=0`)
    const { kuhn_poker_id: id } = await ada.create()
    expect(textOf(await ada.act(id, 'bet'))).toContain('It is not your turn yet.')
  })
})
