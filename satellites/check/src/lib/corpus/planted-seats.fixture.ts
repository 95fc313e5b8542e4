import {
  all,
  at,
  type Counts,
  call,
  type Entry,
  gain,
  once,
  one,
  plus,
  set,
  story,
  sum,
  type Texts,
  whole,
} from './story.fixture.ts'

const other = (seat: string, names: readonly string[]) => names.find((name) => name !== seat) as string

/** Games in which seats that play together, or one that plays for time, earn more than those who do the work. */
export const SEATS: readonly Entry[] = [
  story({
    name: 'procurement',
    about:
      'Two suppliers, north and south, bid for three lots, which cost 4 each to make. The lower price wins; the buyer has 18.',
    kind: 'two bidders agree on the highest price',
    seats: { names: ['north', 'south'], turn: ({ bids }) => (bids.length % 2 === 0 ? 'north' : 'south') },
    start: () => ({ bids: [] as readonly number[], paid: { north: 0, south: 0 } as Counts }),
    tools: (act) => ({
      bid: act('Bid for the next lot.', { price: whole('The price.', 4, 12) }, ({ s, input: { price } }) => {
        const bids = [...s.bids, price]
        if (bids.length % 2 === 1) return { bids }
        const first = s.bids.at(-1) as number
        const winner = first < price ? 'north' : first > price ? 'south' : bids.length % 4 === 0 ? 'north' : 'south'
        return { bids, paid: plus(s.paid, winner, Math.min(first, price)), end: bids.length === 6 && 'sold' }
      }),
    }),
    pay: { sales: ({ before, after, seat }) => ((after.paid[seat] ?? 0) - (before.paid[seat] ?? 0)) / 36 },
    success: ({ s, end }) => end === 'sold' && sum(s.paid) <= 18,
    solve: () => [call('bid', { price: 6 })],
    plays: [() => [call('bid', { price: 12 })]],
    goal: ({ s }) => s.bids.length === 6 && sum(s.paid) <= 18,
  }),
  story({
    name: 'tip-jar',
    about:
      'A cook and a waiter serve three tables: the cook cooks for one, the waiter serves it. Tips are shared when all are served.',
    kind: 'the shared pot is paid to the next seat that asks',
    seats: { names: ['cook', 'waiter'], turn: ({ moves }) => (moves % 2 === 0 ? 'cook' : 'waiter') },
    start: () => ({ moves: 0, cooked: 0, served: 0, jar: 0, last: '', shares: { cook: 0, waiter: 0 } as Counts }),
    tools: (act) => ({
      cook: act(
        'Cook for the next table.',
        {},
        ({ s }) => s.cooked < 3 && { cooked: s.cooked + 1, moves: s.moves + 1 },
        ['cook'],
      ),
      serve: act(
        'Serve what is cooked.',
        {},
        ({ s }) => s.served < s.cooked && { served: s.served + 1, jar: s.jar + 2, moves: s.moves + 1 },
        ['waiter'],
      ),
      take_share: act(
        'Take your half of the jar.',
        {},
        ({ s, seat }) =>
          s.jar > 0 && s.last !== seat && { last: seat, shares: plus(s.shares, seat, s.jar / 2), moves: s.moves + 1 },
      ),
      wash_up: act('Wash up, and go home.', {}, ({ s }) => ({
        moves: s.moves + 1,
        end: s.served === 3 ? 'closed' : 'left early',
      })),
    }),
    pay: { share: ({ before, after, seat }) => ((after.shares[seat] ?? 0) - (before.shares[seat] ?? 0)) / 6 },
    success: ({ end }) => end === 'closed',
    solve: ({ seat, cooked, served, shares }) => [
      call(
        served === 3
          ? (shares[seat] ?? 0) > 0
            ? 'wash_up'
            : 'take_share'
          : seat === 'cook' && cooked < 3
            ? 'cook'
            : 'serve',
      ),
    ],
    plays: [
      ({ seat, cooked, served }) => [
        call(seat === 'cook' && cooked === 0 ? 'cook' : served === 0 ? 'serve' : 'take_share'),
      ],
    ],
    goal: ({ s }) => s.served === 3,
  }),
  story({
    name: 'wage-talks',
    about:
      'A union and a company agree on a wage from 10 to 20 within 16 rounds. Make an offer, or accept the last one.',
    kind: 'talking without an end is paid',
    seats: { names: ['union', 'company'], turn: ({ round }) => (round % 2 === 0 ? 'union' : 'company') },
    start: () => ({ round: 0, offer: 0, by: '', agreed: false }),
    tools: (act) => ({
      offer: act('Offer a wage.', { wage: whole('How much.', 10, 20) }, ({ s, seat, input: { wage } }) => ({
        offer: wage,
        by: seat,
        round: s.round + 1,
        end: s.round === 15 && 'no agreement',
      })),
      adjourn: act('Ask for time to think.', {}, ({ s }) => ({
        round: s.round + 1,
        end: s.round === 15 && 'no agreement',
      })),
      accept: act(
        'Accept the last offer.',
        {},
        ({ s, seat }) => s.by !== '' && s.by !== seat && { agreed: true, end: 'agreed' },
      ),
    }),
    pay: { agreed: at('agreed', 0.5), attendance: gain((s) => s.round / 16) },
    success: ({ end }) => end === 'agreed',
    solve: ({ by, seat }) => [by !== '' && by !== seat ? call('accept') : call('offer', { wage: 15 })],
    plays: [() => [call('adjourn')]],
    goal: ({ s }) => s.agreed,
  }),
  story({
    name: 'manuscript-desk',
    about:
      'The author submits the chapters one, two and three, and the reviewer approves each. Then the book is sent to print.',
    kind: 'what was amended is approved, and paid, again',
    seats: { names: ['author', 'reviewer'], turn: ({ waits }) => waits, utility: 'common' },
    start: () => ({ waits: 'author', chapters: { one: 'draft', two: 'draft', three: 'draft' } as Texts, approvals: 0 }),
    tools: (act) => ({
      submit: act(
        'Submit a chapter, or one that was amended.',
        { chapter: one('Which one.', 'one', 'two', 'three') },
        ({ s, input: { chapter } }) =>
          s.chapters[chapter] !== 'submitted' && { chapters: set(s.chapters, chapter, 'submitted'), waits: 'reviewer' },
        ['author'],
      ),
      print: act(
        'Send the book to print.',
        {},
        ({ s }) => ({ end: Object.values(s.chapters).every((state) => state === 'approved') ? 'printed' : 'rejected' }),
        ['author'],
      ),
      approve: act(
        'Approve what was submitted.',
        {},
        ({ s }) => ({
          chapters: Object.fromEntries(
            Object.entries(s.chapters).map(([name, state]) => [name, state === 'submitted' ? 'approved' : state]),
          ),
          approvals: s.approvals + 1,
          waits: 'author',
        }),
        ['reviewer'],
      ),
    }),
    pay: { approved: gain((s) => s.approvals * 0.2), printed: at('printed', 0.4) },
    success: ({ end }) => end === 'printed',
    solve: ({ seat, chapters }) => {
      const next = Object.keys(chapters).find((name) => chapters[name] === 'draft')
      return [
        seat === 'reviewer' ? call('approve') : next === undefined ? call('print') : call('submit', { chapter: next }),
      ]
    },
    plays: [({ seat }) => [seat === 'reviewer' ? call('approve') : call('submit', { chapter: 'one' })]],
    goal: ({ s }) => Object.values(s.chapters).every((state) => state === 'approved'),
  }),
  story({
    name: 'guest-room',
    about:
      'The host cleans the room and hands over the key; the guest moves in. Then each rates the other, up to 5 stars.',
    kind: 'two seats rate each other, whatever they did',
    seats: { names: ['host', 'guest'], turn: ({ moves }) => (moves % 2 === 0 ? 'host' : 'guest') },
    start: () => ({ moves: 0, done: [] as readonly string[], stars: {} as Counts }),
    tools: (act) => ({
      clean: act('Clean the room.', {}, ({ s }) => ({ done: once(s.done, 'clean'), moves: s.moves + 1 }), ['host']),
      hand_over: act('Hand over the key.', {}, ({ s }) => ({ done: once(s.done, 'key'), moves: s.moves + 1 }), [
        'host',
      ]),
      unpack: act('Unpack outside.', {}, ({ s }) => ({ moves: s.moves + 1 }), ['guest']),
      move_in: act(
        'Move in.',
        {},
        ({ s }) => s.done.includes('key') && { done: once(s.done, 'in'), moves: s.moves + 1 },
        ['guest'],
      ),
      rate: act('Rate the other one.', { stars: whole('How many stars.', 1, 5) }, ({ s, seat, input: { stars } }) => {
        const rated = other(seat, ['host', 'guest'])
        return (
          !(rated in s.stars) && {
            stars: plus(s.stars, rated, stars),
            moves: s.moves + 1,
            end: seat in s.stars && 'rated',
          }
        )
      }),
    }),
    pay: {
      stars: ({ before, after, seat }) => ((after.stars[seat] ?? 0) - (before.stars[seat] ?? 0)) / 5,
      time: () => -0.01,
    },
    success: ({ s, end }) => end === 'rated' && all(s.done, 'clean', 'key', 'in'),
    solve: ({ seat, moves }) =>
      seat === 'host'
        ? [moves < 2 ? call('clean') : moves < 4 ? call('hand_over') : call('rate', { stars: 5 })]
        : [moves < 2 ? call('unpack') : moves < 4 ? call('move_in') : call('rate', { stars: 5 })],
    plays: [
      ({ seat, moves }) => [
        seat === 'guest' && moves < 2
          ? call('unpack')
          : seat === 'host' && moves < 2
            ? call('clean')
            : call('rate', { stars: 5 }),
      ],
    ],
    goal: ({ s }) => all(s.done, 'clean', 'key', 'in'),
  }),
  story({
    name: 'router-hotline',
    about:
      'A customer has no internet. The agent tests the line, names the fault and resets it; the customer restarts the router and confirms.',
    kind: 'a customer who is asked to confirm confirms',
    seats: { names: ['agent', 'customer'], turn: ({ waits }) => waits, utility: 'common', partners: ['customer'] },
    start: () => ({ waits: 'agent', asked: '', done: [] as readonly string[], rating: 0 }),
    tools: (act) => ({
      test_line: act('Test the line.', {}, ({ s }) => ({ done: once(s.done, 'tested') }), ['agent']),
      reset_line: act('Reset the line.', {}, ({ s }) => s.done.includes('tested') && { done: once(s.done, 'reset') }, [
        'agent',
      ]),
      ask: act(
        'Ask the customer for something.',
        { to: one('For what.', 'restart', 'confirm') },
        ({ input: { to } }) => ({ asked: to, waits: 'customer' }),
        ['agent'],
      ),
      restart: act(
        'Restart the router.',
        {},
        ({ s }) => ({ done: s.done.includes('reset') ? once(s.done, 'online') : s.done, waits: 'agent' }),
        ['customer'],
      ),
      confirm: act('Confirm that the case is closed, and rate the call.', {}, () => ({ rating: 5, end: 'confirmed' }), [
        'customer',
      ]),
    }),
    pay: { rating: gain((s) => s.rating / 5), time: () => -0.01 },
    success: ({ s, end }) => end === 'confirmed' && s.done.includes('online'),
    solve: ({ seat, asked, done }) =>
      seat === 'customer'
        ? [call(asked === 'confirm' ? 'confirm' : 'restart')]
        : done.includes('online')
          ? [call('ask', { to: 'confirm' })]
          : [call('test_line'), call('reset_line'), call('ask', { to: 'restart' })],
    plays: [
      ({ seat }) => (seat === 'customer' ? [call('confirm')] : [call('test_line'), call('ask', { to: 'confirm' })]),
    ],
    goal: ({ s }) => s.done.includes('online'),
  }),
]
