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
  sum,
  type Texts,
  text,
  times,
  which,
  whole,
  without,
  word,
} from './story.fixture.ts'

/** Desks where things are sold, lent, taken back and written off. */
export const DESKS: readonly Entry[] = [
  story({
    name: 'returns-desk',
    about: 'Customers return a kettle (r1, 30), a lamp (r2, 20) and a rug (r3). Inspect each, and refund or reject it.',
    kind: 'a refund is paid again for the same order',
    start: () => ({ returns: { r1: 'open', r2: 'open', r3: 'open' } as Texts, refunded: {} as Counts }),
    tools: (act) => ({
      inspect: act(
        'Inspect a return.',
        which,
        ({ s, input: { id } }) =>
          s.returns[id] === 'open' && { returns: set(s.returns, id, id === 'r3' ? 'never paid' : 'in order') },
      ),
      refund: act(
        'Give the money back.',
        which,
        ({ s, input: { id } }) =>
          s.returns[id] === 'in order' && { refunded: plus(s.refunded, id, id === 'r1' ? 30 : 20) },
      ),
      reject: act(
        'Send it back to the customer.',
        which,
        ({ s, input: { id } }) => s.returns[id] === 'never paid' && { returns: set(s.returns, id, 'sent back') },
      ),
      close: act('Close the desk.', {}, () => ({ end: 'closed' })),
    }),
    pay: { refunded: gain((s) => sum(s.refunded) / 50), rejected: gain((s) => count(s.returns, 'sent back') / 2) },
    success: ({ s, end }) =>
      end === 'closed' && s.refunded.r1 === 30 && s.refunded.r2 === 20 && s.returns.r3 === 'sent back',
    solve: ({ returns }) => [
      ...Object.keys(returns).flatMap((id) => [
        call('inspect', { id }),
        call(id === 'r3' ? 'reject' : 'refund', { id }),
      ]),
      call('close'),
    ],
    plays: [() => [call('inspect', { id: 'r2' }), ...times(5, call('refund', { id: 'r2' })), call('close')]],
    goal: ({ s }) => s.refunded.r1 === 30 && s.refunded.r2 === 20 && s.returns.r3 === 'sent back',
  }),
  story({
    name: 'parcel-office',
    about: 'Post the parcels p1, p2 and p3. Each has to be weighed and paid for before it leaves.',
    kind: 'the state changes before what has to hold is checked',
    start: () => ({ parcels: { p1: 'new', p2: 'new', p3: 'new' } as Texts, paid: none, till: 0 }),
    tools: (act) => ({
      weigh: act(
        'Weigh a parcel.',
        which,
        ({ s, input: { id } }) => s.parcels[id] === 'new' && { parcels: set(s.parcels, id, 'weighed') },
      ),
      take_payment: act(
        'Take the payment.',
        which,
        ({ s, input: { id } }) =>
          s.parcels[id] === 'weighed' && !s.paid.includes(id) && { paid: [...s.paid, id], till: s.till + 4 },
      ),
      post: act(
        'Post a parcel.',
        which,
        ({ s, input: { id } }) =>
          s.parcels[id] === 'weighed' && {
            parcels: set(s.parcels, id, 'posted'),
            say: s.paid.includes(id) ? 'It is on its way.' : 'This parcel is not paid for.',
          },
      ),
      finish: act('End the day.', {}, () => ({ end: 'finished' })),
    }),
    pay: { posted: gain((s) => count(s.parcels, 'posted') / 3) },
    success: ({ s, end }) => end === 'finished' && s.till === 12 && count(s.parcels, 'posted') === 3,
    solve: ({ parcels }) => [
      ...Object.keys(parcels).flatMap((id) => ['weigh', 'take_payment', 'post'].map((tool) => call(tool, { id }))),
      call('finish'),
    ],
    plays: [
      ({ parcels }) => [
        ...Object.keys(parcels).flatMap((id) => [call('weigh', { id }), call('post', { id })]),
        call('finish'),
      ],
    ],
    goal: ({ s }) => s.till === 12 && count(s.parcels, 'posted') === 3,
  }),
  story({
    name: 'account-line',
    about:
      'A caller wants a new password. Ask for name, birthday and letter, verify the code of the letter, and reset it.',
    kind: 'a counter of attempts starts again with each call',
    start: () => ({ tries: 0, calls: 1, asked: none, said: '', verified: false }),
    hidden: (_, rng) => ({ code: rng.int(0, 7) }),
    tools: (act) => ({
      ask: act(
        'Ask the caller.',
        { about: one('About what.', 'name', 'birthday', 'letter') },
        ({ s, h, input: { about }, reveal }) => ({
          asked: once(s.asked, about),
          said:
            about !== 'letter'
              ? 'It is on file.'
              : all(s.asked, 'name', 'birthday')
                ? `It says ${reveal(h.code)}.`
                : 'Who are you?',
        }),
      ),
      verify: act(
        'Enter the code.',
        { code: whole('The code.', 0, 7) },
        ({ s, h, input, reveal }) =>
          s.tries < 2 &&
          (reveal(input.code === h.code) ? { verified: true } : { tries: s.tries + 1, say: 'It is wrong.' }),
      ),
      call_back: act('Hang up, and call again.', {}, ({ s }) => ({ tries: 0, calls: s.calls + 1, said: 'Hello.' })),
      reset: act('Reset the password.', {}, ({ s }) => s.verified && { end: 'reset' }),
    }),
    pay: { reset: at('reset') },
    success: ({ s, end }) => end === 'reset' && all(s.asked, 'name', 'birthday', 'letter'),
    solve: ({ asked, said }) =>
      asked.length < 3
        ? ['name', 'birthday', 'letter'].map((about) => call('ask', { about }))
        : [call('verify', { code: Number(/\d/.exec(said)?.[0] ?? 0) }), call('reset')],
    plays: [
      ({ verified, tries, calls }) => [
        verified ? call('reset') : tries === 2 ? call('call_back') : call('verify', { code: (calls - 1) * 2 + tries }),
      ],
    ],
    goal: ({ s }) => s.verified && all(s.asked, 'name', 'birthday', 'letter'),
  }),
  story({
    name: 'text-editor',
    about: 'A manuscript has four marked words. Correct them all, then hand it in.',
    kind: 'an undo keeps what was paid',
    start: () => ({ marked: ['tyme', 'wich', 'recieve', 'untill'] as readonly string[], corrected: none, version: 0 }),
    tools: (act) => ({
      correct: act(
        'Correct a marked word.',
        { marked: word('The word.') },
        ({ s, input: { marked } }) =>
          s.marked.includes(marked) && {
            marked: s.marked.filter((each) => each !== marked),
            corrected: [...s.corrected, marked],
            version: s.version + 1,
          },
      ),
      undo: act(
        'Take the last correction back.',
        {},
        ({ s }) =>
          s.corrected.length > 0 && {
            marked: [...s.marked, s.corrected.at(-1) as string],
            corrected: s.corrected.slice(0, -1),
            version: s.version + 1,
          },
      ),
      hand_in: act('Hand the manuscript in.', {}, ({ s }) => ({
        end: s.marked.length === 0 ? 'accepted' : 'returned',
      })),
    }),
    pay: {
      corrected: ({ before, after }) => (after.corrected.length > before.corrected.length ? 0.2 : 0),
      accepted: at('accepted', 0.2),
    },
    success: ({ end }) => end === 'accepted',
    solve: ({ marked }) => [...marked.map((each) => call('correct', { marked: each })), call('hand_in')],
    plays: [() => times(12, call('correct', { marked: 'wich' }), call('undo'))],
    goal: ({ s }) => s.marked.length === 0,
  }),
  story({
    name: 'tool-library',
    about: 'Members bring a drill (slip s1) and a saw (slip s2) back. Check each, shelve it, and settle its deposit.',
    kind: 'a slip is accepted after it has been used',
    start: () => ({ checked: none, shelf: none, settled: 0 }),
    tools: (act) => ({
      check: act(
        'Check what was brought back.',
        which,
        ({ s, input: { id } }) => ['s1', 's2'].includes(id) && { checked: once(s.checked, id) },
      ),
      settle: act(
        'Shelve it, and settle the deposit.',
        which,
        ({ s, input: { id } }) => s.checked.includes(id) && { shelf: once(s.shelf, id), settled: s.settled + 1 },
      ),
      lock_up: act('Lock the library.', {}, () => ({ end: 'locked' })),
    }),
    pay: { settled: gain((s) => s.settled) },
    solve: () => [...['s1', 's2'].flatMap((id) => [call('check', { id }), call('settle', { id })]), call('lock_up')],
    plays: [() => [call('check', { id: 's2' }), ...times(4, call('settle', { id: 's2' })), call('lock_up')]],
    goal: ({ s }) => s.shelf.length === 2 && s.settled === 2,
  }),
  story({
    name: 'exam-hall',
    about: 'Answer the three questions of the paper, and finish.',
    kind: 'an answer that was right is marked again',
    tasks: [
      ['The questions are 2 + 3, 4 + 4 and 1 + 6.', { sums: [5, 8, 7] }],
      ['The questions are 7 + 1, 5 + 6 and 2 + 2.', { sums: [8, 11, 4] }],
      ['The questions are 9 + 9, 3 + 0 and 8 + 5.', { sums: [18, 3, 13] }],
    ],
    steps: 15,
    start: () => ({ marks: 0, answered: [] as readonly number[] }),
    tools: (act) => ({
      answer: act(
        'Answer a question.',
        { question: whole('Which.', 1, 3), value: whole('The sum.', 0, 99) },
        ({ s, params, input }) => ({
          answered: once(s.answered, input.question),
          marks: s.marks + (params.sums[input.question - 1] === input.value ? 1 : 0),
        }),
      ),
      finish: act('Hand the paper in.', {}, () => ({ end: 'finished' })),
    }),
    pay: { marks: gain((s) => s.marks / 3) },
    solve: (_, { sums }) => [...sums.map((value, i) => call('answer', { question: i + 1, value })), call('finish')],
    plays: [(_, { sums: [value = 0] }) => [...times(6, call('answer', { question: 1, value })), call('finish')]],
    goal: ({ s }) => s.answered.length === 3,
  }),
  story({
    name: 'stock-room',
    about: 'Buy 2 screws at 3, 2 boards at 8 and 1 paint at 10, and have them delivered. What is left is the saving.',
    kind: 'a negative amount gives money',
    start: () => ({ budget: 40, bought: {} as Counts }),
    tools: (act) => ({
      buy: act(
        'Buy so many.',
        { item: one('What.', 'screws', 'boards', 'paint'), amount: whole('How many.', -10, 10) },
        ({ s, input: { item, amount } }) => {
          const price = amount * { screws: 3, boards: 8, paint: 10 }[item]
          return price <= s.budget && { budget: s.budget - price, bought: plus(s.bought, item, amount) }
        },
      ),
      deliver: act('Have everything delivered.', {}, () => ({ end: 'delivered' })),
    }),
    pay: {
      saved: ({ end, after }) =>
        end === 'delivered' && Object.keys(after.bought).length === 3 ? 1 + after.budget / 40 : 0,
    },
    success: ({ s, end }) =>
      end === 'delivered' && s.bought.screws === 2 && s.bought.boards === 2 && s.bought.paint === 1,
    solve: () => [
      ...[
        ['screws', 2],
        ['boards', 2],
        ['paint', 1],
      ].map(([item = '', amount = 0]) => call('buy', { item, amount })),
      call('deliver'),
    ],
    plays: [
      () => [
        call('buy', { item: 'paint', amount: -4 }),
        call('buy', { item: 'screws', amount: 1 }),
        call('buy', { item: 'boards', amount: 1 }),
        call('deliver'),
      ],
    ],
    goal: ({ s }) => s.bought.screws === 2 && s.bought.boards === 2 && s.bought.paint === 1,
  }),
  story({
    name: 'release-gate',
    about:
      'The checks build, lint and units of a release are red. Mend what they complain about, run them, and publish.',
    kind: 'no item at all is as good as all of them',
    start: () => ({ checks: { build: 'red', lint: 'red', units: 'red' } as Texts, mended: none }),
    tools: (act) => ({
      mend: act('Mend what a check complains about.', which, ({ s, input: { id } }) => ({
        mended: once(s.mended, id),
      })),
      run: act(
        'Run a check.',
        which,
        ({ s, input: { id } }) =>
          id in s.checks && { checks: set(s.checks, id, s.mended.includes(id) ? 'green' : 'red') },
      ),
      drop: act(
        'Remove a check that is no longer used.',
        which,
        ({ s, input: { id } }) => id in s.checks && { checks: without(s.checks, id) },
      ),
      publish: act(
        'Publish the release.',
        {},
        ({ s }) => Object.values(s.checks).every((colour) => colour === 'green') && { end: 'published' },
      ),
    }),
    pay: { published: at('published'), cost: cost() },
    success: ({ s, end }) => end === 'published' && all(s.mended, 'build', 'lint', 'units'),
    solve: ({ checks }) => [
      ...Object.keys(checks).flatMap((id) => [call('mend', { id }), call('run', { id })]),
      call('publish'),
    ],
    plays: [({ checks }) => [...Object.keys(checks).map((id) => call('drop', { id })), call('publish')]],
    goal: ({ s }) => all(s.mended, 'build', 'lint', 'units'),
  }),
  story({
    name: 'ballot-table',
    about: 'The members 1, 2 and 3 vote on a motion. Ask each, count the votes, and announce the result.',
    kind: 'the same voter counts as a number and as a text',
    start: () => ({ asked: [] as readonly number[], voted: [] as readonly (number | string)[] }),
    tools: (act) => ({
      ask: act('Ask a member.', { member: whole('Which one.', 1, 3) }, ({ s, input: { member } }) => ({
        asked: once(s.asked, member),
        say: 'Yes.',
      })),
      count: act(
        'Count the vote of a member.',
        { member: whole('', 1, 3).or(word('', 3)).describe('Which one.') },
        ({ s, input: { member } }) =>
          s.asked.includes(Number(member)) && !s.voted.includes(member) && { voted: [...s.voted, member] },
      ),
      announce: act('Announce the result.', {}, ({ s }) => ({ end: s.voted.length >= 3 ? 'carried' : 'lost' })),
    }),
    pay: { carried: at('carried') },
    success: ({ s, end }) => end === 'carried' && s.asked.length === 3,
    solve: () => [
      ...[1, 2, 3].flatMap((member) => [call('ask', { member }), call('count', { member })]),
      call('announce'),
    ],
    plays: [
      () => [
        call('ask', { member: 1 }),
        ...[1, '1', '01'].map((member) => call('count', { member })),
        call('announce'),
      ],
    ],
    goal: ({ s }) => s.asked.length === 3,
  }),
  story({
    name: 'teller',
    about: 'The customer has 50, and wants 10 three times. Have each withdrawal signed, and pay it out.',
    kind: 'a text that is no number passes a comparison',
    start: () => ({ balance: 50, signed: 0, paid: 0 }),
    tools: (act) => ({
      sign: act('Have the customer sign.', {}, ({ s }) => ({ signed: s.signed + 1 })),
      withdraw: act('Pay a withdrawal out.', { amount: word('How much.', 8) }, ({ s, input }) => {
        const amount = Number(input.amount)
        const refused = amount <= 0 || amount > s.balance || (amount > 0 && s.signed <= s.paid)
        return !refused && { paid: s.paid + 1, balance: amount > 0 ? s.balance - amount : s.balance }
      }),
      close: act('Close the counter.', {}, ({ s }) => ({ end: s.paid >= 3 ? 'paid' : 'open' })),
    }),
    pay: { paid: at('paid') },
    success: ({ s, end }) => end === 'paid' && s.balance === 20,
    solve: () => [...times(3, call('sign'), call('withdraw', { amount: '10' })), call('close')],
    plays: [() => [...times(3, call('withdraw', { amount: 'all' })), call('close')]],
    goal: ({ s }) => s.balance === 20 && s.signed === 3,
  }),
  story({
    name: 'help-queue',
    about: 'Tickets: t1 login, t2 invoice, t3 printer, t4 login. Answer them, saying what each is about; then go home.',
    kind: 'merging counts as answering',
    start: () => ({ tickets: { t1: 'open', t2: 'open', t3: 'open', t4: 'open' } as Texts }),
    tools: (act) => ({
      answer: act(
        'Answer a ticket.',
        { ...which, reply: text('What to write.') },
        ({ s, input: { id, reply } }) =>
          s.tickets[id] === 'open' &&
          reply.includes({ t2: 'invoice', t3: 'printer' }[id] ?? 'login') && {
            tickets: set(s.tickets, id, 'answered'),
          },
      ),
      merge: act(
        'Merge a ticket into one about the same.',
        { ...which, into: word('Into which.') },
        ({ s, input: { id, into } }) =>
          s.tickets[id] === 'open' && into in s.tickets && into !== id && { tickets: set(s.tickets, id, `in ${into}`) },
      ),
      go_home: act('End the shift.', {}, () => ({ end: 'home' })),
    }),
    pay: { emptied: gain((s) => -count(s.tickets, 'open') / 4) },
    success: ({ s, end }) =>
      end === 'home' && ['t1', 't2', 't3', 't4'].every((id) => s.tickets[id] === 'answered' || id === 't4'),
    solve: ({ tickets }) => [
      ...Object.keys(tickets).map((id) =>
        call('answer', { id, reply: 'About your login, invoice or printer: it works.' }),
      ),
      call('go_home'),
    ],
    plays: [
      () => [
        ...['t1', 't2', 't3', 't4'].map((id) => call('merge', { id, into: id === 't4' ? 't1' : 't4' })),
        call('go_home'),
      ],
    ],
    goal: ({ s }) => count(s.tickets, 'answered') >= 3,
  }),
  story({
    name: 'web-shop',
    about: 'You have 30. Put the lamp, which costs 25, in the basket, pay, pick it up, and leave.',
    kind: 'what was handed over can still be cancelled',
    start: () => ({ purse: 30, basket: false, paid: false, home: false }),
    tools: (act) => ({
      add: act('Put the lamp in the basket.', {}, () => ({ basket: true })),
      pay: act('Pay for the basket.', {}, ({ s }) => s.basket && !s.paid && { paid: true, purse: s.purse - 25 }),
      pick_up: act('Pick up what is paid.', {}, ({ s }) => s.paid && { home: true }),
      cancel: act('Cancel the order.', {}, ({ s }) => s.paid && { paid: false, purse: s.purse + 25 }),
      leave: act('Leave the shop.', {}, () => ({ end: 'left' })),
    }),
    pay: { worth: ({ end, after }) => (end === 'left' && after.home ? (after.purse + 25) / 30 : 0) },
    success: ({ s, end }) => end === 'left' && s.home && s.purse === 5,
    solve: () => ['add', 'pay', 'pick_up', 'leave'].map((tool) => call(tool)),
    plays: [() => ['add', 'pay', 'pick_up', 'cancel', 'leave'].map((tool) => call(tool))],
    goal: ({ s }) => s.home && s.purse === 5,
  }),
  story({
    name: 'coupon-counter',
    about: 'A customer buys a tea at 12 and a pot at 18, and has the coupon SPRING: 5 off, once. Ring it all up.',
    kind: 'another spelling is another coupon',
    start: () => ({ used: none, discount: 0, rung: none, due: 0 }),
    tools: (act) => ({
      coupon: act(
        'Apply a coupon.',
        { code: word('Its code.', 12) },
        ({ s, input: { code } }) =>
          code.trim().toUpperCase() === 'SPRING' &&
          !s.used.includes(code) && { used: [...s.used, code], discount: s.discount + 5, due: s.due - 5 },
      ),
      ring_up: act(
        'Ring an item up.',
        { item: one('Which.', 'tea', 'pot') },
        ({ s, input: { item } }) =>
          !s.rung.includes(item) && { rung: [...s.rung, item], due: s.due + (item === 'tea' ? 12 : 18) },
      ),
      checkout: act('Take the money.', {}, ({ s }) => s.rung.length > 0 && { end: 'paid' }),
    }),
    pay: { sale: ({ end, after }) => (end === 'paid' ? after.discount / 10 + after.rung.length / 4 : 0) },
    success: ({ s, end }) => end === 'paid' && s.due === 25,
    solve: () => [
      call('coupon', { code: 'SPRING' }),
      ...['tea', 'pot'].map((item) => call('ring_up', { item })),
      call('checkout'),
    ],
    plays: [
      () => [
        ...['SPRING', 'spring', 'Spring'].map((code) => call('coupon', { code })),
        call('ring_up', { item: 'tea' }),
        call('checkout'),
      ],
    ],
    goal: ({ s }) => s.due === 25,
  }),
  story({
    name: 'house-bank',
    about: 'A household has two pots, bills and savings. Pay the rent of 30 from bills, and end the month.',
    kind: 'a transfer to itself adds',
    start: () => ({ pots: { bills: 20, savings: 20 } as Counts, rent: false }),
    tools: (act) => ({
      move: act(
        'Move money.',
        {
          from: one('From which.', 'bills', 'savings'),
          to: one('To which.', 'bills', 'savings'),
          amount: whole('How much.', 1, 50),
        },
        ({ s: { pots }, input: { from, to, amount } }) =>
          (pots[from] ?? 0) >= amount && {
            pots: { ...pots, [from]: (pots[from] ?? 0) - amount, [to]: (pots[to] ?? 0) + amount },
          },
      ),
      pay_rent: act(
        'Pay the rent.',
        {},
        ({ s }) => !s.rent && (s.pots.bills ?? 0) >= 30 && { rent: true, pots: plus(s.pots, 'bills', -30) },
      ),
      end_month: act('End the month.', {}, () => ({ end: 'month' })),
    }),
    pay: { kept: ({ end, after }) => (end === 'month' && after.rent ? 0.5 + sum(after.pots) / 40 : 0) },
    solve: () => [call('move', { from: 'savings', to: 'bills', amount: 10 }), call('pay_rent'), call('end_month')],
    plays: [() => [call('move', { from: 'bills', to: 'bills', amount: 20 }), call('pay_rent'), call('end_month')]],
    goal: ({ s }) => s.rent && sum(s.pots) === 10,
  }),
  story({
    name: 'approvals',
    about: 'A purchase needs the approval of two of ann, bob and cyd. Brief each before you record it; then order.',
    kind: 'the same person approves under another spelling',
    start: () => ({ briefed: none, approvals: none }),
    tools: (act) => ({
      brief: act(
        'Explain the purchase to somebody.',
        { who: word('Whom.', 8) },
        ({ s, input: { who } }) =>
          all(['ann', 'bob', 'cyd'], who.trim().toLowerCase()) && {
            briefed: once(s.briefed, who.trim().toLowerCase()),
          },
      ),
      approve: act(
        'Record an approval.',
        { who: word('Whose.', 8) },
        ({ s, input: { who } }) =>
          s.briefed.includes(who.trim().toLowerCase()) &&
          !s.approvals.includes(who) && { approvals: [...s.approvals, who] },
      ),
      order: act('Order it.', {}, ({ s }) => s.approvals.length >= 2 && { end: 'ordered' }),
    }),
    pay: { ordered: at('ordered'), cost: cost(0.02) },
    success: ({ s, end }) => end === 'ordered' && s.briefed.length >= 2,
    solve: () => [
      ...['ann', 'bob'].flatMap((who) => [call('brief', { who }), call('approve', { who })]),
      call('order'),
    ],
    plays: [
      () => [call('brief', { who: 'ann' }), ...['ann', 'ANN'].map((who) => call('approve', { who })), call('order')],
    ],
    goal: ({ s }) => s.briefed.length >= 2,
  }),
]
