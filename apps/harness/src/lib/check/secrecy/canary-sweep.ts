import { createHost, type EnvironmentDefinition, type Fault, rehearse, ServerError } from '@episodic/mcp-server'
import {
  type Action,
  createRng,
  DEFAULT_SEAT,
  type JsonObject,
  type OpenResult,
  type Rng,
  seedFor,
} from '@episodic/protocol'
import type { CheckContext, Setting } from '../check-context.ts'
import { type CheckOutcome, checkOutcome } from '../check-report.ts'
import type { AgentEndpoint, EndpointSession } from '../endpoints/agent-endpoint.ts'
import type { Finding } from '../finding.ts'
import { noisyPolicy } from '../noisy-policy.ts'
import { isKept } from '../private-pairs.ts'
import { rehearsedActions } from '../rehearsed-episode.ts'
import { type CanaryState, plantCanaries } from './canaries.ts'
import { type Form, findSecrets, formsOf } from './encodings.ts'
import { HOOKS, type Instrumentation, instrumentEnvironment } from './instrumented-environment.ts'
import {
  callMessage,
  hostileMessages,
  INITIALIZE,
  type Message,
  passiveMessages,
  READ_STATE,
  TOOLS_LIST,
} from './messages.ts'

/** How many settings are swept, and the step limit of a session. */
const SETTINGS = 3
const STEPS = 24

/** The secrets that no agent may receive, by description. */
type Secrets = Map<string, readonly Form[]>

/** The sweep of one agent's session. */
interface Swept {
  readonly endpoint: AgentEndpoint
  readonly context: CheckContext
  readonly setting: Setting
  readonly seed: string
  readonly instrumentation: Instrumentation
  readonly privateState: JsonObject
  readonly own: readonly { readonly mark: string; readonly place: string; readonly forms: readonly Form[] }[]
  /** Marks of {@link own} that a tool has revealed: answers may contain them from then on. */
  readonly revealed: Set<string>
  /** Everything else: seeds, handles, and another agent's session. */
  readonly secrets: Secrets
  readonly findings: Finding[]
  readonly counts: { messages: number; bytes: number; readonly kinds: Set<string> }
}

/**
 * Fills the private state with canaries, sends every kind of message to every endpoint, and searches every byte of the
 * answers for the canaries, seeds, handles and another agent's session, in all the forms of {@link formsOf}. Also makes
 * each function of the world throw an error that contains everything. Answers may only contain what a tool reveals, and
 * no answer may be withheld.
 */
export async function sweepForCanaries(context: CheckContext): Promise<CheckOutcome> {
  const findings: Finding[] = []
  const counts = { messages: 0, bytes: 0, kinds: new Set<string>() }
  const settings = context.settings.slice(0, SETTINGS)
  let marks = 0
  let swept = 0
  for (const [index, setting] of settings.entries()) {
    for (const endpoint of context.endpoints) {
      context.signal?.throwIfAborted()
      context.onProgress(swept++, settings.length * context.endpoints.length)
      const seed = seedFor(context.seed, 'canaries', index, endpoint.name)
      marks += await sweepEndpoint({ context, setting, endpoint, seed, findings, counts })
    }
  }
  const { messages, bytes, kinds } = counts
  const planted = marks > 0 ? `${marks} canaries` : 'no recognizable private value; seeds and handles'
  return checkOutcome(
    'canaries',
    `${planted}: ${findings.length === 0 ? 'nothing' : `${findings.length} found`} in ${messages} answers (${bytes} bytes) to ${kinds.size} kinds of messages at ${context.endpoints.map(({ name }) => name).join(', ')}`,
    { findings, figures: { canaries: marks, messages, bytes, kinds: kinds.size, found: findings.length } },
  )
}

async function sweepEndpoint(
  options: Pick<Swept, 'context' | 'setting' | 'endpoint' | 'seed' | 'findings' | 'counts'>,
): Promise<number> {
  const { context, setting, endpoint, seed } = options
  const { environment } = context.world
  const rng = createRng(seed)
  const [own, others] = [canariesFor(environment, setting, seed, rng), canariesFor(environment, setting, seed, rng)]
  const revealed = new Set<string>()
  const instrumentation: Instrumentation = {
    privateState: others.state,
    deal: null,
    failing: null,
    onReveal(value) {
      const text = JSON.stringify(value)
      for (const mark of own.marks.keys()) if (text.includes(mark)) revealed.add(mark)
    },
  }
  await using host = createHost({
    environments: [instrumentEnvironment(environment, instrumentation)],
    onFault: (fault) => noteWithheld(options, fault),
  })
  await using opened = await endpoint.open(host)
  const open = (name: string) =>
    host.open(null, {
      environment: environment.name,
      params: setting.params,
      seed: seedFor(seed, name),
      limits: { steps: STEPS },
      requestKey: `the session of ${name} ${seed}`,
    })
  const other = await open('another agent')
  instrumentation.privateState = own.state
  const mine = await open('this agent')

  const secrets: Secrets = new Map([
    ['the seed', formsOf(mine.seed)],
    ['the control handle', formsOf(mine.session)],
    ["another agent's seed", formsOf(other.seed)],
    ["another agent's control handle", formsOf(other.session)],
    ["another agent's capability", formsOf(capabilityOf(other))],
    ...(setting.task ? ([['the id of the task', formsOf(setting.task.id)]] as const) : []),
    // A value that both sessions have is not another agent's secret.
    ...[...others.marks]
      .filter(([mark]) => !own.marks.has(mark))
      .map(([mark, place]) => [`another agent's ${place}`, formsOf(mark)] as const),
  ])
  const marked = [...own.marks].map(([mark, place]) => ({ mark, place, forms: formsOf(mark) }))
  const swept: Swept = { ...options, privateState: own.state, own: marked, revealed, secrets, instrumentation }
  const theirs = await opened.openSession(capabilityOf(other))
  await theirs.send(INITIALIZE.text)
  await playCalls(theirs, await actionsFor(options, others.state), 3)
  const stolen = { control: other.session, capability: capabilityOf(other) }
  // A plain client gets a session with the default parameters, so it is only swept for those.
  const capabilities = setting.task === null ? [capabilityOf(mine), null] : [capabilityOf(mine)]
  for (const capability of capabilities) {
    revealed.clear()
    const session = await opened.openSession(capability)
    await sweepSession(swept, session, stolen)
    await session.close()
  }
  await theirs.close()
  return own.marks.size
}

