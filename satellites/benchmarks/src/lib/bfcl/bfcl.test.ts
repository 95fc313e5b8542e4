import { fileURLToPath } from 'node:url'
import { generateTasks } from '@episodic/dataset'
import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { playGolden, readGolden } from '../suite/golden.ts'
import { createBfcl } from './bfcl-world.ts'
import { openLibrary } from './data.ts'

// Tasks of our own making in the original's format. What is expected of those with short texts was recorded by the
// original: `pnpm interop bfcl` has the program.
const sample = new URL('../../../sample/bfcl/', import.meta.url)
const library = openLibrary(fileURLToPath(sample))
const golden = readGolden(new URL('golden.jsonl', sample))
const base = createBfcl(library, 'base', golden)
const missing = createBfcl(library, 'miss_func', golden)
const long = createBfcl(library, 'long_context', golden)
const cases = [...base.golden(), ...missing.golden()]

function begin({ environment }: { environment: unknown }, task: string) {
  const definition = environment as EnvironmentDefinition
  const played = rehearse(definition, { params: { task }, seed: '1', strict: true })
  return {
    played,
    call: (tool: string, given = {}) => played.play(tool, given).observation.text,
    say: (text = '') => played.play('end_turn', { text }),
    offered: () => definition.offers?.(played.state as never, { task }, 'player') ?? [],
  }
}

