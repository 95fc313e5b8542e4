/**
 * The value of an attribute: a `bigint` is an integer, and a `number` a double. Attributes that are `null` are left
 * out.
 */
export type AttributeValue = string | boolean | bigint | number | readonly string[] | null | undefined

/** A span, with times in milliseconds since 1970. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string | undefined
  readonly name: string
  readonly kind: keyof typeof KINDS
  readonly from: number
  readonly to: number
  readonly attributes: Readonly<Record<string, AttributeValue>>
  readonly events?: readonly SpanEvent[] | undefined
  /** Why the operation failed; left out if it did not. */
  readonly error?: string | undefined
}

export interface SpanEvent {
  readonly at: number
  readonly name: string
  readonly attributes: Readonly<Record<string, AttributeValue>>
}

const KINDS = { internal: 1, client: 3 } as const
const ERROR = 2

/** A span in OTLP/JSON: ids in hexadecimal, enumerations as numbers, and integers of 64 bits as text. */
export function otlpSpan(span: Span): object {
  const { traceId, spanId, parentSpanId, name, kind, from, to, attributes, events, error } = span
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanosecondsOf(from),
    endTimeUnixNano: nanosecondsOf(to),
    attributes: otlpAttributes(attributes),
    ...(events && {
      events: events.map((event) => ({
        timeUnixNano: nanosecondsOf(event.at),
        name: event.name,
        attributes: otlpAttributes(event.attributes),
      })),
    }),
    status: error === undefined ? {} : { code: ERROR, message: error },
  }
}

export function otlpAttributes(attributes: Readonly<Record<string, AttributeValue>>): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: otlpValue(value) }],
  )
}

function otlpValue(value: NonNullable<AttributeValue>): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'bigint') return { intValue: String(value) }
  if (typeof value === 'number') return { doubleValue: value }
  return { arrayValue: { values: value.map(otlpValue) } }
}

/** A number has no room for nanoseconds since 1970, so microseconds are exact and the rest is zeros. */
function nanosecondsOf(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds * 1_000)) * 1_000n)
}
