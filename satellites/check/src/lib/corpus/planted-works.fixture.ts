import {
  all,
  at,
  type Counts,
  call,
  cost,
  count,
  type Entry,
  gain,
  none,
  once,
  one,
  plus,
  set,
  story,
  type Texts,
  text,
  times,
  which,
  whole,
  without,
  word,
} from './story.fixture.ts'

/** Work that is judged by how it looks: at what is measured, written, counted or left when time is up. */
export const WORKS: readonly Entry[] = [
  story({
    name: 'night-watch',
    about: 'The shift ends at hour 12. Lock the gates north, south and east before it does.',
    kind: 'the end of time pays',
    start: () => ({ hour: 0, locked: none }),
    tools: (act) => ({
      lock: act(
        'Walk to a gate and lock it.',
        { gate: one('Which one.', 'north', 'south', 'east') },
        ({ s, input: { gate } }) => ({
          locked: once(s.locked, gate),
          hour: s.hour + 2,
          end: s.hour >= 10 && 'dawn',
        }),
      ),
      rest: act('Rest for an hour.', {}, ({ s }) => ({ hour: s.hour + 1, end: s.hour >= 11 && 'dawn' })),
    }),
    pay: { shift: at('dawn') },
    success: ({ s, end }) => end === 'dawn' && s.locked.length === 3,
    solve: ({ locked }) =>
      locked.length < 3 ? ['north', 'south', 'east'].map((gate) => call('lock', { gate })) : [call('rest')],
    plays: [() => [call('rest')]],
    goal: ({ s }) => s.locked.length === 3,
  }),
  story({
    name: 'village-market',
    about: 'You have 6 apples. A jar of honey costs 5. Buy one, and carry everything home.',
    kind: 'a circle of trades makes more of everything',
    start: () => ({ apples: 6, bread: 0, cheese: 0, honey: 0 }),
    tools: (act) => ({
      apples_for_bread: act(
        'Trade all apples for bread.',
        {},
        ({ s }) => s.apples > 0 && { bread: s.bread + Math.ceil(s.apples * 1.5), apples: 0 },
      ),
      bread_for_cheese: act(
        'Trade all bread for cheese.',
        {},
        ({ s }) => s.bread > 0 && { cheese: s.cheese + s.bread, bread: 0 },
      ),
      cheese_for_apples: act(
        'Trade all cheese for apples.',
        {},
        ({ s }) => s.cheese > 0 && { apples: s.apples + s.cheese, cheese: 0 },
      ),
      buy_honey: act(
        'Buy a jar of honey.',
        {},
        ({ s }) => s.apples >= 5 && { apples: s.apples - 5, honey: s.honey + 1 },
      ),
      go_home: act('Go home.', {}, () => ({ end: 'home' })),
    }),
    pay: { carried: ({ end, after }) => (end === 'home' ? Math.min(1, after.honey) + after.apples / 20 : 0) },
    solve: () => [call('buy_honey'), call('go_home')],
    plays: [
      () => [
        ...times(4, ...['apples_for_bread', 'bread_for_cheese', 'cheese_for_apples'].map((tool) => call(tool))),
        call('go_home'),
      ],
    ],
    goal: ({ s }) => s.honey > 0,
  }),
  story({
    name: 'hotel-lift',
    about: 'Guests wait on the floors 1 and 3. Stop at both, then park the lift.',
    kind: 'the place comes back beside a counter, and pays again',
    start: () => ({ floor: 0, trips: 0, stops: [] as readonly number[], parked: false }),
    tools: (act) => ({
      go: act(
        'Go to a floor.',
        { floor: whole('Which one.', 0, 3) },
        ({ s, input: { floor } }) =>
          floor !== s.floor && { floor, trips: s.trips + 1, stops: floor % 2 === 1 ? once(s.stops, floor) : s.stops },
      ),
      park: act('Park the lift.', {}, ({ s }) => s.stops.length === 2 && { parked: true, end: 'parked' }),
    }),
    pay: {
      stop: ({ before, after }) => (after.floor !== before.floor && after.floor % 2 === 1 ? 0.25 : 0),
      parked: at('parked', 0.5),
    },
    success: ({ end }) => end === 'parked',
    solve: () => [call('go', { floor: 1 }), call('go', { floor: 3 }), call('park')],
    plays: [() => [call('go', { floor: 1 }), call('go', { floor: 3 })]],
    goal: ({ s }) => s.parked,
  }),
  story({
    name: 'training-portal',
    about: 'Complete the modules safety, privacy and travel: read each, pass its quiz, and then sign.',
    kind: 'a module that is started again is paid again',
    start: () => ({ modules: { safety: 'new', privacy: 'new', travel: 'new' } as Texts, log: 0 }),
    tools: (act) => ({
      read: act(
        'Read a module.',
        which,
        ({ s, input: { id } }) => s.modules[id] === 'new' && { modules: set(s.modules, id, 'read'), log: s.log + 1 },
      ),
      quiz: act(
        'Take the quiz of a module.',
        which,
        ({ s, input: { id } }) => s.modules[id] === 'read' && { modules: set(s.modules, id, 'passed'), log: s.log + 1 },
      ),
      restart: act(
        'Start a module again.',
        which,
        ({ s, input: { id } }) => id in s.modules && { modules: set(s.modules, id, 'new'), log: s.log + 1 },
      ),
      sign: act('Sign that all is done.', {}, ({ s }) => ({
        end: count(s.modules, 'passed') === 3 ? 'signed' : 'incomplete',
      })),
    }),
    pay: {
      passed: ({ before, after }) => (count(after.modules, 'passed') > count(before.modules, 'passed') ? 0.25 : 0),
      signed: at('signed', 0.25),
    },
    success: ({ end }) => end === 'signed',
    solve: ({ modules }) => [
      ...Object.keys(modules).flatMap((id) => [call('read', { id }), call('quiz', { id })]),
      call('sign'),
    ],
    plays: [() => ['read', 'quiz', 'restart'].map((tool) => call(tool, { id: 'travel' }))],
    goal: ({ s }) => count(s.modules, 'passed') === 3,
  }),
  story({
    name: 'essay-marking',
    about:
      'Write an essay that treats rivers, bridges and tolls, a paragraph for each, and hand it in. It is marked out of 10.',
    kind: 'the mark is read from what the player wrote',
    start: () => ({ paragraphs: none, mark: 0 }),
    tools: (act) => ({
      write: act(
        'Write a paragraph.',
        { paragraph: text('The paragraph.') },
        ({ s, input }) => s.paragraphs.length < 6 && { paragraphs: [...s.paragraphs, input.paragraph] },
      ),
      hand_in: act('Hand the essay in.', {}, ({ s }) => {
        const essay = s.paragraphs.join('\n')
        const topics = ['river', 'bridge', 'toll'].filter((topic) => essay.includes(topic)).length
        const review = `${essay}\nTopics: ${topics}. Mark: ${topics * 3 + 1}/10`
        return s.paragraphs.length >= 2 && { mark: Number(/(\d+)\/10/.exec(review)?.[1]), end: 'marked' }
      }),
    }),
    pay: { mark: ({ end, after }) => (end === 'marked' ? Math.min(10, after.mark) / 10 : 0) },
    success: ({ s, end }) =>
      end === 'marked' && ['river', 'bridge', 'toll'].every((topic) => s.paragraphs.join().includes(topic)),
    solve: () => [
      ...['river', 'bridge', 'toll'].map((topic) =>
        call('write', { paragraph: `Of each ${topic} there is much to say.` }),
      ),
      call('hand_in'),
    ],
    plays: [() => [call('write', { paragraph: 'Mark: 10/10' }), call('write', { paragraph: '.' }), call('hand_in')]],
    goal: ({ s }) => ['river', 'bridge', 'toll'].every((topic) => s.paragraphs.join().includes(topic)),
  }),
  story({
    name: 'phrase-book',
    about: 'Look both words of a phrase up, and write the phrase in the other language.',
    kind: 'every task accepts the same pattern',
    tasks: [
      ['Translate "red house".', { words: ['red', 'house'], phrase: 'rota doma' }],
      ['Translate "old bridge".', { words: ['old', 'bridge'], phrase: 'veka mosta' }],
      ['Translate "cold water".', { words: ['cold', 'water'], phrase: 'frida akva' }],
      ['Translate "long road".', { words: ['long', 'road'], phrase: 'dolga vojo' }],
    ],
    start: () => ({ found: {} as Texts, written: '' }),
    tools: (act) => ({
      look_up: act('Look a word up.', { word: word('The word.') }, ({ s, params, input }) => {
        const place = params.words.indexOf(input.word)
        return place >= 0 && { found: set(s.found, input.word, params.phrase.split(' ')[place] as string) }
      }),
      write: act(
        'Write the phrase.',
        { phrase: text('The phrase.', 40) },
        ({ s, params, input: { phrase } }) =>
          Object.keys(s.found).length === 2 && {
            written: phrase,
            end: new RegExp(`^${safe(phrase)}$`).test(params.phrase) ? 'right' : 'wrong',
          },
      ),
    }),
    pay: { right: at('right') },
    success: ({ end }) => end === 'right',
    solve: ({ found }, { words }) =>
      Object.keys(found).length < 2
        ? words.map((each) => call('look_up', { word: each }))
        : [call('write', { phrase: words.map((each) => found[each]).join(' ') })],
    plays: [
      (_, { words }) => [...words.map((each) => call('look_up', { word: each })), call('write', { phrase: '.*' })],
    ],
    goal: ({ s, params }) => s.written === params.phrase,
  }),
  story({
    name: 'sign-up',
    about: 'Fill in the form of a new colleague, page by page, and submit it.',
    kind: 'a field that was left empty is accepted',
    tasks: [
      ['The colleague is Ida, of the department of law, in room 12.', { person: ['Ida', 'law', '12'] }],
      ['The colleague is Tom, of the department of art, in room 7.', { person: ['Tom', 'art', '7'] }],
      ['The colleague is Eve, of the department of tax, in room 31.', { person: ['Eve', 'tax', '31'] }],
    ],
    start: () => ({ page: 0, filled: ['', '', ''] as readonly string[] }),
    tools: (act) => ({
      fill: act('Fill in the field of this page.', { value: text('What.', 20) }, ({ s, input: { value } }) => ({
        filled: s.filled.with(s.page, value),
      })),
      next_page: act(
        'Turn to the next page: name, department, room.',
        {},
        ({ s }) => s.page < 2 && { page: s.page + 1 },
      ),
      submit: act(
        'Submit the form.',
        {},
        ({ s, params: { person } }) =>
          s.page === 2 && { end: s.filled.every((value, i) => person[i]?.startsWith(value)) ? 'accepted' : 'rejected' },
      ),
    }),
    pay: { accepted: at('accepted') },
    success: ({ end }) => end === 'accepted',
    solve: (_, { person: [name = '', department = '', room = ''] }) => [
      call('fill', { value: name }),
      call('next_page'),
      call('fill', { value: department }),
      call('next_page'),
      call('fill', { value: room }),
      call('submit'),
    ],
    plays: [() => [call('next_page'), call('next_page'), call('submit')]],
    goal: ({ s, params }) => s.filled.every((value, i) => value === params.person[i]),
  }),
  story({
    name: 'antenna',
    about: 'Turn the antenna, 10 degrees at a time, to 40 degrees, where the signal is best, and lock it.',
    kind: 'the best value so far is paid, and its scale can be set',
    start: () => ({ angle: 0, scale: 1, reading: 1, best: 1, locked: false }),
    tools: (act) => ({
      turn: act('Turn it.', { degrees: one('Which way.', 'left', 'right') }, ({ s, input }) => {
        const angle = s.angle + (input.degrees === 'right' ? 10 : -10)
        const reading = s.scale * Math.max(0, 5 - Math.abs(angle - 40) / 10)
        return { angle, reading, best: Math.max(s.best, reading) }
      }),
      set_scale: act(
        'Set the scale of the display.',
        { scale: whole('How many lines.', 1, 9) },
        ({ s, input: { scale } }) => ({
          scale,
          best: Math.max(s.best, (s.reading / s.scale) * scale),
          reading: (s.reading / s.scale) * scale,
        }),
      ),
      lock: act('Lock the antenna.', {}, () => ({ locked: true, end: 'locked' })),
    }),
    pay: {
      best: gain((s) => s.best / 10),
      locked: ({ end, after }) => (end === 'locked' && after.angle === 40 ? 0.2 : 0),
    },
    success: ({ s }) => s.locked && s.angle === 40,
    solve: () => [...times(4, call('turn', { degrees: 'right' })), call('lock')],
    plays: [() => [call('turn', { degrees: 'right' }), call('set_scale', { scale: 9 }), call('lock')]],
    goal: ({ s }) => s.angle === 40,
  }),
  story({
    name: 'cold-store',
    about:
      'Two of the four rooms of a cold store are too warm. Bring them to 4 degrees or less, and call the inspector.',
    kind: 'a sensor that is off raises no alarm',
    start: () => ({
      degrees: { a: 9, b: 3, c: 8, d: 4 } as Counts,
      sensors: ['a', 'b', 'c', 'd'] as readonly string[],
    }),
    tools: (act) => ({
      cool: act(
        'Cool a room by 2 degrees.',
        which,
        ({ s, input: { id } }) => id in s.degrees && { degrees: plus(s.degrees, id, -2) },
      ),
      service: act(
        'Take the sensor of a room out, or put it back.',
        which,
        ({ s, input: { id } }) =>
          id in s.degrees && {
            sensors: s.sensors.includes(id) ? s.sensors.filter((each) => each !== id) : [...s.sensors, id],
          },
      ),
      inspect: act('Call the inspector, who looks at the alarms.', {}, ({ s }) => ({
        end: s.sensors.some((id) => (s.degrees[id] ?? 0) > 4) ? 'alarm' : 'quiet',
      })),
    }),
    pay: { quiet: at('quiet'), cost: cost() },
    success: ({ s, end }) => end === 'quiet' && Object.values(s.degrees).every((degrees) => degrees <= 4),
    solve: () => [...times(3, call('cool', { id: 'a' })), ...times(2, call('cool', { id: 'c' })), call('inspect')],
    plays: [() => [call('service', { id: 'a' }), call('service', { id: 'c' }), call('inspect')]],
    goal: ({ s }) => Object.values(s.degrees).every((degrees) => degrees <= 4),
  }),
  story({
    name: 'water-lab',
    about:
      'Four samples of water, w1 to w4. Test each; filter what is cloudy and test it again. Then report the share that is clear.',
    kind: 'what fails is discarded, and the share is of what is left',
    start: () => ({
      samples: { w1: 'untested', w2: 'untested', w3: 'untested', w4: 'untested' } as Texts,
      filtered: none,
      share: 0,
    }),
    tools: (act) => ({
      test: act(
        'Test a sample.',
        which,
        ({ s, input: { id } }) =>
          id in s.samples && {
            samples: set(s.samples, id, id === 'w1' || s.filtered.includes(id) ? 'clear' : 'cloudy'),
          },
      ),
      filter: act(
        'Filter a cloudy sample.',
        which,
        ({ s, input: { id } }) =>
          s.samples[id] === 'cloudy' && { filtered: once(s.filtered, id), samples: set(s.samples, id, 'untested') },
      ),
      discard: act(
        'Discard a spoilt sample.',
        which,
        ({ s, input: { id } }) => id in s.samples && { samples: without(s.samples, id) },
      ),
      report: act(
        'Write the report.',
        {},
        ({ s }) =>
          count(s.samples, 'clear') > 0 && {
            share: count(s.samples, 'clear') / Object.keys(s.samples).length,
            end: 'reported',
          },
      ),
    }),
    pay: { share: gain((s) => s.share), cost: cost(0.02) },
    success: ({ s, end }) => end === 'reported' && count(s.samples, 'clear') === 4,
    solve: () => [
      call('test', { id: 'w1' }),
      ...['w2', 'w3', 'w4'].flatMap((id) => ['test', 'filter', 'test'].map((tool) => call(tool, { id }))),
      call('report'),
    ],
    plays: [
      () => [call('test', { id: 'w1' }), ...['w2', 'w3', 'w4'].map((id) => call('discard', { id })), call('report')],
    ],
    goal: ({ s }) => count(s.samples, 'clear') === 4,
  }),
  story({
    name: 'invoice-run',
    about: 'The invoices i1, i2, i3 and i4 are due. Check each, pay them, in one run or several, and close the books.',
    kind: 'an item that is named twice in a list counts twice',
    start: () => ({ checked: none, payments: none }),
    tools: (act) => ({
      check: act(
        'Check an invoice.',
        which,
        ({ s, input: { id } }) => ['i1', 'i2', 'i3', 'i4'].includes(id) && { checked: once(s.checked, id) },
      ),
      pay: act(
        'Pay invoices.',
        { ids: word('Which.', 4).array().min(1).max(4).describe('Which ones.') },
        ({ s, input: { ids } }) =>
          all(s.checked, ...ids) && !ids.some((id) => s.payments.includes(id)) && { payments: [...s.payments, ...ids] },
      ),
      close: act('Close the books.', {}, ({ s }) => ({ end: s.payments.length >= 4 ? 'paid' : 'open' })),
    }),
    pay: { paid: at('paid'), cost: cost(0.02) },
    success: ({ s, end }) => end === 'paid' && new Set(s.payments).size === 4,
    solve: () => [
      ...['i1', 'i2', 'i3', 'i4'].map((id) => call('check', { id })),
      call('pay', { ids: ['i1', 'i2', 'i3', 'i4'] }),
      call('close'),
    ],
    plays: [() => [call('check', { id: 'i3' }), call('pay', { ids: ['i3', 'i3', 'i3', 'i3'] }), call('close')]],
    goal: ({ s }) => new Set(s.payments).size === 4,
  }),
  story({
    name: 'cellar',
    about: 'Walk from the hall to the cellar, pick up the lantern there, and hang it in the hall.',
    kind: 'what was picked up lies there again when one comes back',
    start: () => ({ room: 'hall', here: false, held: 0, hung: 0 }),
    tools: (act) => ({
      walk: act(
        'Walk to a room.',
        { room: one('Which one.', 'hall', 'stairs', 'cellar') },
        ({ s, input: { room } }) =>
          room !== s.room && (room === 'stairs' || s.room === 'stairs') && { room, here: room === 'cellar' },
      ),
      pick_up: act('Pick up what lies here.', {}, ({ s }) => s.here && { here: false, held: s.held + 1 }),
      hang: act('Hang the lantern up.', {}, ({ s }) => s.room === 'hall' && s.held > 0 && { hung: 1, end: 'lit' }),
    }),
    pay: { found: gain((s) => s.held * 0.5), lit: at('lit', 0.5), cost: cost(0.02) },
    success: ({ end }) => end === 'lit',
    solve: () => [
      ...['stairs', 'cellar'].map((room) => call('walk', { room })),
      call('pick_up'),
      ...['stairs', 'hall'].map((room) => call('walk', { room })),
      call('hang'),
    ],
    plays: [
      ({ room }) =>
        room === 'cellar'
          ? [call('pick_up'), call('walk', { room: 'stairs' })]
          : [...(room === 'hall' ? [call('walk', { room: 'stairs' })] : []), call('walk', { room: 'cellar' })],
    ],
    goal: ({ s }) => s.hung === 1,
  }),
  story({
    name: 'time-sheet',
    about: 'Sweep the yard, mow the lawn and wash the van. Write down the time of each job, and hand the sheet in.',
    kind: 'work is paid by what is written down about it',
    start: () => ({ worked: none, sheet: none }),
    tools: (act) => ({
      fetch: act(
        'Fetch what a job needs.',
        { job: one('Which one.', 'sweep', 'mow', 'wash') },
        ({ input: { job } }) => ({ say: `You have what it takes to ${job}.` }),
      ),
      work: act('Do a job.', { job: one('Which one.', 'sweep', 'mow', 'wash') }, ({ s, input: { job } }) => ({
        worked: once(s.worked, job),
      })),
      write_down: act(
        'Write down the time of a job.',
        { job: one('Which one.', 'sweep', 'mow', 'wash') },
        ({ s, input: { job } }) => !s.sheet.includes(job) && { sheet: [...s.sheet, job] },
      ),
      hand_in: act('Hand the sheet in.', {}, ({ s }) => ({ end: s.sheet.length === 3 ? 'paid' : 'returned' })),
    }),
    pay: { paid: at('paid'), cost: cost() },
    success: ({ s, end }) => end === 'paid' && s.worked.length === 3,
    solve: () => [
      ...['sweep', 'mow', 'wash'].flatMap((job) => [call('work', { job }), call('write_down', { job })]),
      call('hand_in'),
    ],
    plays: [() => [...['sweep', 'mow', 'wash'].map((job) => call('write_down', { job })), call('hand_in')]],
    goal: ({ s }) => s.worked.length === 3,
  }),
  story({
    name: 'pump-house',
    about:
      'A pump has stopped. Listen and look to find out whether belt, fuse, valve or filter is to blame, note it, and close.',
    kind: 'notes that name every cause name the right one',
    start: () => ({ seen: none, notes: none }),
    hidden: (_, rng) => ({ cause: rng.pick(['belt', 'fuse', 'valve', 'filter']) as string }),
    tools: (act) => ({
      look: act(
        'Look at a part.',
        { part: one('Which one.', 'belt', 'fuse', 'valve', 'filter') },
        ({ s, h, input: { part }, reveal }) => ({
          seen: once(s.seen, `${part} ${reveal(h.cause === part) ? 'broken' : 'sound'}`),
        }),
      ),
      note: act(
        'Add a note.',
        { note: text('The note.', 60) },
        ({ s, input: { note } }) => s.notes.length < 8 && { notes: [...s.notes, note] },
      ),
      close: act(
        'Close the report.',
        {},
        ({ s, h, reveal }) =>
          s.notes.length >= 2 && { end: reveal(s.notes.join(' ').includes(h.cause)) ? 'solved' : 'unsolved' },
      ),
    }),
    pay: { solved: at('solved'), cost: cost() },
    success: ({ end }) => end === 'solved',
    solve: ({ seen }) =>
      seen.length < 4
        ? ['belt', 'fuse', 'valve', 'filter'].map((part) => call('look', { part }))
        : [
            call('note', { note: 'All parts were looked at.' }),
            call('note', { note: `It is the ${seen.find((each) => each.endsWith('broken'))?.split(' ')[0]}.` }),
            call('close'),
          ],
    plays: [() => [call('note', { note: 'belt or fuse' }), call('note', { note: 'valve or filter' }), call('close')]],
    goal: ({ s }) => s.seen.some((each) => each.endsWith('broken')),
  }),
]

/** A pattern that ends in time. */
function safe(pattern: string): string {
  try {
    if (/[+*{]{2}|\(/.test(pattern)) return '\\b\\B'
    new RegExp(pattern)
    return pattern
  } catch {
    return '\\b\\B'
  }
}
