/** Why a branch is left: a dead end, a finished exploration, a sealed sub-task, a checkpoint on a long trunk. */
export const revertCategories = ['failure', 'tangent', 'completion', 'step-summary'] as const;
export type RevertCategory = (typeof revertCategories)[number];
