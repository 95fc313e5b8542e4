import type { WireErrorCode } from '@episodic/protocol'
import {
  type Context,
  context,
  createTraceState,
  isSpanContextValid,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { Message } from './message.ts'

export interface TraceHeaders {
  readonly [header: string]: string | readonly string[] | undefined
}

/**
 * Runs `answer` in an OpenTelemetry span. It belongs to the trace that the call names in W3C's `traceparent`: in its
 * `_meta`, as MCP specifies, or else in its headers. It contains nothing of a session, a state or a reward.
 */
export async function traceCall<R extends { readonly refusal: WireErrorCode | null }>(
  tracer: Tracer,
  call: Message,
  headers: TraceHeaders | undefined,
  answer: () => Promise<R>,
): Promise<R> {
  const parent = parentOf(call, headers)
  const span = tracer.startSpan(toSpanName(call), { kind: SpanKind.SERVER, attributes: attributesOf(call) }, parent)
  try {
    const reply = await context.with(trace.setSpan(parent, span), answer)
    if (reply.refusal !== null) span.setAttribute('error.type', reply.refusal).setStatus({ code: SpanStatusCode.ERROR })
    return reply
  } finally {
    span.end()
  }
}

function toSpanName({ params: { name } }: Message): string {
  return typeof name === 'string' ? `tools/call ${name.slice(0, LONGEST_NAME)}` : 'tools/call'
}

/** Characters of a caller's text in a span, so that callers cannot inflate a trace. */
const LONGEST_NAME = 64

function attributesOf({ id, params: { name } }: Message) {
  return {
    'mcp.method.name': 'tools/call',
    ...(typeof name === 'string' && { 'gen_ai.tool.name': name.slice(0, LONGEST_NAME) }),
    ...((typeof id === 'string' || typeof id === 'number') && {
      'jsonrpc.request.id': String(id).slice(0, LONGEST_NAME),
    }),
  }
}

function parentOf({ meta }: Message, headers: TraceHeaders = {}): Context {
  const active = context.active()
  const named = typeof meta?.traceparent === 'string' ? meta : null
  // If the server itself is traced, its span has read the headers.
  if (!named && trace.getSpanContext(active)) return active
  const { traceparent, tracestate } = named ?? headers
  const [, traceId, spanId, flags] = TRACEPARENT.exec(String(traceparent)) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return active
  const remote = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(typeof tracestate === 'string' && tracestate.length <= 512 && { traceState: createTraceState(tracestate) }),
  }
  return isSpanContextValid(remote) ? trace.setSpanContext(active, remote) : active
}

/** Version 00 of W3C's trace context; a later one may have more behind it. */
const TRACEPARENT = /^(?:00(?=.{53}$)|(?!00|ff)[\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-.*)?$/
