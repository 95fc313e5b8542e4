import { canonicalJson, contentId, type EpisodeRecord } from '@episodic/protocol'
import { completionsOf } from '@episodic/report/fold/completions'
import { policyVersionsOf } from '@episodic/report/fold/policy-versions'
import { isSuccess, scoredOutcomeOf } from '@episodic/report/fold/scored-outcome'
import { objectOf } from '@episodic/run/base/json'
import { VERSION } from '@episodic/run/base/own-package'
import { usageOf } from '@episodic/run/folder/model-usage'
import { callIdOf, figuresOf } from '../episode/chat.ts'
import { conversationOf, type Message, parseMessage } from '../episode/conversation.ts'
import { toolsOf } from '../episode/messages.ts'
import { returnsOf } from '../episode/rewards.ts'
import { type AnswerActivity, type CallActivity, timelineOf } from '../episode/timeline.ts'
import { type ExportFormat, type ExportSource, escapeSeparators } from '../export-format.ts'
import { type AttributeValue, otlpAttributes, otlpSpan, type Span, type SpanEvent } from './otlp.ts'

/** Characters of spans in a line: receivers accept a few megabytes at once. An episode can have several lines. */
const LINE_CHARACTERS = 1 << 20

/** Characters of the messages that a span has of its request: each request repeats the conversation so far. */
const INPUT_CHARACTERS = 1 << 16

/**
 * Traces by the semantic conventions for generative AI (in development, as of 2026-11), in the JSON lines of OTLP that
 * the file exporter of OpenTelemetry writes: a trace for each episode with a span `invoke_agent`, and within it a span
 * `chat` for each answer of a language model, and a span `execute_tool` for each step. The ids are hashes of what names
 * the episode: exporting a run again gives the same spans.
 */
export const otel: ExportFormat = {
  description: 'OpenTelemetry traces (OTLP/JSON lines): agent, model, tools',
  keepsFailed: true,
  async *write(source) {
    for await (const record of source.allEpisodes()) {
      let spans: string[] = []
      let length = 0
      for (const span of listSpans(record, source)) {
        const text = JSON.stringify(otlpSpan(span))
        if (length > 0 && length + text.length > LINE_CHARACTERS) {
          yield lineOf(record, spans)
          spans = []
          length = 0
        }
        spans.push(text)
        length += text.length
      }
      yield lineOf(record, spans)
    }
  },
}

function lineOf({ run, environment }: EpisodeRecord, spans: readonly string[]): string {
  const resource = otlpAttributes({
    'service.name': 'episodic',
    'episodic.run': run,
    'episodic.environment': environment.name,
    'episodic.environment.version': environment.version,
  })
  const scope = JSON.stringify({ name: '@episodic/harness', version: VERSION })
  const scopeSpans = `[{"scope":${scope},"spans":[${spans.join(',')}]}]`
  return `{"resourceSpans":[{"resource":${JSON.stringify({ attributes: resource })},"scopeSpans":${escapeSeparators(scopeSpans)}}]}\n`
}

function* listSpans(record: EpisodeRecord, source: ExportSource): Generator<Span> {
  const { run, task, attempt } = record
  // Runs of other days can have the same name.
  const traceId = contentId(canonicalJson([run, source.run?.createdAt ?? null, task.id, attempt, record.try])).slice(
    0,
    32,
  )
  const idOf = (number: number) => contentId(`${traceId}/${number}`).slice(0, 16)
  const { started, ended, activities } = timelineOf(record, source)
  const descriptions = new Map(toolsOf(record, source)?.map(({ name, description }) => [name, description]))
  yield { traceId, spanId: idOf(0), kind: 'internal', from: started, to: ended, ...agentSpan(record, ended, source) }
  for (const [i, activity] of activities.entries()) {
    const place = { traceId, spanId: idOf(i + 1), parentSpanId: idOf(0), from: activity.from, to: activity.to }
    if (activity.kind === 'answer') yield { ...place, kind: 'client', ...chatSpan(record, activity) }
    else yield { ...place, kind: 'internal', ...toolSpan(record, activity, descriptions) }
  }
}

