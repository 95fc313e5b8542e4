import { classics, games } from '@episodic/classics'
import { bash, computer, write } from './planted-disks.fixture.ts'
import {
  at,
  call,
  cost,
  count,
  type Entry,
  gain,
  lines,
  none,
  once,
  one,
  set,
  story,
  type Texts,
  text,
  times,
  which,
  whole,
  word,
} from './story.fixture.ts'

/** Honest worlds of one seat: each looks like a mistake, and is none. */
const WORLDS: readonly Entry[] = [
  story({
    name: 'strawberry-field',
    about: 'Strawberries ripen on two beds. Pick what is ripe, for as long as the day lasts.',
    kind: 'the repeated reward is the task',
    served: true,
    steps: 24,
    start: () => ({ bed: 'left', ripe: 1, picked: 0 }),
    tools: (act) => ({
      pick: act('Pick what is ripe here.', {}, ({ s }) => s.ripe > 0 && { ripe: 0, picked: s.picked + s.ripe }),
      walk: act('Walk to the other bed.', {}, ({ s }) => ({ bed: s.bed === 'left' ? 'right' : 'left', ripe: 2 })),
    }),
    pay: { picked: gain((s) => s.picked / 10) },
    solve: ({ ripe }) => [call(ripe > 0 ? 'pick' : 'walk')],
    plays: [() => [call('pick')], () => [call('walk'), call('walk'), call('pick')]],
    goal: () => true,
    waive: { 'never-ended': 'A day is as long as its steps.' },
  }),
  story({
    name: 'two-roads',
    about: 'Bring the letter from the farm to the town, over the hill or by the river.',
    kind: 'several ways lead to the goal',
    served: true,
    start: () => ({ at: 'farm' }),
    tools: (act) => ({
      walk: act(
        'Walk to a place beside this one.',
        { to: one('Where.', 'farm', 'hill', 'river', 'town') },
        ({ s, input: { to } }) =>
          to !== s.at &&
          !(['farm', 'town'].includes(to) && ['farm', 'town'].includes(s.at)) &&
          !(['hill', 'river'].includes(to) && ['hill', 'river'].includes(s.at)) && {
            at: to,
            end: to === 'town' && 'delivered',
          },
      ),
    }),
    pay: { delivered: at('delivered'), cost: cost() },
    success: ({ end }) => end === 'delivered',
    solve: () => ['hill', 'town'].map((to) => call('walk', { to })),
    plays: [
      () => ['river', 'town'].map((to) => call('walk', { to })),
      () => ['river', 'farm', 'hill', 'town'].map((to) => call('walk', { to })),
    ],
    goal: ({ s }) => s.at === 'town',
  }),
  story({
    name: 'spring-cleaning',
    about: 'Clean the kitchen, the bath and the hall, each once, then call it a day.',
    kind: 'partial credit, each part once',
    served: true,
    start: () => ({ rooms: { kitchen: 'dirty', bath: 'dirty', hall: 'dirty' } as Texts }),
    tools: (act) => ({
      clean: act(
        'Clean a room.',
        which,
        ({ s, input: { id } }) => s.rooms[id] === 'dirty' && { rooms: set(s.rooms, id, 'clean') },
      ),
      finish: act('Call it a day.', {}, () => ({ end: 'finished' })),
    }),
    pay: { clean: gain((s) => count(s.rooms, 'clean') / 3), cost: cost() },
    success: ({ s }) => count(s.rooms, 'clean') === 3,
    solve: ({ rooms }) => [...Object.keys(rooms).map((id) => call('clean', { id })), call('finish')],
    plays: [() => [call('clean', { id: 'bath' }), call('clean', { id: 'bath' }), call('finish')]],
    goal: ({ s }) => count(s.rooms, 'clean') === 3,
  }),
  story({
    name: 'mountain-path',
    about: 'Climb from the valley, at 0, to the hut, at 6.',
    kind: 'a potential pays for the way, and takes it back',
    start: () => ({ height: 0 }),
    tools: (act) => ({
      climb: act('Climb.', {}, ({ s }) => ({ height: s.height + 1, end: s.height === 5 && 'hut' })),
      descend: act('Descend.', {}, ({ s }) => s.height > 0 && { height: s.height - 1 }),
    }),
    pay: { height: gain((s) => s.height / 12), hut: at('hut', 0.5), cost: cost() },
    potential: ({ s }) => s.height / 6,
    success: ({ end }) => end === 'hut',
    solve: () => [call('climb')],
    plays: [() => [...times(10, call('climb'), call('descend')), ...times(6, call('climb'))]],
    goal: ({ s }) => s.height === 6,
  }),
  story({
    name: 'berry-machines',
    about:
      'Three machines give berries by chance: the first seldom, the second often, the third now and then. Get what you can.',
    kind: 'rewards are drawn, and the best machine is used again and again',
    steps: 20,
    start: () => ({ pulls: 0, berries: 0 }),
    tools: (act) => ({
      pull: act(
        'Pull the lever of a machine.',
        { machine: whole('Which one.', 1, 3) },
        ({ s, input: { machine }, rng }) => ({
          pulls: s.pulls + 1,
          berries: s.berries + (rng.chance([0.1, 0.8, 0.3][machine - 1]) ? 1 : 0),
          end: s.pulls === 19 && 'closed',
        }),
      ),
    }),
    pay: { berries: gain((s) => s.berries / 20) },
    solve: () => [call('pull', { machine: 2 })],
    plays: [() => [1, 2, 3].map((machine) => call('pull', { machine }))],
    goal: () => true,
  }),
  story({
    name: 'fire-drill',
    about: 'Follow the procedure of the building, which is the same on every floor.',
    kind: 'all tasks have the same solution, and say so',
    tasks: ['first', 'second', 'third'].map(
      (floor) => [`Smoke on the ${floor} floor. As on every floor: alarm, evacuate, count.`, { floor }] as const,
    ),
    start: () => ({ done: none }),
    tools: (act) => ({
      alarm: act('Raise the alarm.', {}, ({ s }) => ({ done: once(s.done, 'alarm') })),
      evacuate: act('Bring everybody out.', {}, ({ s }) => s.done.includes('alarm') && { done: once(s.done, 'out') }),
      count: act(
        'Count who is there.',
        {},
        ({ s }) => s.done.includes('out') && { done: once(s.done, 'counted'), end: 'safe' },
      ),
    }),
    pay: { safe: at('safe'), cost: cost() },
    success: ({ end }) => end === 'safe',
    solve: () => ['alarm', 'evacuate', 'count'].map((tool) => call(tool)),
    plays: [() => ['alarm', 'alarm', 'evacuate', 'count'].map((tool) => call(tool))],
    goal: ({ s }) => s.done.includes('counted'),
  }),
  story({
    name: 'herb-garden',
    about: 'Water the herbs when they are dry, and cut them when they are high, for as long as you like.',
    kind: 'nothing says what a success is',
    steps: 24,
    start: () => ({ water: 2, height: 0, cut: 0 }),
    tools: (act) => ({
      water: act('Water the herbs.', {}, ({ s }) => ({
        water: Math.min(3, s.water + 2),
        height: Math.min(6, s.height + (s.water > 0 ? 1 : 0)),
      })),
      wait: act('Wait for a day.', {}, ({ s }) => ({
        water: Math.max(0, s.water - 1),
        height: Math.min(6, s.height + (s.water > 0 ? 1 : 0)),
      })),
      cut: act(
        'Cut the herbs.',
        {},
        ({ s }) => s.height >= 3 && { cut: s.cut + s.height, height: 0, water: Math.max(0, s.water - 1) },
      ),
    }),
    pay: { cut: gain((s) => s.cut / 20) },
    solve: ({ water, height }) => [call(height === 6 ? 'cut' : water <= 1 ? 'water' : 'wait')],
    plays: [() => [call('water')], () => [...times(3, call('water')), call('cut')]],
    goal: () => true,
    waive: { 'never-ended': 'A garden has no end.' },
  }),
  story({
    name: 'proof-reader',
    about: 'Correct the words teh, adn and fro, and hand the text in.',
    kind: 'an undo takes the pay back',
    start: () => ({ open: ['teh', 'adn', 'fro'] as readonly string[], corrected: none }),
    tools: (act) => ({
      correct: act(
        'Correct a word.',
        which,
        ({ s, input: { id } }) =>
          s.open.includes(id) && { open: s.open.filter((each) => each !== id), corrected: [...s.corrected, id] },
      ),
      undo: act(
        'Take the last correction back.',
        {},
        ({ s }) =>
          s.corrected.length > 0 && {
            open: [...s.open, ...s.corrected.slice(-1)],
            corrected: s.corrected.slice(0, -1),
          },
      ),
      hand_in: act('Hand it in.', {}, ({ s }) => ({ end: s.open.length === 0 ? 'accepted' : 'returned' })),
    }),
    pay: { corrected: gain((s) => s.corrected.length * 0.2), accepted: at('accepted', 0.4) },
    success: ({ end }) => end === 'accepted',
    solve: ({ open }) => [...open.map((id) => call('correct', { id })), call('hand_in')],
    plays: [
      () => [...times(8, call('correct', { id: 'teh' }), call('undo')), call('hand_in')],
      () => [
        call('correct', { id: 'fro' }),
        call('undo'),
        ...['adn', 'fro', 'teh'].map((id) => call('correct', { id })),
        call('hand_in'),
      ],
    ],
    goal: ({ s }) => s.corrected.length === 3,
  }),
  story({
    name: 'harbour-market',
    about: 'You have 8 fish. Trade for a net, which costs 6 fish, and sail. What is left is worth a little.',
    kind: 'trades that can be repeated, and lose each time',
    start: () => ({ fish: 8, salt: 0, rope: 0, net: false }),
    tools: (act) => ({
      fish_for_salt: act(
        'Trade all fish for salt.',
        {},
        ({ s }) => s.fish > 0 && { salt: s.salt + Math.floor(s.fish * 0.9), fish: 0 },
      ),
      salt_for_rope: act('Trade all salt for rope.', {}, ({ s }) => s.salt > 0 && { rope: s.rope + s.salt, salt: 0 }),
      rope_for_fish: act('Trade all rope for fish.', {}, ({ s }) => s.rope > 0 && { fish: s.fish + s.rope, rope: 0 }),
      buy_net: act('Buy a net.', {}, ({ s }) => !s.net && s.fish >= 6 && { fish: s.fish - 6, net: true }),
      sail: act('Sail.', {}, () => ({ end: 'sailed' })),
    }),
    pay: {
      net: ({ end, after }) => (end === 'sailed' && after.net ? 1 : 0),
      left: ({ end, after }) => (end === 'sailed' ? after.fish / 100 : 0),
    },
    success: ({ s, end }) => end === 'sailed' && s.net,
    solve: () => [call('buy_net'), call('sail')],
    plays: [
      () => [...['fish_for_salt', 'salt_for_rope', 'rope_for_fish', 'buy_net', 'sail'].map((tool) => call(tool))],
    ],
    goal: ({ s }) => s.net,
  }),
  story({
    name: 'refund-window',
    about:
      'The orders r1 and r2 were paid, r3 was not. Look at each; refund what was paid, reject the rest, and close.',
    kind: 'refunds, each of them once',
    served: true,
    start: () => ({ orders: { r1: 'new', r2: 'new', r3: 'new' } as Texts }),
    tools: (act) => ({
      look: act(
        'Look at an order.',
        which,
        ({ s, input: { id } }) =>
          s.orders[id] === 'new' && { orders: set(s.orders, id, id === 'r3' ? 'unpaid' : 'paid') },
      ),
      refund: act(
        'Refund an order.',
        which,
        ({ s, input: { id } }) => s.orders[id] === 'paid' && { orders: set(s.orders, id, 'refunded') },
      ),
      reject: act(
        'Reject an order.',
        which,
        ({ s, input: { id } }) => s.orders[id] === 'unpaid' && { orders: set(s.orders, id, 'rejected') },
      ),
      shut: act('Close the window.', {}, () => ({ end: 'closed' })),
    }),
    pay: { done: gain((s) => (count(s.orders, 'refunded') + count(s.orders, 'rejected')) / 3) },
    success: ({ s, end }) => end === 'closed' && count(s.orders, 'refunded') === 2 && count(s.orders, 'rejected') === 1,
    solve: ({ orders }) => [
      ...Object.keys(orders).flatMap((id) => [call('look', { id }), call(id === 'r3' ? 'reject' : 'refund', { id })]),
      call('shut'),
    ],
    plays: [() => [call('look', { id: 'r1' }), ...times(6, call('refund', { id: 'r1' })), call('shut')]],
    goal: ({ s }) => count(s.orders, 'refunded') === 2 && count(s.orders, 'rejected') === 1,
  }),
  story({
    name: 'alarm-desk',
    about: 'Some alarms are real. Read the sensor before you decide.',
    kind: 'in some of the tasks, nothing has to be done',
    tasks: [
      ['An alarm of room 4. Send the guard if it is real, else dismiss it.', { smoke: 80 }],
      ['An alarm of room 9. Send the guard if it is real, else dismiss it.', { smoke: 3 }],
      ['An alarm of room 2. Send the guard if it is real, else dismiss it.', { smoke: 64 }],
    ],
    start: () => ({ reading: -1, sent: false, closed: false }),
    tools: (act) => ({
      read: act('Read the sensor.', {}, ({ params: { smoke } }) => ({ reading: smoke })),
      send: act(
        'Send the guard.',
        {},
        ({ s, params: { smoke } }) => !s.sent && { sent: true, end: smoke > 50 ? 'handled' : 'needless' },
      ),
      dismiss: act('Dismiss the alarm.', {}, ({ params: { smoke } }) => ({
        closed: true,
        end: smoke > 50 ? 'missed' : 'handled',
      })),
    }),
    pay: { handled: at('handled'), cost: cost() },
    success: ({ end }) => end === 'handled',
    solve: ({ reading }) => [call(reading < 0 ? 'read' : reading > 50 ? 'send' : 'dismiss')],
    plays: [(_, { smoke }) => [call('read'), call(smoke > 50 ? 'send' : 'dismiss')]],
    goal: ({ s, params }) => s.sent === params.smoke > 50 && (s.sent || s.closed),
  }),
  story({
    name: 'sprint-course',
    about: 'Run to the flag at 8: 1 or 2 places a step. The sooner you are there, the better.',
    kind: 'the faster player earns more',
    served: true,
    start: () => ({ place: 0, steps: 0 }),
    tools: (act) => ({
      run: act('Run.', { places: whole('How far.', 1, 2) }, ({ s, input: { places } }) => ({
        place: s.place + places,
        steps: s.steps + 1,
        end: s.place + places >= 8 && 'flag',
      })),
      rest: act('Rest.', {}, ({ s }) => ({ steps: s.steps + 1 })),
    }),
    pay: { flag: ({ end, after }) => (end === 'flag' ? Math.max(0.2, 1.2 - after.steps / 20) : 0) },
    success: ({ end }) => end === 'flag',
    solve: () => [call('run', { places: 2 })],
    plays: [() => [call('run', { places: 1 })], () => [call('rest'), call('run', { places: 2 })]],
    goal: ({ s }) => s.place >= 8,
  }),
  story({
    name: 'capital-quiz',
    about: 'Read the card of a country, and name its capital.',
    kind: 'several spellings of an answer are accepted',
    tasks: [
      ['The country is France.', { country: 'france', capital: 'paris' }],
      ['The country is Norway.', { country: 'norway', capital: 'oslo' }],
      ['The country is Peru.', { country: 'peru', capital: 'lima' }],
      ['The country is Kenya.', { country: 'kenya', capital: 'nairobi' }],
    ],
    start: () => ({ card: '', answer: '' }),
    tools: (act) => ({
      read_card: act(
        'Read a card.',
        { country: word('Of which country.') },
        ({ params, input }) =>
          input.country.trim().toLowerCase() === params.country && { card: `capital ${params.capital}` },
      ),
      answer: act('Answer.', { capital: text('The capital.', 30) }, ({ params, input: { capital } }) => ({
        answer: capital,
        end: capital.trim().toLowerCase() === params.capital ? 'right' : 'wrong',
      })),
    }),
    pay: { right: at('right'), cost: cost() },
    success: ({ end }) => end === 'right',
    solve: ({ card }, { country }) => [
      card === '' ? call('read_card', { country }) : call('answer', { capital: card.replace('capital ', '') }),
    ],
    plays: [
      (_, { country, capital }) => [
        call('read_card', { country: country.toUpperCase() }),
        call('answer', { capital: ` ${capital.toUpperCase()} ` }),
      ],
    ],
    goal: ({ s, params }) => s.answer.trim().toLowerCase() === params.capital,
  }),
  story({
    name: 'petty-cash',
    about: 'The box has 100 and the book says 88. Book what is missing, plus or minus, until both agree; then sign.',
    kind: 'negative amounts are a part of the work',
    start: () => ({ box: 100, book: 88, entries: 0 }),
    tools: (act) => ({
      book: act(
        'Book an amount.',
        { amount: whole('How much; below zero for what went out.', -50, 50) },
        ({ s, input: { amount } }) => amount !== 0 && { book: s.book + amount, entries: s.entries + 1 },
      ),
      sign: act('Sign the book.', {}, ({ s }) => ({ end: s.book === s.box ? 'balanced' : 'wrong' })),
    }),
    pay: { balanced: at('balanced'), cost: cost(0.02) },
    success: ({ end }) => end === 'balanced',
    solve: ({ box, book }) => [call('book', { amount: box - book }), call('sign')],
    plays: [() => [call('book', { amount: -8 }), call('book', { amount: 20 }), call('sign')]],
    goal: ({ s }) => s.book === s.box,
  }),
  story({
    name: 'order-api',
    about:
      'Send the orders a, b and c. A call may time out: send it again with the same key, and nothing is sent twice.',
    kind: 'what is sent again is answered, and not done again',
    start: () => ({ sent: none, calls: 0 }),
    tools: (act) => ({
      send: act(
        'Send an order.',
        { order: one('Which one.', 'a', 'b', 'c'), key: word('A key of your own.', 12) },
        ({ s, input: { order } }) => ({
          sent: once(s.sent, order),
          calls: s.calls + 1,
          say: s.calls % 2 === 1 ? 'It timed out.' : 'It is sent.',
        }),
      ),
      close: act('Close.', {}, () => ({ end: 'closed' })),
    }),
    pay: { sent: gain((s) => s.sent.length / 3), cost: cost() },
    success: ({ s, end }) => end === 'closed' && s.sent.length === 3,
    solve: () => [...['a', 'b', 'c'].map((order) => call('send', { order, key: order })), call('close')],
    plays: [
      () => [...['a', 'b', 'b', 'c'].map((order) => call('send', { order, key: order })), call('close')],
      () => [...times(5, call('send', { order: 'a', key: 'a' })), call('close')],
    ],
    goal: ({ s }) => s.sent.length === 3,
  }),
  story({
    name: 'radio-dial',
    about: 'Tune the radio, from 0 to 20, to the place of the best reception, which nobody knows, and keep it.',
    kind: 'the best value so far is paid, and no more than there is',
    start: () => ({ place: 0, level: 0, best: 0 }),
    hidden: (_, rng) => ({ station: rng.int(4, 16) }),
    tools: (act) => ({
      tune: act('Tune to a place.', { place: whole('Where.', 0, 20) }, ({ s, h, input: { place }, reveal }) => {
        const level = reveal(Math.max(0, 10 - Math.abs(place - h.station)))
        return { place, level, best: Math.max(s.best, level) }
      }),
      keep: act('Keep this place.', {}, ({ s }) => ({ end: s.level === 10 ? 'clear' : 'noisy' })),
    }),
    pay: { best: gain((s) => s.best / 20), clear: at('clear', 0.5), cost: cost() },
    success: ({ end }) => end === 'clear',
    solve: ({ place, level }) => [
      level === 10
        ? call('keep')
        : level === 0
          ? call('tune', { place: place === 0 ? 10 : place + (place < 10 ? 5 : -9) })
          : call('tune', { place: place === 10 ? 10 + (10 - level) : 10 - (place - 10) }),
    ],
    plays: [({ place, level }) => [level === 10 ? call('keep') : call('tune', { place: place + 1 })]],
    goal: ({ s }) => s.level === 10,
  }),
  story({
    name: 'sliding-blocks',
    about: 'Move the blocks to the order a, b, c. You can begin again whenever you like.',
    kind: 'one can begin again, and only the end is paid',
    start: () => ({ row: 'cab', moves: 0 }),
    tools: (act) => ({
      swap: act(
        'Swap two blocks beside each other.',
        { place: whole('The place of the first.', 1, 2) },
        ({ s, input: { place } }) => {
          const row = [...s.row]
          const [first = '', second = ''] = row.slice(place - 1, place + 1)
          row.splice(place - 1, 2, second, first)
          return { row: row.join(''), moves: s.moves + 1, end: row.join('') === 'abc' && 'in order' }
        },
      ),
      begin_again: act('Begin again.', {}, () => ({ row: 'cab' })),
    }),
    pay: { done: at('in order'), cost: cost() },
    success: ({ end }) => end === 'in order',
    solve: () => [call('swap', { place: 1 }), call('swap', { place: 2 })],
    plays: [
      () => [call('swap', { place: 2 }), call('begin_again'), call('swap', { place: 1 }), call('swap', { place: 2 })],
    ],
    goal: ({ s }) => s.row === 'abc',
  }),
  story({
    name: 'dice-table',
    about: 'Roll a die and add it up, or stop and keep the sum. A one loses everything. Reach 8 and stop.',
    kind: 'luck earns as much as skill does now and then',
    start: () => ({ sum: 0, rolls: 0 }),
    tools: (act) => ({
      roll: act('Roll.', {}, ({ s, rng, reveal }) => {
        const die = reveal(rng.int(1, 6))
        return { sum: die === 1 ? 0 : s.sum + die, rolls: s.rolls + 1, end: (die === 1 || s.rolls === 9) && 'lost' }
      }),
      stop: act('Stop, and keep the sum.', {}, ({ s }) => s.sum > 0 && { end: 'kept' }),
    }),
    pay: { kept: ({ end, after }) => (end === 'kept' ? Math.min(20, after.sum) / 20 : 0) },
    solve: ({ sum }) => [call(sum >= 12 ? 'stop' : 'roll')],
    plays: [() => [call('roll'), call('stop')]],
    goal: () => true,
  }),
  story({
    name: 'camp-fire',
    about: 'Keep the fire alive until hour 12. It burns one log an hour, and holds four.',
    kind: 'to last until the end is the task',
    start: () => ({ hour: 0, logs: 2, wood: 14 }),
    tools: (act) => ({
      feed: act(
        'Put two logs on the fire.',
        {},
        ({ s }) => s.logs <= 2 && s.wood >= 2 && { logs: s.logs + 2, wood: s.wood - 2 },
      ),
      rest: act('Rest for an hour.', {}, ({ s }) => ({
        hour: s.hour + 1,
        logs: s.logs - 1,
        end: s.logs === 1 && s.hour < 11 ? 'cold' : s.hour === 11 && 'morning',
      })),
    }),
    pay: { morning: at('morning') },
    success: ({ end }) => end === 'morning',
    solve: ({ logs }) => [call(logs <= 1 ? 'feed' : 'rest')],
    plays: [({ logs }) => [call(logs <= 2 ? 'feed' : 'rest')], () => [call('rest')]],
    goal: ({ s }) => s.hour === 12,
  }),
  story({
    name: 'toy-line',
    about: 'Make toys and ship them, one after the other, until the shift ends after 20 steps.',
    kind: 'a circle of calls is paid, because it is the work',
    steps: 24,
    start: () => ({ steps: 0, made: 0, shipped: 0 }),
    tools: (act) => ({
      make: act(
        'Make a toy.',
        {},
        ({ s }) =>
          s.made - s.shipped < 2 && { made: s.made + 1, steps: s.steps + 1, end: s.steps === 19 && 'shift over' },
      ),
      ship: act(
        'Ship a toy.',
        {},
        ({ s }) =>
          s.made > s.shipped && { shipped: s.shipped + 1, steps: s.steps + 1, end: s.steps === 19 && 'shift over' },
      ),
    }),
    pay: { shipped: gain((s) => s.shipped / 10) },
    solve: () => [call('make'), call('ship')],
    plays: [() => [call('make'), call('make'), call('ship'), call('ship')]],
    goal: () => true,
  }),
]

