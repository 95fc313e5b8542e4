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
import { type CanaryState, plantCanaries } from '../canaries.ts'
import { type Examined, examined } from '../check-report.ts'
import type { AgentDoor, Conversation } from '../endpoints/agent-endpoint.ts'
import type { Finding } from '../finding.ts'
import {
  callMessage,
  hostileMessages,
  INITIALIZE,
  type Message,
  READ_STATE,
  stillMessages,
  TOOLS_LIST,
} from '../messages.ts'
import { HOOKS, type Stage, stageEnvironment } from '../staged-environment.ts'
import type { Setting, Subject } from '../subject.ts'
import { waywardPolicy } from '../wayward-policy.ts'
import { type Form, findSecrets, formsOf } from './encodings.ts'
import { listeningPlayer } from './listening-player.ts'

/** How many settings are swept, and after how many steps a session is over. */
const SETTINGS = 3
const STEPS = 24

/** What is looked for in everything that an agent receives, by what it is. */
type Secrets = Map<string, readonly Form[]>

/** One agent's session in a sweep. */
interface Swept {
  readonly door: AgentDoor
  readonly subject: Subject
  readonly setting: Setting
  readonly seed: string
  readonly stage: Stage
  readonly privateState: JsonObject
  readonly own: readonly { readonly mark: string; readonly place: string; readonly forms: readonly Form[] }[]
  /** Marks of {@link own} that a tool has revealed: they may be told from then on. */
  readonly revealed: Set<string>
  /** Everything else that is nobody's business: seeds, handles, and the session of another agent. */
  readonly secrets: Secrets
  readonly findings: Finding[]
  readonly counts: { messages: number; bytes: number; readonly kinds: Set<string> }
}

/**
 * Fills the private state with canaries, sends every kind of message through every door, and looks for the canaries,
 * seeds, handles and another agent's session in every byte that comes back, in all the forms of {@link formsOf}. Then
 * lets each part of the world's code fail with an error that tells everything. Only what a tool reveals may be found, and
 * no answer may be withheld.
 */
export async function sweepForCanaries(subject: Subject): Promise<Examined> {
  const findings: Finding[] = []
  const counts = { messages: 0, bytes: 0, kinds: new Set<string>() }
  const settings = subject.settings.slice(0, SETTINGS)
  let marks = 0
  let swept = 0
  for (const [index, setting] of settings.entries()) {
    for (const door of subject.doors) {
      subject.signal?.throwIfAborted()
      subject.onProgress(swept++, settings.length * subject.doors.length)
      const seed = seedFor(subject.seed, 'canaries', index, door.name)
      marks += await sweepDoor({ subject, setting, door, seed, findings, counts })
    }
  }
  const { messages, bytes, kinds } = counts
  const planted = marks > 0 ? `${marks} canaries` : 'no private value that tells itself apart; seeds and handles'
  return examined(
    'canaries',
    `${planted}: ${findings.length === 0 ? 'nothing' : `${findings.length} sightings`} in ${messages} answers (${bytes} bytes) to ${kinds.size} kinds of messages at ${subject.doors.map(({ name }) => name).join(', ')}`,
    { findings, figures: { canaries: marks, messages, bytes, kinds: kinds.size, sightings: findings.length } },
  )
}

async function sweepDoor(
  options: Pick<Swept, 'subject' | 'setting' | 'door' | 'seed' | 'findings' | 'counts'>,
): Promise<number> {
  const { subject, setting, door, seed } = options
  const { environment } = subject.world
  const rng = createRng(seed)
  const [own, others] = [canariesFor(environment, setting, seed, rng), canariesFor(environment, setting, seed, rng)]
  const revealed = new Set<string>()
  const stage: Stage = {
    privateState: others.state,
    failing: null,
    onReveal(value) {
      const text = JSON.stringify(value)
      for (const mark of own.marks.keys()) if (text.includes(mark)) revealed.add(mark)
    },
  }
  await using host = createHost({
    environments: [stageEnvironment(environment, stage)],
    onFault: (fault) => noteWithheld(options, fault),
  })
  await using opened = await door.open(host)
  const open = (name: string) =>
    host.open(null, {
      environment: environment.name,
      params: setting.params,
      seed: seedFor(seed, name),
      limits: { steps: STEPS },
      requestKey: `the session of ${name} ${seed}`,
    })
  const other = await open('another agent')
  stage.privateState = own.state
  const mine = await open('this agent')

  const secrets: Secrets = new Map([
    ['the seed', formsOf(mine.seed)],
    ['the control handle', formsOf(mine.session)],
    ["another agent's seed", formsOf(other.seed)],
    ["another agent's control handle", formsOf(other.session)],
    ["another agent's capability", formsOf(capabilityOf(other))],
    ...(setting.task ? ([['the id of the task', formsOf(setting.task.id)]] as const) : []),
    // What both have is this agent's too.
    ...[...others.marks]
      .filter(([mark]) => !own.marks.has(mark))
      .map(([mark, place]) => [`another agent's ${place}`, formsOf(mark)] as const),
  ])
  const marked = [...own.marks].map(([mark, place]) => ({ mark, place, forms: formsOf(mark) }))
  const swept: Swept = { ...options, privateState: own.state, own: marked, revealed, secrets, stage }
  const theirs = await opened.converse(capabilityOf(other))
  await theirs.say(INITIALIZE.text)
  await playOn(theirs, await playerFor(options, others.state), 3)
  const stolen = { control: other.session, capability: capabilityOf(other) }
  // A plain client gets a world of the defaults, and the canaries are for those of this setting.
  const ways = setting.task === null ? [capabilityOf(mine), null] : [capabilityOf(mine)]
  for (const capability of ways) {
    revealed.clear()
    const conversation = await opened.converse(capability)
    await converse(swept, conversation, stolen)
    await conversation.close()
  }
  await theirs.close()
  return own.marks.size
}