type Described = Pick<Span, 'name' | 'attributes' | 'events' | 'error'>

function agentSpan(record: EpisodeRecord, ended: number, { verdicts = [] }: ExportSource): Described {
  const { task, attempt, policy, steps, chain, seal } = record
  const outcome = scoredOutcomeOf(record)
  const finished = outcome.kind === 'finished'
  const completions = completionsOf(record)
  const usage = usageOf(completions)
  const { prompt, completion } = conversationOf(record, 'sent')
  const last = completion.findLast(({ role }) => role === 'assistant')
  const figures = Object.entries(finished ? figuresOf(record) : {}).map(([name, value]) => [`episodic.${name}`, value])
  return {
    name: `invoke_agent ${policy.name}`,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': usage ? PROVIDER : 'episodic',
      'gen_ai.agent.name': policy.name,
      'gen_ai.request.model': completions[0]?.asked,
      'gen_ai.conversation.id': chain,
      'gen_ai.usage.input_tokens': known(usage?.promptTokens),
      'gen_ai.usage.output_tokens': known(usage?.completionTokens),
      'gen_ai.input.messages': JSON.stringify(prompt.map(messageOf)),
      'gen_ai.output.messages': last && JSON.stringify([messageOf(last)]),
      'error.type': finished ? null : outcome.error.code,
      'episodic.task': task.id,
      'episodic.attempt': BigInt(attempt),
      'episodic.try': BigInt(record.try),
      'episodic.split': task.split,
      'episodic.difficulty': task.difficulty,
      'episodic.tags': task.tags,
      'episodic.outcome': outcome.kind,
      'episodic.end': finished ? outcome.end.kind : null,
      'episodic.reason': finished ? outcome.end.reason : null,
      'episodic.success': finished ? isSuccess(record) : null,
      'episodic.return': finished ? returnsOf(record)?.unshaped : null,
      'episodic.return_total': finished ? returnsOf(record)?.total : null,
      ...Object.fromEntries(figures),
      ...Object.fromEntries(verdicts.map((one) => [`episodic.grade.${one.name}`, one.of(record)])),
      'episodic.steps': BigInt(steps.length),
      'episodic.cost': usage?.cost,
      'episodic.episode': chain,
      'episodic.seal': seal,
      'episodic.policy_version': policyVersionsOf(record)?.oldest,
    },
    events: finished ? evaluationsOf(record, ended) : undefined,
    error: finished ? undefined : outcome.error.message,
  }
}

function evaluationsOf(record: EpisodeRecord, at: number): SpanEvent[] {
  const success = isSuccess(record)
  const returns = returnsOf(record)
  const resultOf = (attributes: Readonly<Record<string, AttributeValue>>) => ({
    at,
    name: 'gen_ai.evaluation.result',
    attributes,
  })
  return [
    resultOf({
      'gen_ai.evaluation.name': 'success',
      'gen_ai.evaluation.score.value': success ? 1 : 0,
      'gen_ai.evaluation.score.label': success ? 'pass' : 'fail',
    }),
    ...(returns
      ? [resultOf({ 'gen_ai.evaluation.name': 'return', 'gen_ai.evaluation.score.value': returns.unshaped })]
      : []),
  ]
}

/** The API that was spoken, which is what the conventions ask for where nobody knows who runs the model. */
const PROVIDER = 'openai'

