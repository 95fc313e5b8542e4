import { z } from 'zod'
import type { DocumentedFunction } from '../python/docstrings.ts'

/** What a model of the original reads of a tool. */
export function descriptionOf(documented: DocumentedFunction | undefined): string {
  return [documented?.short, documented?.long].filter(Boolean).join('\n\n')
}

/**
 * Returns an input with what the original says of its arguments, and of the fields of objects in lists by the class
 * that their type names: `flights: List[FlightInfo | dict]`.
 */
export function described(
  { shape }: z.ZodObject,
  documented: DocumentedFunction | undefined,
  fieldsOf: (model: string) => { readonly [field: string]: string },
): z.ZodObject {
  const own: Record<string, z.ZodType> = { ...(shape as Shape) }
  for (const { name, type } of documented?.parameters ?? []) {
    const [, model] = /^List\[(\w+) \|/.exec(type ?? '') ?? []
    const list = own[name]
    if (model && list instanceof z.ZodArray && list.element instanceof z.ZodObject)
      own[name] = z.array(z.object(withTexts(list.element.shape, fieldsOf(model))))
  }
  return z.strictObject(withTexts(own, documented?.args ?? {}))
}

type Shape = { readonly [name: string]: z.ZodType }

function withTexts(shape: Shape, texts: { readonly [name: string]: string }): Shape {
  const entries = Object.entries(shape).map(([name, schema]) => {
    return [name, texts[name] ? schema.describe(texts[name]) : schema] as const
  })
  return Object.fromEntries(entries)
}
