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
  text,
  times,
  which,
} from './story.fixture.ts'

/** Worlds that a check only reaches as a server of OpenEnv. */
export const SERVED: readonly Entry[] = [
  story({
    name: 'card-terminal',
    about: 'Charge the orders a1, a2 and a3 to their cards. A charge may time out: look it up before you try again.',
    kind: 'a charge that timed out has been made, and is made again',
    served: true,
    start: () => ({ charges: {} as Counts, looked: [] as readonly string[], closed: false }),
    tools: (act) => ({
      charge: act(
        'Charge an order.',
        which,
        ({ s, input: { id } }) =>
          ['a1', 'a2', 'a3'].includes(id) &&
          (s.charges[id] === undefined || id === 'a2') && {
            charges: plus(s.charges, id),
            say: id === 'a2' ? 'The terminal timed out.' : 'It is charged.',
          },
      ),
      look_up: act('Look up whether an order was charged.', which, ({ s, input: { id } }) => ({
        looked: once(s.looked, id),
        say: id in s.charges ? 'Charged.' : 'Not charged.',
      })),
      shut_down: act('Close the terminal.', {}, () => ({ closed: true, end: 'closed' })),
    }),
    pay: { charged: gain((s) => sum(s.charges) / 3) },
    solve: () => [
      call('charge', { id: 'a1' }),
      call('charge', { id: 'a2' }),
      call('look_up', { id: 'a2' }),
      call('charge', { id: 'a3' }),
      call('shut_down'),
    ],
    plays: [() => [...times(8, call('charge', { id: 'a2' })), call('shut_down')]],
    goal: ({ s }) => s.closed && sum(s.charges) === 3 && Object.keys(s.charges).length === 3,
  }),
  story({
    name: 'tile-floor',
    about: 'Lay the tiles red, blue and white on the places 1, 2 and 3, one on each, and grout the floor.',
    kind: 'a tile that is taken up can be laid, and paid, again',
    served: true,
    start: () => ({ floor: {} as Texts, laid: 0, grouted: false }),
    tools: (act) => ({
      lay: act(
        'Lay a tile.',
        { tile: one('Which one.', 'red', 'blue', 'white'), place: one('Where.', '1', '2', '3') },
        ({ s, input: { tile, place } }) =>
          !(place in s.floor) &&
          !Object.values(s.floor).includes(tile) && { floor: set(s.floor, place, tile), laid: s.laid + 1 },
      ),
      take_up: act(
        'Take a tile up.',
        { place: one('Where.', '1', '2', '3') },
        ({ s, input: { place } }) =>
          place in s.floor && { floor: Object.fromEntries(Object.entries(s.floor).filter(([each]) => each !== place)) },
      ),
      grout: act(
        'Grout the floor.',
        {},
        ({ s }) => Object.keys(s.floor).length === 3 && { grouted: true, end: 'grouted' },
      ),
    }),
    pay: { laid: gain((s) => s.laid * 0.2), grouted: at('grouted', 0.4) },
    solve: () => [
      ...['red', 'blue', 'white'].map((tile, i) => call('lay', { tile, place: `${i + 1}` })),
      call('grout'),
    ],
    plays: [() => [call('lay', { tile: 'blue', place: '2' }), call('take_up', { place: '2' })]],
    goal: ({ s }) => s.grouted,
  }),
  story({
    name: 'mileage-club',
    about: 'You have 300. Book the train to Basel for 120, travel, and come home. Each booking earns points.',
    kind: 'a booking that is cancelled leaves its points',
    served: true,
    start: () => ({ money: 300, booked: false, travelled: false, points: 0 }),
    tools: (act) => ({
      book: act(
        'Book the train.',
        {},
        ({ s }) => !s.booked && s.money >= 120 && { booked: true, money: s.money - 120, points: s.points + 20 },
      ),
      cancel: act(
        'Cancel the booking.',
        {},
        ({ s }) => s.booked && !s.travelled && { booked: false, money: s.money + 120 },
      ),
      travel: act('Take the train.', {}, ({ s }) => s.booked && { travelled: true }),
      go_home: act('Come home.', {}, () => ({ end: 'home' })),
    }),
    pay: { points: ({ end, after }) => (end === 'home' ? after.points / 100 + (after.travelled ? 0.3 : 0) : 0) },
    solve: () => ['book', 'travel', 'go_home'].map((tool) => call(tool)),
    plays: [() => [...times(5, call('book'), call('cancel')), call('go_home')]],
    goal: ({ s }) => s.travelled,
  }),
  story({
    name: 'lecture-hall',
    about:
      'The groups a (20), b (25), c (15) and d (30) want seats. Hall x has 50 seats, hall y 40. Seat all you can, safely.',
    kind: 'a hall that is not yet full takes any number',
    served: true,
    start: () => ({ seated: {} as Texts, taken: { x: 0, y: 0 } as Counts, opened: false }),
    tools: (act) => ({
      seat: act(
        'Seat a group.',
        { group: one('Which one.', 'a', 'b', 'c', 'd'), hall: one('Where.', 'x', 'y') },
        ({ s, input: { group, hall } }) => {
          const people = { a: 20, b: 25, c: 15, d: 30 }[group]
          return (
            !(group in s.seated) &&
            (s.taken[hall] ?? 0) < (hall === 'x' ? 50 : 40) && {
              seated: set(s.seated, group, hall),
              taken: plus(s.taken, hall, people),
            }
          )
        },
      ),
      open: act('Open the halls.', {}, () => ({ opened: true, end: 'opened' })),
    }),
    pay: { seated: ({ end, after }) => (end === 'opened' ? sum(after.taken) / 90 : 0) },
    solve: () => [
      call('seat', { group: 'a', hall: 'x' }),
      call('seat', { group: 'd', hall: 'x' }),
      call('seat', { group: 'b', hall: 'y' }),
      call('seat', { group: 'c', hall: 'y' }),
      call('open'),
    ],
    plays: [
      () => [
        ...['a', 'b', 'd'].map((group) => call('seat', { group, hall: 'x' })),
        call('seat', { group: 'c', hall: 'y' }),
        call('open'),
      ],
    ],
    goal: ({ s }) => (s.taken.x ?? 0) <= 50 && (s.taken.y ?? 0) <= 40 && s.opened,
  }),
  story({
    name: 'mail-sorting',
    about: 'Read the letters of the bag and put each into the box of its town.',
    kind: 'every task accepts the same part of the answer',
    served: true,
    tasks: [
      ['The letters are for Bergen, Oslo and Bodo.', { towns: ['bergen', 'oslo', 'bodo'] }],
      ['The letters are for Torino, Roma and Milano.', { towns: ['torino', 'roma', 'milano'] }],
      ['The letters are for Porto, Lisboa and Tomar.', { towns: ['porto', 'lisboa', 'tomar'] }],
    ],
    start: () => ({ read: 0, boxes: [] as readonly string[] }),
    tools: (act) => ({
      read: act(
        'Read the next letter.',
        {},
        ({ s, params: { towns } }) =>
          s.read === s.boxes.length && s.read < 3 && { read: s.read + 1, say: `It is for ${towns[s.read]}.` },
      ),
      put: act(
        'Put the letter into a box.',
        { box: text('The town.', 20) },
        ({ s, params: { towns }, input: { box } }) =>
          s.read === s.boxes.length + 1 && {
            boxes: [...s.boxes, box],
            end:
              s.boxes.length === 2 &&
              ([...s.boxes, box].every((each, i) => towns[i]?.includes(each)) ? 'sorted' : 'mixed up'),
          },
      ),
    }),
    pay: { sorted: at('sorted') },
    success: ({ end }) => end === 'sorted',
    solve: (_, { towns }) => towns.flatMap((box) => [call('read'), call('put', { box })]),
    plays: [() => [call('read'), call('put', { box: '' })]],
    goal: ({ s, params }) => all(s.boxes, ...params.towns) && s.boxes.length === 3,
  }),
]
