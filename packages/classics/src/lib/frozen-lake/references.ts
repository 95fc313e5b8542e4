import { tabledReferences } from '../tabled-references.ts'

/** Gymnasium's FrozenLake-v1 and FrozenLake8x8-v1. Its registered thresholds are 0.70 and 0.85. */
export const references = tabledReferences([
  {
    variant: '4x4-slippery',
    params: { map: '4x4', slippery: true },
    rows: 152,
    sha256: '06d5222b61fec30f32f4d9c982f9aac0ea8fab522f59eac56858b042bacf3756',
    steps: 100,
    optimal: 0.744190287829,
    optimalWithoutLimit: 14 / 17,
    uniform: 0.013939795959,
  },
  {
    variant: '8x8-slippery',
    params: { map: '8x8', slippery: true },
    rows: 680,
    sha256: 'e2cbb8f962c2c52d70424b449b3c4b348361624e17ee212e4e5400ef1000464a',
    steps: 200,
    optimal: 0.913220150202,
    optimalWithoutLimit: 1,
    uniform: 0.001901395495,
  },
  {
    variant: '4x4-firm',
    params: { map: '4x4', slippery: false },
    rows: 64,
    sha256: '695d567341441f1d37132949130ef52ea5d2bcb97ea9963435c495a956bf88be',
    steps: 100,
    optimal: 1,
    optimalWithoutLimit: 1,
    uniform: 0.013939795959,
  },
  {
    variant: '8x8-firm',
    params: { map: '8x8', slippery: false },
    rows: 256,
    sha256: 'a88ce41aeb0d00f425447aec15fd9a496ed5f2a0a0a141fdd8b3eabeb5578c6f',
    steps: 200,
    optimal: 1,
    optimalWithoutLimit: 1,
    uniform: 0.001901395495,
  },
])
