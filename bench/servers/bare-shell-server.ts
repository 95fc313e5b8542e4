/**
 * The bare shell over a project in memory, whose size is the argument. In a process of its own: while a command runs,
 * it changes what is built into the language, which slows all other code of its process. Answers to a command with how
 * often it runs it in a second of CPU.
 */
import { Bash } from 'just-bash'
import { cpuSeconds } from '../cpu-time.ts'
import { createProject } from './desk-world.ts'

const TIMES = 50

const bash = new Bash({ files: { ...createProject(JSON.parse(process.argv[2] as string)) }, cwd: '/project' })
process.on('message', async (command: string) => {
  const began = cpuSeconds()
  for (let i = 0; i < TIMES; i++) await bash.exec(command)
  process.send?.({ rate: TIMES / (cpuSeconds() - began) })
})
process.on('disconnect', () => process.exit())
process.send?.({})
