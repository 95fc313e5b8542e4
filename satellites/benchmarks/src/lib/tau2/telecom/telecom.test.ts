import { fileURLToPath } from 'node:url'
import { connect } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess, rehearse } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { playGolden } from '../../suite/golden.ts'
import { openTau2 } from '../tau2-world.ts'
import { createTelecom } from './telecom.ts'

// Tasks of our own making in the original's format. What is expected of them was recorded by the original.
const sample = new URL('../../../../sample/tau2/', import.meta.url)
const world = openTau2('telecom', createTelecom, fileURLToPath(sample), new URL('golden.jsonl', sample))
const cases = [...world.golden()]

function begin(task: string) {
  const played = rehearse<EnvironmentDefinition>(world.environment, { params: { task }, seed: '1' })
  const act = (seat: 'agent' | 'user', tool: string, given = {}) => played.play(tool, given, { seat })
  return { ...played, act, say: (seat: 'agent' | 'user', text: string) => act(seat, 'say', { text }), played }
}

describe('openTau2 of the carrier', () => {
  it.each(cases)('plays the golden actions of $task as the original does', async (one) => {
    expect(one.expected).not.toBeNull()
    expect(await playGolden(world, one)).toMatchObject({ differs: [], failure: null, solved: true })
  })

  it('continues from a fork at any step as its parent did', async () => {
    await using host = createHost({ environments: [world.environment] })
    await using connection = await connect(inProcess(host))
    await using game = connection.game(world.environment.name)
    for (const { task, params, calls } of cases) {
      await game.reset({ params, seed: task })
      const steps = []
      for (const { seat = 'agent', tool, arguments: given } of calls)
        steps.push(await game.step(seat, { tool, arguments: given }))
      for (const at of steps.keys()) {
        const [fork] = await game.fork({ at })
        for (const [i, { seat = 'agent', tool, arguments: given }] of calls.entries()) {
          if (i < at) continue
          const { report, ...step } = (await fork?.step(seat, { tool, arguments: given })) ?? {}
          // A fork counts its own commits.
          expect({ ...step, report: { ...report, revision: steps[i]?.report.revision } }).toEqual(steps[i])
        }
        await fork?.close()
      }
    }
  })

  it('solves no task for a user who ends at once, whether its assertions hold or not', () => {
    for (const { task } of cases) expect(begin(task).say('user', '###STOP###').success).toBe(false)
  })

  it('takes words to the other seat, and every other call keeps the turn', () => {
    const { act, say, played } = begin('used-up')
    expect(played.observe('user').text).toBe('What can I do for you?')
    expect(played.observe('agent').text).toBe('You said: What can I do for you?')
    expect(act('user', 'run_speed_test').observation.text).toBe('Speed test failed: No Connection.')
    say('user', 'It is slow.')
    expect(played.observe('agent').text).toBe('It is slow.')
    expect(act('agent', 'get_data_usage', { customer_id: 'C1', line_id: 'L1' }).observation.text).toBe(
      '{"line_id": "L1", "data_used_gb": "2.5", "data_limit_gb": "2.0", "data_refueling_gb": "0.0", "cycle_end_date": "2025-02-28"}',
    )
    expect(act('agent', 'get_details_by_id', { id: 'D1' }).observation.text).toContain(
      '"imei": null, "is_esim_capable": true, "activated": false, "activation_date": "2025-01-20 14:30:00"',
    )
  })

  it('draws the id of a bill where a customer has no draft, and leaves it out of what is compared', () => {
    const refuel = (seed: string) => {
      const played = rehearse<EnvironmentDefinition>(world.environment, { params: { task: 'data-off' }, seed })
      played.play('say', { text: 'Hello.' }, { seat: 'user' })
      played.play('refuel_data', { customer_id: 'C2', line_id: 'L2', gb_amount: 1 }, { seat: 'agent' })
      const bills = played.play('get_bills_for_customer', { customer_id: 'C2' }, { seat: 'agent' })
      return { bills: bills.observation.text, state: world.goldenState(played.state) }
    }
    const [first, second] = [refuel('1'), refuel('2')]
    expect(first.bills).toMatch(/^\[\{"bill_id": "B[\da-f]{8}", .*"total_due": 1\.5,/)
    expect(second.bills).not.toBe(first.bills)
    expect(second.state).toBe(first.state)
  })

  it('answers errors as the original does, and ends after ten', () => {
    const { act, say } = begin('data-off')
    say('user', 'Hello.')
    const wrong = () => act('agent', 'get_customer_by_id', { customer_id: 'C7' })
    for (let i = 1; i < 10; i++)
      expect(wrong()).toMatchObject({ end: null, observation: { text: 'Error: Customer with ID C7 not found' } })
    expect(wrong()).toMatchObject({ end: { kind: 'terminated', reason: 'too-many-errors' }, success: false })
  })

  it('keeps a VPN slow that a task broke, as the original does within a task', () => {
    const { act } = begin('vpn')
    act('user', 'disconnect_vpn')
    act('user', 'connect_vpn')
    expect(act('user', 'check_vpn_status').observation.text).toContain("<PerformanceLevel.POOR: 'poor'>")
    expect(act('user', 'run_speed_test').observation.text).toContain('22.00 Mbps (Fair)')
  })

  it('shows models what the files of the original say', () => {
    const tools = Object.fromEntries(world.environment.toolInfos.map((info) => [info.name, info]))
    expect(tools.refuel_data).toMatchObject({
      description: 'Refuel data, in our own words.',
      inputSchema: { properties: { gb_amount: { description: 'How much.' } } },
    })
    const locked = world.tasks().generate({ index: 3, difficulty: 0, rng: undefined as never })
    expect(locked.prompt).toBe(
      '<instructions>\nYou work for a carrier of our own.\n</instructions>\n<policy>\n<main_policy>\nBe kind.\n\n</main_policy>\n<tech_support_policy>\nLook at the phone first.\n\n</tech_support_policy>\n</policy>',
    )
    expect(locked.seats?.user?.prompt).toBe(
      'You play a customer with a phone.\n\n\n<scenario>\nPersona:\n\n\tYou are old.\nInstructions:\n\tDomain: telecom\n\tReason for call:\n\t\tMy phone does not work.\n\t\tHelp me.\n\tKnown info:\n\t\tYou are Ada First.\n\tTask instructions:\n\t\tBe brief.\n</scenario>',
    )
  })

  it('has tasks by split, in the order of the file', () => {
    const base = world.tasks('base')
    const names = [0, 1, 2].map(
      (index) => base.generate({ index, difficulty: 0, rng: undefined as never }).metadata?.task,
    )
    expect(names).toEqual(['data-off', 'overdue', 'locked'])
    expect([base.count, world.tasks().count]).toEqual([3, 5])
  })
})
