export const SIGNIFICANCE = 0.05
