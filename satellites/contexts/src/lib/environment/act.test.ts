import { connect } from '@episodic/env'
import { createHost, inProcess, rehearse } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { booking, travel } from '../fixtures/travel.fixture.ts'
import { conversationEnvironment } from './conversation-environment.ts'

const described = {
  version: '1.0.0',
  description: 'Book a flight.',
  params: z.object({}),
  goal: { schema: z.object({}), draw: () => ({}), describe: () => 'Book a flight.', reached: () => false },
}
const asUser = conversationEnvironment(travel, described)

const act = (args: object) => rehearse(asUser, { params: {} }).play('act', args as never)

describe('the tool act', () => {
  it('names every slot in its schema, with its meaning and the intents that take it', async () => {
    await using host = createHost({ environments: [asUser] })
    await using connection = await connect(inProcess(host))
    await using environment = connection.environment()
    const { tools } = environment.info
    const schema = tools.find(({ name }) => name === 'act')?.inputSchema as never as {
      type: string
      properties: { intent: { description: string }; slots: { [key: string]: never } }
    }
    expect(schema.type).toBe('object')
    expect(schema.properties.intent.description).toContain('ask-weather: hear about the weather')
    expect(schema.properties.slots).toMatchObject({
      type: 'object',
      additionalProperties: false,
      properties: {
        from: { type: 'string', description: expect.stringMatching(/^book-flight, set-route/) },
        city: { type: 'string', description: 'ask-weather' },
        context: { type: 'string', description: 'switch' },
      },
    })
  })

  it('refuses an unknown slot, and lists the known ones', () => {
    const step = act({ intent: 'book-flight', slots: { origin: 'Lahore' } })
    expect(step.refused).toBe('arguments')
    expect(step.observation.text).toMatch(/There is no slot "origin"\. .*book-flight.*: from, to.*ask-weather: city/)
  })
})

describe('an act', () => {
  it('with a slot that its intent does not have is refused from any source', () => {
    const { record } = travel.start()
    const input = { kind: 'act', intent: 'book-flight', slots: { origin: 'Lahore' }, now: 0 } as const
    expect(travel.handleInput(record, input).refused).toMatchObject({
      code: 'slots-invalid',
      message: 'book-flight has no slot "origin". What it takes: from, to.',
    })
    expect(booking.find(record)).toBeNull()
  })
})
