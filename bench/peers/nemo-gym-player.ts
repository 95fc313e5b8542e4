import { HttpConnection } from './http-connection.ts'
import { findNumber, type Player } from './player.ts'

/** Returns a player of NeMo Gym's HTTP protocol, which sends what its agents send. */
export function createNemoGymPlayer(port: number): Player {
  const connection = new HttpConnection(port)
  return {
    async play(seed) {
      let cookie = ''
      const post = async (path: string, body: object) => {
        const answer = await connection.send({ method: 'POST', path, headers: cookie ? { Cookie: cookie } : {}, body })
        cookie = answer.header('set-cookie')?.split(';', 1)[0] ?? cookie
        return JSON.parse(answer.body)
      }
      const row = rowOf(seed)
      await post('/seed_session', row)
      const output: object[] = []
      const steps = await findNumber(async (value) => {
        const answer = await post('/guess', { value })
        const call_id = `call_${output.length / 2}`
        output.push(
          { type: 'function_call', call_id, name: 'guess', arguments: JSON.stringify({ value }) },
          { type: 'function_call_output', call_id, output: JSON.stringify(answer) },
        )
        return answer.hint
      })
      const { reward } = await post('/verify', { ...row, response: { ...RESPONSE, output } })
      if (Math.abs(reward - (1 - steps / 100)) > 1e-9) throw new Error(`Got a return of ${reward}.`)
      return steps
    },
    close: () => connection.close(),
  }
}

const TOOLS = [
  {
    type: 'function',
    name: 'guess',
    description: 'Guess the number. The answer says whether it is higher or lower than your guess.',
    parameters: { type: 'object', properties: { value: { type: 'integer' } }, required: ['value'] },
    strict: false,
  },
]

function rowOf(seed: number) {
  return {
    responses_create_params: {
      input: [{ role: 'user', content: 'Guess a whole number from 1 to 1000000000.' }],
      tools: TOOLS,
    },
    episodic: { environment: 'number-guessing', seed },
  }
}

const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 0,
  model: 'scripted',
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: TOOLS,
}
