import { z } from 'zod'
import type { Described, FunctionDocument } from './data.ts'

/** Types of JSON Schema for those of the documents that have another name. */
const TYPES: Readonly<Record<string, string>> = { float: 'number', dict: 'object' }

/**
 * Returns the input of a function. It is shown as the original shows it to models, and takes any arguments, since the
 * original answers wrong ones too.
 */
export function inputSchemaOf({ properties, required }: FunctionDocument['parameters']) {
  return z
    .looseObject({})
    .meta({ properties: propertiesOf(properties), required: [...required], additionalProperties: false })
}

function propertiesOf(properties: Readonly<Record<string, Described>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).map(([name, described]) => [name, toJsonSchema(described)]))
}

function toJsonSchema({ type, properties, items, ...rest }: Described): Record<string, unknown> {
  return {
    type: TYPES[type] ?? type,
    ...rest,
    ...(type === 'float' && { format: 'float', description: `${rest.description ?? ''} This is a float type value.` }),
    ...(properties && { properties: propertiesOf(properties) }),
    ...(items && { items: { ...items, type: TYPES[items.type] ?? items.type } }),
  }
}