function chatSpan({ chain, policy }: EpisodeRecord, { completion, request }: AnswerActivity): Described {
  const { model, asked = model, responseId, finish, text, reasoning, calls = [], tries, cost } = completion
  const { policyVersion = policy.version } = completion
  const input = request && withinBounds(request.messages.map(parseMessage).map(messageOf))
  const answer: Message = { role: 'assistant', content: text ?? '', reasoning, calls }
  const output = { ...messageOf(answer), ...(finish !== undefined && { finish_reason: finish }) }
  const integer = (value: number | undefined) => (value === undefined ? null : BigInt(value))
  const tools = request?.tools.map((tool) => getToolName(tool)).map((name) => ({ type: 'function', name }))
  return {
    name: `chat ${asked}`,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': PROVIDER,
      'gen_ai.request.model': asked,
      'gen_ai.response.model': model,
      'gen_ai.response.id': responseId,
      'gen_ai.response.finish_reasons': finish === undefined ? null : [finish],
      'gen_ai.conversation.id': chain,
      'gen_ai.usage.input_tokens': BigInt(completion.promptTokens),
      'gen_ai.usage.output_tokens': BigInt(completion.completionTokens),
      'gen_ai.usage.cache_read.input_tokens': integer(completion.cachedTokens),
      'gen_ai.usage.reasoning.output_tokens': integer(completion.reasoningTokens),
      'gen_ai.input.messages': input && JSON.stringify(input.messages),
      'gen_ai.output.messages': JSON.stringify([output]),
      'gen_ai.tool.definitions': tools && JSON.stringify(tools),
      'episodic.input_messages_left_out': input && input.leftOut > 0 ? BigInt(input.leftOut) : null,
      'episodic.failed_tries': tries ? BigInt(tries.length) : null,
      'episodic.cost': cost,
      'episodic.policy_version': policyVersion,
    },
  }
}

function getToolName(tool: AnswerToolDefinition): string {
  const declared = tool.function
  return typeof declared === 'object' && declared !== null && 'name' in declared ? String(declared.name) : ''
}

type AnswerToolDefinition = NonNullable<AnswerActivity['request']>['tools'][number]

function toolSpan(
  record: EpisodeRecord,
  { index, step, callId }: CallActivity,
  descriptions: ReadonlyMap<string, string>,
): Described {
  const { action, observation, refused, reward, potential } = step
  const finished = scoredOutcomeOf(record).kind === 'finished'
  const terms = Object.entries(reward.terms).map(([term, value]) => [`episodic.term.${term}`, value])
  return {
    name: `execute_tool ${action.tool}`,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': action.tool,
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.description': descriptions.get(action.tool),
      'gen_ai.tool.call.id': callId ?? callIdOf(record.chain, index + 1),
      'gen_ai.tool.call.arguments': JSON.stringify(action.arguments),
      'gen_ai.tool.call.result': observation.text,
      'error.type': refused,
      'episodic.step': BigInt(index + 1),
      // What a part of a failed episode earned would read as a score.
      ...(finished && {
        'episodic.reward': reward.total - reward.shaping,
        'episodic.shaping': reward.shaping,
        'episodic.potential': potential,
        ...Object.fromEntries(terms),
      }),
    },
    error: refused === null ? undefined : observation.text,
  }
}

function messageOf({ role, content, reasoning, calls = [], callId }: Message): object {
  if (role === 'tool') return { role, parts: [{ type: 'tool_call_response', id: callId, response: content }] }
  const text = content === '' && (calls.length > 0 || reasoning !== undefined) ? [] : [{ type: 'text', content }]
  return {
    role,
    parts: [
      ...(reasoning === undefined ? [] : [{ type: 'reasoning', content: reasoning }]),
      ...text,
      ...calls.map(({ id, name, arguments: args }) => ({
        type: 'tool_call',
        id,
        name,
        arguments: objectOf(args) ?? args,
      })),
    ],
  }
}

/** The last messages of a request that fit into a span, at least one, and how many are left out. */
function withinBounds(messages: readonly object[]): { readonly messages: readonly object[]; readonly leftOut: number } {
  let room = INPUT_CHARACTERS
  let from = messages.length
  while (from > 0) {
    room -= JSON.stringify(messages[from - 1]).length
    if (room < 0 && from < messages.length) break
    from -= 1
  }
  return { messages: messages.slice(from), leftOut: from }
}

function known(count: number | null | undefined): bigint | null {
  return count === null || count === undefined ? null : BigInt(count)
}
