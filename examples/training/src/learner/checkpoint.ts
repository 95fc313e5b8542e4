import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Parameters } from '../network/network.ts'
import type { TrainingState } from './learn.ts'

/**
 * Writes a training to a file, bit for bit. A process that is killed meanwhile leaves the file as it was: the new one
 * gets its name when it is complete.
 */
export function writeCheckpoint(file: string, { played, parameters, optimizer }: TrainingState): void {
  const { steps, means, squares } = optimizer
  const text = JSON.stringify({
    played,
    steps,
    parameters: encode(parameters),
    means: encode(means),
    squares: encode(squares),
  })
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}

/** Returns the training of a file, or undefined if there is none yet. */
export function readCheckpoint(file: string): TrainingState | undefined {
  if (!existsSync(file)) return undefined
  const { played, steps, parameters, means, squares } = JSON.parse(readFileSync(file, 'utf8'))
  return {
    played,
    parameters: decode(parameters),
    optimizer: { steps, means: decode(means), squares: decode(squares) },
  }
}

function encode(parameters: Parameters): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, { buffer, byteOffset, byteLength }]) => [
      name,
      Buffer.from(buffer, byteOffset, byteLength).toString('base64'),
    ]),
  )
}

function decode(texts: Readonly<Record<string, string>>): Parameters {
  const numbersOf = (text: string) => new Float32Array(new Uint8Array(Buffer.from(text, 'base64')).buffer)
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, numbersOf(text)]),
  ) as unknown as Parameters
}
