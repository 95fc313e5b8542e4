import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { episodeRecordSchema } from './episode-record.ts'
import { matchRecordSchema } from './match-record.ts'

const PAGE = readFileSync(new URL('../../../../../docs/play/training-record.md', import.meta.url), 'utf8')

/** A JSON Schema, as far as fields are found in it. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

/** Returns the paths of all fields: `[]` for the entries of a list, `<seat>` for those of an object by seats. */
function fieldsOf(schema: Schema, path = ''): string[] {
  const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [] } = schema
  const own = Object.entries(properties).flatMap(([name, inner]) => {
    const field = path === '' ? name : `${path}.${name}`
    return [field, ...fieldsOf(inner, field)]
  })
  return [
    ...own,
    ...(items ? fieldsOf(items, `${path}[]`) : []),
    ...(typeof additionalProperties === 'object' ? fieldsOf(additionalProperties, `${path}.<seat>`) : []),
    ...[...anyOf, ...oneOf].flatMap((branch) => fieldsOf(branch, path)),
  ]
}

/**
 * The fields that the entries of a section begin with. `.name` continues the field before it, or one around that.
 */
function documented(sections: string, fields: ReadonlySet<string>): string[] {
  return sections.split('\n').flatMap((line) => {
    let [last, first] = ['', '']
    return [...(line.match(/^- (`[^`]+`(?:, `[^`]+`)*)/)?.[1]?.matchAll(/`([^`]+)`/g) ?? [])].map(([, name = '']) => {
      if (!name.startsWith('.')) first = name
      const around = [last, last.replace(/\.[^.]+$/, ''), first]
      last = name.startsWith('.') ? (around.map((base) => base + name).find((each) => fields.has(each)) ?? name) : name
      return last
    })
  })
}

describe('the page of the training record', () => {
  it('documents each field of a sealed line, and no other', () => {
    const schemas = [episodeRecordSchema, matchRecordSchema].map((schema) => z.toJSONSchema(schema) as Schema)
    // An answer is documented once, for both places where it can be.
    const fields = new Set(
      schemas
        .flatMap((schema) => fieldsOf(schema))
        .map((field) => field.replace(/^(steps\[\]\.completions|undecided)\[\]\./, 'completions[].')),
    )
    const sections = PAGE.slice(PAGE.indexOf('\n## A line\n'), PAGE.indexOf('\n## In exports\n'))
    expect(documented(sections, fields).sort()).toEqual([...fields].sort())
  })
})