/** Everything that an agent may say, from its first word until after the end. */
async function converse(
  swept: Swept,
  conversation: Conversation,
  stolen: { readonly control: string; readonly capability: string },
): Promise<void> {
  const { stage, subject } = swept
  const [tool] = subject.world.environment.toolInfos
  const act = await playerFor(swept, swept.privateState)
  const watch = (kind: string, answer: string) => note(swept, kind, answer)
  const hostile = hostileMessages(tool?.name ?? '', stolen)
  for (const message of stillMessages(stolen)) await hear(swept, conversation, message)
  const heard = await conversation.listen()
  await playOn(conversation, act, 4, watch)
  for (const failing of HOOKS) {
    stage.failing = failing
    await playOn(conversation, act, 1, watch, `a call where ${failing} fails`)
    stage.failing = null
  }
  for (const message of hostile) await hear(swept, conversation, message)
  // Past the end, whatever the rules say: every answered call counts against the limit.
  await playOn(conversation, act, STEPS, watch)
  for (const message of [TOOLS_LIST, ...hostile.slice(0, 2)])
    await hear(swept, conversation, { ...message, kind: `${message.kind}, after the end` })
  watch('what was subscribed to', await heard())
  for (const [kind, ask] of Object.entries(conversation.oddities)) watch(kind, await ask())
}

/** Plays so many calls and reads the state after each, and looks at what comes back where somebody watches. */
async function playOn(
  conversation: Conversation,
  act: () => Promise<Action>,
  calls: number,
  watch: (kind: string, answer: string) => void = () => {},
  kind = 'a call',
): Promise<void> {
  for (let i = 0; i < calls; i++) {
    watch(kind, await conversation.say(callMessage(kind, await act()).text))
    watch(`${READ_STATE.kind} after ${kind}`, await conversation.say(READ_STATE.text))
  }
}

/** A player who half knows the game, as it goes with the canaries in it. */
function playerFor(
  { subject: { world }, setting, seed }: Pick<Swept, 'subject' | 'setting' | 'seed'>,
  state: JsonObject,
) {
  const policy = waywardPolicy(world.solver ?? null, { random: 0.4, wrong: 0.2 })
  return listeningPlayer(world, setting, policy, { seed: seedFor(seed, 'this agent'), privateState: state })
}

async function hear(swept: Swept, conversation: Conversation, { kind, text }: Message): Promise<void> {
  note(swept, kind, await conversation.say(text))
}

function note(swept: Swept, kind: string, answer: string): void {
  const { own, revealed, secrets, counts, findings, door, setting, subject } = swept
  counts.messages += 1
  counts.bytes += Buffer.byteLength(answer)
  counts.kinds.add(kind)
  const kept = own.filter(({ mark }) => !revealed.has(mark)).map(({ place, forms }) => [place, forms] as const)
  for (const { secret, form, at } of findSecrets(answer, [...secrets, ...kept]))
    findings.push({
      name: `secret-sent:${secret.startsWith('private.') ? secret.slice('private.'.length) : secret}`,
      what: `The answer to ${kind} over ${door.name} holds ${secret} (${form}).`,
      again: `params ${JSON.stringify(setting.params)}, check seed ${subject.seed}: “${answer.slice(Math.max(0, at - 60), at + 60)}”`,
      advice: secret.startsWith('private.')
        ? 'Leave it out of what is said, or mark it with reveal(…) where the player is meant to learn it.'
        : 'A door tells an agent nothing of seeds, handles and other sessions. Look at what stands in front of the host.',
    })
}

/** An answer that a host had to withhold got to nobody, and so it is with whoever plays the world in earnest. */
function noteWithheld(
  { findings, door, setting, subject }: Pick<Swept, 'subject' | 'setting' | 'door' | 'findings'>,
  { cause }: Fault,
): void {
  if (!ServerError.is(cause, 'secret-leaked')) return
  const what = `Over ${door.name}: ${cause.message}`
  // Whoever asks again has it withheld again.
  if (findings.some((earlier) => earlier.what === what)) return
  findings.push({
    name: 'answer-withheld',
    what,
    again: `params ${JSON.stringify(setting.params)}, check seed ${subject.seed}`,
    advice:
      'The player gets no answer, and its episode fails. Let the answer say less, or let `secrets` list no more what has been told.',
  })
}

/** Canaries that the world can be played with, or else its own private state with what of that tells itself apart. */
function canariesFor(environment: EnvironmentDefinition, { params }: Setting, seed: string, rng: Rng): CanaryState {
  const { start } = rehearse(environment, { params, seed })
  return plantCanaries(environment, start.state.private, rng)
}

function capabilityOf({ seats }: OpenResult): string {
  return seats[DEFAULT_SEAT]?.capability as string
}
