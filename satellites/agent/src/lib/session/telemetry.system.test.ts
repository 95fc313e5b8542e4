import { metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createMcpSessions } from '../../index.ts'
import { notesCommand, serveNotes } from '../fixtures/servers.fixture.ts'

/** Registers a tracer provider for the length of the test, and gives the spans that have ended. */
function registerTracer() {
  const exporter = new InMemorySpanExporter()
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  onTestFinished(() => trace.disable())
  return () => exporter.getFinishedSpans()
}

/** Registers a meter provider for the length of the test, and gives what was counted, by the name of the counter. */
function registerMeter() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const provider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })],
  })
  metrics.setGlobalMeterProvider(provider)
  onTestFinished(async () => {
    metrics.disable()
    await provider.shutdown()
  })
  return async () => {
    await provider.forceFlush()
    const scope = exporter
      .getMetrics()
      .at(-1)
      ?.scopeMetrics.find((each) => each.scope.name === '@episodic/agent')
    return Object.fromEntries(
      (scope?.metrics ?? []).map(({ descriptor, dataPoints }) => [
        descriptor.name,
        dataPoints.map(({ attributes, value }) => ({ ...attributes, value })),
      ]),
    )
  }
}

const CALL = { 'episodic.mcp.server': 'notes', 'mcp.method.name': 'tools/call' }
const quietly = (promise: Promise<unknown>) => promise.catch(() => null)

describe('OpenTelemetry', () => {
  it('receives each opened session and each call, with its failure', async () => {
    const [spans, counted] = [registerTracer(), registerMeter()]
    await using sessions = createMcpSessions({
      mcpServers: { notes: notesCommand(), gone: { command: 'no-such-command' } },
    })
    await quietly(sessions.open('gone'))
    await using session = await sessions.open('notes')
    await session.callTool('count')
    await session.callTool('count')
    await quietly(session.callTool('no-such-tool'))
    const stop = new AbortController()
    const hanging = quietly(session.callTool('hang', {}, { signal: stop.signal }))
    stop.abort(new Error('The user has left.'))
    await hanging
    await session.callTool('write', { line: 7 as never })

    const toolTexts = spans().map(({ name, kind, status, attributes }) => [name, kind, status.code, attributes])
    const { CLIENT } = SpanKind
    const { UNSET, ERROR } = SpanStatusCode
    expect(toolTexts).toEqual([
      ['open gone', CLIENT, ERROR, { 'episodic.mcp.server': 'gone', 'error.type': 'connection-failed' }],
      ['open notes', CLIENT, UNSET, { 'episodic.mcp.server': 'notes' }],
      ['tools/call count', CLIENT, UNSET, { ...CALL, 'gen_ai.tool.name': 'count' }],
      ['tools/call count', CLIENT, UNSET, { ...CALL, 'gen_ai.tool.name': 'count' }],
      ['tools/call', CLIENT, ERROR, { ...CALL, 'error.type': 'tool-unknown' }],
      ['tools/call hang', CLIENT, ERROR, { ...CALL, 'gen_ai.tool.name': 'hang', 'error.type': 'cancelled' }],
      ['tools/call write', CLIENT, ERROR, { ...CALL, 'gen_ai.tool.name': 'write', 'error.type': 'tool_error' }],
    ])
    expect(await counted()).toEqual({
      'episodic.agent.sessions.opened': [
        { 'episodic.mcp.server': 'gone', 'error.type': 'connection-failed', value: 1 },
        { 'episodic.mcp.server': 'notes', value: 1 },
      ],
      'episodic.agent.calls': [
        { ...CALL, 'gen_ai.tool.name': 'count', value: 2 },
        { ...CALL, 'error.type': 'tool-unknown', value: 1 },
        { ...CALL, 'gen_ai.tool.name': 'hang', 'error.type': 'cancelled', value: 1 },
        { ...CALL, 'gen_ai.tool.name': 'write', 'error.type': 'tool_error', value: 1 },
      ],
    })
  })

  it('receives each recovery, with its reason and its failure', async () => {
    const [spans, counted] = [registerTracer(), registerMeter()]
    await using server = await serveNotes()
    await using sessions = createMcpSessions(
      { mcpServers: { notes: { url: server.url } } },
      { recovery: { notes: { restore: async () => {} } }, reconnects: 1 },
    )
    await using session = await sessions.open('notes')
    await session.refresh()
    await server.restart()
    await session.callTool('read')
    await server.kill()
    await quietly(session.callTool('read'))

    const recoveries = spans().filter(({ name }) => name === 'recover notes')
    expect(recoveries.map(({ attributes }) => attributes['episodic.recovery.reason'])[0]).toBe('refresh')
    const { 'episodic.agent.recoveries': counts = [] } = await counted()
    expect(counts).toEqual([
      { 'episodic.mcp.server': 'notes', 'episodic.recovery.reason': 'refresh', value: 1 },
      { 'episodic.mcp.server': 'notes', 'episodic.recovery.reason': expect.stringMatching(/expired|lost/), value: 1 },
      expect.objectContaining({ 'episodic.recovery.reason': 'lost', 'error.type': 'session-lost', value: 1 }),
    ])
    expect(recoveries).toHaveLength(3)
  })

  it('receives no argument, answer or address', async () => {
    const spans = registerTracer()
    await using server = await serveNotes()
    await using sessions = createMcpSessions({ mcpServers: { notes: { url: server.url } } })
    await using session = await sessions.open('notes')
    await quietly(session.callTool('write', { line: 'the password is swordfish' }))
    await quietly(session.callTool('made-up by a model: swordfish'))
    const toolTexts = JSON.stringify(
      spans().map(({ name, attributes, events, status }) => [name, attributes, events, status]),
    )
    expect(spans()).toHaveLength(3)
    expect(toolTexts).not.toMatch(/swordfish|127\.0\.0\.1/)
  })

  it('receives nothing without a provider, and everything from the registration of one', async () => {
    await using sessions = createMcpSessions({ mcpServers: { notes: notesCommand() } })
    await using session = await sessions.open('notes')
    await session.callTool('count')
    const counted = registerMeter()
    await session.callTool('count')
    expect(await counted()).toEqual({
      'episodic.agent.calls': [{ ...CALL, 'gen_ai.tool.name': 'count', value: 1 }],
    })
  })
})
