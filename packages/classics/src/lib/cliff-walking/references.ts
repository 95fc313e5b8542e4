import { tabledReferences } from '../tabled-references.ts'

/** Gymnasium's CliffWalking-v1, which has no limit of steps: 200 is this package's own, and part of the figures. */
export const references = tabledReferences([
  {
    variant: 'firm',
    params: { slippery: false },
    rows: 192,
    sha256: '54c24b4ff322f1a313477ce3243eca50e29d4f9968fd07ef64d67dec0102aac3',
    steps: 200,
    optimal: -13,
    optimalWithoutLimit: -13,
    optimalDiscounted: -12.247897700103,
    uniform: -2079.115971009,
    publishedBy: 'Sutton and Barto, Reinforcement Learning, 2nd edition, example 6.6',
  },
  {
    variant: 'slippery',
    params: { slippery: true },
    rows: 576,
    sha256: '20cbb33a951bf7f25ddf4480fd4970d77446730b792e4577999bab898a10ef82',
    steps: 200,
    optimal: -64.702307608223,
    optimalWithoutLimit: -64.709175909961,
    optimalDiscounted: -46.352672181,
    uniform: -2079.115971009,
  },
])
