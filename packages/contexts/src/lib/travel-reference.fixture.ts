import type { Command, ConversationInput } from './conversation-input.ts'

// What the contexts of the travel fixture come to, worked out one context at a time and by hand: no stack machine, no
// handlers, no schemas. Each frame is a plain object that its own inputs change.

interface Plain {
  readonly id: number
  readonly context: string
  state: string
  data: Record<string, unknown>
  hidden: Record<string, number> | null
}

interface Taken {
  readonly refused: string | null
  readonly duplicate: boolean
}

type Slots = Readonly<Record<string, unknown>>

export interface Reference {
  take(input: ConversationInput): Taken
  data(): unknown
}

export function createReference(): Reference {
  const shared = { public: { city: null as unknown }, private: { seats: 3 } }
  const seen = new Set<string>()
  let open: Plain[] = []
  let closed: (Plain & { how: string })[] = []
  let next = 1

  /** Settles where a booking stands when nothing is asked of it. */
  const standBooking = (frame: Plain): void => {
    frame.state = frame.data.from !== null && frame.data.to !== null ? 'confirming' : 'collecting'
  }
  const close = (frame: Plain, how: string): void => {
    open = open.filter((other) => other !== frame)
    closed = [...closed, { ...frame, how }].slice(-16)
  }
  const begin = (context: string): Plain | null => {
    if (open.length === 8) return null
    const starts: Record<string, Omit<Plain, 'id' | 'context'>> = {
      booking: {
        state: 'collecting',
        data: { from: null, to: null, passengers: 1, price: 100 },
        hidden: { offers: 0 },
      },
      weather: { state: 'asking', data: { city: null, day: 0 }, hidden: null },
      support: { state: 'open', data: { topic: null }, hidden: null },
    }
    const frame = { id: next, context, ...(starts[context] as Omit<Plain, 'id' | 'context'>) }
    next += 1
    open.push(frame)
    return frame
  }
  const answerWeather = (frame: Plain): void => {
    if (frame.data.city === null) return
    frame.state = 'answered'
    close(frame, 'finished')
  }

  /** Changes a frame by an intent. Says whether it takes it. */
  const change = (frame: Plain, intent: string, slots: Slots): boolean => {
    const { data } = frame
    switch (`${frame.context} ${intent}`) {
      case 'booking set-route':
        Object.assign(data, slots)
        if (slots.to !== undefined) shared.public.city = slots.to
        standBooking(frame)
        return true
      case 'booking set-passengers':
        if (Number(slots.count) <= 9) data.passengers = slots.count
        return true
      case 'booking pay':
        if (frame.state !== 'confirming' || shared.private.seats === 0) return false
        shared.private.seats -= 1
        frame.state = 'paid'
        close(frame, 'finished')
        return true
      case 'weather ask-weather':
        data.city = slots.city ?? null
        answerWeather(frame)
        return true
      case 'support close-case':
        frame.state = 'closed'
        close(frame, 'finished')
        return true
      default:
        return false
    }
  }

  const openers: Record<string, string> = {
    'book-flight': 'booking',
    'ask-weather': 'weather',
    'next-day': 'weather',
    'ask-refund': 'support',
  }
  const openBy = (intent: string, slots: Slots): string | null => {
    const previous = closed.findLast(({ context }) => context === 'weather')
    const frame = begin(openers[intent] as string)
    if (!frame) return 'too-deep'
    if (intent === 'book-flight') {
      Object.assign(frame.data, slots)
      standBooking(frame)
    } else if (frame.context === 'weather') {
      frame.data =
        intent === 'ask-weather'
          ? { city: slots.city ?? null, day: 0 }
          : { city: previous?.data.city ?? null, day: Number(previous?.data.day ?? 0) + 1 }
      answerWeather(frame)
    }
    return null
  }

  const raise = (frame: Plain): void => {
    open = [...open.filter((other) => other !== frame), frame]
  }
  const command = (name: Command['name'], context = ''): string | null => {
    const active = open.at(-1)
    const below = open.at(-2)
    if (name === 'cancel') {
      if (!active) return 'nothing-open'
      close(active, 'cancelled')
    } else if (name === 'back') {
      if (!below) return 'nothing-open'
      raise(below)
    } else {
      const frame = name === 'switch' ? open.findLast((other) => other.context === context) : undefined
      if (frame) raise(frame)
      else if (!begin(context)) return 'too-deep'
    }
    return null
  }

  /** Takes an intent. `unheard` says what it comes to where nobody takes it. */
  const intend = (intent: string, slots: Slots, unheard: (why: string) => string | null): string | null => {
    if (intent === 'fly-home') return unheard('unknown-intent')
    if (intent === 'cancel' || intent === 'back') {
      const refused = command(intent)
      return refused && unheard(refused)
    }
    // Every intent of the fixture is known to one context, so the nearest frame that takes it is the one.
    for (const frame of open.toReversed()) {
      const wasThere = open.includes(frame)
      if (!change(frame, intent, slots)) continue
      if (wasThere && open.includes(frame)) raise(frame)
      return null
    }
    return intent in openers ? openBy(intent, slots) : unheard('illegal-transition')
  }

  const happen = ({ type, data, to }: Extract<ConversationInput, { kind: 'event' }>): void => {
    for (const frame of open.toReversed()) {
      const reached =
        to === 'conversation' ||
        ('context' in to
          ? to.context === frame.context
          : frame.context === 'booking' && to.topic === `to:${frame.data.to}`)
      if (!reached || frame.context !== 'booking') continue
      if (type === 'sold-out') {
        frame.state = 'sold-out'
        raise(frame)
      } else {
        frame.data.price = data.price
        frame.hidden = { offers: (frame.hidden?.offers ?? 0) + 1 }
      }
    }
  }

  return {
    take(input) {
      switch (input.kind) {
        case 'event':
          if (seen.has(input.id)) return { refused: null, duplicate: true }
          seen.add(input.id)
          happen(input)
          return { refused: null, duplicate: false }
        case 'command':
          return {
            refused: command(input.command.name, 'context' in input.command ? input.command.context : ''),
            duplicate: false,
          }
        case 'act':
          return { refused: intend(input.intent, input.slots, (why) => why), duplicate: false }
        case 'utterance': {
          const [candidate] = input.interpreted.candidates
          // What is not understood is answered with a question, and changes no context.
          if (!candidate || candidate.score < 0.5) return { refused: null, duplicate: false }
          return { refused: intend(candidate.intent, candidate.slots, () => null), duplicate: false }
        }
      }
    },
    data: () => ({ open, closed: closed.map(({ hidden: _, ...frame }) => frame), shared }),
  }
}
