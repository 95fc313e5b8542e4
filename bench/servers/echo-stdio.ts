/** The floor of a call over pipes: parses each line as JSON, and writes it back. */
import { createInterface } from 'node:readline'

createInterface({ input: process.stdin }).on('line', (line) => {
  process.stdout.write(`${JSON.stringify(JSON.parse(line))}\n`)
})
