/**
 * Draws the pictures of both experiments of `ablations.ts` from the lines that they wrote.
 *
 *   node src/draw-ablations.ts ../../docs/images
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ABLATIONS, drawAblation } from './ablation-figure.ts'

const [folder = '.'] = process.argv.slice(2)
const text = await readFile(join(folder, 'train-ablations.jsonl'), 'utf8')
const results = text
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))
for (const [name, ablation] of Object.entries(ABLATIONS))
  await writeFile(join(folder, `${name}.svg`), await drawAblation(ablation, results))
