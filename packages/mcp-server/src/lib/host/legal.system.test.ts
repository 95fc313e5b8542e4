import { METHODS } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { atControl } from '../fixtures/addressed.fixture.ts'
import { board } from '../fixtures/board.fixture.ts'
import { asking, call, controlHeaders, createTestHost, openOverHttp, rpc, serve } from '../fixtures/testbed.fixture.ts'

const onBoard = (params = {}) => asking({ environment: 'board', params })

const createBoardHost = () => createTestHost({ environments: [board] })

/** The arguments of `bet`, of at most so much. */
const stakes = (most: number) =>
  expect.objectContaining({ properties: { stake: { type: 'integer', minimum: 1, maximum: most } } })

describe('environment/legal', () => {
  it('returns what the rules accept in the present state', async () => {
    const { host } = createBoardHost()
    const { session } = await host.open(null, onBoard())
    expect(host.environments[0]).toMatchObject({ legal: true })
    const cells = (...numbers: number[]) => ({ enum: numbers.map((cell) => ({ cell })) })
    expect(await atControl(host, session).legal()).toEqual({ place: cells(0, 1, 2, 3), bet: stakes(4) })
    await atControl(host, session).step(call('place', { cell: 2 }))
    const resign = host.environments[0]?.tools.find(({ name }) => name === 'resign')?.inputSchema
    expect(await atControl(host, session).legal()).toEqual({ place: cells(0, 1, 3), bet: stakes(3), resign })
    await atControl(host, session).step(call('resign', { why: 'bored' }))
    expect(await atControl(host, session).legal()).toEqual({})
  })

  it('fails if the world names a tool that does not exist', async () => {
    const { host, faults } = createBoardHost()
    const { session } = await host.open(null, onBoard({ wrong: true }))
    await expect(atControl(host, session).legal()).rejects.toMatchObject({ code: 'environment-failed' })
    expect(JSON.stringify(faults.map(({ cause }) => String(cause)))).toContain('names a tool')
  })

  it('returns every tool and its whole input schema for a world without legal actions of its own, which does not advertise any', async () => {
    const { host } = createTestHost()
    const { session } = await host.open(null, asking())
    const [info] = host.environments
    expect(info).not.toHaveProperty('legal')
    expect(await atControl(host, session).legal()).toEqual({ guess: info?.tools[0]?.inputSchema })
  })

  it('is answered at the trainer endpoint, and not to agents', async () => {
    const { host } = createBoardHost()
    const server = await serve(host)
    const opened = await openOverHttp(server, { environment: 'board' })
    const { session } = opened
    const trainer = await rpc(server.trainerUrl, METHODS.legal, { session }, controlHeaders(server))
    expect(trainer.json.result).toMatchObject({ tools: { bet: stakes(4) } })
    const agent = await rpc(`${server.agentUrl}/s/${opened.seats.agent?.capability}`, METHODS.legal, { session })
    expect(agent.json.error).toMatchObject({ code: -32601 })
  })
})
