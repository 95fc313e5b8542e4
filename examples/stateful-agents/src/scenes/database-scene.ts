import { call } from '../agents/script.ts'
import { BALANCE, balanceOf, openAccounts, WITHDRAW } from './accounts.ts'
import { bothWays } from './both-ways.ts'

/** A transaction that is rolled back: without its session, the change stays. */
export const databaseScene = bothWays({
  name: 'database',
  title: 'PostgreSQL: a withdrawal that is rolled back, one that is committed',
  expected: {
    call: /^60 after ROLLBACK, 20 after COMMIT$/,
    agent: /^100 after ROLLBACK, 60 after COMMIT$/,
  },
  async open({ signal }) {
    const accounts = await openAccounts(signal)
    const attempt = function* (end: 'ROLLBACK' | 'COMMIT') {
      for (const sql of ['BEGIN', WITHDRAW, end, BALANCE]) yield* call('query', { sql })
    }
    return {
      server: accounts.server,
      prompt: `Run these statements one after the other, each with a call of its own: BEGIN; ${WITHDRAW}; ROLLBACK; ${BALANCE}; BEGIN; ${WITHDRAW}; COMMIT; ${BALANCE}`,
      *script() {
        yield* attempt('ROLLBACK')
        yield* attempt('COMMIT')
        return 'done'
      },
      outcome(answers) {
        const [rolledBack, committed] = answers.flatMap((answer) => balanceOf(answer) ?? [])
        return `${rolledBack} after ROLLBACK, ${committed} after COMMIT`
      },
      [Symbol.asyncDispose]: () => accounts[Symbol.asyncDispose](),
    }
  },
})
