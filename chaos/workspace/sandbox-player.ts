/**
 * `node sandbox-player.ts <machine> <commands> <journal> <cut>`: runs commands on a machine, each of which adds its
 * number to a file, and keeps the file in a journal after each. Continues with what the journal has last, as a
 * process that was killed and started again. Every fifth command may reach the network, so that its error says if
 * it may have run twice.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createDisk, docker, e2b, MACHINE_BOUNDS, MachineError } from '@episodic/workspace'

const [, , kind = '', commands = '', journal = '', program = ''] = process.argv
const machine =
  kind === 'e2b' ? e2b({ idleSeconds: 4 }) : docker({ image: 'tiny:1', program: ['node', program], boxes: 1 })

const signal = new AbortController().signal
let text = existsSync(journal)
  ? (JSON.parse(readFileSync(journal, 'utf8').trim().split('\n').at(-1) ?? '') as string)
  : ''
for (let i = text.split('\n').length - 1; i < Number(commands); i = text.split('\n').length - 1) {
  const command = {
    ...{ session: journal, argv: ['sh', '-c', `tail -n 1 log; echo ${i} >> log`], cwd: '/app', variables: {} },
    ...{ disk: createDisk({ '/app/log': text }), folders: ['/app'], hidden: [], readOnly: [], stdin: new Uint8Array() },
    ...{ network: i % 5 === 4, bounds: { ...MACHINE_BOUNDS, seconds: 5 } },
  }
  try {
    const { changes, stdout } = await machine.run(command, signal)
    const [change] = changes
    const before = new TextDecoder().decode(stdout)
    if (changes.length !== 1 || change?.how !== 'write' || change.entry.kind !== 'text' || before !== lastOf(text))
      throw new Error(`Command ${i} answered ${JSON.stringify({ changes, before })}.`)
    text = change.entry.text
    appendFileSync(journal, `${JSON.stringify(text)}\n`)
    process.stdout.write('played\n')
  } catch (error) {
    if (!MachineError.is(error, 'machine-refused')) throw error
    process.stdout.write(`${/network/.test(error.message) ? 'unknown' : 'refused'} ${error.message}\n`)
  }
}
await machine.close()
process.stdout.write('closed\n')

function lastOf(lines: string): string {
  return lines === '' ? '' : `${lines.trim().split('\n').at(-1)}\n`
}
