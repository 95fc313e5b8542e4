import type { ChildProcess } from 'node:child_process'
import { Readable, Writable } from 'node:stream'
import type * as Acp from '@agentclientprotocol/sdk'
import { PlayerStop } from '@episodic/env'
import { type Json, type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { shorten, toText } from '@episodic/protocol/internal'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { importNeeded } from '@episodic/run/base/import-needed'
import { z } from 'zod'
import { playerEnvironment } from '../player-environment.ts'
import { createAcpRecorder, readText } from './acp-recorder.ts'
import { type Agent, type Assignment, defineAgent } from './agent.ts'
import { runAgentProcess } from './agent-process.ts'
import { inAgentFolder, modelVariables } from './command-agent.ts'

interface KnownAgent {
  readonly command: string
  readonly env?: Readonly<Record<string, string>>
  /** Whether it takes MCP servers over HTTP without saying so. Default: `false`. */
  readonly takesHttp?: boolean
  /** Variables that lead it to its models at an address, where the usual ones do not. The key is `null` for its own. */
  readonly modelsAt?: (url: string, key: string | null) => Readonly<Record<string, string>>
}

function configurationIn(variable: string): JsonObject {
  try {
    return jsonObjectSchema.parse(JSON.parse(process.env[variable] ?? '{}'))
  } catch (cause) {
    throw invalidOption(`The variable ${variable} is no object of JSON.`, { cause })
  }
}

/** Codex reads its address from a configuration alone, to which one of the user's own is added. */
function codexModels(base_url: string): Readonly<Record<string, string>> {
  const provider = { name: 'episodic', base_url, env_key: 'OPENAI_API_KEY', wire_api: 'responses' }
  const own: JsonObject = { ...configurationIn('CODEX_CONFIG'), model_provider: 'episodic' }
  const model_providers = { ...Object(own.model_providers), episodic: provider }
  return { CODEX_CONFIG: JSON.stringify({ ...own, model_providers }), MODEL_PROVIDER: 'episodic' }
}

/** OpenCode has models of its own addresses in a configuration; `episodic/<model>` in that of the user is one there. */
function openCodeModels(baseURL: string): Readonly<Record<string, string>> {
  const own = configurationIn('OPENCODE_CONFIG_CONTENT')
  const [, model] = /^episodic\/(.+)$/.exec(String(own.model)) ?? []
  if (model === undefined) return {}
  const options = { baseURL, apiKey: '{env:OPENAI_API_KEY}' }
  const episodic = { npm: '@ai-sdk/openai-compatible', options, models: { [model]: {} } }
  const config = { small_model: own.model, ...own, provider: { ...Object(own.provider), episodic } }
  return { OPENCODE_CONFIG_CONTENT: JSON.stringify(config) }
}

/** Copilot asks no server of GitHub, and wants no login, if it is led to a model elsewhere. */
function copilotModels(url: string, key: string | null): Readonly<Record<string, string>> {
  return {
    COPILOT_PROVIDER_BASE_URL: url,
    COPILOT_OFFLINE: 'true',
    ...(key !== null && { COPILOT_PROVIDER_API_KEY: key }),
  }
}

/** Kimi Code has a model in variables if they name it. */
function kimiModels(url: string, key: string | null): Readonly<Record<string, string>> {
  if (!process.env.KIMI_MODEL_NAME) return {}
  return {
    KIMI_MODEL_BASE_URL: url,
    KIMI_MODEL_PROVIDER_TYPE: 'openai',
    ...(key !== null && { KIMI_MODEL_API_KEY: key }),
  }
}

/** Vibe has models and providers in variables; the one that is to be active is there then. */
function vibeModels(api_base: string): Readonly<Record<string, string>> {
  const name = process.env.VIBE_ACTIVE_MODEL
  if (!name) return {}
  return {
    VIBE_MODELS: JSON.stringify([{ name, provider: 'episodic', alias: name }]),
    VIBE_PROVIDERS: JSON.stringify([{ name: 'episodic', api_base, api_key_env_var: 'OPENAI_API_KEY' }]),
  }
}

const KNOWN_AGENTS: Readonly<Record<string, KnownAgent>> = {
  'claude-code': {
    command: 'npx --yes @agentclientprotocol/claude-agent-acp',
    // Else its model is not offered the tools of the world at once.
    env: { ENABLE_TOOL_SEARCH: 'false', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  },
  codex: {
    command: 'npx --yes @agentclientprotocol/codex-acp',
    env: { DEFAULT_AUTH_REQUEST: '{"methodId":"api-key"}', NO_BROWSER: '1' },
    modelsAt: codexModels,
  },
  copilot: { command: 'copilot --acp', modelsAt: copilotModels },
  gemini: { command: 'gemini --acp', env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' } },
  goose: { command: 'goose acp' },
  kimi: { command: 'kimi acp', modelsAt: kimiModels },
  opencode: { command: 'opencode acp', modelsAt: openCodeModels },
  qwen: {
    // Else its model has to search for the tools of the world, and is asked before they are there.
    command: 'qwen --acp --exclude-tools tool_search',
    env: { QWEN_CODE_LEGACY_MCP_BLOCKING: '1' },
  },
  vibe: { command: 'vibe-acp', takesHttp: true, modelsAt: vibeModels },
}

/**
 * An agent that speaks the Agent Client Protocol, version 1, started for each episode in an empty folder: one with a
 * known name, such as `claude-code`, or a shell command. It gets the session URL as the MCP server `world`, and the
 * task with the first observation as its prompt. Permissions are granted. What it plans, thinks, says, calls and was
 * allowed is recorded.
 *
 * It stops with `budget-spent` if its model has no tokens or turns left, and with `no-action` if it refuses. Its other
 * failures are `policy-failed`; `option-invalid` if the package of the protocol is not installed.
 *
 * @param name - its name in records.
 * @param secrets - what no variable of its environment may hold.
 */
export function createAcpAgent(name: string, given: string, secrets: readonly string[] = []): Agent {
  if (given.trim() === '')
    throw invalidOption(`acp: needs an agent. Give acp:<command>, or one of ${Object.keys(KNOWN_AGENTS).join(', ')}.`)
  const { command, env = {}, takesHttp = false, modelsAt }: KnownAgent = KNOWN_AGENTS[given] ?? { command: given }
  return defineAgent({
    name,
    async play(assignment) {
      const acp = await importNeeded('acp:', '@agentclientprotocol/sdk@2', () => import('@agentclientprotocol/sdk'))
      await inAgentFolder(async (folder) => {
        assignment.signal.throwIfAborted()
        await runAgentProcess(command, {
          env: {
            ...env,
            ...playerEnvironment(secrets),
            ...modelVariables(assignment),
            ...(assignment.modelUrl !== null && modelsAt?.(assignment.modelUrl, assignment.modelKey)),
          },
          cwd: folder,
          folder,
          signal: assignment.signal,
          talk: (child) =>
            converse(acp, child, { ...assignment, folder, takesHttp }).catch((cause: unknown) => {
              throw cause instanceof acp.RequestError ? refusal(cause) : cause
            }),
        })
      })
    },
  })
}

function refusal(cause: Acp.RequestError): HarnessError {
  const { message, data } = cause
  const details = data === undefined ? '' : ` (${shorten(toText(data as Json), 500)})`
  return new HarnessError('policy-failed', `The agent answered with an error: ${message}${details}`, { cause })
}

const CLIENT = {
  clientInfo: { name: 'episodic', version: '1' },
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
}

async function converse(
  acp: typeof Acp,
  child: ChildProcess,
  assignment: Assignment & { readonly folder: string; readonly takesHttp: boolean },
): Promise<void> {
  const { url, task, observation, say, modelUrl, record, signal, folder, takesHttp } = assignment
  const { agent: methods, client: own } = acp.methods
  // A proxy records more, such as tokens.
  const recorder = modelUrl === null ? createAcpRecorder(record) : null
  /** What the agent has said since its last call. */
  let words = ''
  const input = Writable.toWeb(child.stdin as Writable) as WritableStream<Uint8Array>
  const output = Readable.toWeb(child.stdout as Readable) as ReadableStream<Uint8Array>
  const client = acp
    .client({ name: 'episodic' })
    // Read by our own schema: that of the package rejects kinds that it does not know.
    .onRequest(own.session.requestPermission, parsePermission, ({ params: { options, toolCall } }) => {
      const allowed = signal.aborted ? undefined : chooseOption(options)
      recorder?.permit(toolCall, allowed !== undefined)
      return { outcome: allowed ? { outcome: 'selected', optionId: allowed.optionId } : { outcome: 'cancelled' } }
    })
    .onNotification(own.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === 'tool_call') words = ''
      if (update.sessionUpdate === 'agent_message_chunk') words += readText(update.content)
      recorder?.add(update)
    })
  const stream = acp.ndJsonStream(input, output)
  const watched = { ...stream, writable: watchErrors(stream.writable, (error) => recorder?.refuse(error)) }
  await client.connectWith(watched, async (agent) => {
    const hello = { ...CLIENT, protocolVersion: acp.PROTOCOL_VERSION }
    const begun = await agent.request<Acp.InitializeResponse>(methods.initialize, hello)
    const { agentCapabilities, agentInfo, authMethods = [] } = begun
    if (!takesHttp && !agentCapabilities?.mcpCapabilities?.http)
      throw new HarnessError('policy-failed', 'The agent takes no MCP server over HTTP, and the world is served there.')
    if (agentInfo) recorder?.name(agentInfo.name)
    const mcpServers = [{ type: 'http' as const, name: 'world', url, headers: [] }]
    const session = await agent
      .request<Acp.NewSessionResponse>(methods.session.new, { cwd: folder, mcpServers })
      .catch((cause: unknown) => {
        if ((cause as { code?: unknown }).code !== AUTHENTICATION_REQUIRED) throw cause
        const ways = authMethods.map(({ name }) => name).join(', ')
        const message = `The agent wants a login (${ways}). Log in with the agent itself, or set its key in the environment.`
        throw new HarnessError('policy-failed', message, { cause })
      })
    const { sessionId, configOptions } = session
    // A mode in which the agent judges each call by itself keeps it from the tools of a world.
    if (configOptions?.some(({ id }) => id === 'mode'))
      await agent
        .request(methods.session.setConfigOption, { sessionId, configId: 'mode', value: 'default' })
        .catch(() => {})
    const cancel = () => void agent.notify(methods.session.cancel, { sessionId }).catch(() => {})
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const how = say ? TOOLS_AND_WORDS : TOOLS
      const asked = [task.prompt, ...task.hints, observation.text, how].filter((part) => part !== '').join('\n\n')
      for (let text: string | null = asked; text !== null; ) {
        words = ''
        const prompt: Acp.ContentBlock[] = [{ type: 'text', text }]
        const { stopReason } = await agent.request<Acp.PromptResponse>(methods.session.prompt, { sessionId, prompt })
        recorder?.end(stopReason)
        if (!signal.aborted) throwIfStopped(stopReason)
        text = say && words !== '' && !signal.aborted ? await say(words) : null
      }
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  })
}

const permissionSchema = z.object({
  options: z.array(z.object({ optionId: z.string(), name: z.string().default(''), kind: z.string().default('') })),
  toolCall: z.looseObject({ toolCallId: z.string(), title: z.string().nullish() }),
})
type Permission = z.output<typeof permissionSchema>

function parsePermission(params: unknown): Permission {
  return permissionSchema.parse(params)
}

/**
 * Returns the option that allows a call: by a kind that is known, else by an unknown one. Of several it is one that
 * says in its kind, id or name that it allows, else the first that does not say that it rejects.
 */
function chooseOption(options: Permission['options']): Permission['options'][number] | undefined {
  const known = ['allow_always', 'allow_once'].map((kind) => options.find((option) => option.kind === kind))
  const others = options.filter((option) => !REJECTS.test(wordsOf(option)))
  return known.find(Boolean) ?? others.find((option) => ALLOWS.test(wordsOf(option))) ?? others[0]
}

/** Words of an option, which are joined in ids: `allow_for_session`, `allowAlways`. */
function wordsOf({ kind, optionId, name }: Permission['options'][number]): string {
  return [kind, optionId, name]
    .join(' ')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[_\W]+/g, ' ')
}

