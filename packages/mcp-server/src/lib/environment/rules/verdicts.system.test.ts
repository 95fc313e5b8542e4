import { META, METHODS } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { atControl } from '../../fixtures/addressed.fixture.ts'
import { ledger } from '../../fixtures/ledger.fixture.ts'
import {
  asking,
  call,
  controlHeaders,
  createTestHost,
  openOverHttp,
  rpc,
  serve,
} from '../../fixtures/testbed.fixture.ts'
import { vaultRaid } from '../../fixtures/vault-raid.fixture.ts'
import { defineEnvironment } from '../definition/define-environment.ts'
import { defineGame } from '../definition/define-game.ts'
import { rehearse } from '../rehearse/rehearse.ts'

describe('verdicts, as a world defines them', () => {
  it('are at the trainer endpoint alone, as success is, and not where a world defines none', async () => {
    const { host } = createTestHost({ environments: [vaultRaid, ledger] })
    const server = await serve(host)
    const ours = await openOverHttp(server, { environment: 'vault-raid' })
    const _meta = { [META.session]: ours.session, [META.epoch]: ours.epoch, [META.seq]: 0 }
    const stop = { name: 'stop', arguments: {} }
    const trainer = await rpc(server.trainerUrl, 'tools/call', { ...stop, _meta }, controlHeaders(server))
    const verdicts = { security: true, polite: true }
    expect(trainer.json.result).toMatchObject({ _meta: { [META.step]: { success: false, verdicts } } })
    const opened = await openOverHttp(server, { environment: 'vault-raid' })
    const agent = `${server.agentUrl}/s/${opened.seats.agent?.capability}`
    const answers = [
      await rpc(agent, 'tools/list'),
      await rpc(agent, 'resources/list'),
      await rpc(agent, 'tools/call', stop),
      await rpc(agent, 'tools/call', stop),
      await rpc(agent, METHODS.close, { session: opened.session }),
    ]
    for (const { headers, text } of answers)
      expect(`${JSON.stringify(headers)} ${text}`).not.toMatch(/verdict|security|polite"|succe/i)

    const { session } = await host.open(null, asking({ environment: 'ledger' }))
    const { step } = await atControl(host, session).step(call('stop', {}, 0))
    expect(step.report).not.toHaveProperty('verdicts')
    expect(host.environments.find(({ name }) => name === 'ledger')).not.toHaveProperty('verdicts')
  })

  it('are by seat in a game, for each seat when its episode ends', () => {
    const duel = (polite: (seat: string) => boolean) =>
      defineGame({
        name: 'duel',
        version: '1.0.0',
        description: 'Bow, or leave.',
        seats: ['north', 'south'],
        state: { public: z.object({ turns: z.int() }), own: z.object({}), private: z.object({}) },
        start: () => ({ public: { turns: 0 }, own: { north: {}, south: {} }, private: {} }),
        turn: ({ turns }) => (turns % 2 === 0 ? 'north' : 'south'),
        observe: () => '',
        tools: ({ tool }) => ({
          bow: tool({
            description: 'Bows.',
            input: z.object({}),
            play({ state, say, seat, leave, end }) {
              state.public.turns += 1
              if (state.public.turns === 1) leave(seat, 'bowed')
              if (state.public.turns === 2) end('over')
              return say('You bow.')
            },
          }),
        }),
        rewards: { none: () => 0 },
        verdicts: { polite: ({ seat }) => polite(seat), early: ({ end }) => end.reason === 'bowed' },
      })
    const world = rehearse(duel((seat) => seat === 'north'))
    const first = world.play('bow', {}, { seat: 'north' })
    expect(first).toMatchObject({ verdicts: { polite: true, early: true } })
    expect(first.seats).toMatchObject({ verdicts: { north: { polite: true, early: true } } })
    expect(world.play('bow', {}, { seat: 'south' }).seats?.verdicts).toEqual({ south: { polite: false, early: false } })
  })

  it('have to be booleans of functions with plain names', () => {
    const broken = (verdicts: object) => () => defineJudged(verdicts)
    expect(broken({ secure: true })).toThrow('its verdict "secure" is of type boolean, and has to be a function')
    for (const name of ['a b', 'success', ''])
      expect(broken({ [name]: () => true })).toThrow(`its verdict "${name}" needs another name`)
    const world = rehearse(defineJudged({ vague: () => 'perhaps' }))
    expect(() => world.evaluate({ kind: 'truncated', reason: 'closed' })).toThrow(
      'Verdict "vague" of empty returned "perhaps", and has to return true or false.',
    )
    expect(rehearse(ledger).evaluate({ kind: 'truncated', reason: 'closed' })).toEqual({ success: true })
  })
})

const defineJudged = (verdicts: object) =>
  defineEnvironment({
    name: 'empty',
    version: '1.0.0',
    description: 'Nothing.',
    state: { public: z.object({}), private: z.object({}) },
    start: () => ({ public: {}, private: {} }),
    observe: () => '',
    tools: ({ tool }) => ({
      wave: tool({ description: 'Waves.', input: z.object({}), play: ({ say }) => say('You wave.') }),
    }),
    rewards: { none: () => 0 },
    verdicts: verdicts as never,
  })