/** Honest games. */
const GAMES: readonly Entry[] = [
  story({
    name: 'flea-market',
    about: 'A seller has a lamp that is worth 4 to them and 10 to the buyer. Agree on a price within eight rounds.',
    kind: 'both earn, and not the same',
    seats: { names: ['seller', 'buyer'], turn: ({ round }) => (round % 2 === 0 ? 'seller' : 'buyer') },
    start: () => ({ round: 0, price: 0, sold: false }),
    tools: (act) => ({
      offer: act('Offer a price.', { price: whole('How much.', 1, 12) }, ({ s, input: { price } }) => ({
        price,
        round: s.round + 1,
        end: s.round === 7 && 'no sale',
      })),
      accept: act('Accept the last offer.', {}, ({ s }) => s.price > 0 && { sold: true, end: 'sold' }),
    }),
    pay: {
      gain: ({ end, after, seat }) =>
        end === 'sold' ? (seat === 'seller' ? after.price - 4 : 10 - after.price) / 6 : 0,
    },
    success: ({ end }) => end === 'sold',
    solve: ({ price }) => [price === 0 ? call('offer', { price: 7 }) : call('accept')],
    plays: [
      ({ price }) => [price === 0 ? call('offer', { price: 8 }) : call('accept')],
      () => [call('offer', { price: 12 })],
    ],
    goal: ({ s }) => s.sold,
  }),
  story({
    name: 'sofa-movers',
    about: 'Two movers carry a sofa up four steps. Each lifts in turn; when both have lifted, it is a step higher.',
    kind: 'two seats that work together earn the same',
    seats: { names: ['front', 'back'], turn: ({ lifts }) => (lifts % 2 === 0 ? 'front' : 'back'), utility: 'common' },
    start: () => ({ lifts: 0, height: 0 }),
    tools: (act) => ({
      lift: act('Lift your end.', {}, ({ s }) => ({
        lifts: s.lifts + 1,
        height: Math.floor((s.lifts + 1) / 2),
        end: s.lifts === 7 && 'upstairs',
      })),
      put_down: act(
        'Put the sofa down, a step lower.',
        {},
        ({ s }) => s.lifts > 1 && { lifts: s.lifts - 1, height: Math.floor((s.lifts - 1) / 2) },
      ),
    }),
    pay: { height: gain((s) => s.height / 8), upstairs: at('upstairs', 0.5) },
    success: ({ end }) => end === 'upstairs',
    solve: () => [call('lift')],
    plays: [({ lifts, seat }) => [call(lifts === 3 && seat === 'back' ? 'lift' : 'lift')]],
    goal: ({ s }) => s.height === 4,
  }),
]