const REJECTS =
  /\b(?:reject|deny|denied|den(?:y|ies)|disallow|refuse|decline|cancel|abort|stop|block|forbid|never|no|not|don)(?:ed|s)?\b/i
const ALLOWS = /\b(?:allow|approve|accept|grant|permit|yes|ok|proceed|continue|run)(?:ed|s)?\b/i

/** Returns where messages to an agent are written, and reports each error among them: it may give up for one. */
function watchErrors(
  writable: WritableStream<Acp.AnyMessage>,
  onError: (error: string) => void,
): WritableStream<Acp.AnyMessage> {
  const { writable: watched, readable } = new TransformStream<Acp.AnyMessage, Acp.AnyMessage>({
    transform(message, controller) {
      if ('error' in message && message.error) onError(`${message.error.message} (${message.error.code})`)
      controller.enqueue(message)
    },
  })
  void readable.pipeTo(writable).catch(() => {})
  return watched
}

const TOOLS = 'Act by calling the tools of the MCP server `world`, until you see that it is over.'
const TOOLS_AND_WORDS =
  'Act by calling the tools of the MCP server `world`, and by what you say at the end of your turn, until you see that it is over.'
const AUTHENTICATION_REQUIRED = -32_000

/** An agent that ends its turn has stopped as any other: what it played counts. */
function throwIfStopped(reason: string): void {
  if (reason === 'max_tokens' || reason === 'max_turn_requests')
    throw new PlayerStop('budget-spent', `The agent stopped with ${reason}.`)
  if (reason === 'refusal') throw new PlayerStop('no-action', 'The agent refused to go on.')
}
