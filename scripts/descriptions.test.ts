import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { environment as flightBooking } from '../examples/flight-booking/src/index.ts'
import { environment as numberGuessing } from '../examples/number-guessing/src/index.ts'
import { environment as warehouse } from '../examples/warehouse/src/index.ts'
import { classics } from '../satellites/classics/src/index.ts'
import { environment as higherOrLower } from './consumer/higher-or-lower.ts'

interface Schema {
  readonly description?: string
  readonly properties?: { readonly [name: string]: Schema }
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

/** Lists the paths of fields that have no description of their own. */
function undescribed(schema: Schema, path: string): string[] {
  const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [] } = schema
  const fields = Object.entries(properties).flatMap(([name, field]) => [
    ...(field.description?.trim() ? [] : [`${path}.${name}`]),
    ...undescribed(field, `${path}.${name}`),
  ])
  const others = [items, additionalProperties, ...anyOf, ...oneOf].filter((other) => typeof other === 'object')
  return [...fields, ...others.flatMap((other) => undescribed(other, path))]
}

describe('the tools of the example worlds', () => {
  const worlds: EnvironmentDefinition[] = [
    higherOrLower,
    numberGuessing,
    warehouse,
    flightBooking,
    ...classics.map(({ environment }) => environment),
  ]
  it.each(worlds.map((world) => [world.name, world] as const))('describe every field in %s', (_, { toolInfos }) => {
    expect(toolInfos.length).toBeGreaterThan(0)
    for (const { name, description, inputSchema, outputSchema } of toolInfos) {
      expect(description).not.toBe('')
      expect(undescribed(inputSchema as Schema, `${name} takes`)).toEqual([])
      expect(undescribed((outputSchema ?? {}) as Schema, `${name} gives`)).toEqual([])
    }
  })
})
