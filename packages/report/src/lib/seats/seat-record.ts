import {
  contentId,
  type EpisodeRecord,
  isMatchRecord,
  type MatchRecord,
  type RecordedSeatStep,
  type RecordedStep,
  type Reward,
  type SealedRecord,
  SeatViews,
} from '@episodic/protocol'
import { judgementOf, stopReasonOf } from '@episodic/protocol/internal'

/**
 * Returns a line of a run as the episode of one seat: its own steps, each with what the seat saw and earned until its
 * next one. So all figures of episodes hold for a seat. An episode of one seat is returned as it is.
 *
 * @param seat - default: the first; the only one of an environment of one seat.
 */
export function seatRecordOf(record: SealedRecord, seat?: string): EpisodeRecord {
  return isMatchRecord(record) ? toSeatRecord(record, seat ?? Object.keys(record.seats)[0] ?? '') : record
}

/**
 * Returns a line as the episodes of its seats, by their names. With `seat`, only of that one; nothing if it did not
 * play. The seats of a task are different tasks for a learner, so their ids and hashes are different too.
 */
export function seatRecordsOf(
  record: SealedRecord,
  seat?: string,
): (readonly [seat: string, episode: EpisodeRecord])[] {
  if (!isMatchRecord(record)) return [['', record]]
  const names = Object.keys(record.seats).filter((name) => seat === undefined || name === seat)
  return names.map((name) => {
    const episode = toSeatRecord(record, name)
    const { task, chain } = episode
    return [name, { ...episode, task: { ...task, id: `${task.id}/${name}` }, chain: contentId(`${chain}/${name}`) }]
  })
}

export function hasStarted(record: SealedRecord): boolean {
  return isMatchRecord(record) ? Object.values(record.seats).some(({ start }) => start) : record.start !== null
}

function toSeatRecord(record: MatchRecord, seat: string): EpisodeRecord {
  const { turn: _, seats, steps, outcome, undecided, ...line } = record
  const {
    policy,
    prompt = record.task.prompt,
    start = null,
    end = null,
    stopped,
    returns = null,
    transcript,
    ...judged
  } = seats[seat] ?? NOT_PLAYED
  return {
    ...line,
    task: { ...line.task, prompt },
    policy,
    branch: null,
    start: start && { observation: viewsOf(record).seen(seat).observation, potential: start.potential },
    steps: ownSteps(record, seat),
    outcome:
      outcome.kind === 'failed' || end === null
        ? { kind: 'failed', error: outcome.kind === 'failed' ? errorOf(outcome) : NOT_SEATED }
        : { kind: 'finished', end, ...judgementOf(judged), ...(stopped && { stopped }) },
    ...(undecided && (outcome.kind === 'failed' ? outcome.seat === seat : stopReasonOf(end)) && { undecided }),
    ...(transcript && { transcript }),
    returns,
  }
}

const NOT_PLAYED: Partial<MatchRecord['seats'][string]> & Pick<EpisodeRecord, 'policy'> = {
  policy: { name: '', seed: '' },
}
const NOT_SEATED = { code: 'not-seated', message: 'The seat did not take part in this episode.' }

function errorOf({ error, seat }: MatchRecord['outcome'] & { kind: 'failed' }) {
  return seat === null ? error : { ...error, message: `Seat ${seat}: ${error.message}` }
}

export function viewsOf({ turn, seats }: MatchRecord): SeatViews {
  const starts = Object.entries(seats).flatMap(([name, { start }]) => (start ? [[name, start] as const] : []))
  return new SeatViews({ turn, seats: Object.fromEntries(starts) }, [])
}

/** Returns a step as `SeatViews` take it in, by its number in the match. */
export function learnedFrom({ seat, observation, seats, events }: RecordedSeatStep, revision: number) {
  return { seat, observation, report: { terms: {}, revision, seats, events } }
}

function ownSteps(record: MatchRecord, seat: string): RecordedStep[] {
  if (!record.seats[seat]?.start) return []
  const views = viewsOf(record)
  const own: RecordedStep[] = []
  let early = NOTHING
  const see = () => {
    const { observation } = views.seen(seat)
    const last = own.pop()
    if (last) own.push({ ...last, observation })
  }
  record.steps.forEach((step, i) => {
    const reward = step.rewards[seat] ?? NOTHING
    const last = own.at(-1)
    if (step.seat === seat) {
      see()
      own.push({ ...withoutSeats(step), reward: last ? reward : sumOf(early, reward) })
    } else if (last) own.splice(-1, 1, { ...last, reward: sumOf(last.reward, reward) })
    else early = sumOf(early, reward)
    views.apply(learnedFrom(step, i + 1))
  })
  see()
  return own
}

const NOTHING: Reward = { total: 0, terms: {}, shaping: 0 }

function withoutSeats({ seat: _, rewards: __, seats: ___, ...step }: RecordedSeatStep): Omit<RecordedStep, 'reward'> {
  return step
}

function sumOf(one: Reward, other: Reward): Reward {
  const terms = { ...one.terms }
  for (const [name, value] of Object.entries(other.terms)) terms[name] = (terms[name] ?? 0) + value
  return { total: one.total + other.total, terms, shaping: one.shaping + other.shaping }
}