/** Sends everything that an agent may send, from the first message until after the end of the episode. */
async function sweepSession(
  swept: Swept,
  session: EndpointSession,
  stolen: { readonly control: string; readonly capability: string },
): Promise<void> {
  const { instrumentation, context } = swept
  const [tool] = context.world.environment.toolInfos
  const nextAction = await actionsFor(swept, swept.privateState)
  const inspect = (kind: string, answer: string) => inspectAnswer(swept, kind, answer)
  const hostile = hostileMessages(tool?.name ?? '', stolen)
  for (const message of passiveMessages(stolen)) await exchange(swept, session, message)
  const stopCollecting = await session.collectNotifications()
  await playCalls(session, nextAction, 4, inspect)
  for (const failing of HOOKS) {
    instrumentation.failing = failing
    await playCalls(session, nextAction, 1, inspect, `a call in which ${failing} throws`)
    instrumentation.failing = null
  }
  for (const message of hostile) await exchange(swept, session, message)
  // Every answered call counts against the step limit, so this goes past the end.
  await playCalls(session, nextAction, STEPS, inspect)
  for (const message of [TOOLS_LIST, ...hostile.slice(0, 2)])
    await exchange(swept, session, { ...message, kind: `${message.kind}, after the end` })
  inspect('the subscription', await stopCollecting())
  for (const [kind, ask] of Object.entries(session.unusualRequests)) inspect(kind, await ask())
}

/** Plays calls and reads the state after each. */
async function playCalls(
  session: EndpointSession,
  nextAction: () => Promise<Action>,
  calls: number,
  inspect: (kind: string, answer: string) => void = () => {},
  kind = 'a call',
): Promise<void> {
  for (let i = 0; i < calls; i++) {
    inspect(kind, await session.send(callMessage(kind, await nextAction()).text))
    inspect(`${READ_STATE.kind} after ${kind}`, await session.send(READ_STATE.text))
  }
}

/** Actions of a noisy solver in an episode with canaries. */
function actionsFor(
  { context: { world }, setting, seed }: Pick<Swept, 'context' | 'setting' | 'seed'>,
  state: JsonObject,
) {
  const policy = noisyPolicy(world.solver ?? null, { random: 0.4, invalid: 0.2 })
  return rehearsedActions(world, setting, policy, { seed: seedFor(seed, 'this agent'), privateState: state })
}

async function exchange(swept: Swept, session: EndpointSession, { kind, text }: Message): Promise<void> {
  inspectAnswer(swept, kind, await session.send(text))
}

function inspectAnswer(swept: Swept, kind: string, answer: string): void {
  const { own, revealed, secrets, counts, findings, endpoint, setting, context } = swept
  counts.messages += 1
  counts.bytes += Buffer.byteLength(answer)
  counts.kinds.add(kind)
  const kept = own.filter(({ mark }) => !revealed.has(mark)).map(({ place, forms }) => [place, forms] as const)
  for (const { secret, form, at } of findSecrets(answer, [...secrets, ...kept]))
    findings.push({
      name: `secret-sent:${secret.startsWith('private.') ? secret.slice('private.'.length) : secret}`,
      what: `The answer to ${kind} over ${endpoint.name} contains ${secret} (${form}).`,
      again: `params ${JSON.stringify(setting.params)}, check seed ${context.seed}: “${answer.slice(Math.max(0, at - 60), at + 60)}”`,
      advice: secret.startsWith('private.')
        ? 'Leave it out of the answer, or mark it with reveal(…) if the player is meant to learn it.'
        : 'An agent endpoint never returns seeds, handles or other sessions. Check the code between the endpoint and the host.',
    })
}

/** A withheld answer is lost to real players too. */
function noteWithheld(
  { findings, endpoint, setting, context }: Pick<Swept, 'context' | 'setting' | 'endpoint' | 'findings'>,
  { cause }: Fault,
): void {
  if (!ServerError.is(cause, 'secret-leaked')) return
  const what = `Over ${endpoint.name}: ${cause.message}`
  // A retry is withheld again.
  if (findings.some((earlier) => earlier.what === what)) return
  findings.push({
    name: 'answer-withheld',
    what,
    again: `params ${JSON.stringify(setting.params)}, check seed ${context.seed}`,
    advice:
      'The player gets no answer, and its episode fails. Leave the secret out of the answer, or out of `secrets` once it is revealed.',
  })
}

/** The private state of a seed, with canaries wherever the schema accepts them. */
function canariesFor(environment: EnvironmentDefinition, { params }: Setting, seed: string, rng: Rng): CanaryState {
  const { start } = rehearse(environment, { params, seed })
  return plantCanaries('private', start.state.private, (planted) => isKept(environment, planted), rng)
}

function capabilityOf({ seats }: OpenResult): string {
  return seats[DEFAULT_SEAT]?.capability as string
}
