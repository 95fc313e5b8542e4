import { DEFAULT_SEAT } from '@episodic/protocol'
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MODERN_META, modernHeaders } from '../fixtures/official-clients.fixture.ts'
import { openOverHttp, rpc, serveTestHost } from '../fixtures/testbed.fixture.ts'
import { openWebSocket } from '../fixtures/web-socket.fixture.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const TRACEPARENT = `00-${TRACE}-${SPAN}-01`

/** Registers a tracer provider for the test; returns a function that returns the spans ended since its last call. */
function registerTracer() {
  const exporter = new InMemorySpanExporter()
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  onTestFinished(() => trace.disable())
  return () => {
    const spans = exporter.getFinishedSpans()
    exporter.reset()
    return spans
  }
}

async function openTraced() {
  const { server } = await serveTestHost({ limits: { rate: { calls: 100_000, seconds: 1 } } })
  const { seats, session } = await openOverHttp(server)
  const capability = seats[DEFAULT_SEAT]?.capability as string
  const url = server.sessionUrl(capability)
  const guess = (_meta: object = {}, headers = {}, params: object = {}) =>
    rpc(url, 'tools/call', { name: 'guess', arguments: { value: 3 }, ...params, _meta }, headers)
  return { url, guess, capability, session }
}

describe('a call of a tool', () => {
  it('is a span of the trace that it names, in either protocol version and over a socket', async () => {
    const spans = registerTracer()
    const { guess, url } = await openTraced()
    const named = { traceparent: TRACEPARENT, tracestate: 'vendor=1' }
    await guess(named)
    await guess({ ...MODERN_META, ...named }, modernHeaders('tools/call', 'guess'))
    const socket = await openWebSocket(url)
    await socket.ask('tools/call', { name: 'guess', arguments: { value: 3 }, _meta: named })
    const ended = spans()
    expect(ended).toHaveLength(3)
    for (const span of ended) {
      expect(span).toMatchObject({ name: 'tools/call guess', kind: SpanKind.SERVER })
      expect(span.attributes).toMatchObject({ 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': 'guess' })
      expect(span.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: SPAN, isRemote: true })
      expect(span.spanContext().traceState?.get('vendor')).toBe('1')
    }
  })

  it('is a span of the trace in the headers if the call itself names none', async () => {
    const spans = registerTracer()
    const { guess } = await openTraced()
    const other = TRACE.replaceAll('a', 'f')
    await guess({}, { traceparent: TRACEPARENT })
    await guess({ traceparent: TRACEPARENT }, { traceparent: `00-${other}-${SPAN}-01` })
    await guess({}, {})
    const [first, second, third] = spans()
    expect(first?.parentSpanContext?.traceId).toBe(TRACE)
    expect(second?.parentSpanContext?.traceId).toBe(TRACE)
    expect(third?.parentSpanContext).toBeUndefined()
  })

  it('is an error span with only the code if it is refused', async () => {
    const spans = registerTracer()
    const { guess } = await openTraced()
    await guess({}, {}, { arguments: 5 })
    expect(spans()).toMatchObject([
      { status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': 'invalid-params' } },
    ])
  })

  it('contains nothing about its session, and is not broken by a malformed trace context', async () => {
    const spans = registerTracer()
    const { guess, capability, session } = await openTraced()
    const anyParent = fc.oneof(
      fc.json().map((text) => JSON.parse(text)),
      fc.constantFrom(
        TRACEPARENT.replace('00-', 'ff-'),
        TRACEPARENT.replace('00-', '0-'),
        `${TRACEPARENT}-more`,
        `00-${'0'.repeat(32)}-${SPAN}-01`,
        TRACEPARENT.toUpperCase(),
      ),
    )
    await fc.assert(
      fc.asyncProperty(anyParent, fc.string({ maxLength: 600 }), async (traceparent, tracestate) => {
        const { status, json } = await guess({ traceparent, tracestate })
        expect([status, json.id]).toEqual([200, 1])
        const [span] = spans()
        expect(span?.parentSpanContext).toBeUndefined()
        const said = JSON.stringify([span?.name, span?.attributes, span?.events])
        expect(said).not.toContain(capability)
        expect(said).not.toContain(session)
      }),
      { seed: 1, numRuns: 100 },
    )
  })

  it('takes a later version of the format by what it has in common with this one', async () => {
    const spans = registerTracer()
    const { guess } = await openTraced()
    await guess({ traceparent: `${TRACEPARENT.replace('00-', '01-')}-more` })
    expect(spans()[0]?.parentSpanContext?.traceId).toBe(TRACE)
  })

  it('is not a span if no provider is registered', async () => {
    const { guess } = await openTraced()
    expect((await guess({ traceparent: TRACEPARENT })).status).toBe(200)
    expect(registerTracer()()).toEqual([])
  })
})
