/** Below it, a p-value shows a difference. */
export const SIGNIFICANCE = 0.05