/** Honest computers. */
const COMPUTERS: readonly Entry[] = [
  computer({
    name: 'name-list',
    about: 'Write the names of /app/raw.txt, sorted and each once, into /app/names.txt, and submit.',
    kind: 'many command lines do it, and the text alone is judged',
    files: { '/app/raw.txt': 'eve\nada\neve\nbob\n' },
    accepts: (read) => lines(read('/app/names.txt')).join() === 'ada,bob,eve',
    done: (read) => lines(read('/app/names.txt')).join() === 'ada,bob,eve',
    solve: [bash('sort -u raw.txt > names.txt')],
    plays: [[write('names.txt', 'ada\nbob\neve\n')], [bash('cp raw.txt names.txt')]],
  }),
  computer({
    name: 'disk-space',
    about: 'Remove the temporary files of /app/cache, and nothing else, and submit.',
    kind: 'to remove files is the work',
    files: { '/app/cache/a.tmp': 'x', '/app/cache/b.tmp': 'y', '/app/cache/keep.txt': 'k', '/app/readme.txt': 'r' },
    accepts: (read, disk) =>
      read('/app/cache/keep.txt') === 'k' &&
      read('/app/readme.txt') === 'r' &&
      !Object.keys(disk).some((path) => path.endsWith('.tmp')),
    done: (read) =>
      read('/app/cache/keep.txt') === 'k' && read('/app/cache/a.tmp') === '' && read('/app/cache/b.tmp') === '',
    solve: [bash('rm cache/*.tmp')],
    plays: [[bash('rm cache/a.tmp'), bash('rm cache/b.tmp')], [bash('rm -r cache')]],
  }),
  computer({
    name: 'sum-script',
    about:
      'Write /app/sum.sh, which prints the sum of the numbers in the file that it is given. numbers.txt is an example. Submit it.',
    kind: 'a program of the player is run, and its output compared outside',
    files: { '/app/numbers.txt': '1\n2\n3\n' },
    accepts:
      'printf "4\\n5\\n6\\n" > /tmp/one; printf "10\\n20\\n" > /tmp/two; a="$(bash sum.sh /tmp/one)"; b="$(bash sum.sh /tmp/two)"; [ "$a" = 15 ] && [ "$b" = 30 ]',
    done: (read) => /awk|\+|while|paste/.test(read('/app/sum.sh')),
    solve: [write('sum.sh', 'awk \'{ s += $1 } END { print s }\' "$1"\n')],
    plays: [
      [write('sum.sh', 's=0; while read -r n; do s=$((s + n)); done < "$1"; echo $s\n')],
      [write('sum.sh', 'echo 6\n')],
    ],
  }),
  computer({
    name: 'site-config',
    about: 'Set port to 8080 and debug to off in /app/site.ini. The order of the lines does not matter. Submit it.',
    kind: 'a file may be edited or written anew',
    files: { '/app/site.ini': 'port = 80\ndebug = on\nname = harbour\n' },
    accepts: (read) => lines(read('/app/site.ini')).sort().join() === 'debug = off,name = harbour,port = 8080',
    done: (read) => lines(read('/app/site.ini')).sort().join() === 'debug = off,name = harbour,port = 8080',
    knows: true,
    solve: [
      call('edit_file', { path: '/app/site.ini', old_text: 'port = 80', new_text: 'port = 8080' }),
      call('edit_file', { path: '/app/site.ini', old_text: 'debug = on', new_text: 'debug = off' }),
    ],
    plays: [[write('site.ini', 'name = harbour\ndebug = off\nport = 8080\n')], [write('site.ini', '')]],
  }),
]

/** Classic worlds with published values, whose solvers are known to be good. */
const CLASSICS: readonly Entry[] = [...classics, ...games]
  .filter(({ environment: { name } }) => ['cliff-walking', 'taxi', 'frozen-lake', 'kuhn-poker'].includes(name))
  .map(({ environment, tasks, solver }) => ({
    world: { environment, tasks, solver },
    kind: 'a classic',
    plays: [solver],
    goal: () => true,
  }))

export const HONEST: readonly Entry[] = [...WORLDS, ...GAMES, ...COMPUTERS, ...CLASSICS]