describe('createBfcl', () => {
  it.each(cases)('plays the ground truth of $task as the original does', async (one) => {
    expect(one.expected).not.toBeNull()
    const world = one.task.includes('miss') ? missing : base
    expect(await playGolden(world, one)).toMatchObject({ differs: [], failure: null })
  })

  it.each([...long.golden()])('solves $task with longer answers', async (one) => {
    expect(await playGolden(long, one)).toMatchObject({ failure: null, solved: true })
  })

  it('asks in turns, and is silent but for answers', () => {
    const [task] = generateTasks(base.tasks, { seed: '1', count: 1 })
    expect(task).toMatchObject({
      prompt: 'Copy the plans of the shed, and write in the copy.',
      metadata: { task: 'sample_base_0', turns: 3 },
      tags: ['TwitterAPI', 'GorillaFileSystem'],
    })
    const { played, call, say } = begin(base, 'sample_base_0')
    expect(played.observation.text).toBe('')
    expect(call('cd', { folder: 'shed' })).toBe('{"current_working_directory": "shed"}')
    expect(say('Done.').observation.text).toBe('Put the drafts into 2024, and say where you are.')
    expect(say().end).toBeNull()
    expect(say()).toMatchObject({ end: { kind: 'terminated', reason: 'said-all' }, success: false })
  })

  it('shows functions as the original does, and those of the classes of a task alone', () => {
    const { offered } = begin(base, 'sample_base_3')
    const functions = [...library.functions.values()].filter(({ className }) => className === 'VehicleControlAPI')
    expect(offered()).toEqual([...functions.map(({ name }) => name), 'end_turn'])
    const { description, inputSchema } = base.environment.toolInfos.find(({ name }) => name === 'lockDoors') ?? {}
    expect(description).toBe('Locks. Note that it is called as in Python 3 .')
    expect(inputSchema).toMatchObject({
      properties: { unlock: { type: 'boolean' }, door: { type: 'array', items: { type: 'string' } } },
      required: ['unlock', 'door'],
    })
    const { inputSchema: price } = base.environment.toolInfos.find(({ name }) => name === 'fund_account') ?? {}
    expect(price?.properties).toEqual({
      amount: { type: 'number', format: 'float', description: 'The amount. This is a float type value.' },
    })
  })

  it('holds functions back until the turn that offers them', () => {
    const { played, offered, say } = begin(missing, 'sample_miss_func_0')
    expect(offered()).not.toContain('sort')
    expect(played.play('sort', { file_name: 'notes.txt' }).refused).toBe('tool')
    expect(say().observation.text).toBe('There are more functions now.')
    expect(offered()).toContain('sort')
  })

  it('solves a task if each turn has the state and the answers of the ground truth', () => {
    const solve = (turns: readonly (readonly [string, object][])[]) => {
      const { call, say } = begin(missing, 'sample_miss_func_0')
      let solved: boolean | undefined
      for (const turn of turns) {
        for (const [tool, given] of turn) call(tool, given)
        solved = say().success
      }
      return solved
    }
    const cd = ['cd', { folder: 'shed' }] as [string, object]
    const sort = ['sort', { file_name: 'notes.txt' }] as [string, object]
    const diff = ['diff', { file_name1: 'notes.txt', file_name2: 'notes.txt' }] as [string, object]
    expect(solve([[cd], [sort], [diff]])).toBe(true)
    // Answers of earlier turns count, but a turn needs a call.
    expect(solve([[cd, diff], [sort], [['ls', {}]]])).toBe(true)
    expect(solve([[cd, diff], [sort], []])).toBe(false)
    expect(solve([[cd], [['ls', {}]], [sort, diff]])).toBe(false)
    // Where one is does not count, and what is left there does.
    expect(solve([[cd, ['cd', { folder: '..' }], cd], [sort], [diff]])).toBe(true)
    expect(solve([[cd, ['touch', { file_name: 'x' }]], [sort], [diff]])).toBe(false)
  })

  it('asks nothing of a turn whose ground truth is empty', () => {
    const { call, say } = begin(missing, 'sample_miss_func_1')
    call('ls')
    expect(say().end).toBeNull()
    say()
    call('cat', { file_name: '.hidden' })
    // The second turn needed `cat`, which it did not offer: nobody can solve this task.
    expect(say().success).toBe(false)
  })

  it('makes a player quit that calls too much', () => {
    const { played, call } = begin(base, 'sample_base_0')
    for (let at = 0; at < 20; at += 1) call('pwd')
    expect(played.end).toBeNull()
    call('pwd')
    expect(played).toMatchObject({ end: { reason: 'too-many-calls' } })
  })

  it('answers wrong arguments as Python does', () => {
    const { call } = begin(base, 'sample_base_0')
    expect(call('cp', { source: 'a' })).toBe(
      "Error during execution: GorillaFileSystem.cp() missing 1 required positional argument: 'destination'",
    )
    expect(call('ls', { all: true })).toBe(
      "Error during execution: GorillaFileSystem.ls() got an unexpected keyword argument 'all'",
    )
    expect(call('cd', { folder: 7 })).toBe('Error during execution: folder is not of type string')
  })

  it('keeps files of copied folders in common, and former parents of moved ones', () => {
    const { call } = begin(base, 'sample_base_0')
    call('cd', { folder: 'shed' })
    call('cp', { source: 'plans', destination: 'drafts' })
    call('cd', { folder: 'drafts' })
    call('echo', { content: 'both', file_name: 'plan.txt' })
    call('mkdir', { dir_name: 'inner' })
    call('cd', { folder: '..' })
    call('mv', { source: 'drafts', destination: 'moved' })
    call('cd', { folder: 'plans' })
    expect(call('cat', { file_name: 'plan.txt' })).toBe('{"file_content": "both"}')
    call('cd', { folder: '..' })
    call('cd', { folder: 'moved' })
    call('cd', { folder: 'inner' })
    expect(call('pwd')).toBe('{"current_working_directory": "/yard/shed/drafts/inner"}')
  })

  it('finds no end in a folder that was copied into itself', () => {
    const { call, say } = begin(base, 'sample_base_0')
    call('cp', { source: 'shed', destination: 'shed' })
    expect(call('find')).toBe('Error during execution: maximum recursion depth exceeded')
    expect(say().observation.text).not.toBe('')
  })

  it('lengthens answers in long contexts', () => {
    const { call } = begin(long, 'sample_long_context_0')
    call('cd', { folder: 'shed' })
    expect(call('cat', { file_name: 'notes.txt' })).toBe('{"file_content": "pear\\napple\\nPlum And more."}')
    expect(call('get_watchlist')).toBe("['ONE', 'MORE', Ellipsis]")
    expect(call('get_order_details', { order_id: 7 })).toContain('"metadata": {"overview": "All about ONE."}')
    const other = begin(long, 'sample_long_context_1')
    expect(other.call('estimate_distance', { cityA: '22', cityB: '11' })).toBe(
      '{"distance": 40.0, "intermediaryCities": ["Btown"]}',
    )
    const flight = { travel_date: '2026-01-02', travel_from: 'AAA', travel_to: 'BBB' }
    expect(other.call('get_flight_cost', { ...flight, travel_class: 'first' })).toBe(
      '{"travel_cost_list": [500.0, 350.0]}',
    )
    const booked = { access_token: 't', card_id: '1234', ...flight, travel_class: 'economy' }
    expect(other.call('book_flight', booked)).toMatch(
      /^\{"booking_id": "\d{7}", "transaction_id": "\d{8}", "booking_status": true, "booking_history": \{"booking_9": /,
    )
  })
})
