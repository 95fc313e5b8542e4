import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dataFolder } from '@episodic/benchmarks/suite/data-folder'
import { generateTasks, type TasksDefinition } from '@episodic/dataset'
import { createRng, type Task } from '@episodic/protocol'
import type { UserOfTask } from './user-turns.ts'

/** Tasks of each of our worlds. */
const OF_EACH = 20

/** What users of tasks know: those of τ², as far as their texts name it, and of three worlds of ours. */
export async function usersOfTasks(): Promise<UserOfTask[]> {
  const [phone, shop, flights] = await Promise.all([
    import('@episodic-world/phone-support'),
    import('@episodic-world/support-desk'),
    import('@episodic-world/flight-booking'),
  ])
  return [
    ...['retail', 'airline'].flatMap(usersOfTau2),
    ...usersOf('phone-support', phone.tasks, 'get my mobile data to work', {
      reboot: ['rebooted', 'restarted'],
      switch_setting: ['switched', 'turned'],
    }),
    ...usersOf('support-desk', shop.tasks, 'return a lamp', {}),
    ...usersOf('flight-booking', flights.tasks, 'book a flight', { open_page: ['opened'] }),
  ]
}

interface Tau2Task {
  readonly id: string
  readonly user_scenario: { readonly instructions: Readonly<Record<string, string | null>> }
}

/** No text of the original is kept but the values of facts. */
function usersOfTau2(domain: string): UserOfTask[] {
  const file = join(dataFolder('tau2'), 'data', 'tau2', 'domains', domain, 'tasks.json')
  const tasks = JSON.parse(readFileSync(file, 'utf8')) as Tau2Task[]
  return tasks.flatMap(({ id, user_scenario: { instructions } }) => {
    const text = Object.values(instructions).join('\n')
    const find = (pattern: RegExp) => pattern.exec(text)?.[1]
    const facts = {
      'zip code': find(/zip ?code(?: is)? (\d{5})/i),
      'order number': find(/(#W\d+)/),
      'user id': find(/\b([a-z]+_[a-z]+_\d+)\b/),
      'reservation code': find(/\b((?=[A-Z0-9]*\d)[A-Z0-9]{6})\b/),
      name: find(/You are ([A-Z][a-z]+ [A-Z][a-z]+)/),
    }
    const known = Object.fromEntries(Object.entries(facts).flatMap(([name, value]) => (value ? [[name, value]] : [])))
    const wish = domain === 'retail' ? 'exchange an item' : 'change a flight'
    return usable({ source: `tau2/${domain} ${id}`, prompt: '', facts: known, wish, claims: {} })
  })
}

/** The seed of a task decides who its customer is, where the task does not say. */
function usersOf(world: string, tasks: TasksDefinition, wish: string, claims: UserOfTask['claims']): UserOfTask[] {
  return Array.from(
    generateTasks(tasks, { seed: 'user turns', count: OF_EACH }),
    ({ id, seed, params, seats }: Task) => {
      const rng = createRng(seed)
      const goal = params.goal as { readonly date?: string } | undefined
      const facts = {
        'phone number': `0${rng.int(100_000_000, 999_999_999)}`,
        'customer number': `K-${rng.int(10_000, 99_999)}`,
        name: `${rng.pick(['Mia', 'Noah', 'Ines', 'Omar'])} ${rng.pick(['Keller', 'Rossi', 'Lindt', 'Haddad'])}`,
        ...(goal?.date && { 'date of the flight': goal.date }),
      }
      return { source: `${world} ${id}`, prompt: seats?.user?.prompt ?? '', facts, wish, claims }
    },
  )
}

function usable(user: UserOfTask): UserOfTask[] {
  const values = Object.values(user.facts)
  return values.length > 1 && values.filter((value) => /\d/.test(value)).length > 1 ? [user] : []
}
